package nam

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// Shape is a shape function: the effect of one feature on a predictor, or of two together,
// on a grid. It is the sum of all terms of exactly those features, centred to weighted mean
// 0 over the rows of the decomposition. It marshals to JSON.
type Shape struct {
	Predictor string   `json:"predictor"`
	Features  []string `json:"features"`
	Terms     []string `json:"terms"` // that were added up
	Axes      []Axis   `json:"axes"`  // one for each feature
	// Before is the curve with the network's own coefficients, After that with what moved
	// from the deep part added, on the link scale: values at all combinations of the axes'
	// points, where the last axis varies fastest.
	Before []float64 `json:"before"`
	After  []float64 `json:"after"`
	// SE is the standard error of After given the network (see decompose.Effect). nil: the
	// sum of the terms is not identified, or the result has no covariance.
	SE []float64 `json:"se,omitempty"`
}

// Axis is the grid of one feature: numbers, or the levels of a categorical column.
type Axis struct {
	Feature string    `json:"feature"`
	Values  []float64 `json:"values,omitempty"`
	Levels  []string  `json:"levels,omitempty"`
}

// Len is the number of points.
func (a Axis) Len() int {
	if a.Levels != nil {
		return len(a.Levels)
	}
	return len(a.Values)
}

// ShapeOptions set the grids. The zero value and nil are sensible.
type ShapeOptions struct {
	Points int // of a feature alone, over the range of the training rows; 0: 101
	Side   int // of each of two features; 0: 41
	// Values replace a feature's points, as an integer input of a network needs it.
	Values map[string][]float64
}

// Shapes evaluates the shape functions of every predictor of r, a decomposition of m: shapes of one
// feature before shapes of two, in the order of the terms. Terms of three or more features have
// none. No shape has the deep part in it: r.Predictors[k].Variance says how much that is.
func Shapes(ctx context.Context, r *decompose.Result, m decompose.Model, o *ShapeOptions) ([]Shape, error) {
	var opts ShapeOptions
	if o != nil {
		opts = *o
	}
	if opts.Points == 0 {
		opts.Points = 101
	}
	if opts.Side == 0 {
		opts.Side = 41
	}
	if opts.Points < 2 || opts.Side < 2 || opts.Points > 1<<20 || opts.Side > 1<<10 {
		return nil, fmt.Errorf("nam: grids of %d points and of %d by %d: from 2 to %d and to %d by %d are possible", opts.Points, opts.Side, opts.Side, 1<<20, 1<<10, 1<<10)
	}
	a, err := r.Applier(m)
	if err != nil {
		return nil, err
	}
	g := &grid{result: r, columns: a.Columns(), options: opts}
	var shapes []Shape
	for k := range r.Predictors {
		d := &r.Predictors[k]
		for _, terms := range byFeatures(d) {
			s := Shape{Predictor: d.Name, Features: distinct(d.Terms[terms[0]].Features)}
			for _, j := range terms {
				s.Terms = append(s.Terms, d.Terms[j].Name)
			}
			b, err := g.batch(&s)
			if err != nil {
				return nil, err
			}
			e, err := a.SumEffect(ctx, k, terms, b)
			if err != nil {
				return nil, err
			}
			s.Before, s.After = e.Before, e.After
			if !slices.ContainsFunc(e.SE, math.IsNaN) {
				s.SE = e.SE
			}
			shapes = append(shapes, s)
		}
	}
	return shapes, nil
}

// byFeatures groups a predictor's terms of one feature and of two by their sets of
// features.
func byFeatures(d *decompose.Predictor) [][]int {
	var groups [2][][]int
	for j := range d.Terms {
		f := distinct(d.Terms[j].Features)
		if len(f) < 1 || len(f) > 2 {
			continue
		}
		of := &groups[len(f)-1]
		i := slices.IndexFunc(*of, func(g []int) bool { return sameSet(distinct(d.Terms[g[0]].Features), f) })
		if i < 0 {
			i = len(*of)
			*of = append(*of, nil)
		}
		(*of)[i] = append((*of)[i], j)
	}
	return append(groups[0], groups[1]...)
}

func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// grid makes batches on which terms can be evaluated.
type grid struct {
	result  *decompose.Result
	columns []string // that the model and the terms read
	options ShapeOptions
}

func (g *grid) feature(name string) *decompose.Feature {
	for i := range g.result.Features {
		if g.result.Features[i].Name == name {
			return &g.result.Features[i]
		}
	}
	return nil
}

// batch gives s its axes and returns the rows of all combinations. Columns that the
// shape does not depend on hold a value that was seen: the smallest, or the first
// level; 0 where no term knows the column.
func (g *grid) batch(s *Shape) (*data.Batch, error) {
	n := 1
	for _, name := range s.Features {
		axis, err := g.axis(name, len(s.Features))
		if err != nil {
			return nil, fmt.Errorf("nam: the shape of %q: %w", s.Terms, err)
		}
		s.Axes = append(s.Axes, axis)
		n *= axis.Len()
	}
	const limit = 1 << 22
	if n == 0 || n > limit {
		return nil, fmt.Errorf("nam: the shape of %q has a grid of %d points: from 1 to %d are possible, set ShapeOptions", s.Terms, n, limit)
	}
	b := data.NewBatch(n, 0)
	names := slices.Clone(g.columns)
	for _, f := range g.result.Features {
		names = append(names, f.Name)
	}
	for _, name := range distinct(names) {
		if err := (g.held(name)).set(b, n); err != nil {
			return nil, err
		}
	}
	repeat := n
	for _, axis := range s.Axes {
		repeat /= axis.Len()
		if err := axis.set(b, repeat); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// held is the one value of a column that does not matter.
func (g *grid) held(name string) Axis {
	switch f := g.feature(name); {
	case f == nil:
		return Axis{Feature: name, Values: []float64{0}}
	case len(f.Levels) > 0:
		return Axis{Feature: name, Levels: f.Levels[:1]}
	default:
		return Axis{Feature: name, Values: []float64{f.Min}}
	}
}

func (g *grid) axis(name string, features int) (Axis, error) {
	a := Axis{Feature: name}
	f := g.feature(name)
	if f == nil {
		return a, fmt.Errorf("the decomposition does not say what values %q took", name)
	}
	if f.Levels != nil {
		a.Levels = f.Levels
		return a, nil
	}
	if v, ok := g.options.Values[name]; ok {
		a.Values = slices.Clone(v)
		return a, nil
	}
	points := g.options.Points
	if features > 1 {
		points = g.options.Side
	}
	if !(f.Max > f.Min) {
		a.Values = []float64{f.Min}
		return a, nil
	}
	for i := range points {
		w := float64(i) / float64(points-1)
		a.Values = append(a.Values, (1-w)*f.Min+w*f.Max)
	}
	return a, nil
}

// set writes the axis into b, each point repeated, over and over. Levels are codes,
// and numbers too if all of them are.
func (a Axis) set(b *data.Batch, repeat int) error {
	n, points := b.Rows(), a.Len()
	at := func(i int) int { return i / repeat % points }
	values := a.Values
	if a.Levels != nil {
		c := data.Codes{Index: make([]int32, n), Levels: a.Levels}
		for i := range c.Index {
			c.Index[i] = int32(at(i))
		}
		if err := b.SetCodes(a.Feature, c); err != nil {
			return err
		}
		values = nil
		for _, l := range a.Levels {
			v, err := strconv.ParseFloat(l, 64)
			if err != nil {
				return nil
			}
			values = append(values, v)
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = values[at(i)]
	}
	return b.SetNumeric(a.Feature, x)
}
