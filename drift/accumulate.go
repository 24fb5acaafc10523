package drift

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/decompose"
)

// Accumulator adds the rows of one source, batch by batch and in order. What it makes depends on the rows
// alone, not on the batches. It is used by one goroutine.
type Accumulator struct {
	state  *State
	source Source
	tally  map[string]*tally
	values [][]float64 // of a row by predictor: terms, unstructured, eta less intercept
	fit    *[2]float64 // error and loss of a row; nil: there are none
	held   int64       // numbers in open clusters
	failed error
}

// Rows says of the rows of a batch what the parts do not.
type Rows struct {
	// Period is that of all rows, or Periods of each (length n).
	Period  string
	Periods []string
	// Weights are finite and not negative (length n); nil: every row counts 1. Rows of weight 0 are not counted.
	Weights []float64
	// Clusters names the cluster of each row (length n), if the settings have clusters. Rows of one
	// name in different periods, or in different sources, count as different clusters.
	Clusters []string
	// Errors are responses less what is predicted for them, and Losses deviances (length n), if the
	// settings name a response.
	Errors, Losses []float64
}

// maxHeld bounds the numbers of clusters that are open: 1 GiB.
const maxHeld = 1 << 27

// Begin begins to add the rows of a source; s is changed by End alone.
func (s *State) Begin(source Source) (*Accumulator, error) {
	if err := checkLabel(source.ID); err != nil {
		return nil, fmt.Errorf("drift: a source of rows needs an ID of 1 to %d bytes, not %q", maxLabel, clip(source.ID))
	}
	if source.Name != "" && checkLabel(source.Name) != nil {
		source.Name = clip(source.Name)
	}
	for _, own := range s.sources {
		if own.ID == source.ID {
			return nil, &TwiceError{own}
		}
	}
	a := &Accumulator{state: s, source: source, tally: map[string]*tally{}}
	a.source.Rows = 0
	if s.layout.fit > 0 {
		a.fit = new([2]float64)
	}
	for _, p := range s.layout.predictors {
		a.values = append(a.values, make([]float64, p.m))
	}
	return a, nil
}

// Add adds a batch. After an error the accumulator is of no use, and the state as it was.
func (a *Accumulator) Add(parts *decompose.Parts, rows Rows) error {
	if a.failed == nil {
		a.failed = a.add(parts, rows)
	}
	return a.failed
}

func (a *Accumulator) add(parts *decompose.Parts, rows Rows) error {
	n := parts.Batch.Rows()
	if err := a.check(parts, &rows, n); err != nil {
		return err
	}
	bins := make([][]int, len(a.state.of.Features))
	for j := range bins {
		bins[j] = a.state.of.Features[j].places(parts.Batch)
	}
	for i := range n {
		w := 1.0
		if rows.Weights != nil {
			w = rows.Weights[i]
		}
		if !(w >= 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("drift: data row %d: its weight is %g: weights are finite and not negative", parts.Batch.Row(i), w)
		}
		if w == 0 {
			continue
		}
		if err := a.read(parts, i); err != nil {
			return err
		}
		t, err := a.of(rows, i)
		if err != nil {
			return fmt.Errorf("drift: data row %d: %w", parts.Batch.Row(i), err)
		}
		a.source.Rows++
		t.count(bins, i)
		if err := a.score(parts, &rows, i); err != nil {
			return err
		}
		t.row(w, a.values, a.fit)
		if rows.Clusters == nil {
			t.blocked(w, a.values, a.fit, a.state.settings.Block)
			continue
		}
		if err := a.clustered(t, w, rows.Clusters[i]); err != nil {
			return err
		}
	}
	return nil
}

// check compares lengths with what they have to be.
func (a *Accumulator) check(parts *decompose.Parts, rows *Rows, n int) error {
	switch {
	case len(parts.Predictors) != len(a.values):
		return fmt.Errorf("drift: parts of %d predictors, where the state has %d", len(parts.Predictors), len(a.values))
	case rows.Periods != nil && len(rows.Periods) != n || rows.Weights != nil && len(rows.Weights) != n || rows.Clusters != nil && len(rows.Clusters) != n:
		return fmt.Errorf("drift: periods, weights and clusters are of another number of rows than the %d parts", n)
	case (rows.Clusters != nil) != (a.state.settings.Cluster != ""):
		return errors.New("drift: rows have clusters if the settings have, and only then")
	case (rows.Errors != nil) != (a.fit != nil) || len(rows.Errors) != len(rows.Losses) || rows.Errors != nil && len(rows.Errors) != n:
		return errors.New("drift: rows have errors and losses, one each, if the settings name a response, and only then")
	}
	for k := range parts.Predictors {
		p := &parts.Predictors[k]
		terms := 0
		if n > 0 {
			terms = len(p.Row(0))
		}
		if n > 0 && terms+2 != len(a.values[k]) || len(p.Eta) != n || len(p.Unstructured) != n {
			return fmt.Errorf("drift: the parts of predictor %d are not those of the state's decomposition", k+1)
		}
	}
	return nil
}

// read copies the values of row i.
func (a *Accumulator) read(parts *decompose.Parts, i int) error {
	for k, v := range a.values {
		p := &parts.Predictors[k]
		j := copy(v, p.Row(i))
		v[j], v[j+1] = p.Unstructured[i], p.Eta[i]-a.state.of.Predictors[k].Intercept
		for at, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("drift: data row %d: %s of %q is not finite: leave the row out", parts.Batch.Row(i), a.state.part(k, at), a.state.of.Predictors[k].Name)
			}
		}
	}
	return nil
}

// score copies the error and the loss of row i.
func (a *Accumulator) score(parts *decompose.Parts, rows *Rows, i int) error {
	if a.fit == nil {
		return nil
	}
	*a.fit = [2]float64{rows.Errors[i], rows.Losses[i]}
	for _, v := range a.fit {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("drift: data row %d: the error of the prediction, or its deviance, is not finite: leave the row out", parts.Batch.Row(i))
		}
	}
	return nil
}

// part is the name of a part for a message.
func (s *State) part(k, at int) string {
	terms := s.of.Predictors[k].Terms
	switch {
	case at < len(terms):
		return fmt.Sprintf("term %q", terms[at].Name)
	case at == len(terms):
		return "the unstructured part"
	}
	return "the value"
}

// of is the tally of row i's period.
func (a *Accumulator) of(rows Rows, i int) (*tally, error) {
	period := rows.Period
	if rows.Periods != nil {
		period = rows.Periods[i]
	}
	t := a.tally[period]
	if t == nil {
		if err := checkLabel(period); err != nil {
			return nil, err
		}
		t = newTally(&a.state.layout, a.state.of.Features)
		a.tally[period] = t
	}
	return t, nil
}

// clustered adds a row to its cluster in the period.
func (a *Accumulator) clustered(t *tally, w float64, name string) error {
	c := t.open[name]
	if c == nil {
		c = newCluster(t.layout)
		if a.held += int64(len(c.sums)); a.held > maxHeld {
			return fmt.Errorf("drift: %s: the sums of so many clusters do not fit into 1 GiB: choose a coarser one", a.state.settings.Cluster)
		}
		t.open[name] = c
		t.names = append(t.names, name)
	}
	c.row(w, a.values, a.fit)
	return nil
}

// End adds the rows to the state, all of them or, after an error, none.
func (a *Accumulator) End() error {
	if a.failed != nil {
		return a.failed
	}
	cells := map[string]*cell{}
	for period, t := range a.tally {
		c, err := t.cell()
		if err != nil {
			return fmt.Errorf("drift: period %q: %w", period, err)
		}
		cells[period] = c
	}
	a.failed = errors.New("drift: the rows of this source have been added")
	return a.state.include(cells, []Source{a.source})
}

// Rename gives the source another ID: that of a stream, which is known when it has been read.
func (a *Accumulator) Rename(id string) { a.source.ID = id }
