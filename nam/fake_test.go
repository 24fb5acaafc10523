package nam_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// fakeNAM is a neural additive model with a deep part: f_j(x_j) is a sum of
// units tanh units, pairs are products of the features' first two units.
type fakeNAM struct {
	features []string
	units    int
	scale    float64 // unit l is multiplied by scale^l, and its coefficient divided
	pairs    [][2]int
	line     bool // x0 has a linear term too
	deep     func(x []float64) float64
	taps     []*decompose.Tap
	lineTerm *decompose.LinearTerm
}

func newNAM(features, units int, pairs ...[2]int) *fakeNAM {
	f := &fakeNAM{units: units, scale: 1, pairs: pairs, deep: func(x []float64) float64 {
		return math.Sin(2*x[0]) + 0.5*x[1]*x[1] + 0.3*x[0]*x[1]
	}}
	for j := range features {
		f.features = append(f.features, fmt.Sprintf("x%d", j))
		f.taps = append(f.taps, &decompose.Tap{Tensor: fmt.Sprintf("h%d", j), Features: []string{fmt.Sprintf("x%d", j)}, Width: units})
	}
	for _, p := range pairs {
		f.taps = append(f.taps, &decompose.Tap{Tensor: fmt.Sprintf("h%d.%d", p[0], p[1]), Features: []string{fmt.Sprintf("x%d", p[0]), fmt.Sprintf("x%d", p[1])}, Width: 4})
	}
	f.lineTerm = &decompose.LinearTerm{Column: "x0"}
	return f
}

func (f *fakeNAM) Predictors() []string  { return []string{"eta"} }
func (f *fakeNAM) Columns() []string     { return f.features }
func (f *fakeNAM) Intercept(int) float64 { return 0.25 }

func (f *fakeNAM) Taps() map[string]int {
	w := map[string]int{}
	for _, t := range f.taps {
		w[t.Tensor] = t.Width
	}
	return w
}

func (f *fakeNAM) coef(t *decompose.Tap) []float64 {
	c := make([]float64, t.Width)
	for l := range c {
		c[l] = math.Cos(float64(l)) / math.Pow(f.scale, float64(l))
	}
	return c
}

func (f *fakeNAM) Blocks(int) []decompose.Block {
	var blocks []decompose.Block
	if f.line {
		blocks = append(blocks, decompose.Block{Term: f.lineTerm, Coef: []float64{0.5}})
	}
	for _, t := range f.taps {
		blocks = append(blocks, decompose.Block{Term: t, Coef: f.coef(t)})
	}
	return blocks
}

func (f *fakeNAM) unit(l int, x float64) float64 {
	return math.Tanh(float64(l+1)/2*x - 0.4*float64(l) + 0.5)
}

func (f *fakeNAM) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var cols [][]float64
	for _, c := range f.features {
		v, err := b.Numeric(c)
		if err != nil {
			return err
		}
		cols = append(cols, v)
	}
	x := make([]float64, len(cols))
	for i := range b.Rows() {
		for j := range cols {
			x[j] = cols[j][i]
		}
		zeta := f.deep(x)
		eta := 0.25 + zeta
		if f.line {
			eta += 0.5 * x[0]
		}
		for j, t := range f.taps {
			c := f.coef(t)
			for l := range t.Width {
				var h float64
				if j < len(f.features) {
					h = f.unit(l, x[j])
				} else {
					p := f.pairs[j-len(f.features)]
					h = f.unit(l/2, x[p[0]]) * f.unit(l%2, x[p[1]])
				}
				h *= math.Pow(f.scale, float64(l))
				dst.Taps[t.Tensor].Set(i, l, h)
				eta += c[l] * h
			}
		}
		dst.Zeta.Set(i, 0, zeta)
		dst.Eta.Set(i, 0, eta)
	}
	return nil
}

// rows makes n rows of features whose correlation is rho, weights and a response.
func rows(t testing.TB, n, features int, rho float64, seed uint64) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	cols := make([][]float64, features)
	w, y := make([]float64, n), make([]float64, n)
	for i := range n {
		z := r.NormFloat64()
		for j := range cols {
			cols[j] = append(cols[j], math.Sqrt(rho)*z+math.Sqrt(1-rho)*r.NormFloat64())
		}
		w[i], y[i] = 0.5+float64(i%3), z
	}
	tab := data.NewTable(n)
	for j, c := range cols {
		if err := tab.AddNumeric(fmt.Sprintf("x%d", j), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.AddNumeric("w", w); err != nil {
		t.Fatal(err)
	}
	if err := tab.AddNumeric("y", y); err != nil {
		t.Fatal(err)
	}
	return tab
}

// all is the whole of a table in one batch.
func all(t testing.TB, tab *data.Table) *data.Batch {
	t.Helper()
	tab.BatchRows = 1 << 20
	for b, err := range tab.Batches(t.Context(), tab.Schema().Names()) {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return nil
}

// run evaluates m on all rows.
func run(t testing.TB, m decompose.Model, b *data.Batch) *decompose.Outputs {
	t.Helper()
	n, k := b.Rows(), len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, w := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, w, nil)
	}
	if err := m.Forward(t.Context(), out, b); err != nil {
		t.Fatal(err)
	}
	return out
}
