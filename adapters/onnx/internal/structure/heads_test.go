package structure_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// headModel is x [N,2] -> u [N,1] -> y, by lines "y = Add(u, 0.5)". Numbers are
// constants; a name with an index, as axes=[1], is an attribute.
func headModel(t *testing.T, width int, outputs []string, lines string) *graph.Graph {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	w := make([]float64, 2*width)
	for i := range w {
		w[i] = []float64{1, 0.25, -0.5, 0.125, 2, -1}[i%6]
	}
	b.AddInit("w", []int{2, width}, w...)
	b.AddNode("MatMul", []string{"x", "w"}, "u")
	constants := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		to, call, _ := strings.Cut(strings.TrimSpace(line), " = ")
		op, args, _ := strings.Cut(strings.TrimSuffix(call, ")"), "(")
		var in []string
		var attrs []onnxpb.Attr
		for _, a := range strings.Split(args, ", ") {
			var v float64
			var k int64
			switch {
			case strings.HasPrefix(a, "axes="):
				attrs = append(attrs, onnxpb.Ints("axes", 1))
			case strings.Contains(a, "="):
				name, _, _ := strings.Cut(a, "=")
				_, _ = fmt.Sscan(a[len(name)+1:], &k)
				attrs = append(attrs, onnxpb.Int(name, k))
			case strings.HasPrefix(a, "i"):
				if _, err := fmt.Sscan(a[1:], &k); err != nil {
					t.Fatal(err)
				}
				if !constants[a] {
					b.AddInts(a, k)
				}
				constants[a] = true
				in = append(in, a)
			default:
				if _, err := fmt.Sscan(a, &v); err == nil && !constants[a] {
					b.AddInit(a, []int{1}, v)
					constants[a] = true
				}
				in = append(in, a)
			}
		}
		b.AddNode(op, in, to, attrs...)
	}
	for _, o := range outputs {
		b.Output(o, onnxpb.TensorProto_FLOAT)
	}
	for _, o := range b.Model().Graph.Output {
		o.Type = nil
	}
	return load(t, b)
}

// onProbes are what was found, and its predictors on rows of x from -40 to 40.
func onProbes(t *testing.T, g *graph.Graph, o *structure.Options) (*structure.Found, *mat.Dense) {
	t.Helper()
	f := find(t, g, o)
	const rows = 641
	x := make([]float64, 2*rows)
	for r := range rows {
		v := float64(r-320) / 8
		x[2*r], x[2*r+1] = v, math.Mod(v, 3)
	}
	eta := mat.NewDense(rows, len(f.Parts), nil)
	for k, p := range f.Parts {
		eta.SetCol(k, elements(t, f, [][]float64{x}, rows, p.Eta)[0])
	}
	return f, eta
}

// Heads as exporters and people spell them. The predictor is a tensor before the head,
// and the head of it is the output, at numbers on both sides of every threshold.
func TestSpelledHeads(t *testing.T) {
	for _, c := range []struct{ name, head, tensor, lines string }{
		{"softplus of PyTorch's tracing", "softplus", "u", `g = Greater(u, 20)
			e = Exp(u)
			a = Add(1, e)
			l = Log(a)
			y = Where(g, u, l)`},
		{"the same by LessOrEqual", "softplus", "u", `g = LessOrEqual(u, 20)
			l = Softplus(u)
			y = Where(g, l, u)`},
		{"the same by Not and Less", "softplus", "u", `g = Less(u, 20)
			n = Not(g)
			l = Softplus(u)
			y = Where(n, u, l)`},
		{"log(1 + exp)", "softplus", "u", `e = Exp(u)
			a = Add(e, 1)
			y = Log(a)`},
		{"stable", "softplus", "u", `m = Max(u, 0)
			b = Abs(u)
			n = Neg(b)
			e = Exp(n)
			a = Add(e, 1)
			l = Log(a)
			y = Add(m, l)`},
		{"stable, by Relu and the sigmoid", "softplus", "u", `m = Relu(u)
			b = Abs(u)
			s = Sigmoid(b)
			l = Log(s)
			y = Sub(m, l)`},
		{"x + softplus(-x)", "softplus", "u", `n = Neg(u)
			s = Softplus(n)
			y = Add(u, s)`},
		{"JAX's logaddexp(x, 0)", "softplus", "u", `m = Max(u, 0)
			d = Sub(u, 0)
			q = Equal(d, d)
			n = Not(q)
			a = Add(u, 0)
			b = Abs(d)
			c = Neg(b)
			e = Exp(c)
			f = Add(e, 1)
			l = Log(f)
			s = Add(m, l)
			y = Where(n, a, s)`},
		{"beta", "softplus(beta=3)", "u", `s = Mul(u, 3)
			p = Softplus(s)
			y = Div(p, 3)`},
		{"beta and threshold, and a floor", "softplus(beta=0.5)+0.25", "u", `s = Mul(u, 0.5)
			p = Softplus(s)
			d = Div(p, 0.5)
			g = Greater(s, 20)
			z = Where(g, u, d)
			y = Add(z, 0.25)`},
		{"c + softplus", "softplus+0.1", "u", `p = Softplus(u)
			y = Add(0.1, p)`},
		{"c + softplus + c", "softplus+2", "u", `p = Softplus(u)
			q = Add(1.5, p)
			y = Add(q, 0.5)`},
		{"exp + c", "exp+0.01", "u", `p = Exp(u)
			y = Add(p, 0.01)`},
		{"a guard", "softplus", "u", `p = Softplus(u)
			y = Add(p, 0.000001)`},
		{"a shifted predictor", "softplus+0.1", "v", `v = Sub(u, 0.55)
			p = Softplus(v)
			y = Add(p, 0.1)`},
		{"sigmoid by hand", "sigmoid", "u", `n = Neg(u)
			e = Exp(n)
			a = Add(1, e)
			y = Reciprocal(a)`},
		{"sigmoid by Div", "sigmoid", "u", `n = Mul(u, -1)
			e = Exp(n)
			a = Add(1, e)
			y = Div(1, a)`},
		{"sigmoid by Pow", "sigmoid", "u", `n = Neg(u)
			e = Exp(n)
			a = Add(1, e)
			y = Pow(a, -1)`},
		{"exp / (1 + exp)", "sigmoid", "u", `e = Exp(u)
			a = Add(1, e)
			y = Div(e, a)`},
		{"exp reciprocal", "sigmoid", "u", `e = Exp(u)
			a = Add(1, e)
			r = Reciprocal(a)
			y = Mul(e, r)`},
		{"tanh", "sigmoid", "u", `h = Mul(u, 0.5)
			s = Tanh(h)
			a = Add(s, 1)
			y = Mul(a, 0.5)`},
		{"sigmoid stable on both sides", "sigmoid", "u", `g = GreaterOrEqual(u, 0)
			b = Abs(u)
			n = Neg(b)
			e = Exp(n)
			a = Add(1, e)
			r = Reciprocal(a)
			q = Div(e, a)
			y = Where(g, r, q)`},
		{"1 - (1 - sigmoid)", "sigmoid", "u", `s = Sigmoid(u)
			q = Sub(1, s)
			y = Sub(1, q)`},
		{"exp of log sigmoid", "sigmoid", "u", `n = Neg(u)
			s = Softplus(n)
			l = Neg(s)
			y = Exp(l)`},
		{"clipped by hand", "sigmoid", "u", `n = Neg(u)
			e = Exp(n)
			a = Add(1, e)
			r = Reciprocal(a)
			y = Clip(r, 0.0000001, 0.9999999)`},
		{"a wide clip inside", "sigmoid", "u", `c = Clip(u, -50, 50)
			y = Sigmoid(c)`},
		{"a wide clip inside, by hand", "sigmoid", "u", `c = Clip(u, -500, 500)
			n = Neg(c)
			e = Exp(n)
			a = Add(1, e)
			y = Reciprocal(a)`},
		{"exp of a wide clip", "exp", "u", `c = Clip(u, -45, 45)
			y = Exp(c)`},
		{"exp of a narrow clip", "exp", "c", `c = Clip(u, -5, 5)
			y = Exp(c)`},
		{"the inverse of the complementary log-log", "inv_cloglog", "u", `e = Exp(u)
			n = Neg(e)
			s = Exp(n)
			y = Sub(1, s)`},
		{"the same by -(exp(-exp) - 1), clipped on both sides", "inv_cloglog", "u", `c = Clip(u, -40, 40)
			e = Exp(c)
			n = Mul(e, -1)
			s = Exp(n)
			m = Sub(s, 1)
			r = Neg(m)
			y = Clip(r, 0.0000001, 0.9999999)`},
		// What is no head, or none of a known family.
		{"1 - exp(-2 exp)", "", "y", `e = Exp(u)
			n = Mul(e, -2)
			s = Exp(n)
			y = Sub(1, s)`},
		{"1 - exp(-exp), in a narrow clip", "", "y", `e = Exp(u)
			n = Neg(e)
			s = Exp(n)
			r = Sub(1, s)
			y = Clip(r, 0.1, 0.9)`},
		{"softplus cut off early", "", "y", `g = Greater(u, 5)
			l = Softplus(u)
			y = Where(g, u, l)`},
		{"the wrong branch", "", "y", `g = Greater(u, 20)
			l = Softplus(u)
			y = Where(g, l, u)`},
		{"another asymptote", "", "y", `g = Greater(u, 20)
			l = Softplus(u)
			v = Mul(u, 2)
			y = Where(g, v, l)`},
		{"log(2 + exp)", "", "y", `e = Exp(u)
			a = Add(e, 2)
			y = Log(a)`},
		{"1 + tanh", "", "y", `h = Mul(u, 0.5)
			s = Tanh(h)
			y = Add(s, 1)`},
		{"softplus - c", "", "y", `p = Softplus(u)
			y = Sub(p, 0.1)`},
		{"2 softplus", "", "y", `p = Softplus(u)
			y = Mul(p, 2)`},
		{"sigmoid of another sign", "", "y", `e = Exp(u)
			a = Add(1, e)
			y = Reciprocal(a)`},
		{"the other class alone", "", "y", `s = Sigmoid(u)
			y = Sub(1, s)`},
		{"max(x, 1) + softplus(-|x|)", "", "y", `m = Max(u, 1)
			b = Abs(u)
			n = Neg(b)
			s = Softplus(n)
			y = Add(m, s)`},
		{"a narrow clip outside", "", "y", `s = Sigmoid(u)
			y = Clip(s, 0.1, 0.9)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := headModel(t, 1, []string{"y"}, c.lines)
			m, eta := onProbes(t, g, nil)
			p := m.Predictors
			if len(p) != 1 || p[0].Head != c.head || p[0].Tensor != c.tensor {
				t.Fatalf("%q of %s, want %q of %s", p[0].Head, p[0].Tensor, c.head, c.tensor)
			}
			if c.head == "" {
				return
			}
			if len(p[0].HeadNodes) == 0 || !strings.Contains(p[0].HeadNodes[0], `"y"`) || len(p[0].Terms) == 0 && c.tensor != "c" {
				t.Errorf("head nodes %q, %d terms", p[0].HeadNodes, len(p[0].Terms))
			}
			if (structure.Response(p[0].Head) != "") != (strings.ContainsAny(c.head, "+=") || c.head == "inv_cloglog") {
				t.Errorf("response %q of %q", structure.Response(p[0].Head), c.head)
			}
			_, want := onProbes(t, g, &structure.Options{Predictor: []string{"y"}})
			for r, got := range graphtest.Response(p[0].Head, eta, 0, nil, nil) {
				if y := want.At(r, 0); math.Abs(got-y) > 2e-6*(1+math.Abs(y)) {
					t.Fatalf("row %d: %g of the predictor %g, the network has %g", r, got, eta.At(r, 0), y)
				}
			}
		})
	}
}

// Softmax and its logarithm in the parts that they are made of.
func TestSpelledSoftmax(t *testing.T) {
	for _, c := range []struct{ name, head, tensor, lines string }{
		{"exp / sum", "softmax", "u", `e = Exp(u)
			s = ReduceSum(e, i1)
			y = Div(e, s)`},
		{"less the maximum", "softmax", "u", `m = ReduceMax(u, axes=1)
			d = Sub(u, m)
			e = Exp(d)
			s = ReduceSum(e, i1)
			y = Div(e, s)`},
		{"guarded", "softmax", "u", `e = Exp(u)
			s = ReduceSum(e, i1)
			q = Div(e, s)
			y = Clip(q, 0.0000001, 0.9999999)`},
		{"exp of LogSoftmax", "softmax", "u", `l = LogSoftmax(u, axis=1)
			y = Exp(l)`},
		{"log of Softmax", "logsoftmax", "u", `l = Softmax(u, axis=1)
			y = Log(l)`},
		{"x - log sum exp", "logsoftmax", "u", `l = ReduceLogSumExp(u, axes=1)
			y = Sub(u, l)`},
		{"x - log of sum of exp", "logsoftmax", "u", `e = Exp(u)
			s = ReduceSum(e, i1)
			l = Log(s)
			y = Sub(u, l)`},
		{"shifted - log of sum of exp of shifted", "logsoftmax", "u", `m = ReduceMax(u, axes=1)
			d = Sub(u, m)
			e = Exp(d)
			s = ReduceSum(e, i1)
			l = Log(s)
			y = Sub(d, l)`},
		{"x - (max + log sum exp)", "logsoftmax", "u", `m = ReduceMax(u, axes=1)
			d = Sub(u, m)
			e = Exp(d)
			s = ReduceSum(e, i1)
			l = Log(s)
			a = Add(l, m)
			y = Sub(u, a)`},
		{"squeezed and unsqueezed", "softmax", "u", `e = Exp(u)
			s = ReduceSum(e, i1, keepdims=0)
			q = Unsqueeze(s, i1)
			y = Div(e, q)`},
		{"divided by its sum again", "softmax", "u", `p = Softmax(u, axis=1)
			s = ReduceSum(p, i1)
			y = Div(p, s)`},
		{"divided by the sum of absolute values", "softmax", "u", `p = Softmax(u, axis=1)
			s = ReduceL1(p, axes=1)
			y = Div(p, s)`},
		{"divided by the sum of what Abs makes positive", "softmax", "u", `p = Softmax(u, axis=1)
			a = Abs(p)
			s = ReduceSum(a, i1)
			y = Div(p, s)`},
		{"divided by the sum of something else", "", "y", `p = Softmax(u, axis=1)
			e = Exp(u)
			s = ReduceSum(e, i1)
			y = Div(p, s)`},
		{"scores, divided by their sum", "", "y", `s = ReduceSum(u, i1)
			y = Div(u, s)`},
		{"in a narrow clip", "", "y", `p = Softmax(u, axis=1)
			y = Clip(p, 0.1, 0.9)`},
		{"a logarithm that is clipped", "", "y", `l = LogSoftmax(u, axis=1)
			y = Clip(l, 0, 10000000)`},
		{"the sum of another tensor", "", "y", `e = Exp(u)
			d = Mul(u, 2)
			f = Exp(d)
			s = ReduceSum(f, i1)
			y = Div(e, s)`},
		{"the maximum of another tensor", "softmax", "d", `v = Mul(u, 2)
			m = ReduceMax(v, axes=1)
			d = Sub(u, m)
			e = Exp(d)
			s = ReduceSum(e, i1)
			y = Div(e, s)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := headModel(t, 3, []string{"y"}, c.lines)
			m, eta := onProbes(t, g, nil)
			p := m.Predictors
			if len(p) != 3 || p[1].Head != c.head || p[1].Tensor != c.tensor || p[1].Element != 1 {
				t.Fatalf("%d predictors, %q of %s", len(p), p[1].Head, p[1].Tensor)
			}
			if c.head == "" {
				return
			}
			if len(m.Softmaxes) != 1 || !slices.Equal(m.Softmaxes[0].Predictors, []int{0, 1, 2}) {
				t.Errorf("softmaxes %+v", m.Softmaxes)
			}
			_, want := onProbes(t, g, &structure.Options{Predictor: []string{"y"}})
			for k := range p {
				for r, got := range graphtest.Response(p[k].Head, eta, k, []int{0, 1, 2}, nil) {
					if y := want.At(r, k); math.Abs(got-y) > 1e-6*(1+math.Abs(y)) {
						t.Fatalf("row %d: %g, the network has %g", r, got, y)
					}
				}
			}
		})
	}
}

// [1 - p, p] of a binary classifier is one predictor, whose response is p.
func TestBinaryClassifier(t *testing.T) {
	for _, lines := range []string{
		`p = Sigmoid(u)
		q = Sub(1, p)
		y = Concat(q, p, axis=1)`,
		`p = Sigmoid(u)
		q = Sub(1, p)
		y = Concat(p, q, axis=1)`,
	} {
		m, _ := onProbes(t, headModel(t, 1, []string{"y"}, lines), nil)
		p := m.Predictors
		if len(p) != 1 || p[0].Head != "sigmoid" || p[0].Tensor != "u" || len(m.Notes) != 1 {
			t.Errorf("%d predictors, head %q of %s, notes %q", len(p), p[0].Head, p[0].Tensor, m.Notes)
		}
	}
	m, _ := onProbes(t, headModel(t, 1, []string{"q", "p"}, `p = Sigmoid(u)
		q = Sub(1, p)`), nil)
	if p := m.Predictors; len(p) != 1 || p[0].Head != "sigmoid" || p[0].Output != "p" {
		t.Errorf("%d predictors, head %q of output %s", len(p), p[0].Head, p[0].Output)
	}
}

// TestScaledExponentials: what a mean is multiplied by is a part of the predictor, if it is so for the whole of an output.
func TestScaledExponentials(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		want        []string
	}{
		{"by one number", "e = Exp(u)\ny = Mul(e, 2)", []string{"y1[exp] = 0.6931 + 1 x[0] + -0.5 x[1]", "y2[exp] = 0.6931 + 0.25 x[0] + 0.125 x[1]"}},
		{"by 1", "e = Exp(u)\ny = Mul(e, 1)", []string{"y1[exp] = 0 + 1 x[0] + -0.5 x[1]", "y2[exp] = 0 + 0.25 x[0] + 0.125 x[1]"}},
		{"by less than 0", "e = Exp(u)\ny = Mul(e, -2)", []string{"y1[] = 0 + deep(x[0],x[1]):1", "y2[] = 0 + deep(x[0],x[1]):1"}},
		{"and shifted", "e = Exp(u)\nm = Mul(e, 2)\ny = Add(m, 0.5)", []string{"y1[] = 0.5 + deep(x[0],x[1]):1", "y2[] = 0.5 + deep(x[0],x[1]):1"}},
		{"the first of several", "e = Exp(u)\ns = Slice(e, i0, i1, i1)\ny = Mul(s, 2)", []string{"eta[] = 0 + deep(x[0],x[1]):1"}},
	} {
		m, _ := onProbes(t, headModel(t, 2, []string{"y"}, c.lines), nil)
		if d := cmp.Diff(c.want, graphtest.Brief(m)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		checkSums(t, m, 1e-6)
	}
}
