package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// rows are features (by column) and the response of a data set, or of a part of
// it.
type rows struct {
	names []string
	x     [][]float64
	y     []float64
}

func (r rows) n() int { return len(r.y) }

// at is the part with the given row numbers.
func (r rows) at(index []int) rows {
	pick := func(v []float64) []float64 {
		out := make([]float64, len(index))
		for i, row := range index {
			out[i] = v[row]
		}
		return out
	}
	part := rows{names: r.names, y: pick(r.y)}
	for _, v := range r.x {
		part.x = append(part.x, pick(v))
	}
	return part
}

// split takes the rows of fold k out.
func (r rows) split(fold []int, k int) (train, test rows) {
	var in, out []int
	for i, f := range fold {
		if f == k {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return r.at(in), r.at(out)
}

// distinct counts the values of each feature.
func (r rows) distinct() []int {
	var out []int
	for _, v := range r.x {
		out = append(out, len(slices.Compact(slices.Sorted(slices.Values(v)))))
	}
	return out
}

// points counts the distinct rows of features.
func (r rows) points() int {
	seen := map[string]bool{}
	for i := range r.y {
		key := ""
		for _, v := range r.x {
			key += fmt.Sprint(v[i], " ")
		}
		seen[key] = true
	}
	return len(seen)
}

// table holds the features, the response y, and the features as the encoders code
// them: nil ones do not, and those with equal bins are the same.
func (r rows) table(encoders ...*encoder) (*data.Table, error) {
	t := data.NewTable(r.n())
	for j, name := range r.names {
		if err := t.AddNumeric(name, r.x[j]); err != nil {
			return nil, err
		}
	}
	if err := t.AddNumeric("y", r.y); err != nil {
		return nil, err
	}
	seen := map[int]bool{}
	for _, e := range encoders {
		if e == nil || seen[e.bins] {
			continue
		}
		seen[e.bins] = true
		if err := e.addTo(t, r); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func standardised(v []float64) []float64 {
	mean, sd := stat.MeanStdDev(v, nil)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = (x - mean) / sd
	}
	return out
}

// encoder codes each feature piecewise linearly between quantiles of training rows
// (Gorishniy, Rubachev and Babenko 2022): what a network then sees of a steep or
// uneven feature is as plain as of any other.
type encoder struct {
	names []string
	bins  int
	edges [][]float64 // of each feature, increasing
}

// newEncoder finds at most bins intervals a feature.
func newEncoder(train rows, bins int) *encoder {
	e := &encoder{names: train.names, bins: bins}
	for _, v := range train.x {
		sorted := slices.Sorted(slices.Values(v))
		var edges []float64
		for b := range bins + 1 {
			edges = append(edges, sorted[int(math.Round(float64(b)/float64(bins)*float64(len(sorted)-1)))])
		}
		e.edges = append(e.edges, slices.Compact(edges))
	}
	return e
}

// columns names the coded columns.
func (e *encoder) columns() []string {
	var out []string
	for j := range e.edges {
		for b := 1; b < len(e.edges[j]); b++ {
			out = append(out, e.column(j, b))
		}
	}
	return out
}

// column is the name of feature j's interval b.
func (e *encoder) column(j, b int) string { return fmt.Sprintf("%s/%d.%d", e.names[j], e.bins, b) }

// addTo adds the coded columns of r: in interval b from low to high the value rises
// from 0 to 1; the first and the last interval go on beyond the training rows.
func (e *encoder) addTo(t *data.Table, r rows) error {
	for j, edges := range e.edges {
		for b := 1; b < len(edges); b++ {
			low, high := edges[b-1], edges[b]
			v := make([]float64, r.n())
			for i, x := range r.x[j] {
				v[i] = (x - low) / (high - low)
				if b > 1 {
					v[i] = max(v[i], 0)
				}
				if b < len(edges)-1 {
					v[i] = min(v[i], 1)
				}
			}
			if err := t.AddNumeric(e.column(j, b), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// predict is the model's own output at the rows of src.
func predict(ctx context.Context, m decompose.Model, src data.Source) ([]float64, error) {
	var eta []float64
	for b, err := range src.Batches(ctx, m.Columns()) {
		if err != nil {
			return nil, err
		}
		out := newOutputs(m, b.Rows())
		if err := m.Forward(ctx, out, b); err != nil {
			return nil, err
		}
		eta = append(eta, mat.Col(nil, 0, out.Eta)...)
	}
	return eta, nil
}

// newOutputs is memory for n rows of a model with one predictor.
func newOutputs(m decompose.Model, n int) *decompose.Outputs {
	out := &decompose.Outputs{Zeta: mat.NewDense(n, 1, nil), Eta: mat.NewDense(n, 1, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, width, nil)
	}
	return out
}

// rmse is the root of the mean squared difference.
func rmse(y, fit []float64) float64 {
	sum := 0.0
	for i, v := range y {
		sum += (v - fit[i]) * (v - fit[i])
	}
	return math.Sqrt(sum / float64(len(y)))
}
