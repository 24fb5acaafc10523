package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// model is a case: columns drawn at random, the last of them z, and the terms for it.
type model struct {
	columns  []variable
	simulate func(rows int) [][]float64 // a column each; of factors the codes of levels
	specs    func(x [][]float64, how smooth) ([]decompose.Spec, error)
	work     func(how smooth) work
}

// variable is a column of the table: of numbers, or a factor.
type variable struct {
	name   string
	factor bool
}

var cases = map[string]model{
	"ten":    {tenColumns(), tenFunctions, tenSmooths, tenWork},
	"factor": {[]variable{{"g", true}, {"x1", false}, {"x2", false}, {"x3", false}, {"z", false}}, factorData, factorTerms, factorWork},
	"by":     {byColumns(), byData(4, 2000), byTerms, byWork(4, 2000)},
	"levels": {byColumns(), byData(20, 500), byTerms, byWork(20, 500)},
	"fs":     {[]variable{{"x", false}, {"g", true}, {"z", false}}, fsData, fsTerms, fsWork},
	"slopes": {[]variable{{"x", false}, {"t", false}, {"g", true}, {"z", false}}, slopesData, slopesTerms, slopesWork},
	"plane":  {[]variable{{"f", true}, {"x1", false}, {"x2", false}, {"x3", false}, {"x4", false}, {"z", false}}, planeData, planeTerms, planeWork},
}

func byColumns() []variable {
	return []variable{{"f", true}, {"x", false}, {"t", false}, {"g", true}, {"z", false}}
}

func names() []string { return slices.Sorted(maps.Keys(cases)) }

// table is the columns in memory.
func (c model) table(x [][]float64) (*data.Table, error) {
	t := data.NewTable(len(x[0]))
	t.BatchRows = 65536
	for j, at := range c.columns {
		if !at.factor {
			if err := t.AddNumeric(at.name, x[j]); err != nil {
				return nil, err
			}
			continue
		}
		if err := t.AddTexts(at.name, levels(x[j])); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// levels are the names of codes, in whose order texts sort.
func levels(codes []float64) []string {
	out := make([]string, len(codes))
	for i, v := range codes {
		out[i] = fmt.Sprintf("l%04d", int(v))
	}
	return out
}

// smooth is how a term is written.
type smooth struct {
	bs    string
	k     int
	knots int
	sp    []float64 // of all penalties; nil: chosen
}

func (s *smooth) parse(sp string) error {
	if sp == "" {
		return nil
	}
	for _, text := range strings.Split(sp, ",") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("smoothing parameter: %w", err)
		}
		s.sp = append(s.sp, v)
	}
	return nil
}

// take gives the smoothing parameters of the next term, which has so many penalties.
func (s *smooth) take(n int) []float64 {
	if s.sp == nil {
		return nil
	}
	own := s.sp[:n:n]
	s.sp = s.sp[n:]
	return own
}

// factorTerms are factor(g) + te(x1, x2, k = 8) + s(x3, bs = "tp", k = 20).
func factorTerms(x [][]float64, how smooth) ([]decompose.Spec, error) {
	margin := func(name string) basis.Margin { return basis.Margin{Columns: []string{name}, Basis: basis.PS{K: 8}} }
	return []decompose.Spec{
		basis.Factor("g", nil),
		basis.Tensor([]basis.Margin{margin("x1"), margin("x2")}, &basis.TensorOptions{SmoothOptions: basis.SmoothOptions{SP: how.take(2)}}),
		basis.Smooth("x3", basis.TP{K: 20, Knots: x[3][:min(how.knots, len(x[3]))]}, &basis.SmoothOptions{SP: how.take(1)}),
	}, nil
}

// byTerms are f + s(x, by = f, bs = "ps", k = 20) + s(t, bs = "cc", k = 20) + s(g, bs = "re").
func byTerms(x [][]float64, how smooth) ([]decompose.Spec, error) {
	specs := []decompose.Spec{basis.Factor("f", nil)}
	return append(specs,
		// Given smoothing parameters are the same for all levels.
		basis.Smooth("x", basis.PS{K: 20}, &basis.SmoothOptions{By: "f", SP: how.take(1)}),
		basis.Smooth("t", basis.CC{Knots: equispaced(20)}, &basis.SmoothOptions{SP: how.take(1)}),
		basis.RandomEffect(&basis.SmoothOptions{SP: how.take(1)}, basis.Variable{Column: "g", Factor: true}),
	), nil
}

// fsTerms is s(x, g, bs = "fs", xt = "ps", k = 10).
func fsTerms(_ [][]float64, how smooth) ([]decompose.Spec, error) {
	return []decompose.Spec{basis.FactorSmooth("x", "g", basis.PS{K: 10}, &basis.SmoothOptions{SP: how.take(3)})}, nil
}

// slopesTerms are s(t, bs = "ps", k = 20) + s(g, bs = "re") + s(g, x, bs = "re").
func slopesTerms(_ [][]float64, how smooth) ([]decompose.Spec, error) {
	g, x := basis.Variable{Column: "g", Factor: true}, basis.Variable{Column: "x"}
	return []decompose.Spec{
		basis.Smooth("t", basis.PS{K: 20}, &basis.SmoothOptions{SP: how.take(1)}),
		basis.RandomEffect(&basis.SmoothOptions{SP: how.take(1)}, g),
		basis.RandomEffect(&basis.SmoothOptions{SP: how.take(1)}, g, x),
	}, nil
}

// planeTerms are s(x1, x2, bs = "tp", k = 30) + te(x3, x4, by = f, bs = "ps", k = 6).
func planeTerms(x [][]float64, how smooth) ([]decompose.Spec, error) {
	var points []float64
	for i := range min(how.knots, len(x[1])) {
		points = append(points, x[1][i], x[2][i])
	}
	margin := func(name string) basis.Margin { return basis.Margin{Columns: []string{name}, Basis: basis.PS{K: 6}} }
	return []decompose.Spec{
		basis.Surface([]string{"x1", "x2"}, basis.TP{K: 30, Knots: points}, &basis.SmoothOptions{SP: how.take(1)}),
		// Given smoothing parameters are the same for all levels.
		basis.Tensor([]basis.Margin{margin("x3"), margin("x4")}, &basis.TensorOptions{SmoothOptions: basis.SmoothOptions{By: "f", SP: how.take(2)}}),
	}, nil
}

// equispaced are k numbers from 0 to 1.
func equispaced(k int) []float64 {
	x := make([]float64, k)
	for i := range x {
		x[i] = float64(i) / float64(k-1)
	}
	return x
}

// draw makes columns by a function of the row's random numbers.
func draw(rows, width int, row func(r *rand.Rand, dst []float64)) [][]float64 {
	random := rand.New(rand.NewPCG(7, 8))
	columns, one := make([][]float64, width), make([]float64, width)
	for j := range columns {
		columns[j] = make([]float64, rows)
	}
	for i := range rows {
		row(random, one)
		for j, v := range one {
			columns[j][i] = v
		}
	}
	return columns
}

// effect is a fixed number for a level, of variance about 1.
func effect(level int) float64 { return math.Sqrt2 * math.Sin(float64(level*level+1)*12.9898) }

func factorData(rows int) [][]float64 {
	return draw(rows, 5, func(r *rand.Rand, d []float64) {
		g := r.IntN(500)
		d[0], d[1], d[2], d[3] = float64(g), r.Float64(), r.Float64(), r.Float64()
		d[4] = 0.5*effect(g) + math.Sin(4*d[1])*math.Cos(3*d[2]) + math.Exp(-8*(d[3]-0.4)*(d[3]-0.4)) + r.NormFloat64()
	})
}

func byData(levels, groups int) func(rows int) [][]float64 {
	return func(rows int) [][]float64 {
		return draw(rows, 5, func(r *rand.Rand, d []float64) {
			f, g := r.IntN(levels), r.IntN(groups)
			d[0], d[1], d[2], d[3] = float64(f), r.Float64(), r.Float64(), float64(g)
			d[4] = 0.3*float64(f) + math.Sin(float64(f%4+2)*2*d[1]) + math.Cos(2*math.Pi*d[2]) + 0.5*effect(g) + r.NormFloat64()
		})
	}
}

func fsData(rows int) [][]float64 {
	return draw(rows, 3, func(r *rand.Rand, d []float64) {
		g := r.IntN(200)
		d[0], d[1] = r.Float64(), float64(g)
		d[2] = 0.5*effect(g) + effect(g+1000)*d[0] + math.Sin(5*d[0]+effect(g+2000)) + r.NormFloat64()
	})
}

func slopesData(rows int) [][]float64 {
	return draw(rows, 4, func(r *rand.Rand, d []float64) {
		g := r.IntN(1000)
		d[0], d[1], d[2] = r.NormFloat64(), r.Float64(), float64(g)
		d[3] = math.Sin(6*d[1]) + 0.5*effect(g) + 0.3*effect(g+1000)*d[0] + r.NormFloat64()
	})
}

func planeData(rows int) [][]float64 {
	return draw(rows, 6, func(r *rand.Rand, d []float64) {
		f := r.IntN(6)
		d[0], d[1], d[2], d[3], d[4] = float64(f), r.Float64(), r.Float64(), r.Float64(), r.Float64()
		d[5] = math.Sin(5*d[1])*math.Cos(4*d[2]) + math.Sin(float64(f%3+1)*2*d[3])*d[4] + r.NormFloat64()
	})
}
