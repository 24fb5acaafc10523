package onnx_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// shape is a predictor in a line: head, terms, "deep" if there is a deep part.
func shape(p onnx.PredictorInfo) string {
	var parts []string
	if p.Head != "" {
		parts = append(parts, p.Head)
	}
	for _, t := range p.Terms {
		if t.Width != 1 {
			return "a term of several columns: " + t.Name
		}
		parts = append(parts, t.Name)
	}
	if p.Deep != nil {
		if p.Deep.Width != 1 {
			return "a deep part of several features"
		}
		parts = append(parts, "deep")
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "X", "")
}

// Boosted stumps are sums of functions of one column, boosting of depth two of one and
// two, and trees on many columns are deep, whoever wrote the file: on three and more unless
// asked for. Each term is one column.
func TestStructureOfTrees(t *testing.T) {
	ofThree := regexp.MustCompile(`f\(\S+,\S+,\S+\) `)
	for name, three := range map[string][]string{
		"lightgbm/stumps":             {"f([0]) f([1])"},
		"lightgbm/pairs":              {"f([0]) f([0],[1])"},
		"lightgbm/classifier_stumps":  {"sigmoid f([0]) f([1])"},
		"lightgbm/regressor":          {"deep"},
		"lightgbm/split":              {"deep"},
		"sklearn/bagging":             {"deep"},
		"lightgbm/poisson":            {"exp f([0],[1]) f([1],[3]) f([0],[1],[2]) f([0],[1],[3]) deep"},
		"xgboost/stumps":              {"f([0]) f([1])"},
		"xgboost/classifier_stumps":   {"sigmoid f([0]) f([1])"},
		"xgboost/pairs":               {"f([0],[1]) f([0],[2]) f([0],[3]) f([2],[3])"},
		"xgboost/classes":             {"softmax f([0],[1]) f([0],[2]) f([0],[3]) f([0],[1],[2]) deep", "softmax f([0],[1]) f([0],[2]) f([2],[3]) f([0],[1],[2]) f([0],[2],[3]) deep", "softmax f([0],[1]) f([0],[2]) f([0],[3]) f([0],[1],[3]) deep"},
		"catboost/stumps":             {"f(features[0]) f(features[1]) f(features[2]) f(features[3])"},
		"sklearn/boosting_stumps":     {"f([0]) f([1])"},
		"sklearn/hist_stumps":         {"f([0]) f([1])"},
		"sklearn/boosting":            {"deep"},
		"sklearn/boosting_classifier": {"sigmoid f([0],[1]) f([0],[2])"},
		"sklearn/tree":                {"f([0],[1]) f([0],[2])"},
	} {
		g, err := onnx.LoadFile(filepath.Join(zooDir, "networks", name+".onnx"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var two []string
		for _, p := range three {
			two = append(two, ofThree.ReplaceAllString(p, ""))
		}
		for order, want := range map[int][]string{0: two, 3: three} {
			s, err := onnx.Discover(g, onnx.Unbound(g), &onnx.Options{TreeOrder: order})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var got []string
			for _, p := range s.Predictors {
				got = append(got, shape(p))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, trees of %d columns at most: %q, want %q", name, order, got, want)
			}
		}
	}
}

// twoDeep is a random ensemble of depth two on four columns, some of whose trees use
// three of them.
func twoDeep(seed uint64, more ...onnxpb.Attr) *onnxpb.Builder {
	r := rand.New(rand.NewPCG(seed, 3))
	tr := new(graphtest.Trees)
	column := func() int64 { return r.Int64N(4) }
	for k := range int64(40) {
		tr.Branch(k, 0, column(), "BRANCH_LEQ", r.NormFloat64(), 1, 2)
		tr.Branch(k, 1, column(), "BRANCH_GT", r.NormFloat64(), 3, 4).Branch(k, 2, column(), "BRANCH_LT", r.NormFloat64(), 5, 6)
		for leaf := range int64(4) {
			tr.Leaf(k, 3+leaf, r.NormFloat64())
		}
	}
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 4)
	tr.Regressor(b, "x", "y", append(more, onnxpb.Floats("base_values", 0.25))...)
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	return b
}

func modelOf(t *testing.T, b *onnxpb.Builder, o *onnx.Options) *onnx.Model {
	t.Helper()
	g, err := onnx.Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// forward runs a model on columns of n rows.
func forward(t *testing.T, m *onnx.Model, columns [][]float64) *decompose.Outputs {
	t.Helper()
	n := len(columns[0])
	b := data.NewBatch(n, 0)
	for i, name := range m.Columns() {
		if err := b.SetNumeric(name, columns[i]); err != nil {
			t.Fatal(err)
		}
	}
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, width, nil)
	}
	if err := m.Forward(context.Background(), out, b); err != nil {
		t.Fatal(err)
	}
	return out
}

// Columns that are one, as the dummies of a factor, are one term, and so is a column
// that is scaled first.
func TestTreesBehindLinearNodes(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddInput("group", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInts("depth", 3)
	b.AddInit("off on", []int{2}, 0, 1)
	b.AddInit("scale", []int{1}, 2)
	b.AddInts("last", 1)
	b.AddNode("OneHot", []string{"group", "depth", "off on"}, "hot")
	b.AddNode("Squeeze", []string{"hot", "last"}, "dummies")
	b.AddNode("Mul", []string{"x", "scale"}, "scaled")
	b.AddNode("Concat", []string{"scaled", "dummies"}, "all", onnxpb.Int("axis", 1))
	tr := new(graphtest.Trees).Stump(0, 0, 1, 1, 2).Stump(1, 1, 0.5, 0.25, -1).Stump(2, 3, 0.5, 4, 5).Stump(3, 0, 3, 6, 7)
	tr.Branch(4, 0, 1, "BRANCH_LEQ", 0.5, 1, 2).Leaf(4, 1, 1).Branch(4, 2, 2, "BRANCH_LEQ", 0.5, 3, 4).Leaf(4, 3, 8).Leaf(4, 4, 9)
	tr.Regressor(b, "all", "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	m := modelOf(t, b, nil)
	p := m.Structure().Predictors[0]
	if got := shape(p); got != "f(x) f(group)" {
		t.Fatalf("terms %q", got)
	}
	if want := `the sum over the trees that depend on "group" alone: 3 trees`; p.Terms[1].Reason != want {
		t.Errorf("%q, want %q", p.Terms[1].Reason, want)
	}
	out := forward(t, m, [][]float64{{0.5, 0.6, 2}, {0, 1, 2}})
	for i, want := range []float64{1 + 6 - 1 + 4 + 8, 2 + 6 + 0.25 + 4 + 1, 2 + 7 + 0.25 + 5 + 1} {
		if got := out.Eta.At(i, 0); got != want {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
}

// Two classes from one sum are one predictor on the scale of the sum.
func TestPairedClassesAreOnePredictor(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.Import("ai.onnx.ml", 3)
	tr := new(graphtest.Trees).Stump(0, 0, 0, 1, -2).Stump(1, 1, 0, 0.5, 0.25)
	b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", []string{"x"}, []string{"label", "p"},
		tr.Attrs("class", onnxpb.Ints("classlabels_int64s", 3, 4), onnxpb.Text("post_transform", "LOGISTIC"), onnxpb.Floats("base_values", 0.125))...)
	b.Output("label", onnxpb.TensorProto_INT64, onnxpb.Rows)
	b.Output("p", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	m := modelOf(t, b, nil)
	s := m.Structure()
	if len(s.Predictors) != 1 || shape(s.Predictors[0]) != "sigmoid f(x[0]) f(x[1])" || s.Predictors[0].Intercept != 0.125 {
		t.Fatalf("%+v", s.Predictors)
	}
	if !slices.Contains(s.Notes, `output "p1" is 1 - output "p2" and not repeated`) {
		t.Errorf("notes %q", s.Notes)
	}
	out := forward(t, m, [][]float64{{-1, 1}, {1, -1}})
	if a, b := out.Eta.At(0, 0), out.Eta.At(1, 0); a != 1.375 || b != -1.375 {
		t.Errorf("eta %v and %v, want 1.375 and -1.375", a, b)
	}
	// The label comes from the nodes that were there.
	e, err := onnx.GoEngine{}.Prepare(m.Graph(), []string{"label", "p"})
	if err != nil {
		t.Fatal(err)
	}
	dst := [][]float64{make([]float64, 2), make([]float64, 4)}
	if err := e.Run(dst, [][]float64{{-1, 1, 1, -1}}, 2); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dst[0], []float64{4, 3}) || math.Abs(dst[1][0]+dst[1][1]-1) > 1e-15 || math.Abs(dst[1][1]-1/(1+math.Exp(-1.375))) > 1e-15 {
		t.Errorf("labels and probabilities %v", dst)
	}
}

// Nobody has to name what was split: names that the file uses otherwise are kept.
func TestNamesOfSplitTreesAreFree(t *testing.T) {
	b := twoDeep(6)
	b.AddNode("Neg", []string{"y"}, "y/trees")
	b.Output("y/trees", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	m := modelOf(t, b, nil)
	out := forward(t, m, [][]float64{{1}, {2}, {3}, {4}})
	if a, b := out.Eta.At(0, 0), out.Eta.At(0, 1); a != -b {
		t.Errorf("y is %v, -y is %v", a, b)
	}
}
