package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// drawn is a random problem: columns of which some may be constant, duplicated or
// sums of others, weights with zeros, K predictors with their own coefficients,
// and deep parts that hold some of the same effects.
type drawn struct {
	tab     *data.Table
	rows    int
	columns []string
	x       [][]float64 // by column
	w       []float64   // nil: none
	model   *tabular
	options decompose.Options
}

// tabular is a model whose deep parts are columns of the data, so that a test can
// choose them freely.
type tabular struct {
	names   []string
	terms   []decompose.Term
	columns []string
	beta    [][]float64
	zeta    []string
}

func (m *tabular) Predictors() []string    { return m.names }
func (m *tabular) Columns() []string       { return append(append([]string(nil), m.columns...), m.zeta...) }
func (m *tabular) Intercept(k int) float64 { return float64(k) + 0.5 }
func (m *tabular) Taps() map[string]int    { return nil }
func (m *tabular) Blocks(k int) []decompose.Block {
	var blocks []decompose.Block
	for j, t := range m.terms {
		blocks = append(blocks, decompose.Block{Term: t, Coef: []float64{m.beta[k][j]}})
	}
	return blocks
}
func (m *tabular) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	for k := range m.names {
		z, err := b.Numeric(m.zeta[k])
		if err != nil {
			return err
		}
		eta := append([]float64(nil), z...)
		floats.AddConst(m.Intercept(k), eta)
		for j, c := range m.columns {
			x, err := b.Numeric(c)
			if err != nil {
				return err
			}
			floats.AddScaled(eta, m.beta[k][j], x)
		}
		dst.Zeta.SetCol(k, z)
		dst.Eta.SetCol(k, eta)
	}
	return ctx.Err()
}

func draw(t *rapid.T) *drawn {
	p := rapid.IntRange(1, 5).Draw(t, "columns")
	d := &drawn{rows: rapid.IntRange(p+3, 120).Draw(t, "rows")}
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	normal := func() []float64 {
		v := make([]float64, d.rows)
		for i := range v {
			v[i] = random.NormFloat64()
		}
		return v
	}
	d.tab = data.NewTable(d.rows)
	add := func(name string, v []float64) {
		if err := d.tab.AddNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	d.model = &tabular{}
	for j := range p {
		v := normal()
		switch kind := rapid.SampledFrom([]string{"normal", "normal", "constant", "copy", "sum", "far"}).Draw(t, "kind"); {
		case kind == "constant":
			for i := range v {
				v[i] = 3.7
			}
		case kind == "copy" && j > 0:
			copy(v, d.x[0])
			floats.Scale(-2, v)
		case kind == "sum" && j > 1:
			floats.AddTo(v, d.x[0], d.x[1])
		case kind == "far": // a year
			floats.AddConst(2015, v)
		}
		name := fmt.Sprintf("x%d", j)
		d.columns, d.x = append(d.columns, name), append(d.x, v)
		d.model.columns = append(d.model.columns, name)
		d.model.terms = append(d.model.terms, &decompose.LinearTerm{Column: name})
		add(name, v)
	}
	if rapid.Bool().Draw(t, "weighted") {
		d.w = make([]float64, d.rows)
		for i := range d.w {
			d.w[i] = float64(random.IntN(4))
		}
		d.w[0] = 1
		add("w", d.w)
		d.options.Weights = "w"
	}
	for k := range rapid.IntRange(1, 3).Draw(t, "predictors") {
		z := normal()
		beta := make([]float64, p)
		for j := range p {
			floats.AddScaled(z, random.NormFloat64(), d.x[j])
			beta[j] = random.NormFloat64()
		}
		name := fmt.Sprintf("z%d", k)
		add(name, z)
		d.model.names = append(d.model.names, fmt.Sprintf("eta%d", k))
		d.model.zeta = append(d.model.zeta, name)
		d.model.beta = append(d.model.beta, beta)
	}
	d.options.Route = rapid.SampledFrom([]decompose.Route{"", decompose.QR}).Draw(t, "route")
	d.options.Workers = rapid.IntRange(1, 3).Draw(t, "workers")
	d.tab.BatchRows = rapid.IntRange(1, 50).Draw(t, "batch")
	return d
}

func (d *drawn) weight(i int) float64 {
	if d.w == nil {
		return 1
	}
	return d.w[i]
}

func (d *drawn) run(t *rapid.T, m decompose.Model) (*decompose.Result, *collector) {
	o, c := d.options, &collector{}
	o.Visitors = []decompose.Visitor{c}
	r, err := decompose.Decompose(context.Background(), m, d.tab, &o)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

// size is the largest value that a predictor's parts have to do with.
func (c *collector) size(k int) float64 {
	size := math.Abs(c.intercept[k])
	for i, eta := range c.eta[k] {
		size = math.Max(size, math.Abs(eta))
		for _, v := range c.terms[k][i] {
			size = math.Max(size, math.Abs(v))
		}
	}
	return size
}

// TestLawsOfPHO: parts sum to the network's own output; what is left is
// orthogonal to every column and to the intercept; the parts do not covary; a
// second PHO moves nothing; invertible maps of the columns change nothing.
func TestLawsOfPHO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		r, c := d.run(t, d.model)
		for k, p := range r.Predictors {
			size := c.size(k)
			var sums, left []float64
			for i := range d.rows {
				sum := c.intercept[k] + floats.Sum(c.terms[k][i]) + c.unstructured[k][i]
				sums = append(sums, sum)
				left = append(left, d.weight(i)*c.unstructured[k][i])
			}
			if miss := floats.Distance(sums, c.eta[k], math.Inf(1)); miss > 1e-12*size {
				t.Errorf("parts miss eta by %g of %g", miss, size)
			}
			if s := floats.Sum(left); math.Abs(s) > 1e-9*size*float64(d.rows) {
				t.Errorf("sum of w unstructured is %g", s)
			}
			for j := range d.columns {
				if dot := floats.Dot(d.x[j], left) - mean(d.x[j])*floats.Sum(left); math.Abs(dot) > 1e-9*size*float64(d.rows)*spread(d.x[j]) {
					t.Errorf("x%d'W unstructured is %g (size %g)", j, dot, size)
				}
			}
			if v := p.Variance; math.Abs(v.TwiceCovariance) > 1e-9*size*size {
				t.Errorf("twice the covariance is %g", v.TwiceCovariance)
			}
		}

		a, err := r.Applier(d.model)
		if err != nil {
			t.Fatal(err)
		}
		again, second := d.run(t, &adapted{d.model, r, a})
		for k := range again.Predictors {
			if diff := floats.Distance(second.unstructured[k], c.unstructured[k], math.Inf(1)); diff > 1e-9*c.size(k) {
				t.Errorf("a second PHO moves %g", diff)
			}
		}

		_, mapped := d.run(t, &remapped{d.model, &mixed{d.columns, invertible(t, len(d.columns))}})
		for k := range c.unstructured {
			// X alpha is unique on the rows of the fit; on rows of weight 0 it is
			// an extrapolation, which minimum norm makes depend on the basis.
			for i, u := range c.unstructured[k] {
				if diff := math.Abs(mapped.unstructured[k][i] - u); d.weight(i) > 0 && diff > 1e-7*c.size(k) {
					t.Errorf("row %d: an invertible map of the columns moves the unstructured part by %g of %g", i, diff, c.size(k))
				}
			}
		}
	})
}

func mean(x []float64) float64 { return floats.Sum(x) / float64(len(x)) }

func spread(x []float64) float64 {
	return math.Max(floats.Max(x)-floats.Min(x), 1e-3)
}

// mixed is one basis of all columns times an invertible matrix.
type mixed struct {
	columns []string
	by      *mat.Dense
}

func (m *mixed) Name() string         { return "mixed" }
func (m *mixed) Kind() decompose.Kind { return decompose.Smooth }
func (m *mixed) Columns() []string    { return m.columns }
func (m *mixed) Dim() int             { return len(m.columns) }
func (m *mixed) Eval(dst *mat.Dense, b *data.Batch) error {
	x := mat.NewDense(b.Rows(), len(m.columns), nil)
	for j, c := range m.columns {
		v, err := b.Numeric(c)
		if err != nil {
			return err
		}
		x.SetCol(j, v)
	}
	dst.Mul(x, m.by)
	return nil
}

// invertible draws a well conditioned matrix: orthogonal times diagonal.
func invertible(t *rapid.T, n int) *mat.Dense {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "map"), 2))
	raw := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			raw.Set(i, j, random.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(raw)
	var q mat.Dense
	qr.QTo(&q)
	for j := range n {
		for i := range n {
			q.Set(i, j, q.At(i, j)*float64(j+1))
		}
	}
	return &q
}

// remapped is a tabular model whose deep parts are projected on another basis of
// the same space; its own linear effects are left where they are, in eta only.
type remapped struct {
	*tabular
	term decompose.Term
}

func (m *remapped) Blocks(int) []decompose.Block { return []decompose.Block{{Term: m.term}} }
func (m *remapped) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	if err := m.tabular.Forward(ctx, dst, b); err != nil {
		return err
	}
	for k := range m.names {
		for i := range b.Rows() {
			dst.Eta.Set(i, k, dst.Zeta.At(i, k)+m.Intercept(k))
		}
	}
	return nil
}
