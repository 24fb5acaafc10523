package gorgonia_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/pho-go/pho/adapters/gorgonia"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// weights of a semi-structured network of x1, x2, x3: 0.5 + 2 x1 + f(x2) + d(x1, x2, x3),
// f of four units, d of eight in two layers.
type weights struct{ f, fOut, d, dHidden, dOut *tensor.Dense }

func newWeights(t tensor.Dtype) *weights {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(rows, cols int) *tensor.Dense {
		m := tensor.New(tensor.Of(t), tensor.WithShape(rows, cols))
		for i := range rows * cols {
			if v := rng.NormFloat64(); t == tensor.Float32 {
				m.Set(i, float32(v))
			} else {
				m.Set(i, v)
			}
		}
		return m
	}
	return &weights{draw(1, 4), draw(4, 1), draw(3, 8), draw(8, 8), draw(8, 1)}
}

func (w *weights) fOutAt(i int) float64 {
	if v, ok := w.fOut.Get(i).(float32); ok {
		return float64(v)
	}
	return w.fOut.Get(i).(float64)
}

// build shares its weights between graphs, as a user's builder does.
func (w *weights) build(rows int) (*gorgonia.Network, error) {
	g, t := G.NewGraph(), w.f.Dtype()
	x1 := G.NewMatrix(g, t, G.WithShape(rows, 1), G.WithName("x1"))
	x2 := G.NewMatrix(g, t, G.WithShape(rows, 1), G.WithName("x2"))
	all := G.NewMatrix(g, t, G.WithShape(rows, 3), G.WithName("all"))
	weight := func(v *tensor.Dense, name string) *G.Node {
		return G.NewMatrix(g, t, G.WithShape(v.Shape()...), G.WithValue(v), G.WithName(name))
	}
	units := G.Must(G.Tanh(G.Must(G.Mul(x2, weight(w.f, "f")))))
	f := G.Must(G.Mul(units, weight(w.fOut, "fOut")))
	h := G.Must(G.Rectify(G.Must(G.Mul(all, weight(w.d, "d")))))
	h = G.Must(G.Sigmoid(G.Must(G.Mul(h, weight(w.dHidden, "dHidden")))))
	zeta := G.Must(G.Mul(h, weight(w.dOut, "dOut")))
	two, half := G.NewConstant(2.0), G.NewConstant(0.5)
	if t == tensor.Float32 {
		two, half = G.NewConstant(float32(2)), G.NewConstant(float32(0.5))
	}
	eta := G.Must(G.Add(G.Must(G.Add(G.Must(G.Mul(x1, two)), f)), G.Must(G.Add(zeta, half))))
	return &gorgonia.Network{
		Inputs: []gorgonia.Input{{Node: x1, Columns: []string{"x1"}}, {Node: x2, Columns: []string{"x2"}}, {Node: all, Columns: []string{"x1", "x2", "x3"}}},
		Eta:    eta, Zeta: zeta, Taps: map[string]*G.Node{"units": units},
	}, nil
}

func (w *weights) structure() gorgonia.Structure {
	coef := make([]float64, 4)
	for i := range coef {
		coef[i] = w.fOutAt(i)
	}
	return gorgonia.Structure{
		Predictors: []string{"y"}, Intercepts: []float64{0.5},
		Blocks: [][]decompose.Block{{
			{Term: &decompose.LinearTerm{Column: "x1"}, Coef: []float64{2}},
			{Term: &decompose.Tap{Tensor: "units", Features: []string{"x2"}, Width: 4}, Coef: coef},
		}},
	}
}

func table(t testing.TB, n int) *data.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	out := data.NewTable(n)
	for _, name := range []string{"x1", "x2", "x3"} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
		}
		if err := out.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func batches(t testing.TB, src data.Source, columns []string) (out []*data.Batch) {
	t.Helper()
	for b, err := range src.Batches(context.Background(), columns) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// TestModel: a graph with terms, a tap and a deep part obeys the laws of decompose.Model
// in both types, from many goroutines, and decomposes exactly.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		t         tensor.Dtype
		tolerance float64
	}{{tensor.Float64, 1e-13}, {tensor.Float32, 1e-5}} {
		w := newWeights(c.t)
		for _, rows := range []int{0, 7} {
			m, err := gorgonia.New(w.build, w.structure(), rows)
			if err != nil {
				t.Fatal(err)
			}
			src := table(t, 300)
			for _, b := range batches(t, src, m.Columns()) {
				if err := decomposetest.Model(m, b, c.tolerance); err != nil {
					t.Errorf("%v, %d rows a graph: %v", c.t, rows, err)
				}
			}
			r, err := decompose.Decompose(context.Background(), m, src, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p := r.Predictors[0]; len(p.Terms) != 2 {
				t.Errorf("%d terms", len(p.Terms))
			}
		}
	}
}

// TestValues: the numbers are those of the formula.
func TestValues(t *testing.T) {
	w := newWeights(tensor.Float64)
	m, err := gorgonia.New(w.build, w.structure(), 16)
	if err != nil {
		t.Fatal(err)
	}
	at := func(m *tensor.Dense, i, j int) float64 { return m.Get(i*m.Shape()[1] + j).(float64) }
	for _, b := range batches(t, table(t, 50), m.Columns()) {
		out := decomposeOutputs(m, b.Rows())
		if err := m.Forward(context.Background(), out, b); err != nil {
			t.Fatal(err)
		}
		var x [3][]float64
		for j, name := range []string{"x1", "x2", "x3"} {
			if x[j], err = b.Numeric(name); err != nil {
				t.Fatal(err)
			}
		}
		for r := range b.Rows() {
			zeta, f := 0.0, 0.0
			for k := range 8 {
				sum := 0.0
				for j := range 8 {
					h := 0.0
					for i := range 3 {
						h += x[i][r] * at(w.d, i, j)
					}
					sum += max(h, 0) * at(w.dHidden, j, k)
				}
				zeta += at(w.dOut, k, 0) / (1 + math.Exp(-sum))
			}
			for j := range 4 {
				f += math.Tanh(x[1][r]*at(w.f, 0, j)) * at(w.fOut, j, 0)
			}
			if eta := 0.5 + 2*x[0][r] + f + zeta; math.Abs(out.Eta.At(r, 0)-eta) > 1e-12 || math.Abs(out.Zeta.At(r, 0)-zeta) > 1e-12 {
				t.Fatalf("row %d: eta %v, zeta %v, want %v, %v", r, out.Eta.At(r, 0), out.Zeta.At(r, 0), eta, zeta)
			}
		}
	}
}

// TestBlackBox: without blocks the deep part is the predictor.
func TestBlackBox(t *testing.T) {
	w := newWeights(tensor.Float64)
	m, err := gorgonia.New(func(rows int) (*gorgonia.Network, error) {
		n, err := w.build(rows)
		n.Zeta, n.Taps = nil, nil
		return n, err
	}, gorgonia.Structure{Predictors: []string{"y"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches(t, table(t, 40), m.Columns()) {
		if err := decomposetest.Model(m, b, 0); err != nil {
			t.Error(err)
		}
	}
}

// TestFaults: networks that do not fit, and panics inside gorgonia, become errors.
func TestFaults(t *testing.T) {
	w := newWeights(tensor.Float64)
	change := func(f func(n *gorgonia.Network, rows int)) func(int) (*gorgonia.Network, error) {
		return func(rows int) (*gorgonia.Network, error) {
			n, err := w.build(rows)
			f(n, rows)
			return n, err
		}
	}
	for _, c := range []struct {
		says  string
		build func(int) (*gorgonia.Network, error)
	}{
		{"no luck", func(int) (*gorgonia.Network, error) { return nil, errors.New("no luck") }},
		{"panic: no luck", func(int) (*gorgonia.Network, error) { panic("no luck") }},
		{"gives no network", func(int) (*gorgonia.Network, error) { return nil, nil }},
		{"needs Network.Zeta", change(func(n *gorgonia.Network, _ int) { n.Zeta = nil })},
		{`columns ["x1" "x2"]`, change(func(n *gorgonia.Network, _ int) { n.Inputs[0].Columns = []string{"x1", "x2"} })},
		{"is not an input node", change(func(n *gorgonia.Network, _ int) { n.Inputs[0].Node = n.Eta })},
		{`tap "units"`, change(func(n *gorgonia.Network, _ int) { n.Taps["units"] = G.NewScalar(n.Eta.Graph(), tensor.Float64) })},
		{"want 7 rows", func(int) (*gorgonia.Network, error) { return w.build(8) }},
		{"draws random numbers", change(func(n *gorgonia.Network, rows int) {
			n.Eta = G.Must(G.Add(n.Eta, G.GaussianRandomNode(n.Eta.Graph(), tensor.Float64, 0, 1, rows, 1)))
		})},
	} {
		if _, err := gorgonia.New(c.build, w.structure(), 7); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
	m, err := gorgonia.New(change(func(n *gorgonia.Network, rows int) {
		n.Eta = G.Must(G.Add(n.Eta, G.NewMatrix(n.Eta.Graph(), tensor.Float64, G.WithShape(rows, 1), G.WithName("forgotten"))))
	}), w.structure(), 7)
	if err != nil {
		t.Fatal(err)
	}
	b := batches(t, table(t, 5), m.Columns())[0]
	if err := m.Forward(context.Background(), decomposeOutputs(m, 5), b); err == nil || !strings.Contains(err.Error(), `"forgotten" has no value`) {
		t.Errorf("a weight without a value: %v", err)
	}
}
