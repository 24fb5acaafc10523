package decompose_test

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

// fake is an additive model whose parts are known: linear terms on columns, a
// learned basis tanh(a x0 + b), and a smooth deep part that contains plenty of
// the same effects.
type fake struct {
	columns []string
	names   []string
	beta    [][]float64 // by predictor and column; nil: black box
	tap     *decompose.Tap
	gamma   []float64 // of the tap's columns, in predictor 0
	offset  float64
	deep    func(k int, x []float64) float64

	corruptTap, corruptEta bool
	forwards               func()
	terms                  map[string]*decompose.LinearTerm
}

func newFake(k int) *fake {
	f := &fake{columns: []string{"x0", "x1", "x2"}, offset: 0.5,
		deep: func(k int, x []float64) float64 {
			return math.Sin(2*x[0]) + 0.7*x[1] + 0.4*x[0]*x[1] + x[2]*x[2] + float64(k)*math.Cos(x[2])
		}}
	for i := range k {
		f.names = append(f.names, []string{"mu", "sigma", "nu"}[i])
		f.beta = append(f.beta, []float64{1, -2, 0.25 * float64(i+1)})
	}
	if k == 1 {
		f.names[0] = "eta"
	}
	return f
}

func (f *fake) withTap() *fake {
	f.tap = &decompose.Tap{Tensor: "hidden", Features: []string{"x0"}, Width: 4}
	f.gamma = []float64{1, -1, 0.5, 2}
	return f
}

func (f *fake) Predictors() []string    { return f.names }
func (f *fake) Columns() []string       { return f.columns }
func (f *fake) Intercept(k int) float64 { return f.offset }

func (f *fake) Taps() map[string]int {
	if f.tap == nil {
		return nil
	}
	return map[string]int{f.tap.Tensor: f.tap.Width}
}

func (f *fake) Blocks(k int) []decompose.Block {
	if f.beta == nil {
		return nil
	}
	var blocks []decompose.Block
	for j, c := range f.columns {
		blocks = append(blocks, decompose.Block{Term: f.linear(c), Coef: []float64{f.beta[k][j]}})
	}
	if f.tap != nil && k == 0 {
		blocks = append(blocks, decompose.Block{Term: f.tap, Coef: f.gamma})
	}
	return blocks
}

// linear returns the same term for the same column, so that predictors share it.
func (f *fake) linear(c string) *decompose.LinearTerm {
	if f.terms == nil {
		f.terms = map[string]*decompose.LinearTerm{}
	}
	if f.terms[c] == nil {
		f.terms[c] = &decompose.LinearTerm{Column: c}
	}
	return f.terms[c]
}

func (f *fake) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.forwards != nil {
		f.forwards()
	}
	var cols [][]float64
	for _, c := range f.columns {
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
		for k := range f.names {
			zeta := f.deep(k, x)
			eta := zeta
			if f.beta != nil {
				eta += f.offset
				for j, v := range f.beta[k] {
					eta += v * x[j]
				}
			} else {
				zeta -= f.offset
			}
			if f.tap != nil {
				for l := range f.tap.Width {
					h := math.Tanh(float64(l+1)*x[0] - 0.5*float64(l))
					if k == 0 {
						eta += f.gamma[l] * h
					}
					if f.corruptTap && l == 2 {
						h += 0.01
					}
					dst.Taps[f.tap.Tensor].Set(i, l, h)
				}
			}
			if f.corruptEta {
				eta *= 1.01
			}
			dst.Zeta.Set(i, k, zeta)
			dst.Eta.Set(i, k, eta)
		}
	}
	return nil
}

// table makes n rows of correlated columns, weights, a response and a factor.
func table(t testing.TB, n int, seed uint64) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	cols := map[string][]float64{}
	for i := range n {
		z := r.NormFloat64()
		for j := range 3 {
			name := fmt.Sprintf("x%d", j)
			cols[name] = append(cols[name], 0.6*z+r.NormFloat64()+float64(j))
		}
		cols["w"] = append(cols["w"], float64(i%4)*0.5)
		cols["y"] = append(cols["y"], z+r.NormFloat64())
		cols["year"] = append(cols["year"], 2013+float64(i%5))
	}
	tab := data.NewTable(n)
	for _, name := range []string{"x0", "x1", "x2", "w", "y", "year"} {
		if err := tab.AddNumeric(name, cols[name]); err != nil {
			t.Fatal(err)
		}
	}
	text := make([]string, n)
	for i := range text {
		text[i] = []string{"mon", "tue", "wed"}[(i*7)%3]
	}
	if err := tab.AddTexts("day", text); err != nil {
		t.Fatal(err)
	}
	return tab
}

// design evaluates [1, columns of all terms of predictor k] densely.
func designMatrix(t testing.TB, terms []decompose.Term, b *data.Batch) *mat.Dense {
	t.Helper()
	n := b.Rows()
	p := 1
	for _, term := range terms {
		p += term.Dim()
	}
	x := mat.NewDense(n, p, nil)
	at := 1
	for i := range n {
		x.Set(i, 0, 1)
	}
	for _, term := range terms {
		part := mat.NewDense(n, term.Dim(), nil)
		if err := term.Eval(part, b); err != nil {
			t.Fatal(err)
		}
		x.Slice(0, n, at, at+term.Dim()).(*mat.Dense).Copy(part)
		at += term.Dim()
	}
	return x
}
