package structure_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// said is what inspect says of the first predictor: of itself, of its terms that are not linear, of its deep part.
func said(f *structure.Found) []string {
	p := f.Predictors[0]
	all := slices.Clone(p.Reasons)
	for _, term := range p.Terms {
		if term.Kind != "linear" {
			all = append(all, term.Name+": "+term.Reason)
		}
	}
	if p.Deep != nil {
		all = append(all, p.Deep.Reasons...)
	}
	return all
}

// TestReasons: what kind of model the predictor is, and why a part is deep, in sentences.
func TestReasons(t *testing.T) {
	line := func(h *graphtest.Hand, x *graph.Value) *graph.Value { return h.Linear(h.Slice(x, 0, 2), 1, 1) }
	units := func(h *graphtest.Hand, x *graph.Value) *graph.Value { return h.Linear(h.Relu(x, 5, 3), 1, 1, 1) }
	of := func(columns int, nodes func(h *graphtest.Hand, x *graph.Value) *graph.Value) *graph.Graph {
		x := graphtest.Input("x", graph.Batch, columns)
		h := graphtest.NewHand(x)
		return h.Output("y", nodes(h, x))
	}
	trees := func(split ...int64) *graph.Graph {
		tr := new(graphtest.Trees)
		for k, c := range split {
			tr.Stump(int64(k), c, 0, 1, 2)
		}
		b := onnxpb.NewBuilder(17)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
		tr.Regressor(b, "x", "y")
		b.Output("y", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		return load(t, b)
	}
	const blackBox = "no additive structure: a black box; a formula supplies the structure"
	for _, c := range []struct {
		name string
		g    *graph.Graph
		o    structure.Options
		want []string
	}{
		{"a line", of(5, line), structure.Options{}, []string{`linear; nothing is left for the deep part, zeta = 0`}},
		{"a line beside units", of(5, func(h *graphtest.Hand, x *graph.Value) *graph.Value { return h.Add(line(h, x), units(h, x)) }), structure.Options{}, []string{
			`semi-structured: 2 linear terms and a deep part`,
			`3 features of node "Relu3" (Relu) depend on all 5 columns`,
		}},
		{"units alone", of(5, units), structure.Options{}, []string{
			blackBox,
			`3 features of node "Relu1" (Relu) depend on all 5 columns`,
		}},
		{"no structure asked for", of(5, units), structure.Options{NoStructure: true}, []string{
			`no structure was asked for: everything is deep`,
			`3 features of node "Relu1" (Relu): no structure was asked for`,
		}},
		{"units of one column", of(1, func(h *graphtest.Hand, x *graph.Value) *graph.Value {
			return h.Linear(h.Relu(x, 1, 3), 1, 1, 1)
		}), structure.Options{}, []string{
			blackBox,
			`3 features of node "Relu1" (Relu) depend on "x", the model's only column`,
		}},
		{"one unit", of(5, func(h *graphtest.Hand, x *graph.Value) *graph.Value {
			return h.Node("Cos", nil, graphtest.Rows(1), units(h, x))
		}), structure.Options{}, []string{
			blackBox,
			`it is one unit of node "Cos3" (Cos); if that is a response function, decompose what enters it with Options.Predictor "t2.0"`,
			`1 feature of node "Cos3" (Cos) depends on all 5 columns`,
		}},
		{"a positive response", of(5, func(h *graphtest.Hand, x *graph.Value) *graph.Value {
			return h.Add(h.Node("Softplus", nil, graphtest.Rows(1), line(h, x)), graphtest.Floats([]int{1}, 1))
		}), structure.Options{}, []string{
			`the final softplus+1 is peeled off: the predictor is its input`,
			`the network's output is log(1 + exp(eta)) + 1, eta being the predictor`,
			`linear; nothing is left for the deep part, zeta = 0`,
		}},
		{"units of three of five columns", of(5, func(h *graphtest.Hand, x *graph.Value) *graph.Value {
			return h.Add(line(h, x), h.Linear(h.Relu(h.Slice(x, 1, 4), 3, 1), 1))
		}), structure.Options{MaxOrder: 2}, []string{
			`semi-structured: 2 linear terms and a deep part`,
			`1 feature of node "Relu4" (Relu) depends on 3 columns ("x[1]", "x[2]", "x[3]"), more than Options.MaxOrder 2`,
		}},
		{"nothing", of(5, func(h *graphtest.Hand, x *graph.Value) *graph.Value { return h.Linear(x, 0, 0, 0, 0, 0) }), structure.Options{}, []string{`constant: nothing to decompose`}},
		{"subnetworks", graphtest.SmallNAM(), structure.Options{}, []string{
			`additive (1 linear term, 4 learned terms); nothing is left for the deep part, zeta = 0; Options.Deep NAME or a smaller Options.MaxOrder moves addends there`,
			`f(x[0]): a subnetwork that depends on "x[0]" alone`,
			`f(x[1]): a subnetwork that depends on "x[1]" alone`,
			`f(x[2]): a subnetwork that depends on "x[2]" alone`,
			`f(x[3]): a subnetwork that depends on "x[3]" alone`,
		}},
		{"one of them forced", graphtest.SmallNAM(), structure.Options{Deep: []string{"f(x[2])"}}, []string{
			`semi-structured: 1 linear term, 3 learned terms and a deep part`,
			`f(x[0]): a subnetwork that depends on "x[0]" alone`,
			`f(x[1]): a subnetwork that depends on "x[1]" alone`,
			`f(x[3]): a subnetwork that depends on "x[3]" alone`,
			`2 features of node "Relu11" (Relu): forced into the deep part by Options.Deep "f(x[2])"`,
		}},
		{"trees on one column each", trees(0, 1, 1), structure.Options{}, []string{
			`additive (2 learned terms); nothing is left for the deep part, zeta = 0; Options.Deep NAME or a smaller Options.MaxOrder moves addends there`,
			`f(x[0]): the sum over the tree that depends on "x[0]" alone: 1 tree`,
			`f(x[1]): the sum over the trees that depend on "x[1]" alone: 2 trees`,
		}},
		{"trees forced", trees(0, 1, 1), structure.Options{Deep: []string{"y"}}, []string{
			blackBox,
			`1 feature of node "y" (ai.onnx.ml.TreeEnsembleRegressor): the sum over 1 tree: forced into the deep part by Options.Deep "y"`,
			`1 feature of node "y" (ai.onnx.ml.TreeEnsembleRegressor): the sum over 2 trees: forced into the deep part by Options.Deep "y"`,
		}},
		{"a table", load(t, graphtest.CodedNetwork(graphtest.WideOfA)), structure.Options{}, []string{
			`semi-structured: 1 factor and a deep part`,
			`a: looks up rows of a table by "a": a factor of 6 levels`,
			`2 features of node "u" (Tanh) depend on all 3 columns`,
		}},
		{"ordered classes", headModel(t, 1, []string{"y"}, "c = Concat(-1, 0, 2, axis=0)\nl = Sub(c, u)\ny = Sigmoid(l)"), structure.Options{}, []string{
			`cumulative logits of 4 ordered classes: P(class <= k) is logistic(c_k - eta) with the thresholds c = -1, 0, 2`,
			`linear; nothing is left for the deep part, zeta = 0`,
		}},
		{"a logarithm", headModel(t, 1, []string{"y"}, "c = Cos(u)\nd = Clip(c, 1e-7, 1)\ny = Log(d)"), structure.Options{}, []string{
			blackBox,
			`it is one unit of node "y" (Log); if that is a response function, decompose what enters it with Options.Predictor "d"`,
			`1 feature of node "y" (Log) depends on all 2 columns`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, said(find(t, c.g, &c.o))); d != "" {
				t.Error(d)
			}
		})
	}
}
