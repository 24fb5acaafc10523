package classes_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// network has a predictor for each of k classes and one more, which is none's: lines, of
// which the second class lacks one, bases that two classes learned each for themselves and
// a basis that all share, a deep part, and common, which every class has besides.
type network struct {
	k      int
	common float64
	lines  [2]*decompose.LinearTerm
	own    []*decompose.Tap
	shared *decompose.Tap
}

func newNetwork(k int, common float64) *network {
	n := &network{k: k, common: common, lines: [2]*decompose.LinearTerm{{Column: "a"}, {Column: "b"}}, shared: &decompose.Tap{Tensor: "h", Features: []string{"b"}, Width: 2}}
	for c := range k {
		n.own = append(n.own, &decompose.Tap{Tensor: fmt.Sprintf("own%d", c), Features: []string{"a"}, Width: 1 + c%2})
	}
	return n
}

func (n *network) Predictors() []string {
	var names []string
	for c := range n.k {
		names = append(names, fmt.Sprintf("y%d", c+1))
	}
	return append(names, "other")
}
func (n *network) Columns() []string { return []string{"a", "b"} }
func (n *network) Intercept(k int) float64 {
	if k == n.k {
		return 5
	}
	return float64(k) + 3*n.common
}
func (n *network) Taps() map[string]int {
	taps := map[string]int{"h": 2}
	for _, t := range n.own {
		taps[t.Tensor] = t.Width
	}
	return taps
}

func (n *network) Blocks(k int) []decompose.Block {
	if k == n.k {
		return []decompose.Block{{Term: n.lines[0], Coef: []float64{2}}}
	}
	blocks := []decompose.Block{{Term: n.shared, Coef: []float64{float64(k) + n.common, -1}}}
	if k != 1 {
		blocks = append(blocks, decompose.Block{Term: n.lines[1], Coef: []float64{0.5 * float64(k+1)}})
	}
	coef := make([]float64, n.own[k].Width)
	for i := range coef {
		coef[i] = float64(k+1) / float64(i+2)
	}
	return append(blocks, decompose.Block{Term: n.own[k], Coef: coef})
}

func (n *network) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	a, err := b.Numeric("a")
	if err != nil {
		return err
	}
	x, err := b.Numeric("b")
	if err != nil {
		return err
	}
	for i := range a {
		dst.Taps["h"].SetRow(i, []float64{math.Tanh(x[i]), x[i] * x[i]})
		for c, t := range n.own {
			for l := range t.Width {
				dst.Taps[t.Tensor].Set(i, l, math.Sin(float64(c+l+1)*a[i]))
			}
		}
		for k := range n.k {
			zeta := math.Cos(float64(k+1)*a[i]*x[i]) + n.common*math.Exp(a[i]-x[i])
			eta := zeta + n.Intercept(k)
			for _, block := range n.Blocks(k) {
				values := mat.NewDense(1, block.Term.Dim(), nil)
				switch t := block.Term.(type) {
				case *decompose.Tap:
					values.SetRow(0, dst.Taps[t.Tensor].RawRowView(i))
				default:
					values.Set(0, 0, x[i])
				}
				for l, c := range block.Coef {
					eta += c * values.At(0, l)
				}
			}
			dst.Zeta.Set(i, k, zeta)
			dst.Eta.Set(i, k, eta)
		}
		dst.Zeta.Set(i, n.k, x[i])
		dst.Eta.Set(i, n.k, 5+2*a[i]+x[i])
	}
	return ctx.Err()
}

func rows(t testing.TB, n int) *data.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	tab := data.NewTable(n)
	for _, name := range []string{"a", "b", "w"} {
		x := make([]float64, n)
		for i := range x {
			if x[i] = r.NormFloat64(); name == "w" {
				x[i] = float64(i % 3)
			}
		}
		if err := tab.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	return tab
}

func batch(t testing.TB, tab *data.Table) *data.Batch {
	t.Helper()
	for b, err := range tab.Batches(context.Background(), tab.Schema().Names()) {
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	return nil
}

func wrapped(t testing.TB, n *network, reference string) *classes.Model {
	t.Helper()
	h := classes.Head{Name: "y"}
	for c := range n.k {
		h.Predictors, h.Classes = append(h.Predictors, c), append(h.Classes, fmt.Sprintf("class %c", 'a'+c))
	}
	m, err := classes.New(n, []classes.Head{h}, reference)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModelLaws(t *testing.T) {
	b := batch(t, rows(t, 12))
	for _, k := range []int{2, 3, 10} {
		for _, reference := range []string{"", "class a", "class b"} {
			m := wrapped(t, newNetwork(k, 0.7), reference)
			if err := decomposetest.Model(m, b, 1e-12); err != nil {
				t.Errorf("%d classes, reference %q: %v", k, reference, err)
			}
			want := k + 1
			if reference != "" || k == 2 {
				want--
			}
			if names := m.Predictors(); len(names) != want || names[len(names)-1] != "other" {
				t.Errorf("%d classes, reference %q: predictors %q", k, reference, names)
			}
		}
	}
}

// featured is a network with a tap that no term reads.
type featured struct{ *network }

func (f featured) Taps() map[string]int {
	taps := f.network.Taps()
	taps["features"] = 1
	return taps
}

func (f featured) Forward(ctx context.Context, dst *decompose.Outputs, b *data.Batch) error {
	a, err := b.Numeric("a")
	if err != nil {
		return err
	}
	dst.Taps["features"].SetCol(0, a)
	return f.network.Forward(ctx, dst, b)
}

// Features of deep parts, which no term reads, are taps of the model of classes too; the bases that are joined are not.
func TestFeaturesAreTaps(t *testing.T) {
	b := batch(t, rows(t, 12))
	m, err := classes.New(featured{newNetwork(2, 0.7)}, []classes.Head{{Name: "y", Predictors: []int{0, 1}, Classes: []string{"a", "b"}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if taps := m.Taps(); taps["features"] != 1 || taps["own0"] != 0 || len(taps) != 3 {
		t.Errorf("taps %v", taps)
	}
	if err := decomposetest.Model(m, b, 1e-12); err != nil {
		t.Error(err)
	}
}

// TestCentredSumToZero: predictors plus the row's mean are the network's own.
func TestCentredSumToZero(t *testing.T) {
	b := batch(t, rows(t, 20))
	n := newNetwork(4, 0.3)
	outputs := func(m decompose.Model) *decompose.Outputs {
		k := len(m.Predictors())
		o := &decompose.Outputs{Zeta: mat.NewDense(20, k, nil), Eta: mat.NewDense(20, k, nil), Taps: map[string]*mat.Dense{}}
		for name, w := range m.Taps() {
			o.Taps[name] = mat.NewDense(20, w, nil)
		}
		if err := m.Forward(context.Background(), o, b); err != nil {
			t.Fatal(err)
		}
		return o
	}
	raw, centred, against := outputs(n), outputs(wrapped(t, n, "")), outputs(wrapped(t, n, "class c"))
	for i := range 20 {
		mean := mat.Sum(raw.Eta.Slice(i, i+1, 0, 4)) / 4
		for k := range 4 {
			if got := centred.Eta.At(i, k) + mean; math.Abs(got-raw.Eta.At(i, k)) > 1e-13*(1+math.Abs(mean)) {
				t.Fatalf("row %d, class %d: %g plus the mean %g, the network has %g", i, k, centred.Eta.At(i, k), mean, raw.Eta.At(i, k))
			}
		}
		for j, k := range []int{0, 1, 3} {
			if got, want := against.Eta.At(i, j), raw.Eta.At(i, k)-raw.Eta.At(i, 2); got != want {
				t.Fatalf("row %d: difference %g, want %g", i, got, want)
			}
		}
	}
}

// TestCommonFunctionChangesNothing: what all classes have in common, in intercepts, terms
// and deep parts, is no part of any result.
func TestCommonFunctionChangesNothing(t *testing.T) {
	tab := rows(t, 400)
	for _, reference := range []string{"", "class b"} {
		var results []*decompose.Result
		for _, common := range []float64{0, 2} {
			m := wrapped(t, newNetwork(3, common), reference)
			o := &decompose.Options{Smoothing: decompose.Smoothing{Shared: m.Sharing()}, Columns: decompose.Columns{Weights: "w"}}
			r, err := decompose.Decompose(context.Background(), m, tab, o)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		for k, p := range results[0].Predictors {
			q := results[1].Predictors[k]
			if math.Abs(p.Variance.Structured-q.Variance.Structured) > 1e-9*p.Variance.Total || math.Abs(p.Variance.Unstructured-q.Variance.Unstructured) > 1e-9*p.Variance.Total {
				t.Errorf("%s: variance %+v, with a common function %+v", p.Name, p.Variance, q.Variance)
			}
			if want := map[string]string{"": "centred over the classes of every row", "class b": "difference to class class b"}[reference]; k < 2 && p.Convention != want {
				t.Errorf("convention %q, want %q", p.Convention, want)
			}
		}
	}
}

// TestExportersNetworks: the laws hold for what people bring.
func TestExportersNetworks(t *testing.T) {
	for _, name := range []string{"keras/classes", "torch_dynamo/head_softmax", "sklearn/lda", "lightgbm/classes", "interpret/classes", "interpret/classifier", "jax/log_softmax"} {
		g, err := onnx.LoadFile(filepath.Join("../testdata/zoo/networks", name+".onnx"), nil)
		if err != nil {
			t.Fatal(err)
		}
		bind := onnx.Unbound(g)
		m, err := onnx.NewModel(g, bind, nil)
		if err != nil {
			t.Fatal(err)
		}
		names := m.Predictors()
		h := classes.Head{Name: "out"}
		for k := range names {
			h.Predictors, h.Classes = append(h.Predictors, k), append(h.Classes, fmt.Sprint(k))
		}
		c, err := classes.New(m, []classes.Head{h}, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b := data.NewBatch(8, 0)
		r := rand.New(rand.NewPCG(1, 1))
		for _, column := range m.Columns() {
			x := make([]float64, 8)
			for i := range x {
				x[i] = float64(float32(3 * r.NormFloat64()))
			}
			if err := b.SetNumeric(column, x); err != nil {
				t.Fatal(err)
			}
		}
		if err := decomposetest.Model(c, b, 1e-6); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadHeads(t *testing.T) {
	n := newNetwork(3, 0)
	for _, c := range []struct {
		heads     []classes.Head
		reference string
		message   string
	}{
		{[]classes.Head{{Name: "y", Predictors: []int{0}, Classes: []string{"a"}}}, "", "the softmax of \"y\" has 1 classes: the probability of one is 1 whatever its predictor is"},
		{[]classes.Head{{Name: "y", Predictors: []int{0, 1}, Classes: []string{"a", "a"}}}, "", "each needs a name of its own"},
		{[]classes.Head{{Name: "y", Predictors: []int{0, 9}, Classes: []string{"a", "b"}}}, "", "predictor 9 of \"y\" is not there"},
		{[]classes.Head{{Name: "y", Predictors: []int{1, 1}, Classes: []string{"a", "b"}}}, "", "has a predictor twice"},
		{[]classes.Head{{Name: "y", Predictors: []int{0, 1}, Classes: []string{"a", "b"}}}, "c", `no class "c" to be the reference: the classes are ["a" "b"]`},
	} {
		if _, err := classes.New(n, c.heads, c.reference); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("error is\n\t%v\nand should say\n\t%s", err, c.message)
		}
	}
}
