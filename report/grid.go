package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// The grids' points by numeric feature, for terms of one and of two features.
const (
	curvePoints = 101
	sidePoints  = 41
)

// grids makes batches on which single terms can be evaluated.
type grids struct {
	result  *decompose.Result
	applier *decompose.Applier
	columns []string
	feature map[string]*decompose.Feature
	factor  map[string]*Axis // of columns that are factors of their own: margins know no value between levels
}

func newGrids(r *decompose.Result, a *decompose.Applier) *grids {
	g := &grids{result: r, applier: a, columns: a.Columns(), feature: map[string]*decompose.Feature{}, factor: map[string]*Axis{}}
	for i := range r.Features {
		g.feature[r.Features[i].Name] = &r.Features[i]
	}
	for k := range r.Predictors {
		for j := range r.Predictors[k].Terms {
			if a := levelAxis(&r.Predictors[k].Terms[j]); a != nil {
				g.factor[a.Feature] = a
			}
		}
	}
	return g
}

// grid lays out the features of term t: an effect with axes and no values yet, and the rows
// to evaluate it at. Its error is a note for the reader.
// means are those of the term's columns over the rows.
func (g *grids) grid(t *decompose.TermResult, means []float64) (Effect, *data.Batch, error) {
	if l, ok := t.Term().(leveled); ok {
		return g.levels(l, t.Name)
	}
	if s, ok := t.Term().(sloped); ok {
		return g.slopes(s, t.Name, means)
	}
	var e Effect
	var free []string
	for _, f := range t.Features {
		if !slices.Contains(free, f) {
			free = append(free, f)
		}
	}
	by, level := byOf(t)
	if len(free) > 1 && by != "" {
		free = slices.DeleteFunc(free, func(f string) bool { return f == by })
		e.Held = by + " = 1"
		if level != "" {
			e.Held = by + " = " + level
		}
	}
	var err error
	switch len(free) {
	case 0:
		return e, nil, fmt.Errorf("the term names no feature")
	case 1:
		if e.X, err = g.axis(t, free[0], curvePoints); err != nil {
			return e, nil, err
		}
	case 2:
		if e.X, err = g.axis(t, free[0], sidePoints); err != nil {
			return e, nil, err
		}
		if e.X2, err = g.axis(t, free[1], sidePoints); err != nil {
			return e, nil, err
		}
	default:
		return e, nil, fmt.Errorf("a function of %d features (%s) has no curve to draw", len(free), strings.Join(free, ", "))
	}
	outer, inner := e.X.Len(), 1
	if e.X2 != nil {
		inner = e.X2.Len()
	}
	const limit = 1 << 20
	if inner > 0 && outer > limit/inner {
		return e, nil, fmt.Errorf("a grid of %d x %d levels is too large to draw", outer, inner)
	}
	if outer*inner == 0 {
		return e, nil, fmt.Errorf("the feature took no values")
	}
	b, err := g.typical(outer * inner)
	if err != nil {
		return e, nil, err
	}
	if err := e.X.set(b, inner); err != nil {
		return e, nil, err
	}
	if e.X2 != nil {
		if err := e.X2.set(b, 1); err != nil {
			return e, nil, err
		}
	}
	if e.Held != "" {
		err = g.constant(b, by, 1, level)
	}
	return e, b, err
}

// leveled is a factor that several columns hold together.
type leveled interface {
	Levels() []string
	SetLevels(b *data.Batch, level []int) error
}

// levels is the grid of such a factor: a row for each level.
func (g *grids) levels(t leveled, name string) (Effect, *data.Batch, error) {
	e := Effect{X: &Axis{Feature: name, Levels: t.Levels()}}
	b, err := g.typical(e.X.Len())
	if err != nil {
		return e, nil, err
	}
	level := make([]int, e.X.Len())
	for i := range level {
		level[i] = i
	}
	return e, b, t.SetLevels(b, level)
}

// sloped is a term of some columns with a slope for each.
type sloped interface{ Slopes() []string }

// slopes is the grid of such a term: for each column a row that is one unit above the rows'
// mean, with the others at theirs, where the term is the column's slope.
func (g *grids) slopes(t sloped, name string, means []float64) (Effect, *data.Batch, error) {
	columns := t.Slopes()
	if len(means) != len(columns) {
		return Effect{}, nil, fmt.Errorf("the means of its columns are not known")
	}
	e := Effect{X: &Axis{Feature: name, Levels: columns}, Held: "1 unit above each column's mean"}
	b, err := g.typical(len(columns))
	for j, c := range columns {
		x := slices.Repeat(means[j:j+1], len(columns))
		x[j]++
		err = errors.Join(err, b.SetNumeric(c, x))
	}
	return e, b, err
}

// byOf names the by variable of t and, for a factor, its level.
func byOf(t *decompose.TermResult) (column, level string) {
	if s, ok := t.Term().(interface{ By() (column, level string) }); ok {
		return s.By()
	}
	return "", ""
}

// levelsOf are the levels of a factor term.
func levelsOf(t *decompose.TermResult) ([]string, bool) {
	l, ok := t.Term().(interface{ Levels() []string })
	if !ok || len(t.Features) != 1 {
		return nil, false
	}
	return l.Levels(), true
}

// levelAxis is the grid of a factor term; nil: it is none.
func levelAxis(t *decompose.TermResult) *Axis {
	levels, ok := levelsOf(t)
	if !ok {
		return nil
	}
	o, ok := t.Term().(interface{ Ordered() bool })
	return &Axis{Feature: t.Features[0], Levels: levels, declared: ok && o.Ordered()}
}

// axis is the grid of a feature: the levels of a factor or of a categorical
// column, else numbers where the rows of t lie (see gridPoints).
func (g *grids) axis(t *decompose.TermResult, name string, points int) (*Axis, error) {
	f := g.feature[name]
	if f == nil {
		return nil, fmt.Errorf("the decomposition does not say what values %q took", name)
	}
	if a := levelAxis(t); a != nil {
		return a, nil
	}
	if a := g.factor[name]; a != nil && points == sidePoints {
		return &Axis{Feature: name, Levels: a.Levels, declared: a.declared}, nil
	}
	if f.Levels != nil {
		return &Axis{Feature: name, Levels: inOrder(f.Levels)}, nil
	}
	lo, hi, quantiles := rowsIn(g.result.SupportOf(t), f)
	at := gridPoints(lo, hi, quantiles, points)
	if points == curvePoints && whole(f.Quantiles) && hi-lo < mostWhole {
		at = withWhole(at)
	}
	return &Axis{Feature: name, Values: at}, nil
}

// inOrder sorts levels that are all numbers by value.
func inOrder(levels []string) []string {
	values := numbers(levels)
	for _, v := range values {
		if math.IsNaN(v) {
			return levels
		}
	}
	at := make([]int, len(levels))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		switch {
		case values[i] < values[j]:
			return -1
		case values[i] > values[j]:
			return 1
		}
		return 0
	})
	sorted := make([]string, len(levels))
	for i, j := range at {
		sorted[i] = levels[j]
	}
	return sorted
}

// numbers are the levels' values; NaN where a level is not a number.
func numbers(levels []string) []float64 {
	out := make([]float64, len(levels))
	for i, l := range levels {
		v, err := strconv.ParseFloat(l, 64)
		if err != nil {
			v = math.NaN()
		}
		out[i] = v
	}
	return out
}

// typical is a batch of n equal rows with every column that the model and the terms read.
// Each holds the feature's mean or first level, or 0 if no term knows the column.
func (g *grids) typical(n int) (*data.Batch, error) {
	b := data.NewBatch(n, 0)
	names := slices.Clone(g.columns)
	for _, f := range g.result.Features {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		f := g.feature[name]
		var err error
		switch {
		case f == nil:
			// Nobody has said whether it holds numbers or text: either is there.
			err = errors.Join(b.SetNumeric(name, make([]float64, n)), b.SetCodes(name, data.Codes{Index: make([]int32, n), Levels: []string{""}}))
		case len(f.Levels) > 0:
			err = (&Axis{Feature: name, Levels: f.Levels[:1]}).set(b, n)
		default:
			err = g.constant(b, name, f.Mean, "")
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// constant holds a column at a level, or at a number if level is "".
func (g *grids) constant(b *data.Batch, name string, v float64, level string) error {
	a := &Axis{Feature: name, Values: []float64{v}}
	if level != "" {
		a = &Axis{Feature: name, Levels: []string{level}}
	}
	return a.set(b, b.Rows())
}

// set writes the axis into b: each point repeated for the given number of rows,
// over and over. Levels are set as codes, and as numbers too if they are.
func (a *Axis) set(b *data.Batch, repeat int) error {
	n, points := b.Rows(), a.Len()
	values := a.Values
	if a.Levels != nil {
		c := data.Codes{Index: make([]int32, n), Levels: a.Levels}
		for i := range c.Index {
			c.Index[i] = int32(i / repeat % points)
		}
		if err := b.SetCodes(a.Feature, c); err != nil {
			return err
		}
		values = numbers(a.Levels)
		if slices.ContainsFunc(values, math.IsNaN) {
			return nil
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = values[i/repeat%points]
	}
	return b.SetNumeric(a.Feature, x)
}
