package report_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// network is a semi-structured model of five numeric columns: a linear x0, a
// learned function of x1 and one of (x2, x3), and a rest that is a smooth of x0,
// a step in dow and an interaction of everything.
type network struct {
	heads []string
}

var columns = []string{"x0", "x1", "x2", "x3", "dow"}

func (m *network) Predictors() []string  { return m.heads }
func (m *network) Columns() []string     { return columns }
func (m *network) Intercept(int) float64 { return 0.5 }
func (m *network) Taps() map[string]int  { return map[string]int{"h1": 5, "h23": 7} }

func (m *network) Blocks(int) []decompose.Block {
	return []decompose.Block{
		{Term: linearX0, Coef: []float64{0.7}},
		{Term: learnedX1, Coef: []float64{1, -1, 0.5, 0, 0.2}},
		{Term: learnedPair, Coef: []float64{0.5, 0, 0, -0.5, 0.2, 0, 0}},
	}
}

var (
	linearX0    = &decompose.LinearTerm{Column: "x0"}
	learnedX1   = &decompose.Tap{Tensor: "h1", Features: []string{"x1"}, Width: 5}
	learnedPair = &decompose.Tap{Tensor: "h23", Features: []string{"x2", "x3"}, Width: 7}
)

func (m *network) Forward(_ context.Context, dst *decompose.Outputs, b *data.Batch) error {
	x := make([][]float64, len(columns))
	for i, c := range columns {
		v, err := b.Numeric(c)
		if err != nil {
			return err
		}
		x[i] = v
	}
	for i := range b.Rows() {
		x0, x1, x2, x3, dow := x[0][i], x[1][i], x[2][i], x[3][i], x[4][i]
		for j := range 5 {
			dst.Taps["h1"].Set(i, j, math.Tanh(float64(j-2)*x1+0.3*float64(j)))
		}
		for j := range 7 {
			dst.Taps["h23"].Set(i, j, math.Tanh(0.6*float64(j-3)*x2+math.Cos(float64(j))*x3))
		}
		for k := range m.heads {
			s := 1 / float64(k+1)
			zeta := s * (math.Sin(3*x0) + 0.4*x1*x1 + 0.3*math.Sin(x0*x1+x2*x3))
			if dow >= 5 {
				zeta += 0.8 * s
			}
			structured := 0.7 * x0
			for _, blk := range m.Blocks(k)[1:] {
				tap := blk.Term.(*decompose.Tap)
				for j, c := range blk.Coef {
					structured += c * dst.Taps[tap.Tensor].At(i, j)
				}
			}
			dst.Zeta.Set(i, k, zeta)
			dst.Eta.Set(i, k, 0.5+structured+zeta)
		}
	}
	return nil
}

// rows draws n rows; dow is a factor of numbers, group of text.
func rows(t testing.TB, n int) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	table := data.NewTable(n)
	x := make([][]float64, 6)
	for j := range x {
		x[j] = make([]float64, n)
	}
	group := make([]string, n)
	for i := range n {
		for j := range 4 {
			x[j][i] = r.NormFloat64()
		}
		x[4][i] = float64(r.IntN(7))
		x[5][i] = x[0][i] + x[1][i]*x[1][i] + r.NormFloat64()
		group[i] = []string{"north", "south", "east"}[r.IntN(3)]
	}
	for j, c := range []string{"x0", "x1", "x2", "x3"} {
		must(t, table.AddNumeric(c, x[j]))
	}
	must(t, table.AddFactor("dow", x[4]))
	must(t, table.AddNumeric("y", x[5]))
	must(t, table.AddTexts("group", group))
	return table
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// structured adds a formula's terms to m.
func structured(t testing.TB, m decompose.Model, src data.Source, formula string) decompose.Model {
	t.Helper()
	f, err := basis.Parse(formula, &basis.Options{Schema: src.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), src, f.Specs, m.Columns())
	must(t, err)
	m, err = decompose.With(m, map[string][]decompose.Block{"": blocks})
	must(t, err)
	return m
}

// decomposed runs the whole way, with importance.
func decomposed(t testing.TB, m decompose.Model, src data.Source, o *decompose.Options, more ...decompose.Visitor) (*decompose.Result, *decompose.Applier) {
	t.Helper()
	if o == nil {
		o = &decompose.Options{}
	}
	o.Visitors = append(more, importance.New(o.Family))
	r, err := decompose.Decompose(context.Background(), m, src, o)
	must(t, err)
	a, err := r.Applier(m)
	must(t, err)
	return r, a
}

// everything has all kinds of terms: linear and smooth of x0 (not identified),
// learned of one and of two features, two factors, by-terms.
func everything(t testing.TB, heads ...string) (*decompose.Result, *decompose.Applier) {
	t.Helper()
	if heads == nil {
		heads = []string{"eta"}
	}
	src := rows(t, 3000)
	m := structured(t, &network{heads: heads}, src, `~ s(x0, bs="cr") + dow + group + s(x3, by=group, bs="cr") + s(x2, by=x1, bs="ps", k=6)`)
	o := &decompose.Options{Family: family.Gaussian{}, Columns: decompose.Columns{Response: "y"}}
	if len(heads) > 1 {
		o.Family = family.GaussianLS{}
	}
	return decomposed(t, m, src, o)
}

// level is a factor term whose levels are given, whatever they are called.
type level struct{ names []string }

func (l *level) Name() string         { return "g" }
func (l *level) Kind() decompose.Kind { return decompose.Factor }
func (l *level) Columns() []string    { return []string{"g"} }
func (l *level) Dim() int             { return len(l.names) }
func (l *level) Levels() []string     { return l.names }
func (l *level) Eval(dst *mat.Dense, b *data.Batch) error {
	c, err := b.Codes("g")
	if err != nil {
		return err
	}
	dst.Zero()
	for i, k := range c.Index {
		j := slices.Index(l.names, c.Levels[k])
		if j < 0 {
			return fmt.Errorf("term g: unknown level %q", c.Levels[k])
		}
		dst.Set(i, j, 1)
	}
	return nil
}

// triple is the product of three columns.
type triple struct{}

func (triple) Name() string         { return "x0:x1:x2" }
func (triple) Kind() decompose.Kind { return decompose.Tensor }
func (triple) Columns() []string    { return []string{"x0", "x1", "x2"} }
func (triple) Dim() int             { return 1 }
func (t triple) Eval(dst *mat.Dense, b *data.Batch) error {
	dst.Zero()
	for i := range b.Rows() {
		v := 1.0
		for _, c := range t.Columns() {
			x, err := b.Numeric(c)
			if err != nil {
				return err
			}
			v *= x[i]
		}
		dst.Set(i, 0, v)
	}
	return nil
}

// with adds a term without coefficients.
func with(m decompose.Model, terms ...decompose.Term) decompose.Model {
	var blocks []decompose.Block
	for _, t := range terms {
		blocks = append(blocks, decompose.Block{Term: t})
	}
	m, err := decompose.With(m, map[string][]decompose.Block{"": blocks})
	if err != nil {
		panic(err)
	}
	return m
}
