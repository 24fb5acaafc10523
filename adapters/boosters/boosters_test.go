package boosters

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// TestStructure: the parts of every golden model's predictors, found in its trees, sum to its scores: to the rounding of
// float64 for LightGBM, to that of a few sums of float32 for XGBoost. The columns of any order are those of the
// trees: of models whose trees have one split, none has two.
func TestStructure(t *testing.T) {
	for _, g := range goldens(t) {
		for _, c := range g.Cases {
			t.Run(g.Library+" "+g.Version+"/"+c.Name, func(t *testing.T) {
				n, err := Load(bytes.NewReader(c.File), nil)
				if err != nil {
					t.Fatal(err)
				}
				bind := onnx.Unbound(n)
				m, err := onnx.NewModel(n, bind, nil)
				if err != nil {
					t.Fatal(err)
				}
				rows := len(c.Rows)
				var scores, x = parse(t, c.Score), c.rows()
				k := len(scores) / rows
				b := data.NewBatch(rows, 0)
				for j, name := range bind.Columns() {
					v := make([]float64, rows)
					for r := range v {
						v[r] = x[r*4+j]
					}
					if err := b.SetNumeric(name, v); err != nil {
						t.Fatal(err)
					}
				}
				out := &decompose.Outputs{Zeta: mat.NewDense(rows, k, nil), Eta: mat.NewDense(rows, k, nil), Taps: map[string]*mat.Dense{}}
				for name, width := range m.Taps() {
					out.Taps[name] = mat.NewDense(rows, width, nil)
				}
				if err := m.Forward(context.Background(), out, b); err != nil {
					t.Fatal(err)
				}
				share := 1.0
				switch {
				case strings.Contains(c.Name, "sigmoid 2.5"):
					share = 2.5
				case strings.Contains(c.Name, "sigmoid 0.5"):
					share = 0.5
				case g.Library == "lightgbm" && c.Name == "random forest, classes":
					share = 1. / 3
				case g.Library == "lightgbm" && strings.HasPrefix(c.Name, "random forest"):
					share = 1. / 5
				}
				tolerance := 1e-9
				if g.Library == "xgboost" {
					tolerance = 4e-6 // sums of float32
				}
				if len(m.Predictors()) != k {
					t.Fatalf("%d predictors, want %d", len(m.Predictors()), k)
				}
				for p := range k {
					for r := range rows {
						eta, want := out.Eta.At(r, p), share*scores[r*k+p]
						if !(math.Abs(eta-want) <= tolerance*max(1, math.Abs(want))) {
							t.Fatalf("row %d: %v, want %v", r, eta, want)
						}
					}
				}
			})
		}
	}
}

// TestRefused: what is not read is refused by name.
func TestRefused(t *testing.T) {
	of := func(library, name string) string {
		for _, g := range goldens(t) {
			for _, c := range g.Cases {
				if g.Library == library && c.Name == name {
					return string(c.File)
				}
			}
		}
		t.Fatal("no golden model", library, name)
		return ""
	}
	xgb, lgb := of("xgboost", "squared error"), of("lightgbm", "regression")
	for _, c := range []struct{ why, file, from, to, want string }{
		{"another objective", xgb, `"reg:squarederror"`, `"reg:new"`, `the objective "reg:new" is not supported`},
		{"another booster", xgb, `"name":"gbtree"`, `"name":"gbother"`, `the booster "gbother" is not supported`},
		{"an infinite base", xgb, `"base_score":"`, `"base_score":"inf`, "base_score"},
		{"a child outside", xgb, `"left_children":[1,`, `"left_children":[1000,`, "has the children 1000"},
		{"a cycle", xgb, `"left_children":[1,`, `"left_children":[0,`, "form no tree"},
		{"cut off", xgb, xgb[len(xgb)/2:], "", "trees: "},
		{"another LightGBM objective", lgb, "objective=regression", "objective=new", `the objective "new" is not supported`},
		{"a name that tensors have", lgb, "feature_names=Column_0", "feature_names=pho/features", `the feature name "pho/features" begins with "pho/"`},
		{"a LightGBM child outside", lgb, "left_child=", "left_child=77 ", "left"},
		{"a LightGBM cycle", lgb, "\nleft_child=1 ", "\nleft_child=0 ", "form no tree"},
		{"LightGBM cut off", lgb, lgb[len(lgb)/2:], "", `ends before the line "end of trees"; copy it`},
	} {
		t.Run(c.why, func(t *testing.T) {
			file := strings.Replace(c.file, c.from, c.to, 1)
			if file == c.file {
				t.Fatal("the file has no ", c.from)
			}
			_, err := Load(strings.NewReader(file), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestCategories: categories have the names that the files have.
func TestCategories(t *testing.T) {
	text := strings.Replace(lightGBMText, "pandas_categorical:null", `pandas_categorical:[["low", "high"]]`, 1)
	g, err := Load(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := g.Labels()
	if err != nil || labels == nil || !slices.Equal(labels.Columns["kind"], []string{"low", "high"}) {
		t.Fatal(labels, err)
	}
	if _, err := Load(strings.NewReader(strings.Replace(text, `["low", "high"]`, `["low", "high"], ["a"]`, 1)), nil); err == nil || !strings.Contains(err.Error(), "which have which") {
		t.Fatal("categories of no column:", err)
	}
	truth := strings.Replace(text, `["low", "high"]`, "[false, true]", 1)
	if g, err = Load(strings.NewReader(truth), nil); err != nil {
		t.Fatal(err)
	}
	if labels, err = g.Labels(); err != nil || !slices.Equal(labels.Columns["kind"], []string{"False", "True"}) {
		t.Fatal(labels, err)
	}
	x := `{"learner":{"attributes":{},"feature_names":["kind","n"],"feature_types":["c","c"],"gradient_booster":{"model":{"cats":{"enc":[{"offsets":[0,3,5],"values":[108,111,119,195,188]},{"type":15,"values":[3,7]}]},` +
		`"gbtree_model_param":{"num_parallel_tree":"1"},"tree_info":[0],"trees":[{"left_children":[1,-1,-1],"right_children":[2,-1,-1],"split_indices":[0,0,0],"default_left":[0,0,0],"split_type":[1,0,0],"split_conditions":[NaN,1,2],` +
		`"categories":[1],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[1],"tree_param":{"size_leaf_vector":"1"}}]},"name":"gbtree"},"learner_model_param":{"base_score":"5E-1","num_class":"0","num_feature":"2","num_target":"1"},"objective":{"name":"reg:squarederror"}},"version":[3,1,0]}`
	if g, err = Load(strings.NewReader(x), nil); err != nil {
		t.Fatal(err)
	}
	if labels, err = g.Labels(); err != nil || !slices.Equal(labels.Columns["kind"], []string{"low", "ü"}) || !slices.Equal(labels.Columns["n"], []string{"3", "7"}) {
		t.Fatal(labels, err)
	}
	if y := run(t, g, []float64{0, 0, 1, 0, math.NaN(), 0}, 3, []string{"prediction"})[0]; !slices.Equal(y, []float64{1.5, 2.5, 2.5}) {
		t.Fatal(y)
	}
	if g, err = Load(strings.NewReader(strings.Replace(x, "[0,3,5]", "[0,3,4]", 1)), nil); err != nil { // the name ends within a character
		t.Fatal(err)
	}
	if labels, err = g.Labels(); err != nil || labels.Columns["kind"] != nil {
		t.Fatal(labels, err)
	}
}

// TestCategoryFactors: trees that depend on named categories alone become a factor of those categories, with the sums of leaf values as its
// coefficients; on codes without names they are a learned term.
func TestCategoryFactors(t *testing.T) {
	tree := func(i int, feature string, bits int, left, right string) string {
		return fmt.Sprintf("Tree=%d\nnum_leaves=2\nsplit_feature=%s\nthreshold=0\ndecision_type=1\nleft_child=-1\nright_child=-2\nleaf_value=%s %s\ncat_boundaries=0 1\ncat_threshold=%d\n\n", i, feature, left, right, bits)
	}
	head := "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=2\nobjective=regression\nfeature_names=kind color x\nfeature_infos=0:1:2 0:1 [0:1]\n\n"
	pair := "Tree=3\nnum_leaves=3\nsplit_feature=0 1\nthreshold=0 1\ndecision_type=1 1\nleft_child=1 -1\nright_child=-2 -3\nleaf_value=8 0 16\ncat_boundaries=0 1 2\ncat_threshold=4 1\n\n"
	number := "Tree=4\nnum_leaves=2\nsplit_feature=2\nthreshold=0.5\ndecision_type=2\nleft_child=-1\nright_child=-2\nleaf_value=0 1\n\n"
	file := head + tree(0, "0", 1, "1", "0") + tree(1, "0", 6, "2", "0") + tree(2, "1", 1, "4", "0") + pair + number + "end of trees\n\n"
	terms := func(names string) map[string][]float64 {
		g, err := Load(strings.NewReader(file+"pandas_categorical:"+names+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]float64{}
		for _, b := range m.Blocks(0) {
			out[b.Term.Name()+" "+string(b.Term.Kind())] = b.Coef
		}
		return out
	}
	want := map[string][]float64{"kind factor": {1, 2, 2}, "color factor": {4, 0}, "kind:color factor": {0, 0, 0, 0, 8, 16}, "f(x) learned": {1}}
	if got := terms(`[["a", "b", "c"], ["red", "blue"]]`); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("with names: %v", got)
	}
	if got := terms("null"); got["f(kind) learned"] == nil || got["f(kind,color) learned"] == nil || len(got) != 4 {
		t.Errorf("without names: %v", got)
	}
}

const lightGBMText = `tree
version=v4
num_tree_per_iteration=1
max_feature_idx=1
objective=regression
feature_names=kind x
feature_infos=0:1 [0:1]

Tree=0
num_leaves=2
split_feature=0
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=1 2
cat_boundaries=0 1
cat_threshold=1

end of trees

pandas_categorical:null
`

// TestMemory: a file of many trees is loaded in memory of a few times its size, all that is asked for together, freed or not. Where whole
// forests were kept until they were laid out, reading alone took 10 times the size of CatBoost's file and 29 times that of InterpretML's.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		library string
		read    func(file []byte, whole bool) (*model, error)
		file    []byte
		most    float64 // times its size
	}{{"LightGBM", readLightGBM, manyLightGBM(), 5.5}, {"CatBoost", readCatBoost, manyCatBoost(), 4}, {"InterpretML", readEBM, manyBins(), 14}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := c.read(c.file, false)
		if err == nil {
			err = m.check()
		}
		if err != nil {
			t.Fatal(c.library, err)
		}
		runtime.ReadMemStats(&after)
		if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(c.file)); times > c.most {
			t.Errorf("%s: %.1f times the size of the file", c.library, times)
		}
	}
}

// manyCatBoost has symmetric trees of depth 8.
func manyCatBoost() []byte {
	var borders, trees []string
	for i := range 400 {
		borders = append(borders, fmt.Sprint(float32(i)/7))
	}
	for tree := range 1000 {
		var splits, leaves []string
		for level := range 8 {
			border := (tree*7 + level*50) % 400
			splits = append(splits, fmt.Sprintf(`{"border":%s,"float_feature_index":%d,"split_index":%d,"split_type":"FloatFeature"}`, borders[border], level, 400*level+border))
		}
		for leaf := range 256 {
			leaves = append(leaves, fmt.Sprint(1/float64(3+leaf*tree)))
		}
		trees = append(trees, fmt.Sprintf(`{"leaf_values":[%s],"splits":[%s]}`, strings.Join(leaves, ","), strings.Join(splits, ",")))
	}
	var columns []string
	for i := range 8 {
		columns = append(columns, fmt.Sprintf(`{"borders":[%s],"feature_index":%d,"flat_feature_index":%d,"nan_value_treatment":"AsIs"}`, strings.Join(borders, ","), i, i))
	}
	return fmt.Appendf(nil, `{"features_info":{"float_features":[%s]},"oblivious_trees":[%s],"scale_and_bias":[1,[0]]}`, strings.Join(columns, ","), strings.Join(trees, ","))
}

// manyBins is an explainable boosting machine with twelve pairs of columns in 128 bins each.
func manyBins() []byte {
	list := func(n int, of func(i int) string) string {
		var out []string
		for i := range n {
			out = append(out, of(i))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	cuts := list(125, func(i int) string { return fmt.Sprint(i) })
	features := list(24, func(i int) string { return fmt.Sprintf(`{"name":"x%d","type":"continuous","cuts":[%s]}`, i, cuts) })
	terms := list(12, func(k int) string {
		scores := list(128, func(i int) string { return list(128, func(j int) string { return fmt.Sprint(1 / float64(3+i*j+k)) }) })
		return fmt.Sprintf(`{"term_features":["x%d","x%d"],"scores":%s}`, 2*k, 2*k+1, scores)
	})
	return fmt.Appendf(nil, `{"version":"1.0","ebm":{"outputs":[{"task":"regression","link":"identity"}],"intercept":[0],"features":%s,"terms":%s}}`, features, terms)
}

// manyLightGBM has complete trees of depth 7.
func manyLightGBM() []byte {
	var file bytes.Buffer
	file.WriteString("tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=1\nobjective=regression\nfeature_names=a b\nfeature_infos=[0:1] [0:1]\n\n")
	const leaves = 128
	line := func(key string, n int, of func(i int) any) {
		fmt.Fprintf(&file, "%s=", key)
		for i := range n {
			fmt.Fprint(&file, of(i), " ")
		}
		file.WriteString("\n")
	}
	for tree := range 500 {
		fmt.Fprintf(&file, "Tree=%d\nnum_leaves=%d\n", tree, leaves)
		line("split_feature", leaves-1, func(i int) any { return i % 2 })
		line("threshold", leaves-1, func(i int) any { return 1 / float64(3+i+tree) })
		line("decision_type", leaves-1, func(int) any { return 2 })
		line("left_child", leaves-1, func(i int) any { // of a heap
			if 2*i+1 < leaves-1 {
				return 2*i + 1
			}
			return -(2*i + 1 - leaves + 2)
		})
		line("right_child", leaves-1, func(i int) any {
			if 2*i+2 < leaves-1 {
				return 2*i + 2
			}
			return -(2*i + 2 - leaves + 2)
		})
		line("leaf_value", leaves, func(i int) any { return 1 / float64(7+i*tree) })
		file.WriteString("\n")
	}
	file.WriteString("end of trees\n")
	return file.Bytes()
}
