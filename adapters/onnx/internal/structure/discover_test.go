package structure_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
)

func TestDiscoverPatterns(t *testing.T) {
	x4 := func() (*graphtest.Hand, *graph.Value) {
		x := graphtest.Input("x", graph.Batch, 4)
		return graphtest.NewHand(x), x
	}
	transA := graphtest.Attrs{"transB": graph.Attr{Int: 1}}
	for _, c := range []struct {
		reason string
		build  func() *graph.Graph
		o      *structure.Options
		want   []string
	}{
		{reason: "semi-structured: linear part beside a deep net", build: func() *graph.Graph {
			h, x := x4()
			lin := h.Node("Gemm", transA, graphtest.Rows(1), x, graphtest.Floats([]int{1, 4}, 1, -2, 0.5, 3), graphtest.Floats([]int{1}, 7))
			return h.Output("y", h.Add(lin, h.Linear(h.Relu(x, 4, 3), 1, 2, 3)))
		}, want: []string{"eta[] = 7 + 1 x[0] + -2 x[1] + 0.5 x[2] + 3 x[3] + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "Keras: Transpose of the kernel folded, MatMul then Add, Concat of branches before one dense layer", build: func() *graph.Graph {
			h, x := x4()
			a, b := h.Relu(h.Slice(x, 0, 1), 1, 2), h.Relu(h.Slice(x, 2, 4), 2, 3)
			deep := h.Relu(x, 4, 2)
			cat := h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: -1}}, graphtest.Rows(9), a, b, deep, h.Slice(x, 1, 3))
			out := h.Node("Add", nil, graphtest.Rows(1), h.Linear(cat, 1, 1, 2, 2, 2, 1, 1, 5, 0.5), graphtest.Floats([]int{1}, -1))
			return h.Output("dense", out)
		}, want: []string{"eta[] = -1 + 5 x[1] + 0.5 x[2] + f(x[0]):2 + f(x[2],x[3]):3 + deep(x[0],x[1],x[2],x[3]):2"}},

		{reason: "scikit-learn: one input a feature, Concat, Cast, Sub, Div, MLP", build: func() *graph.Graph {
			a, b := graphtest.Input("a", graph.Batch, 1), graphtest.Input("b", graph.Batch, 1)
			h := graphtest.NewHand(a, b)
			cat := h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, graphtest.Rows(2), a, b)
			z := h.Node("Div", nil, graphtest.Rows(2), h.Node("Sub", nil, graphtest.Rows(2), h.Node("Cast", graphtest.Attrs{"to": graph.Attr{Int: 1}}, graphtest.Rows(2), cat), graphtest.Floats([]int{2}, 1, 2)), graphtest.Floats([]int{2}, 2, 4))
			return h.Output("variable", h.Node("Reshape", nil, graphtest.Rows(1), h.Add(h.Linear(h.Relu(z, 2, 3), 1, 1, 1), h.Linear(z, 4, 8)), graphtest.Ints(-1, 1)))
		}, want: []string{"eta[] = -6 + 2 a + 2 b + deep(a,b):3"}},

		{reason: "scikit-learn: FeatureVectorizer and Scaler", build: func() *graph.Graph {
			a, b := graphtest.Input("a", graph.Batch, 1), graphtest.Input("b", graph.Batch, 1)
			h := graphtest.NewHand(a, b)
			v := h.Node("FeatureVectorizer", nil, graphtest.Rows(2), a, b)
			v.Producer.Domain = "ai.onnx.ml"
			z := h.Node("Scaler", graphtest.Attrs{"offset": graph.Attr{Floats: []float64{1, 2}}, "scale": graph.Attr{Floats: []float64{0.5}}}, graphtest.Rows(2), v)
			z.Producer.Domain = "ai.onnx.ml"
			return h.Output("variable", h.Linear(z, 4, 8))
		}, want: []string{"eta[] = -10 + 2 a + 4 b"}},

		{reason: "a column used twice is one term; a difference that cancels is none", build: func() *graph.Graph {
			h, x := x4()
			twice := h.Add(h.Linear(x, 1, 2, 3, 0), h.Linear(h.Slice(x, 1, 3), 10, -3))
			return h.Output("y", h.Add(twice, h.Linear(h.Relu(x, 4, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 12 x[1] + deep(x[0],x[1],x[2],x[3]):2"}},

		{reason: "block-diagonal weights: zeros separate the subnetworks", build: func() *graph.Graph {
			h, x := x4()
			w := make([]float64, 4*8)
			for j := range 8 {
				w[j/2*8+j] = 1
			}
			hid := h.Node("Tanh", nil, graphtest.Rows(8), h.Node("MatMul", nil, graphtest.Rows(8), x, graphtest.Floats([]int{4, 8}, w...)))
			return h.Output("y", h.Linear(hid, 1, 2, 3, 4, 5, 6, 7, 8))
		}, want: []string{"eta[] = 0 + f(x[0]):2 + f(x[1]):2 + f(x[2]):2 + f(x[3]):2"}},

		{reason: "batched subnetworks, batch axis in the middle", build: func() *graph.Graph {
			h, x := x4()
			xt := h.Node("Unsqueeze", nil, []int{4, graph.Batch, 1}, h.Node("Transpose", nil, []int{4, graph.Batch}, x), graphtest.Ints(2))
			hid := h.Node("Relu", nil, []int{4, graph.Batch, 3}, h.Node("MatMul", nil, []int{4, graph.Batch, 3}, xt, graphtest.Ramp(4, 1, 3)))
			out := h.Node("MatMul", nil, []int{4, graph.Batch, 1}, hid, graphtest.Floats([]int{4, 3, 1}, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4))
			sum := h.Node("ReduceSum", graphtest.Attrs{"keepdims": graph.Attr{Int: 0}}, graphtest.Rows(1), out, graphtest.Ints(0))
			return h.Output("y", sum)
		}, want: []string{"eta[] = 0 + f(x[0]):3 + f(x[1]):3 + f(x[2]):3 + f(x[3]):3"}},

		{reason: "an embedding of an integer input is a factor", build: func() *graph.Graph {
			id, x := graphtest.Input("id", graph.Batch, 1), graphtest.Input("x", graph.Batch, 2)
			id.Type = graph.Int64
			h := graphtest.NewHand(id, x)
			e := h.Node("Squeeze", nil, graphtest.Rows(2), h.Node("Gather", nil, graphtest.Rows(1, 2), graphtest.Ramp(5, 2), id), graphtest.Ints(1))
			h.G.Nodes[0].Resolved = 0 // the axis
			cat := h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, graphtest.Rows(4), e, x)
			return h.Output("y", h.Add(h.Linear(e, 1, 2), h.Linear(h.Relu(cat, 4, 3), 1, 1, 1)))
		}, want: []string{"eta[] = 0 + id:5 + deep(id,x[0],x[1]):3"}},

		{reason: "a residual block feeds U with both layers", build: func() *graph.Graph {
			h, x := x4()
			h1 := h.Relu(x, 4, 3)
			h2 := h.Add(h1, h.Relu(h1, 3, 3))
			return h.Output("y", h.Linear(h2, 1, 1, 1))
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):6"}},

		{reason: "a residual block in a subnetwork: one term from two tensors, and what it adds up linearly", build: func() *graph.Graph {
			h, x := x4()
			h1 := h.Relu(h.Slice(x, 0, 1), 1, 2)
			h2 := h.Add(h1, h.Relu(h1, 2, 2))
			skip := h.Add(h2, h.Slice(x, 0, 1))
			return h.Output("y", h.Add(h.Linear(skip, 1, 2), h.Linear(h.Relu(x, 4, 3), 1, 1, 1)))
		}, want: []string{"eta[] = 0 + 3 x[0] + f(x[0]):4 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "batch normalisation in front and behind", build: func() *graph.Graph {
			h, x := x4()
			one := graphtest.Floats([]int{4}, 1, 1, 1, 1)
			z := h.Node("BatchNormalization", graphtest.Attrs{"epsilon": graph.Attr{Float: 0}}, graphtest.Rows(4), x, graphtest.Floats([]int{4}, 2, 2, 2, 2), one, graphtest.Floats([]int{4}, 1, 2, 3, 4), graphtest.Floats([]int{4}, 4, 4, 4, 4))
			return h.Output("y", h.Linear(z, 1, 2, 0, 0))
		}, want: []string{"eta[] = -2 + 1 x[0] + 2 x[1]"}},

		{reason: "five columns are more than three: deep; MaxOrder 5 makes them a term", build: func() *graph.Graph {
			x := graphtest.Input("x", graph.Batch, 6)
			h := graphtest.NewHand(x)
			return h.Output("y", h.Add(h.Linear(h.Slice(x, 0, 2), 1, 1), h.Linear(h.Relu(h.Slice(x, 1, 6), 5, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 1 x[1] + deep(x[1],x[2],x[3],x[4],x[5]):2"}},

		{reason: "MaxOrder", o: &structure.Options{MaxOrder: 5}, build: func() *graph.Graph {
			x := graphtest.Input("x", graph.Batch, 6)
			h := graphtest.NewHand(x)
			return h.Output("y", h.Add(h.Linear(h.Slice(x, 0, 2), 1, 1), h.Linear(h.Relu(h.Slice(x, 1, 6), 5, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 1 x[1] + f(x[1],x[2],x[3],x[4],x[5]):2"}},

		{reason: "one column: what is not linear is deep", build: func() *graph.Graph {
			x := graphtest.Input("x", graph.Batch, 1)
			h := graphtest.NewHand(x)
			return h.Output("y", h.Add(h.Linear(x, 2), h.Linear(h.Relu(x, 1, 3), 1, 1, 1)))
		}, want: []string{"eta[] = 0 + 2 x + deep(x):3"}},

		{reason: "softplus with a floor on the second column of one output, an image of the first kept", build: func() *graph.Graph {
			h, x := x4()
			out := h.Node("Gemm", nil, graphtest.Rows(2), h.Relu(x, 4, 3), graphtest.Ramp(3, 2), graphtest.Floats([]int{2}, 1, 2))
			mu, s := h.Slice(out, 0, 1), h.Slice(out, 1, 2)
			pos := h.Node("Add", nil, graphtest.Rows(1), h.Node("Softplus", nil, graphtest.Rows(1), s), graphtest.Floats([]int{1}, 1e-6))
			return h.Output("y", h.Node("Concat", graphtest.Attrs{"axis": graph.Attr{Int: 1}}, graphtest.Rows(2), mu, pos))
		}, want: []string{"y1[] = 1 + deep(x[0],x[1],x[2],x[3]):3", "y2[softplus] = 2 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "clipped sigmoid", build: func() *graph.Graph {
			h, x := x4()
			p := h.Node("Sigmoid", nil, graphtest.Rows(1), h.Linear(h.Relu(x, 4, 3), 1, 1, 1))
			return h.Output("p", h.Node("Clip", nil, graphtest.Rows(1), p, graphtest.Floats(nil, 1e-7), graphtest.Floats(nil, 1-1e-7)))
		}, want: []string{"eta[sigmoid] = 0 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "a clip that cuts is not a guard", build: func() *graph.Graph {
			h, x := x4()
			p := h.Node("Sigmoid", nil, graphtest.Rows(1), h.Linear(h.Relu(x, 4, 3), 1, 1, 1))
			return h.Output("p", h.Node("Clip", nil, graphtest.Rows(1), p, graphtest.Floats(nil, 0.2), graphtest.Floats(nil, 0.8)))
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):1"}},

		{reason: "a constant that is no guard is part of the head: softplus(s) + 1", build: func() *graph.Graph {
			h, x := x4()
			p := h.Node("Softplus", nil, graphtest.Rows(1), h.Linear(h.Relu(x, 4, 3), 1, 1, 1))
			return h.Output("p", h.Node("Add", nil, graphtest.Rows(1), p, graphtest.Floats([]int{1}, 1)))
		}, want: []string{"eta[softplus+1] = 0 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "a scaled response is no head", build: func() *graph.Graph {
			h, x := x4()
			p := h.Node("Sigmoid", nil, graphtest.Rows(1), h.Linear(h.Relu(x, 4, 3), 1, 1, 1))
			return h.Output("p", h.Node("Mul", nil, graphtest.Rows(1), p, graphtest.Floats([]int{1}, 2)))
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):1"}},

		{reason: "logits and probabilities are one predictor", build: func() *graph.Graph {
			h, x := x4()
			z := h.Linear(h.Relu(x, 4, 3), 1, 1, 1)
			g := h.Output("logit", z)
			h.Output("p", h.Node("Sigmoid", nil, graphtest.Rows(1), z))
			return g
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "Deep by term", o: &structure.Options{Deep: []string{"f(x[2])", "x[1]"}}, build: graphtest.SmallNAM,
			want: []string{"eta[] = 0 + f(x[0]):2 + f(x[1]):2 + f(x[3]):2 + deep(x[1],x[2]):3"}},
		{reason: "Deep by the node behind the last hidden layer", o: &structure.Options{Deep: []string{"MatMul5"}}, build: graphtest.SmallNAM,
			want: []string{"eta[] = 0 + 3 x[1] + f(x[0]):2 + f(x[2]):2 + f(x[3]):2 + deep(x[1]):2"}},
		{reason: "Learned for the whole", o: &structure.Options{Learned: []string{"f(x[0],x[1],x[2],x[3])"}}, build: func() *graph.Graph {
			h, x := x4()
			return h.Output("y", h.Add(h.Linear(x, 1, 1, 1, 1), h.Linear(h.Relu(x, 4, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 1 x[1] + 1 x[2] + 1 x[3] + f(x[0],x[1],x[2],x[3]):2"}},
		{reason: "Predictor inside the network", o: &structure.Options{Predictor: []string{"t1.0"}}, build: graphtest.SmallNAM,
			want: []string{"t1.01[] = -2.5 + -2.5 x[0]", "t1.02[] = -1.438 + -1.438 x[0]"}},
		{reason: "no structure", o: &structure.Options{NoStructure: true}, build: graphtest.SmallNAM,
			want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):9"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := c.build()
			if d := cmp.Diff(c.want, graphtest.Brief(find(t, g, c.o))); d != "" {
				t.Error(d)
			}
			for _, opset := range []int64{13, 17} { // the same from a file
				g := graphtest.Loaded(t, g, opset)
				graphtest.CheckRules(t, g, 3)
				f := find(t, g, c.o)
				if d := cmp.Diff(c.want, graphtest.Brief(f)); d != "" {
					t.Errorf("from a file: %s", d)
				}
				checkSums(t, f, 1e-12)
			}
		})
	}
}

func TestDiscoverErrors(t *testing.T) {
	for _, c := range []struct {
		reason string
		o      *structure.Options
		err    string
	}{
		{"unknown name", &structure.Options{Deep: []string{"f(age)"}}, `onnx: Options.Deep "f(age)" is no term, node or tensor of the network; the addends are "x[1]", "f(x[0])", "f(x[1])", "f(x[2])", "f(x[3])"`},
		{"inside a subnetwork", &structure.Options{Learned: []string{"t1.0"}}, `onnx: Options.Learned "t1.0" is not an addend of a predictor; the addends are`},
		{"both", &structure.Options{Deep: []string{"f(x[0])"}, Learned: []string{"t2.0"}}, `onnx: Options.Learned "t2.0" and Options.Deep "f(x[0])" name the same part of the network`},
		{"linear already", &structure.Options{Learned: []string{"x[1]"}}, `onnx: Options.Learned "x[1]": it is linear in its columns and a linear term already`},
		{"no such tensor", &structure.Options{Predictor: []string{"mu"}}, `onnx: Options.Predictor "mu": the network computes no tensor of floating type of that name; its outputs are "y"`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := discover(graphtest.SmallNAM(), nil, c.o)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %s", err, c.err)
			}
		})
	}
}

// Columns that feed two elements of the input are one column; binding decides
// what a term is called.
func TestDiscoverMergesBoundColumns(t *testing.T) {
	s, err := discover(graphtest.SmallNAM(), [][]string{{"a", "a", "b", "c"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"eta[] = 0 + 3 a + f(a):4 + f(b):2 + f(c):2"}
	if d := cmp.Diff(want, graphtest.Brief(s)); d != "" {
		t.Error(d)
	}
	h := graphtest.NewHand(graphtest.Input("x", graph.Batch, 4))
	s, err = discover(h.Output("y", h.Linear(h.G.Inputs[0], 1, 2, 4, -4)), [][]string{{"a", "a", "b", "b"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"eta[] = 0 + 3 a"}, graphtest.Brief(s)); d != "" {
		t.Error(d)
	}
}

// Beyond the budget nodes are followed as a whole: coarser, still sound, said.
func TestDiscoverBudget(t *testing.T) {
	for _, c := range []struct {
		l    structure.Limits
		deep int // columns of the deep part
	}{
		{structure.Limits{Links: 40, SetBytes: 1 << 20, Elements: 1 << 20}, 4},
		{structure.Limits{Links: 1 << 20, SetBytes: 400, Elements: 1 << 20}, 4},
		{structure.Limits{Links: 1 << 20, SetBytes: 1 << 20, Elements: 1}, 4},
	} {
		s, err := discover(graphtest.SmallNAM(), nil, &structure.Options{Limits: c.l})
		if err != nil {
			t.Fatal(err)
		}
		deep := 0
		if p := s.Predictors[0]; p.Deep != nil {
			deep = len(p.Deep.Columns)
		}
		if deep != c.deep {
			t.Errorf("limits %+v: %v", c.l, graphtest.Brief(s))
		}
		if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "of the network too large to follow element by element and treated as a whole, first node") {
			t.Errorf("notes %q", s.Notes)
		}
	}
}

// Many predictors behind one large linear layer cannot make discovery run on:
// what is not unrolled any more stays an atom.
func TestDiscoverUnrollBudget(t *testing.T) {
	x := graphtest.Input("x", graph.Batch, 4)
	h := graphtest.NewHand(x)
	v := x
	for range 3 {
		v = h.Node("MatMul", nil, graphtest.Rows(4), v, graphtest.Ramp(4, 4))
	}
	g := h.Output("y", h.Node("MatMul", nil, graphtest.Rows(40), v, graphtest.Ramp(4, 40)))
	s, err := discover(g, nil, &structure.Options{Limits: structure.Limits{Links: 450, SetBytes: 1 << 20, Elements: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	first, last := s.Predictors[0], s.Predictors[39]
	if len(first.Terms) != 4 || first.Deep != nil || len(last.Terms) != 0 || last.Deep == nil || len(s.Notes) != 1 {
		t.Errorf("%v\n%q", graphtest.Brief(s), s.Notes)
	}
}

// Too many columns to tell apart by set: linear terms are still exact, the rest
// is deep.
func TestDiscoverManyColumns(t *testing.T) {
	s, err := discover(graphtest.SmallNAM(), nil, &structure.Options{Limits: structure.Limits{Links: 1 << 20, SetBytes: 300, Elements: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"eta[] = 0 + 3 x[1] + deep(x[0],x[1],x[2],x[3]):8"}, graphtest.Brief(s)); d != "" {
		t.Error(d)
	}
}

// Predictors share a learned term when they use common units, and only then.
func TestDiscoverSharedTerms(t *testing.T) {
	x := graphtest.Input("x", graph.Batch, 4)
	h := graphtest.NewHand(x)
	shared, own := h.Relu(h.Slice(x, 0, 1), 1, 3), h.Relu(h.Slice(x, 0, 1), 1, 2)
	deep := h.Relu(x, 4, 2)
	h.Output("a", h.Add(h.Linear(deep, 1, 1), h.Linear(shared, 1, 0, 2)))
	h.Output("b", h.Add(h.Linear(deep, 1, 1), h.Linear(shared, 0, 3, 4)))
	s := find(t, h.Output("c", h.Add(h.Linear(deep, 1, 1), h.Linear(own, 1, 1))), nil)
	part := func(k int) structure.LearnedPart { return s.Parts[k].Learned[0] }
	if part(0).Tap != part(1).Tap || part(0).Tap == part(2).Tap {
		t.Errorf("taps %v", s.Taps)
	}
	if d := cmp.Diff([][]float64{{1, 0, 2}, {0, 3, 4}, {1, 1}}, [][]float64{part(0).Coef, part(1).Coef, part(2).Coef}); d != "" {
		t.Error(d)
	}
	if part(0).Tap.Name != "f(x[0])@t2.0" || part(2).Tap.Name != "f(x[0])@t5.0" {
		t.Errorf("names %q, %q", part(0).Tap.Name, part(2).Tap.Name)
	}
}
