package structure_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// zoo is the file of a network of testdata/zoo.
func zoo(name string) string {
	return filepath.Join("..", "..", "..", "..", "testdata", "zoo", "networks", name+".onnx")
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
		g, err := graphtest.LoadFile(zoo(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var two []string
		for _, p := range three {
			two = append(two, ofThree.ReplaceAllString(p, ""))
		}
		for order, want := range map[int][]string{0: two, 3: three} {
			s := find(t, g, &structure.Options{MaxOrder: order})
			var got []string
			for _, p := range s.Predictors {
				got = append(got, graphtest.Shape(p))
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

// A sum over trees of depth two is one over single columns and pairs, also where a tree
// uses three columns; intercept, terms and deep part add up to the ensemble, and a term
// does not move with other columns. Less is split if terms may have fewer columns.
func TestPairsOfTrees(t *testing.T) {
	for _, mean := range []string{"SUM", "AVERAGE"} {
		for _, order := range []int{0, 2, 1} {
			f := find(t, load(t, twoDeep(5, onnxpb.Text("aggregate_function", mean))), &structure.Options{MaxOrder: order})
			p := f.Predictors[0]
			if (p.Deep != nil) != (order == 1) {
				t.Errorf("%s, order %d: deep part %v", mean, order, p.Deep)
			}
			width := map[int]int{}
			for _, term := range p.Terms {
				width[len(term.Columns)]++
				if term.Width != 1 {
					t.Errorf("%s has %d columns", term.Name, term.Width)
				}
			}
			if width[1] < 2 || order != 1 && width[2] != 6 || width[3] != 0 || order == 1 && width[2] != 0 {
				t.Errorf("%s, order %d: %v terms by number of columns", mean, order, width)
			}
			checkSums(t, f, 1e-12)
			rows := drawn(f, 50)
			_, before := partsOf(t, f, 0, rows)
			for _, name := range f.Columns {
				moved := maps.Clone(rows)
				moved[name] = slices.Clone(rows[name])
				slices.Reverse(moved[name])
				_, after := partsOf(t, f, 0, moved)
				for i, own := range before {
					if own.columns != "" && slices.Equal(after[i].values, own.values) == strings.Contains(own.columns, name) {
						t.Errorf("the term of %s, as %q moves", own.columns, name)
					}
				}
			}
		}
	}
}

// The rules of the split graph are sound, and those that are linear exact.
func TestRulesOfSplitTrees(t *testing.T) {
	columns := [][]string{{"a", "b", "c", "d"}}
	graphs := 0
	for _, name := range []string{"xgboost/classes", "xgboost/classifier", "sklearn/forest_array", "lightgbm/classifier_array", "sklearn/forest", "handmade/trees_5", "lightgbm/split", "sklearn/bagging"} {
		g, err := graphtest.LoadFile(zoo(name))
		if err != nil {
			t.Fatal(err)
		}
		bound := columns
		if w := g.Inputs[0].Width(); w != 4 {
			bound = [][]string{columns[0][:w]}
		}
		s, err := structure.SplitTrees(g, bound, 3, structure.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if s != g {
			graphs++
		}
		graphtest.CheckRules(t, g, 1)
		graphtest.CheckRules(t, s, 2)
		for _, n := range g.Nodes {
			if r, ok := n.Resolved.(*operator.Trees); ok && r.Counts != nil {
				t.Errorf("%s: the loaded graph was changed", name)
			}
		}
	}
	if graphs < 4 {
		t.Errorf("%d graphs were split", graphs)
	}
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
	f := find(t, load(t, b), nil)
	p := f.Predictors[0]
	if got := graphtest.Shape(p); got != "f(x) f(group)" {
		t.Fatalf("terms %q", got)
	}
	if want := `the sum over the trees that depend on "group" alone: 3 trees`; p.Terms[1].Reason != want {
		t.Errorf("%q, want %q", p.Terms[1].Reason, want)
	}
	eta, _ := partsOf(t, f, 0, map[string][]float64{"x": {0.5, 0.6, 2}, "group": {0, 1, 2}})
	for i, want := range []float64{1 + 6 - 1 + 4 + 8, 2 + 6 + 0.25 + 4 + 1, 2 + 7 + 0.25 + 5 + 1} {
		if eta[i] != want {
			t.Errorf("row %d: %v, want %v", i, eta[i], want)
		}
	}
}

// Also where every column is in one part, and the sum is that part and nothing else.
func TestPairedClassesOfABlackBoxAreOnePredictor(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.Import("ai.onnx.ml", 3)
	tr := new(graphtest.Trees).Stump(0, 0, 0, 1, -2)
	b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", []string{"x"}, []string{"label", "p"},
		tr.Attrs("class", onnxpb.Ints("classlabels_int64s", 3, 4), onnxpb.Text("post_transform", "LOGISTIC"))...)
	b.Output("p", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	f := find(t, load(t, b), nil)
	if len(f.Predictors) != 1 || f.Predictors[0].Head != "sigmoid" {
		t.Fatalf("%+v", f.Predictors)
	}
}

// The numbers that splits compare columns with are where a network may jump: above t for x <= t and x > t, at t for x < t.
func TestCutsOfTrees(t *testing.T) {
	tr := new(graphtest.Trees)
	tr.Branch(0, 0, 1, "BRANCH_LEQ", 0.5, 1, 2).Leaf(0, 1, 1)
	tr.Branch(0, 2, 1, "BRANCH_LT", 2, 3, 4).Leaf(0, 3, 2).Leaf(0, 4, 3)
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	tr.Regressor(b, "x", "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	cuts := structure.Cuts(load(t, b), [][]string{{"a", "b"}})
	if got := cuts["b"]; len(cuts) != 1 || len(got) != 2 || !(got[0] > 0.5 && got[0] < 0.500001) || got[1] != 2 {
		t.Errorf("cuts %v, want those of b just above 0.5 and at 2", cuts)
	}
}

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
func valuesOf(t *testing.T, f *structure.Found, k int) string {
	t.Helper()
	_, parts := partsOf(t, f, k, map[string][]float64{"x[0]": {-1, 0.5, -1, 0.5}, "x[1]": {-1, -1, 0.5, 0.5}})
	said := fmt.Sprintf("%g", f.Parts[k].Intercept)
	for _, p := range parts {
		if p.columns != "" {
			said += fmt.Sprintf("; %s %s", p.columns, strings.Trim(fmt.Sprint(p.values), "[]"))
		}
	}
	checkSums(t, f, 1e-12)
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
		f := find(t, load(t, b), nil)
		if p := f.Predictors[0]; graphtest.Shape(p) != "f(x[0]) f(x[1]) f(x[0],x[1])" {
			t.Errorf("%s: terms %q", name, graphtest.Shape(p))
			continue
		}
		if got := valuesOf(t, f, 0); got != c.want {
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
	f := find(t, load(t, b), nil)
	for k, want := range []string{"0.5; x[0] 1 2 1 2; x[1] 3 3 6 6", "0.5; x[0] 1 2 1 2; x[1] 1 1 3 3", "0; x[1] -4 -4 -7 -7"} {
		if got := valuesOf(t, f, k); got != want {
			t.Errorf("%s: %s, want %s", f.Predictors[k].Name, got, want)
		}
	}
	if want := `the sum over the trees that depend on "x[1]" alone: 2 trees`; f.Predictors[0].Terms[1].Reason != want {
		t.Errorf("%q, want %q", f.Predictors[0].Terms[1].Reason, want)
	}
	if len(f.Taps) != 4 {
		t.Errorf("%d taps, want one of x[0] that two predictors share and three of x[1]", len(f.Taps))
	}
}

// Options.Deep takes the ensemble that it names, and its trees alone.
func TestDeepNamesOneEnsembleOfSeveral(t *testing.T) {
	b := threeForests(false)
	b.AddNode("Sum", []string{"one", "two", "three"}, "y")
	b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	f := find(t, load(t, b), &structure.Options{Deep: []string{"two"}})
	if got, want := valuesOf(t, f, 0), "0.5; x[0] 1 2 1 2; x[1] 3 3 6 6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d := f.Predictors[0].Deep; d == nil || !slices.Equal(d.Columns, []string{"x[0]", "x[1]"}) {
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
	f := find(t, load(t, b), nil)
	if !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "stay several basis columns") }) {
		t.Errorf("notes %q", f.Notes)
	}
	if w := f.Predictors[5].Terms[0].Width; w != 3 {
		t.Errorf("a term of %d columns", w)
	}
}

// Nobody has to name what was split: names that the file uses otherwise are kept.
func TestNamesOfSplitTreesAreFree(t *testing.T) {
	b := twoDeep(6)
	b.AddNode("Neg", []string{"y"}, "y/trees")
	b.Output("y/trees", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	f := find(t, load(t, b), nil)
	rows := drawn(f, 5)
	y, _ := partsOf(t, f, 0, rows)
	negated, _ := partsOf(t, f, 1, rows)
	for i, v := range y {
		if negated[i] != -v {
			t.Errorf("y is %v, -y is %v", v, negated[i])
		}
	}
}
