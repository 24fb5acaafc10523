package onnx_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// threeForests has the ensembles "one" (f of column 0, and of 1), "two" (of 0, and of 0
// and 1) and "three" (of 1) on one input of two columns; pair: "three" has two targets.
func threeForests(pair bool) *onnxpb.Builder {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	new(graphtest.Trees).Stump(0, 0, 0, 1, 2).Stump(1, 1, 0, 4, 8).Regressor(b, "x", "one", onnxpb.Floats("base_values", 0.5))
	two := new(graphtest.Trees).Stump(0, 0, 1, 16, 32)
	two.Branch(1, 0, 0, "BRANCH_LEQ", 0, 1, 2).Leaf(1, 1, 64).Branch(1, 2, 1, "BRANCH_LEQ", 0, 3, 4).Leaf(1, 3, 128).Leaf(1, 4, 256)
	two.Regressor(b, "x", "two")
	three := new(graphtest.Trees)
	if !pair {
		three.Stump(0, 1, 0, -1, -2).Regressor(b, "x", "three")
		return b
	}
	three.Branch(0, 0, 1, "BRANCH_LEQ", 0, 1, 2).Leaf(0, 1, -1, -3).Leaf(0, 2, -2, -5)
	three.Regressor(b, "x", "three", onnxpb.Int("n_targets", 2))
	return b
}

// valuesOf gives each term of predictor k, and the deep part, on the four rows where
// columns are -1 or 0.5.
func valuesOf(t *testing.T, m *onnx.Model, k int) string {
	t.Helper()
	out := forward(t, m, [][]float64{{-1, 0.5, -1, 0.5}, {-1, -1, 0.5, 0.5}})
	said := fmt.Sprintf("%g", m.Intercept(k))
	for i := range 4 {
		sum := m.Intercept(k) + out.Zeta.At(i, k)
		for _, block := range m.Blocks(k) {
			sum += block.Coef[0] * out.Taps[block.Term.(*decompose.Tap).Tensor].At(i, 0)
		}
		if eta := out.Eta.At(i, k); math.Abs(sum-eta) > 1e-12*(1+math.Abs(eta)) {
			t.Errorf("row %d: parts add up to %v, eta is %v", i, sum, eta)
		}
	}
	for _, block := range m.Blocks(k) {
		tap := block.Term.(*decompose.Tap)
		said += fmt.Sprintf("; %s", strings.Join(tap.Features, ""))
		for i := range 4 {
			said += fmt.Sprintf(" %g", block.Coef[0]*out.Taps[tap.Tensor].At(i, 0))
		}
	}
	return said
}

// However a file adds up ensembles, the trees on a set of columns are one column of each
// predictor, weighted as the file weights them. The trees on all columns are a term as
// well if those of another ensemble are on fewer.
func TestEnsemblesThatAddUp(t *testing.T) {
	const all = "0.5; x[0] 17 18 17 18; x[1] 3 3 6 6; x[0]x[1] 64 128 64 256"
	for name, c := range map[string]struct {
		build func(b *onnxpb.Builder)
		want  string
	}{
		"Sum": {func(b *onnxpb.Builder) { b.AddNode("Sum", []string{"one", "two", "three"}, "y") }, all},
		"Add": {func(b *onnxpb.Builder) {
			b.AddNode("Add", []string{"one", "three"}, "a")
			b.AddNode("Add", []string{"a", "two"}, "y")
		}, all},
		"ReduceSum": {func(b *onnxpb.Builder) {
			b.AddInts("axis", 1)
			b.AddNode("Concat", []string{"one", "two", "three"}, "a", onnxpb.Int("axis", 1))
			b.AddNode("ReduceSum", []string{"a", "axis"}, "y")
		}, all},
		"doubles": {func(b *onnxpb.Builder) {
			for _, v := range []string{"one", "two", "three"} {
				b.AddNode("Cast", []string{v}, v+"64", onnxpb.Int("to", int64(onnxpb.TensorProto_DOUBLE)))
			}
			b.AddNode("Sum", []string{"one64", "two64", "three64"}, "y64")
			b.AddNode("Cast", []string{"y64"}, "y", onnxpb.Int("to", int64(onnxpb.TensorProto_FLOAT)))
		}, all},
		"weights": {func(b *onnxpb.Builder) {
			b.AddInit("w", []int{3, 1}, 2, 0.5, -1)
			b.AddNode("Concat", []string{"one", "two", "three"}, "a", onnxpb.Int("axis", 1))
			b.AddNode("Gemm", []string{"a", "w"}, "y")
		}, "1; x[0] 10 12 10 12; x[1] 9 9 18 18; x[0]x[1] 32 64 32 128"},
		"used twice": {func(b *onnxpb.Builder) {
			b.AddNode("Sum", []string{"one", "two", "one", "three"}, "y")
		}, "1; x[0] 18 20 18 20; x[1] 7 7 14 14; x[0]x[1] 64 128 64 256"},
		"another column": {func(b *onnxpb.Builder) {
			b.AddNode("Add", []string{"two", "three"}, "y")
		}, "0; x[0] 16 16 16 16; x[1] -1 -1 -2 -2; x[0]x[1] 64 128 64 256"},
	} {
		b := threeForests(false)
		c.build(b)
		b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		m := modelOf(t, b, nil)
		if p := m.Structure().Predictors[0]; shape(p) != "f(x[0]) f(x[1]) f(x[0],x[1])" {
			t.Errorf("%s: terms %q", name, shape(p))
			continue
		}
		if got := valuesOf(t, m, 0); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Predictors have columns of their own where they add up other ensembles, and one where
// they add up the same. The trees behind a term are counted over all ensembles.
func TestPredictorsOfEnsembles(t *testing.T) {
	b := threeForests(true)
	b.AddNode("Add", []string{"one", "three"}, "y") // two targets: one + three[0], one + three[1]
	b.AddInit("w", []int{2, 1}, 1, 1)
	b.AddNode("Gemm", []string{"three", "w"}, "z") // of one ensemble
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.Output("z", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	m := modelOf(t, b, nil)
	s := m.Structure()
	for k, want := range []string{"0.5; x[0] 1 2 1 2; x[1] 3 3 6 6", "0.5; x[0] 1 2 1 2; x[1] 1 1 3 3", "0; x[1] -4 -4 -7 -7"} {
		if got := valuesOf(t, m, k); got != want {
			t.Errorf("%s: %s, want %s", s.Predictors[k].Name, got, want)
		}
	}
	if want := `the sum over the trees that depend on "x[1]" alone: 2 trees`; s.Predictors[0].Terms[1].Reason != want {
		t.Errorf("%q, want %q", s.Predictors[0].Terms[1].Reason, want)
	}
	if w := m.Taps(); len(w) != 4 {
		t.Errorf("taps %v, want one of x[0] that two predictors share and three of x[1]", w)
	}
}

// Options.Deep takes the ensemble that it names, and its trees alone.
func TestDeepNamesOneEnsembleOfSeveral(t *testing.T) {
	b := threeForests(false)
	b.AddNode("Sum", []string{"one", "two", "three"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	m := modelOf(t, b, &onnx.Options{Deep: []string{"two"}})
	if got, want := valuesOf(t, m, 0), "0.5; x[0] 1 2 1 2; x[1] 3 3 6 6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d := m.Structure().Predictors[0].Deep; d == nil || !slices.Equal(d.Columns, []string{"x[0]", "x[1]"}) {
		t.Errorf("deep part %+v", d)
	}
}

// More sums than a row has room for stay several columns, and a note says so.
func TestTooManySumsOfEnsembles(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it takes long, and starts nothing that the race detector, which runs -short, could see")
	}
	const columns, targets = 200, 128
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, columns)
	for _, name := range []string{"one", "two", "three"} {
		tr := new(graphtest.Trees)
		for c := range int64(columns) {
			yes, no := make([]float64, targets), make([]float64, targets)
			for k := range yes {
				yes[k], no[k] = float64(k), 1
			}
			tr.Branch(c, 0, c, "BRANCH_LEQ", 0, 1, 2).Leaf(c, 1, yes...).Leaf(c, 2, no...)
		}
		tr.Regressor(b, "x", name, onnxpb.Int("n_targets", targets))
	}
	b.AddNode("Sum", []string{"one", "two", "three"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, targets)
	m := modelOf(t, b, nil)
	s := m.Structure()
	if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "stay several basis columns") }) {
		t.Errorf("notes %q", s.Notes)
	}
	if w := s.Predictors[5].Terms[0].Width; w != 3 {
		t.Errorf("a term of %d columns", w)
	}
}
