package onnx_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// zooModel opens a network of the zoo as a model of its own column names.
func zooModel(t *testing.T, name string, o *onnx.Options) (*onnx.Model, *zooNetwork, *zooValues) {
	t.Helper()
	for _, n := range zooNetworks(t) {
		if n.exporter+"/"+n.Name != name {
			continue
		}
		g, err := onnx.LoadFile(n.file, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := onnx.NewModel(g, onnx.Unbound(g), o)
		if err != nil {
			t.Fatal(err)
		}
		v, err := n.values()
		if err != nil {
			t.Fatal(err)
		}
		return m, &n, v
	}
	t.Fatalf("no network %s", name)
	return nil, nil, nil
}

func forwardOf(t *testing.T, m *onnx.Model, b *data.Batch) (*decompose.Outputs, error) {
	t.Helper()
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(b.Rows(), k, nil), Eta: mat.NewDense(b.Rows(), k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(b.Rows(), width, nil)
	}
	return out, m.Forward(context.Background(), out, b)
}

// What is found behind the preprocessing of scikit-learn and Keras: terms of the raw
// columns, each once. L is a linear term, F a learned one with its number of basis
// columns, {} the levels that an encoder names.
func TestPipelines(t *testing.T) {
	for name, want := range map[string]string{
		"sklearn/columns_linear":   "age L, income L, city F3 {Bonn Köln München}, kind F3 {a b c}",
		"sklearn/columns_drop":     "age L, city F2 {Köln München}, kind F2 {b c}",
		"sklearn/columns_unknown":  "age L, income L, city F3 {Bonn Köln München}, kind F3 {a b c}",
		"sklearn/columns_count":    "age L, income L, count F5 {0 1 2 3 4}",
		"sklearn/columns_target":   "age L, income L, city F1",
		"sklearn/columns_bins":     "age F3, income F1, kind F3 {a b c}",
		"sklearn/columns_logistic": "age F1, income F1, city F3 {Bonn Köln München}, kind F3 {a b c}",
		"sklearn/columns_boosting": "age F1, income F1",
		"sklearn/columns_ordinal":  "age,income F1, age,income,city F1",
		"sklearn/ridge_scaled":     "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/pre_quantile":     "X[0] F1, X[1] F1, X[2] F1, X[3] F1",
		"sklearn/hist_stumps":      "X[0] F1, X[1] F1",
		"sklearn/voting":           "X[0] L, X[1] L, X[2] L, X[3] L, X[0],X[1] F1",
		"sklearn/stacking":         "X[0] L, X[1] L, X[2] L, X[3] L, X[0],X[1] F1",
		"sklearn/opset_11":         "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/gamma":            "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/pre_robust":       "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/pre_minmax":       "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/pre_maxabs":       "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/pre_pca":          "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/pre_select":       "X[0] L, X[1] L",
		"sklearn/pre_bins":         "X[0] F4 {0 1 2 3}, X[1] F4 {0 1 2 3}, X[2] F4 {0 1 2 3}, X[3] F4 {0 1 2 3}",
		"sklearn/pre_bins_ordinal": "X[0] F1, X[1] F1, X[2] F1, X[3] F1",
		"sklearn/pre_binarizer":    "X[0] F1, X[1] F1, X[2] F1, X[3] F1",
		"sklearn/pre_power":        "X[0] F2, X[1] F2, X[2] F2, X[3] F2",
		"sklearn/pre_interactions": "X[0] L, X[1] L, X[2] L, X[3] L, X[0],X[1] F1, X[0],X[2] F1, X[0],X[3] F1, X[1],X[2] F1, X[1],X[3] F1, X[2],X[3] F1",
		"sklearn/pre_polynomial":   "X[0] L, X[1] L, X[2] L, X[3] L, X[0] F1, X[1] F1, X[2] F1, X[3] F1, X[0],X[1] F1, X[0],X[2] F1, X[0],X[3] F1, X[1],X[2] F1, X[1],X[3] F1, X[2],X[3] F1",
		"sklearn/impute":           "X[0] F1, X[1] F1, X[2] F1, X[3] F1",
		"sklearn/feature_union":    "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/logistic":         "X[0] L, X[1] L, X[2] L, X[3] L",
		"sklearn/svr_linear":       "X[0] L, X[1] L, X[2] L, X[3] L",
		"keras/one_hot":            "city F5",
		"handmade/text_labels":     "city F2",
		"sklearn/pre_normalizer":   "", // every column divides by all
		"sklearn/columns_mlp":      "",
	} {
		t.Run(name, func(t *testing.T) {
			m, n, v := zooModel(t, name, nil)
			s := m.Structure()
			if len(s.Predictors) != 1 {
				t.Fatalf("%d predictors", len(s.Predictors))
			}
			var got []string
			for _, term := range s.Predictors[0].Terms {
				text := strings.Join(term.Columns, ",") + " L"
				if term.Kind == "learned" {
					text = fmt.Sprintf("%s F%d", strings.Join(term.Columns, ","), term.Width)
				}
				if term.Levels != nil {
					text += fmt.Sprintf(" {%s}", strings.Join(term.Levels, " "))
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != want {
				t.Errorf("found  %s\nwant   %s", text, want)
			}
			if want != "" && s.Predictors[0].Deep != nil && name != "handmade/text_labels" {
				t.Errorf("a deep part on %v", s.Predictors[0].Deep.Columns)
			}
			slopes(t, m, n, v)
		})
	}
}

// slopes: where nothing else reads a column, its coefficient is by how much the predictor
// rises with one unit of the raw column; and the parts sum to the predictor.
func slopes(t *testing.T, m *onnx.Model, n *zooNetwork, v *zooValues) {
	t.Helper()
	b, err := n.batch(m, v)
	if err != nil {
		t.Fatal(err)
	}
	at, err := forwardOf(t, m, b)
	if err != nil {
		t.Fatal(err)
	}
	sum := mat.NewVecDense(b.Rows(), nil)
	for i := range b.Rows() {
		sum.SetVec(i, m.Intercept(0)+at.Zeta.At(i, 0))
	}
	own := b.Slice(0, b.Rows())
	for name, tap := range at.Taps {
		if err := own.SetTensor(name, tap); err != nil {
			t.Fatal(err)
		}
	}
	reads := map[string]int{}
	for _, block := range m.Blocks(0) {
		x := mat.NewDense(b.Rows(), block.Term.Dim(), nil)
		if err := block.Term.Eval(x, own); err != nil {
			t.Fatal(err)
		}
		var part mat.VecDense
		part.MulVec(x, mat.NewVecDense(len(block.Coef), block.Coef))
		sum.AddVec(sum, &part)
		for _, c := range block.Term.Columns() {
			reads[c]++
		}
	}
	for i := range b.Rows() {
		if eta := at.Eta.At(i, 0); !(math.Abs(sum.AtVec(i)-eta) <= 1e-9*(1+math.Abs(eta))) {
			t.Errorf("row %d: the parts sum to %v, the predictor is %v", i, sum.AtVec(i), eta)
		}
	}
	for _, block := range m.Blocks(0) {
		columns := block.Term.Columns()
		if block.Term.Kind() != decompose.Linear || reads[columns[0]] != 1 {
			continue
		}
		x, err := b.Numeric(columns[0])
		if err != nil {
			t.Fatal(err)
		}
		moved, up := b.Slice(0, b.Rows()), slices.Clone(x)
		for i := range up {
			up[i]++
		}
		if err := moved.SetNumeric(columns[0], up); err != nil {
			t.Fatal(err)
		}
		then, err := forwardOf(t, m, moved)
		if err != nil {
			t.Fatal(err)
		}
		if rise := then.Eta.At(0, 0) - at.Eta.At(0, 0); math.Abs(rise-block.Coef[0]) > 1e-6*(1+math.Abs(rise)) {
			t.Errorf("%s has the coefficient %v, and one unit of it adds %v", columns[0], block.Coef[0], rise)
		}
	}
}

// The classes of classifiers: which predictors there are, and behind which head.
func TestClassifiers(t *testing.T) {
	for name, want := range map[string]struct{ predictors, heads, note string }{
		"sklearn/logistic":         {"eta", "sigmoid", `output "output_probability1" is 1 - output "output_probability2" and not repeated`},
		"sklearn/logistic_array":   {"eta", "sigmoid", "not repeated"},
		"sklearn/mlp_binary":       {"eta", "sigmoid", `output "probabilities1" is 1 - output "probabilities2" and not repeated`},
		"sklearn/sgd":              {"eta", "sigmoid", "not repeated"},
		"sklearn/logistic_text":    {"output_probability1 output_probability2 output_probability3", "softmax softmax softmax", `a column for each of "high", "low", "middle"`},
		"sklearn/mlp_classifier":   {"output_probability1 output_probability2 output_probability3", "softmax softmax softmax", "ZipMap"},
		"sklearn/one_vs_rest":      {"probabilities1 probabilities2 probabilities3", "softmax softmax softmax", "their logarithms"},
		"sklearn/columns_logistic": {"eta", "sigmoid", "ZipMap"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, _ := zooModel(t, name, nil)
			var heads []string
			for k := range m.Predictors() {
				heads = append(heads, m.Head(k))
			}
			if got := strings.Join(m.Predictors(), " "); got != want.predictors || strings.Join(heads, " ") != want.heads {
				t.Errorf("predictors %q behind %q, want %q behind %q", got, heads, want.predictors, want.heads)
			}
			if notes := strings.Join(m.Structure().Notes, "\n"); !strings.Contains(notes, want.note) {
				t.Errorf("no note %q in\n%s", want.note, notes)
			}
			if name == "sklearn/one_vs_rest" {
				if why := strings.Join(m.Structure().Predictors[1].Reasons, "\n"); !strings.Contains(why, `not a softmax`) || !strings.Contains(why, `Options.Predictor "label_1/scores"`) {
					t.Errorf("said of one-versus-rest:\n%s", why)
				}
				one, _, _ := zooModel(t, name, &onnx.Options{Predictor: []string{"label_1/scores"}})
				if len(one.Structure().Predictors[0].Terms) != 4 || one.Structure().Predictors[0].Deep != nil {
					t.Errorf("its logit: %+v", one.Structure().Predictors[0])
				}
			}
		})
	}
}

// stranger is GoEngine as somebody else's: nothing but its methods is known.
type stranger struct{}

func (stranger) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	e, err := onnx.GoEngine{}.Prepare(g, tensors)
	if err != nil {
		return nil, err
	}
	return struct{ onnx.TextEvaluator }{e.(onnx.TextEvaluator)}, nil
}

// A model that reads text gives the same on another engine.
func TestTextOnAnotherEngine(t *testing.T) {
	own, n, v := zooModel(t, "sklearn/columns_linear", nil)
	other, _, _ := zooModel(t, "sklearn/columns_linear", &onnx.Options{Engine: stranger{}})
	b, err := n.batch(own, v)
	if err != nil {
		t.Fatal(err)
	}
	want, err := forwardOf(t, own, b)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // its table of texts begins anew
		got, err := forwardOf(t, other, b)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(got.Eta, want.Eta) || mat.Norm(want.Eta, 2) == 0 {
			t.Errorf("%v, want %v", got.Eta, want.Eta)
		}
	}
}

// NaN enters where an imputer, or a choice by IsNaN, has a number for it, and nowhere else.
func TestMissingValues(t *testing.T) {
	missing := func(name, column string) (*decompose.Outputs, *decompose.Outputs, error) {
		m, n, v := zooModel(t, name, nil)
		b, err := n.batch(m, v)
		if err != nil {
			t.Fatal(err)
		}
		before, err := forwardOf(t, m, b)
		if err != nil {
			t.Fatal(err)
		}
		x, err := b.Numeric(column)
		if err != nil {
			t.Fatal(err)
		}
		x = slices.Clone(x)
		x[3] = math.NaN()
		if err := b.SetNumeric(column, x); err != nil {
			t.Fatal(err)
		}
		after, err := forwardOf(t, m, b)
		return before, after, err
	}
	for name, column := range map[string]string{"sklearn/impute": "X[1]", "torch_dynamo/missing": "x[2]", "sklearn/columns_logistic": "age"} {
		before, after, err := missing(name, column)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range 5 {
			if was, is := before.Eta.At(i, 0), after.Eta.At(i, 0); (was != is) != (i == 3) || math.IsNaN(is) {
				t.Errorf("%s, row %d: %v, and %v with row 3 missing", name, i, was, is)
			}
		}
	}
	_, _, err := missing("sklearn/columns_linear", "age")
	if want := `onnx: column "age", data row 4: NaN cannot enter the network; leave such rows out or replace the value`; err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
}

// A text that no encoder knows, and an empty one, are what the network makes of them: no
// dummy (handle_unknown="ignore"), the code or mean of all others, what the imputer fills
// in. The predictors of data row 2 are ONNX Runtime's, and the terms follow them. Where the
// encoder takes no others, the message says where and what.
func TestUnknownText(t *testing.T) {
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	refused := func(text string) string {
		return fmt.Sprintf(`onnx: node "OneHotEncoder" (ai.onnx.ml.OneHotEncoder): %q is none of its 3 categories, and it takes no others (zeros = 0); leave such rows out (data row 2)`, text)
	}
	for _, c := range []struct {
		name, text string
		want       float64
		err        string
	}{
		{"sklearn/columns_unknown", "Ulm", 1.8368198, ""},
		{"sklearn/columns_unknown", "", 1.8368198, ""},
		{"sklearn/columns_logistic", "Ulm", logit(0.9826021194458008), ""},
		{"sklearn/columns_logistic", "", logit(0.9697146415710449), ""},
		{"sklearn/columns_ordinal", "Ulm", 2.231813, ""},
		{"sklearn/columns_ordinal", "", 2.231813, ""},
		{"sklearn/columns_target", "Ulm", 1.6202142, ""},
		{"sklearn/columns_target", "", 1.6202142, ""},
		{"sklearn/columns_linear", "Ulm", 0, refused("Ulm")},
		{"sklearn/columns_linear", "", 0, refused("")},
	} {
		m, n, v := zooModel(t, c.name, nil)
		city := slices.IndexFunc(n.Inputs, func(in zooTensor) bool { return in.Name == "city" })
		v.inputs[city].Text[1] = c.text
		b, err := n.batch(m, v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := forwardOf(t, m, b)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s, %q: %v, want\n%s", c.name, c.text, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %q: %v", c.name, c.text, err)
			continue
		}
		if eta := got.Eta.At(1, 0); math.Abs(eta-c.want) > 1e-5*(1+math.Abs(c.want)) {
			t.Errorf("%s, %q: %v, ONNX Runtime has %v", c.name, c.text, eta, c.want)
		}
		slopes(t, m, n, v)
	}
}

// A cell without text is no text of the network's, and said to be missing.
func TestMissingText(t *testing.T) {
	m, n, v := zooModel(t, "sklearn/columns_logistic", nil)
	b, err := n.batch(m, v)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := b.Codes("city")
	if err != nil {
		t.Fatal(err)
	}
	codes.Index = slices.Clone(codes.Index)
	codes.Index[2] = -1
	if err := b.SetCodes("city", codes); err != nil {
		t.Fatal(err)
	}
	_, err = forwardOf(t, m, b)
	if want := `onnx: column "city", data row 3 has no text, and the network needs one; leave such rows out or name them`; err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
}

// The second of the probabilities 1-p and p that are divided by their sum is p still, whatever
// moves the logit on its way into the sigmoid.
func TestComplementThatIsNormalised(t *testing.T) {
	for _, move := range []string{"Identity", "Reshape"} {
		b := onnxpb.NewBuilder(17)
		b.Import("ai.onnx.ml", 3)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
		b.AddInit("w", []int{2, 1}, 1, -2)
		b.AddInit("one", []int{1}, 1)
		b.AddInts("size", -1, 1)
		b.AddNode("MatMul", []string{"x", "w"}, "u")
		b.AddNode(move, map[string][]string{"Identity": {"u"}, "Reshape": {"u", "size"}}[move], "v")
		b.AddNode("Sigmoid", []string{"v"}, "p")
		b.AddNode("Sub", []string{"one", "p"}, "q")
		b.AddNode("Concat", []string{"q", "p"}, "c", onnxpb.Int("axis", 1))
		b.AddNodes("ai.onnx.ml", "Normalizer", []string{"c"}, []string{"y"}, onnxpb.Text("norm", "L1"))
		b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
		raw, err := b.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		g, err := onnx.Load(bytes.NewReader(raw), nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := onnx.NewModel(g, onnx.Unbound(g), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Structure().Predictors
		if last := p[len(p)-1]; last.Head != "sigmoid" || len(last.Terms) != 2 {
			t.Errorf("%s: p has head %q and %d terms", move, last.Head, len(last.Terms))
		}
	}
}
