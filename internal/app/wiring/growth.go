package wiring

import (
	"fmt"
	"slices"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/basis/propose"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
)

// What a chosen smooth must miss, beyond chance, to be changed: of its own variance, and of the predictor's. It is less
// than what makes it weak (decompose.LackOfFit.Matters).
const (
	missedOwn       = 0.001
	missedPredictor = 0.0001
	missedP         = 0.01
)

// Columns are summed in at most fitBins bins of at least fitRows rows.
const (
	fitBins = 400
	fitRows = 5
)

// rowsPerGrown is how many rows there must be for a column of all terms once smooths have grown.
const rowsPerGrown = 5

// LackOfFit is a visitor that finds out what smooths miss of their columns, by which More changes them.
func (d *Ready) LackOfFit() *diagnostics.LackOfFit {
	d.lack = diagnostics.NewLackOfFit(func(column string) []float64 {
		if d.sample == nil {
			return nil
		}
		return d.sample.Cuts(column, fitBins, fitRows)
	})
	return d.lack
}

// smoothsOf are the columns of smooths of one column among terms.
func smoothsOf(terms []formula.Summand) (columns []string) {
	for _, t := range terms {
		if column, k := smoothOf(t); k > 0 {
			columns = append(columns, column)
		}
	}
	return columns
}

// smoothOf is the column of a term s(column, k = ...); k is 0 for others.
func smoothOf(t formula.Summand) (column string, k int) {
	if len(t.Calls) != 1 || t.Calls[0].Func != "s" || len(t.Calls[0].Vars) != 1 {
		return "", 0
	}
	a, ok := t.Calls[0].Arg("k")
	if !ok {
		return "", 0
	}
	return t.Calls[0].Vars[0].Text, int(a.Value.Number)
}

// grow changes the smooths that "." was expanded to and that miss something of their columns, in r, whose last pass
// had the visitor d.LackOfFit: they get more columns, or cuts (propose.Grow), once. grown are these terms; none, and nothing
// changes, if all fit.
func (q *Request) grow(d *Ready, r *decompose.Result) (grown []string, err error) {
	if d.lack == nil {
		return nil, nil
	}
	formulas := slices.Clone(q.Formulas)
	var cuts map[string][]float64
	if d.Graph != nil {
		if cuts, err = d.Graph.Cuts(); err != nil {
			return nil, err
		}
	}
	for i, columns := range q.chosen {
		if len(columns) == 0 {
			continue
		}
		f, err := formula.Parse(formulas[i])
		if err != nil {
			return nil, optionError("formula", err)
		}
		spare := spareColumns(r, f.Predictor)
		for s, t := range f.Summands {
			column, k := smoothOf(t)
			if !slices.Contains(columns, column) {
				continue
			}
			g := d.growth(r, f.Predictor, column, k, k+spare, cuts[column])
			if g.K == k && len(g.Cuts) == 0 {
				continue
			}
			spare -= g.K + len(g.Cuts) - k
			f.Summands[s] = g.Of(t)
			grown = append(grown, f.Summands[s].String())
		}
		formulas[i] = f.String()
	}
	if len(grown) > 0 {
		q.extendTo(formulas)
	}
	return grown, nil
}

// spareColumns is how many more columns the rows bear, in the predictor that has most of those that a formula is for.
func spareColumns(r *decompose.Result, predictor string) int {
	columns := 0
	for k := range r.Predictors {
		if d := &r.Predictors[k]; predictor == "" || d.Name == predictor {
			columns = max(columns, d.Columns)
		}
	}
	return max(0, int(r.Rows/rowsPerGrown)-columns)
}

// growth is what the smooth of a column with k columns becomes, at most of most: in any of the predictors that its formula is
// for ("": all). cuts are the network's own of the column.
func (d *Ready) growth(r *decompose.Result, predictor, column string, k, most int, cuts []float64) propose.Growth {
	g := propose.Growth{K: k}
	for at := range r.Predictors {
		p := &r.Predictors[at]
		if predictor != "" && p.Name != predictor {
			continue
		}
		j := slices.IndexFunc(p.Terms, func(t decompose.TermResult) bool { return t.Name == fmt.Sprintf("s(%s)", column) })
		if j < 0 {
			continue
		}
		if l := p.Terms[j].LackOfFit; l != nil && l.P < missedP && l.Share >= missedOwn && l.OfPredictor >= missedPredictor {
			g = g.With(propose.Grow(d.lack.Bins(at, j), k, most, cuts))
		}
	}
	return g
}
