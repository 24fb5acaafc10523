package onnx

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// brief is a structure in one line per predictor: terms with columns, width and
// coefficient, then the deep part.
func brief(s *Structure) []string {
	var lines []string
	for _, p := range s.Predictors {
		var b strings.Builder
		fmt.Fprintf(&b, "%s[%s] = %.4g", p.Name, p.Head, p.Intercept)
		for _, t := range p.Terms {
			if t.Coefficient != nil {
				fmt.Fprintf(&b, " + %.4g %s", *t.Coefficient, t.Name)
			} else {
				fmt.Fprintf(&b, " + %s:%d", t.Name, t.Width)
			}
		}
		if p.Deep != nil {
			fmt.Fprintf(&b, " + deep(%s):%d", strings.Join(p.Deep.Columns, ","), p.Deep.Width)
		}
		lines = append(lines, b.String())
	}
	return lines
}

func TestDiscoverPatterns(t *testing.T) {
	x4 := func() (*handGraph, *Value) {
		x := handIn("x", Batch, 4)
		return newHandGraph(x), x
	}
	transA := attrs{"transB": Attr{Int: 1}}
	for _, c := range []struct {
		reason string
		build  func() *Graph
		o      *Options
		want   []string
	}{
		{reason: "semi-structured: linear part beside a deep net", build: func() *Graph {
			h, x := x4()
			lin := h.node("Gemm", transA, rows(1), x, floats([]int{1, 4}, 1, -2, 0.5, 3), floats([]int{1}, 7))
			return h.output("y", h.add(lin, h.linear(h.relu(x, 4, 3), 1, 2, 3)))
		}, want: []string{"eta[] = 7 + 1 x[0] + -2 x[1] + 0.5 x[2] + 3 x[3] + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "Keras: Transpose of the kernel folded, MatMul then Add, Concat of branches before one dense layer", build: func() *Graph {
			h, x := x4()
			a, b := h.relu(h.slice(x, 0, 1), 1, 2), h.relu(h.slice(x, 2, 4), 2, 3)
			deep := h.relu(x, 4, 2)
			cat := h.node("Concat", attrs{"axis": Attr{Int: -1}}, rows(9), a, b, deep, h.slice(x, 1, 3))
			out := h.node("Add", nil, rows(1), h.linear(cat, 1, 1, 2, 2, 2, 1, 1, 5, 0.5), floats([]int{1}, -1))
			return h.output("dense", out)
		}, want: []string{"eta[] = -1 + 5 x[1] + 0.5 x[2] + f(x[0]):2 + f(x[2],x[3]):3 + deep(x[0],x[1],x[2],x[3]):2"}},

		{reason: "scikit-learn: one input a feature, Concat, Cast, Sub, Div, MLP", build: func() *Graph {
			a, b := handIn("a", Batch, 1), handIn("b", Batch, 1)
			h := newHandGraph(a, b)
			cat := h.node("Concat", attrs{"axis": Attr{Int: 1}}, rows(2), a, b)
			z := h.node("Div", nil, rows(2), h.node("Sub", nil, rows(2), h.node("Cast", attrs{"to": Attr{Int: 1}}, rows(2), cat), floats([]int{2}, 1, 2)), floats([]int{2}, 2, 4))
			return h.output("variable", h.node("Reshape", nil, rows(1), h.add(h.linear(h.relu(z, 2, 3), 1, 1, 1), h.linear(z, 4, 8)), ints(-1, 1)))
		}, want: []string{"eta[] = -6 + 2 a + 2 b + deep(a,b):3"}},

		{reason: "scikit-learn: FeatureVectorizer and Scaler", build: func() *Graph {
			a, b := handIn("a", Batch, 1), handIn("b", Batch, 1)
			h := newHandGraph(a, b)
			v := h.node("FeatureVectorizer", nil, rows(2), a, b)
			v.Producer.Domain = "ai.onnx.ml"
			z := h.node("Scaler", attrs{"offset": Attr{Floats: []float64{1, 2}}, "scale": Attr{Floats: []float64{0.5}}}, rows(2), v)
			z.Producer.Domain = "ai.onnx.ml"
			return h.output("variable", h.linear(z, 4, 8))
		}, want: []string{"eta[] = -10 + 2 a + 4 b"}},

		{reason: "a column used twice is one term; a difference that cancels is none", build: func() *Graph {
			h, x := x4()
			twice := h.add(h.linear(x, 1, 2, 3, 0), h.linear(h.slice(x, 1, 3), 10, -3))
			return h.output("y", h.add(twice, h.linear(h.relu(x, 4, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 12 x[1] + deep(x[0],x[1],x[2],x[3]):2"}},

		{reason: "block-diagonal weights: zeros separate the subnetworks", build: func() *Graph {
			h, x := x4()
			w := make([]float64, 4*8)
			for j := range 8 {
				w[j/2*8+j] = 1
			}
			hid := h.node("Tanh", nil, rows(8), h.node("MatMul", nil, rows(8), x, floats([]int{4, 8}, w...)))
			return h.output("y", h.linear(hid, 1, 2, 3, 4, 5, 6, 7, 8))
		}, want: []string{"eta[] = 0 + f(x[0]):2 + f(x[1]):2 + f(x[2]):2 + f(x[3]):2"}},

		{reason: "batched subnetworks, batch axis in the middle", build: func() *Graph {
			h, x := x4()
			xt := h.node("Unsqueeze", nil, []int{4, Batch, 1}, h.node("Transpose", nil, []int{4, Batch}, x), ints(2))
			hid := h.node("Relu", nil, []int{4, Batch, 3}, h.node("MatMul", nil, []int{4, Batch, 3}, xt, ramp(4, 1, 3)))
			out := h.node("MatMul", nil, []int{4, Batch, 1}, hid, floats([]int{4, 3, 1}, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4))
			sum := h.node("ReduceSum", attrs{"keepdims": Attr{Int: 0}}, rows(1), out, ints(0))
			return h.output("y", sum)
		}, want: []string{"eta[] = 0 + f(x[0]):3 + f(x[1]):3 + f(x[2]):3 + f(x[3]):3"}},

		{reason: "an embedding of an integer input is a learned term", build: func() *Graph {
			id, x := handIn("id", Batch, 1), handIn("x", Batch, 2)
			id.Type = Int64
			h := newHandGraph(id, x)
			e := h.node("Squeeze", nil, rows(2), h.node("Gather", nil, rows(1, 2), ramp(5, 2), id), ints(1))
			cat := h.node("Concat", attrs{"axis": Attr{Int: 1}}, rows(4), e, x)
			return h.output("y", h.add(h.linear(e, 1, 2), h.linear(h.relu(cat, 4, 3), 1, 1, 1)))
		}, want: []string{"eta[] = 0 + f(id):2 + deep(id,x[0],x[1]):3"}},

		{reason: "a residual block feeds U with both layers", build: func() *Graph {
			h, x := x4()
			h1 := h.relu(x, 4, 3)
			h2 := h.add(h1, h.relu(h1, 3, 3))
			return h.output("y", h.linear(h2, 1, 1, 1))
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):6"}},

		{reason: "a residual block in a subnetwork: one term from two tensors, and what it adds up linearly", build: func() *Graph {
			h, x := x4()
			h1 := h.relu(h.slice(x, 0, 1), 1, 2)
			h2 := h.add(h1, h.relu(h1, 2, 2))
			skip := h.add(h2, h.slice(x, 0, 1))
			return h.output("y", h.add(h.linear(skip, 1, 2), h.linear(h.relu(x, 4, 3), 1, 1, 1)))
		}, want: []string{"eta[] = 0 + 3 x[0] + f(x[0]):4 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "batch normalisation in front and behind", build: func() *Graph {
			h, x := x4()
			one := floats([]int{4}, 1, 1, 1, 1)
			z := h.node("BatchNormalization", attrs{"epsilon": Attr{Float: 0}}, rows(4), x, floats([]int{4}, 2, 2, 2, 2), one, floats([]int{4}, 1, 2, 3, 4), floats([]int{4}, 4, 4, 4, 4))
			return h.output("y", h.linear(z, 1, 2, 0, 0))
		}, want: []string{"eta[] = -2 + 1 x[0] + 2 x[1]"}},

		{reason: "five columns are more than three: deep; --max-order 5 makes them a term", build: func() *Graph {
			x := handIn("x", Batch, 6)
			h := newHandGraph(x)
			return h.output("y", h.add(h.linear(h.slice(x, 0, 2), 1, 1), h.linear(h.relu(h.slice(x, 1, 6), 5, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 1 x[1] + deep(x[1],x[2],x[3],x[4],x[5]):2"}},

		{reason: "--max-order", o: &Options{MaxOrder: 5}, build: func() *Graph {
			x := handIn("x", Batch, 6)
			h := newHandGraph(x)
			return h.output("y", h.add(h.linear(h.slice(x, 0, 2), 1, 1), h.linear(h.relu(h.slice(x, 1, 6), 5, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 1 x[1] + f(x[1],x[2],x[3],x[4],x[5]):2"}},

		{reason: "one column: what is not linear is deep", build: func() *Graph {
			x := handIn("x", Batch, 1)
			h := newHandGraph(x)
			return h.output("y", h.add(h.linear(x, 2), h.linear(h.relu(x, 1, 3), 1, 1, 1)))
		}, want: []string{"eta[] = 0 + 2 x + deep(x):3"}},

		{reason: "softplus with a floor on the second column of one output, an image of the first kept", build: func() *Graph {
			h, x := x4()
			out := h.node("Gemm", nil, rows(2), h.relu(x, 4, 3), ramp(3, 2), floats([]int{2}, 1, 2))
			mu, s := h.slice(out, 0, 1), h.slice(out, 1, 2)
			pos := h.node("Add", nil, rows(1), h.node("Softplus", nil, rows(1), s), floats([]int{1}, 1e-6))
			return h.output("y", h.node("Concat", attrs{"axis": Attr{Int: 1}}, rows(2), mu, pos))
		}, want: []string{"y1[] = 1 + deep(x[0],x[1],x[2],x[3]):3", "y2[softplus] = 2 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "clipped sigmoid", build: func() *Graph {
			h, x := x4()
			p := h.node("Sigmoid", nil, rows(1), h.linear(h.relu(x, 4, 3), 1, 1, 1))
			return h.output("p", h.node("Clip", nil, rows(1), p, floats(nil, 1e-7), floats(nil, 1-1e-7)))
		}, want: []string{"eta[sigmoid] = 0 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "a clip that cuts is not a guard", build: func() *Graph {
			h, x := x4()
			p := h.node("Sigmoid", nil, rows(1), h.linear(h.relu(x, 4, 3), 1, 1, 1))
			return h.output("p", h.node("Clip", nil, rows(1), p, floats(nil, 0.2), floats(nil, 0.8)))
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):1"}},

		{reason: "a constant that is no guard stays: softplus(s) + 1", build: func() *Graph {
			h, x := x4()
			p := h.node("Softplus", nil, rows(1), h.linear(h.relu(x, 4, 3), 1, 1, 1))
			return h.output("p", h.node("Add", nil, rows(1), p, floats([]int{1}, 1)))
		}, want: []string{"eta[] = 1 + deep(x[0],x[1],x[2],x[3]):1"}},

		{reason: "a scaled response is no head", build: func() *Graph {
			h, x := x4()
			p := h.node("Sigmoid", nil, rows(1), h.linear(h.relu(x, 4, 3), 1, 1, 1))
			return h.output("p", h.node("Mul", nil, rows(1), p, floats([]int{1}, 2)))
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):1"}},

		{reason: "logits and probabilities are one predictor", build: func() *Graph {
			h, x := x4()
			z := h.linear(h.relu(x, 4, 3), 1, 1, 1)
			g := h.output("logit", z)
			h.output("p", h.node("Sigmoid", nil, rows(1), z))
			return g
		}, want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):3"}},

		{reason: "--deep by term", o: &Options{Deep: []string{"f(x[2])", "x[1]"}}, build: smallNAM,
			want: []string{"eta[] = 0 + f(x[0]):2 + f(x[1]):2 + f(x[3]):2 + deep(x[1],x[2]):3"}},
		{reason: "--deep by the node behind the last hidden layer", o: &Options{Deep: []string{"MatMul5"}}, build: smallNAM,
			want: []string{"eta[] = 0 + 3 x[1] + f(x[0]):2 + f(x[2]):2 + f(x[3]):2 + deep(x[1]):2"}},
		{reason: "--learned for the whole", o: &Options{Learned: []string{"f(x[0],x[1],x[2],x[3])"}}, build: func() *Graph {
			h, x := x4()
			return h.output("y", h.add(h.linear(x, 1, 1, 1, 1), h.linear(h.relu(x, 4, 2), 1, 1)))
		}, want: []string{"eta[] = 0 + 1 x[0] + 1 x[1] + 1 x[2] + 1 x[3] + f(x[0],x[1],x[2],x[3]):2"}},
		{reason: "--predictor inside the network", o: &Options{Predictor: []string{"t1.0"}}, build: smallNAM,
			want: []string{"t1.01[] = -2.5 + -2.5 x[0]", "t1.02[] = -1.438 + -1.438 x[0]"}},
		{reason: "no structure", o: &Options{NoStructure: true}, build: smallNAM,
			want: []string{"eta[] = 0 + deep(x[0],x[1],x[2],x[3]):9"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := c.build()
			s, err := Discover(g, Unbound(g), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, brief(s)); d != "" {
				var b strings.Builder
				s.WriteText(&b)
				t.Errorf("%s\n%s", d, b.String())
			}
			// The same from a file, run: the parts are the network's own eta.
			for _, opset := range []int64{13, 17} {
				g := loaded(t, g, opset)
				checkRules(t, g, 3)
				m, err := NewModel(g, Unbound(g), c.o)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, brief(m.Structure())); d != "" {
					t.Errorf("from a file: %s", d)
				}
				if err := decomposetest.Model(m, someRows(t, g, 300), 1e-12); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// someRows draws data for every input; integer inputs get 0 and 1.
func someRows(t testing.TB, g *Graph, n int) *data.Batch {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	b := data.NewBatch(n, 0)
	for i, in := range Unbound(g) {
		for _, c := range in.Columns {
			v := make([]float64, n)
			for r := range v {
				if v[r] = random.NormFloat64(); !g.Inputs[i].Type.Floating() {
					v[r] = float64(random.IntN(2))
				}
			}
			if err := b.SetNumeric(c, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// smallNAM: four subnetworks of two units, 3 x[1] beside them.
func smallNAM() *Graph {
	x := handIn("x", Batch, 4)
	h := newHandGraph(x)
	eta := (*Value)(nil)
	for j := range 4 {
		part := h.linear(h.relu(h.slice(x, int64(j), int64(j)+1), 1, 2), 1, 2)
		if eta == nil {
			eta = part
			continue
		}
		if j == 1 {
			// the node of this product is MatMul7; keep a plain name for the test
			part.Producer.Name = "MatMul5"
		}
		eta = h.add(eta, part)
	}
	return h.output("y", h.add(eta, h.linear(x, 0, 3, 0, 0)))
}

func TestDiscoverErrors(t *testing.T) {
	for _, c := range []struct {
		reason string
		o      *Options
		err    string
	}{
		{"unknown name", &Options{Deep: []string{"f(age)"}}, `onnx: --deep "f(age)" is no term, node or tensor of the network; the addends are "x[1]", "f(x[0])", "f(x[1])", "f(x[2])", "f(x[3])"`},
		{"inside a subnetwork", &Options{Learned: []string{"t1.0"}}, `onnx: --learned "t1.0" is not an addend of a predictor; the addends are`},
		{"both", &Options{Deep: []string{"f(x[0])"}, Learned: []string{"t2.0"}}, `onnx: --learned "t2.0" and --deep "f(x[0])" name the same part of the network`},
		{"linear already", &Options{Learned: []string{"x[1]"}}, `onnx: --learned "x[1]": it is linear in its columns and a linear term already`},
		{"no such tensor", &Options{Predictor: []string{"mu"}}, `onnx: --predictor "mu": the network computes no tensor of floating type of that name; its outputs are "y"`},
		{"order", &Options{MaxOrder: -1}, `onnx: MaxOrder -1 is negative; 0 means the default, 3`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			g := smallNAM()
			_, err := Discover(g, Unbound(g), c.o)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %s", err, c.err)
			}
		})
	}
}

// Columns that feed two elements of the input are one column; binding decides
// what a term is called.
func TestDiscoverMergesBoundColumns(t *testing.T) {
	g := smallNAM()
	s, err := Discover(g, Binding{{Input: "x", Columns: []string{"a", "a", "b", "c"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"eta[] = 0 + 3 a + f(a):4 + f(b):2 + f(c):2"}
	if d := cmp.Diff(want, brief(s)); d != "" {
		t.Error(d)
	}
	h := newHandGraph(handIn("x", Batch, 4))
	g = h.output("y", h.linear(h.g.Inputs[0], 1, 2, 4, -4))
	s, err = Discover(g, Binding{{Input: "x", Columns: []string{"a", "a", "b", "b"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"eta[] = 0 + 3 a"}, brief(s)); d != "" {
		t.Error(d)
	}
}

// Beyond the budget nodes are followed as a whole: coarser, still sound, said.
func TestDiscoverBudget(t *testing.T) {
	for _, c := range []struct {
		l    limits
		deep int // columns of the deep part
	}{
		{limits{links: 40, setBytes: 1 << 20, elements: 1 << 20}, 4},
		{limits{links: 1 << 20, setBytes: 400, elements: 1 << 20}, 4},
		{limits{links: 1 << 20, setBytes: 1 << 20, elements: 1}, 4},
	} {
		g := smallNAM()
		s, err := discover(g, Unbound(g), nil, c.l)
		if err != nil {
			t.Fatal(err)
		}
		deep := 0
		if p := s.Predictors[0]; p.Deep != nil {
			deep = len(p.Deep.Columns)
		}
		if deep != c.deep {
			t.Errorf("limits %+v: %v", c.l, brief(s))
		}
		if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "of the network too large to follow element by element and treated as a whole, first node") {
			t.Errorf("notes %q", s.Notes)
		}
	}
}

// Many predictors behind one large linear layer cannot make discovery run on:
// what is not unrolled any more stays an atom.
func TestDiscoverUnrollBudget(t *testing.T) {
	x := handIn("x", Batch, 4)
	h := newHandGraph(x)
	v := x
	for range 3 {
		v = h.node("MatMul", nil, rows(4), v, ramp(4, 4))
	}
	g := h.output("y", h.node("MatMul", nil, rows(40), v, ramp(4, 40)))
	s, err := discover(g, Unbound(g), nil, limits{links: 450, setBytes: 1 << 20, elements: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	first, last := s.Predictors[0], s.Predictors[39]
	if len(first.Terms) != 4 || first.Deep != nil || len(last.Terms) != 0 || last.Deep == nil || len(s.Notes) != 1 {
		t.Errorf("%v\n%q", brief(s), s.Notes)
	}
}

// Too many columns to tell apart by set: linear terms are still exact, the rest
// is deep.
func TestDiscoverManyColumns(t *testing.T) {
	g := smallNAM()
	s, err := discover(g, Unbound(g), nil, limits{links: 1 << 20, setBytes: 300, elements: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"eta[] = 0 + 3 x[1] + deep(x[0],x[1],x[2],x[3]):8"}, brief(s)); d != "" {
		t.Error(d)
	}
	wide := graphOf(handIn("x", Batch, 1<<40))
	_, err = Discover(wide, Unbound(wide), nil)
	if want := `onnx: the inputs hold more than 100000 numbers a row (input "x": [N 1099511627776]); they cannot be bound to columns`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Predictors share a learned term when they use common units, and only then.
func TestDiscoverSharedTerms(t *testing.T) {
	x := handIn("x", Batch, 4)
	h := newHandGraph(x)
	shared, own := h.relu(h.slice(x, 0, 1), 1, 3), h.relu(h.slice(x, 0, 1), 1, 2)
	deep := h.relu(x, 4, 2)
	h.output("a", h.add(h.linear(deep, 1, 1), h.linear(shared, 1, 0, 2)))
	h.output("b", h.add(h.linear(deep, 1, 1), h.linear(shared, 0, 3, 4)))
	g := h.output("c", h.add(h.linear(deep, 1, 1), h.linear(own, 1, 1)))
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	part := func(k int) learnedPart { return s.found.parts[k].learned[0] }
	if part(0).tap != part(1).tap || part(0).tap == part(2).tap {
		t.Errorf("taps %v", s.found.taps)
	}
	if d := cmp.Diff([][]float64{{1, 0, 2}, {0, 3, 4}, {1, 1}}, [][]float64{part(0).coef, part(1).coef, part(2).coef}); d != "" {
		t.Error(d)
	}
	if part(0).tap.name != "f(x[0])@t2.0" || part(2).tap.name != "f(x[0])@t5.0" {
		t.Errorf("names %q, %q", part(0).tap.name, part(2).tap.name)
	}
}
