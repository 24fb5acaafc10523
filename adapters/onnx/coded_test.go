package onnx

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// codedNetwork is of the codes a (of 6 levels) and b (of 4) and the number x, with what nodes
// computes as "wide" beside a deep part of all three.
func codedNetwork(t *testing.T, nodes func(b *onnxpb.Builder)) *Graph {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("b", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil // as inferred
	b.AddInts("last", 1)
	b.AddInit("table of b", []int{4, 1}, 1, -1, 0.5, 2)
	lookUp(b, "table of b", "b", "eb")
	b.AddInit("table of a", []int{6, 1}, 0.25, -1, 2, 1, 0, -0.5)
	lookUp(b, "table of a", "a", "ea")
	b.AddNode("Concat", graphtest.In("ea", "eb", "x"), "all", onnxpb.Int("axis", 1))
	b.AddInit("w", []int{3, 2}, 1, -1, 0.5, 2, 1, 1)
	b.AddNode("MatMul", graphtest.In("all", "w"), "h")
	b.AddNode("Tanh", graphtest.In("h"), "u")
	b.AddInit("v", []int{2, 1}, 1, -0.5)
	b.AddNode("MatMul", graphtest.In("u", "v"), "z")
	nodes(b)
	b.AddNode("Add", graphtest.In("wide", "z"), "y")
	g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lookUp adds the rows of a table that codes choose.
func lookUp(b *onnxpb.Builder, table, code, to string) {
	b.AddNode("Gather", graphtest.In(table, code), to+" of each")
	b.AddNode("Squeeze", graphtest.In(to+" of each", "last"), to)
}

// counted is a linear layer behind x (1, 0, ..., 0), with what update says added at the places a and b.
func counted(b *onnxpb.Builder, update string) {
	b.AddNode("Shape", graphtest.In("x"), "shape")
	b.AddNode("ConstantOfShape", graphtest.In("shape"), "zeros")
	b.AddInit("one number", nil, 1)
	b.AddNode("Add", graphtest.In("zeros", "one number"), "ones")
	b.AddNode("Concat", graphtest.In(update, update), "updates", onnxpb.Int("axis", 1))
	b.AddNode("Concat", graphtest.In("a", "b"), "codes", onnxpb.Int("axis", 1))
	b.AddInit("first", []int{1, 6}, 1, 0, 0, 0, 0, 0)
	b.AddNode("Mul", graphtest.In("x", "first"), "begin")
	b.AddNode("ScatterElements", graphtest.In("begin", "codes", "updates"), "counts", onnxpb.Int("axis", 1), onnxpb.Text("reduction", "add"))
	b.AddInit("weights", []int{6, 1}, 2, -1, 0.5, 3, 1, -2)
	b.AddNode("MatMul", graphtest.In("counts", "weights"), "wide")
}

// codedRows draw codes a, but for the first, b, and x.
func codedRows(t *testing.T, n int) *data.Batch {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	b := data.NewBatch(n, 0)
	x := map[string][]float64{}
	for range n {
		x["a"], x["b"] = append(x["a"], float64(1+rng.IntN(5))), append(x["b"], float64(rng.IntN(4)))
		x["x"] = append(x["x"], rng.NormFloat64())
	}
	for name, v := range x {
		if err := b.SetNumeric(name, v); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

var (
	wideOfA  = func(b *onnxpb.Builder) { b.AddNode("Identity", graphtest.In("ea"), "wide") }
	crossing = func(b *onnxpb.Builder, rows int) {
		table := make([]float64, rows)
		for i := range table {
			table[i] = math.Sin(float64(i))
		}
		b.AddIntegers("four", onnxpb.TensorProto_INT64, nil, 4)
		b.AddInit("table", []int{rows, 1}, table...)
		b.AddNode("Mul", graphtest.In("a", "four"), "4 a")
		b.AddNode("Add", graphtest.In("4 a", "b"), "row")
	}
)

// TestCodes: look-ups of a table are factors of the columns whose codes are known, and others
// stay as they are.
func TestCodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes func(b *onnxpb.Builder)
		o     *Options
		want  string
	}{
		{"a wide part of one column", wideOfA, nil, "a:6"},
		{"an embedding of several numbers, with a layer behind it", func(b *onnxpb.Builder) {
			b.AddInit("wider", []int{6, 2}, 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6)
			lookUp(b, "wider", "a", "e")
			b.AddNode("Tanh", graphtest.In("e"), "te")
			b.AddInit("o", []int{2, 1}, 1, 1)
			b.AddNode("MatMul", graphtest.In("te", "o"), "wide")
		}, nil, "a:6"},
		{"a cross of two columns", func(b *onnxpb.Builder) {
			crossing(b, 24)
			lookUp(b, "table", "row", "wide")
		}, nil, "a:b:24"},
		{"a hashed cross: the other tables say which codes there are", func(b *onnxpb.Builder) {
			crossing(b, 7)
			b.AddIntegers("seven", onnxpb.TensorProto_INT64, nil, 7)
			b.AddNode("Mod", graphtest.In("row", "seven"), "hash")
			lookUp(b, "table", "hash", "wide")
		}, nil, "a:b:24"},
		{"codes from 1: what both tables have", func(b *onnxpb.Builder) {
			b.AddIntegers("one", onnxpb.TensorProto_INT64, nil, 1)
			b.AddInit("from one", []int{6, 1}, 1, 2, 4, 8, 16, 32)
			b.AddNode("Sub", graphtest.In("a", "one"), "less")
			lookUp(b, "from one", "less", "wide")
		}, nil, "a:5"},
		{"codes that a table translates", func(b *onnxpb.Builder) {
			b.AddIntegers("other", onnxpb.TensorProto_INT64, []int{6}, 2, 1, 0, 0, 1, 2)
			b.AddNode("Gather", graphtest.In("other", "a"), "other code")
			b.AddInit("three", []int{3, 1}, 1, 2, 4)
			lookUp(b, "three", "other code", "wide")
		}, nil, "a:6"},
		{"codes of which a table takes all above one as one: another table has each", func(b *onnxpb.Builder) {
			b.AddIntegers("largest", onnxpb.TensorProto_INT64, nil, 3)
			b.AddNode("Min", graphtest.In("a", "largest"), "at most 3")
			b.AddInit("four rows", []int{4, 1}, 1, 2, 4, 8)
			lookUp(b, "four rows", "at most 3", "wide")
		}, nil, "a:6"},
		{"a cross that has no row for some of the codes", func(b *onnxpb.Builder) {
			crossing(b, 20)
			b.AddIntegers("last of 24", onnxpb.TensorProto_INT64, nil, 23)
			b.AddNode("Sub", graphtest.In("last of 24", "row"), "from the end")
			lookUp(b, "table", "from the end", "wide")
		}, nil, "f(a,b):1"},
		{"counts of one code after another", func(b *onnxpb.Builder) {
			counted(b, "ones")
			b.AddNode("ScatterElements", graphtest.In("counts", "codes", "updates"), "more", onnxpb.Int("axis", 1), onnxpb.Text("reduction", "add"))
			b.AddNode("MatMul", graphtest.In("more", "weights"), "wider")
			b.AddNode("Add", graphtest.In("wide", "wider"), "sum")
			b.Model().Graph.Node[len(b.Model().Graph.Node)-1].Output[0] = "sum"
		}, nil, "a:6 b:4 x:1"},
		{"a linear layer behind counts of codes", func(b *onnxpb.Builder) { counted(b, "ones") }, nil, "a:6 b:4 x:1"},
		{"codes whose counts weigh as another column", func(b *onnxpb.Builder) { counted(b, "x") }, nil, "x:1 f(a,x):1 f(b,x):1"},
		{"not alone: the number itself acts, too", func(b *onnxpb.Builder) {
			b.AddNode("Cast", graphtest.In("a"), "number", onnxpb.Int("to", 1))
			b.AddNode("Mul", graphtest.In("ea", "number"), "wide")
		}, nil, "f(a):1"},
		{"forced to be a learned term", wideOfA, &Options{Learned: []string{"a"}}, "f(a):1"},
		{"forced into the deep part", wideOfA, &Options{Deep: []string{"a"}}, ""},
		{"no structure", wideOfA, &Options{NoStructure: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := codedNetwork(t, c.nodes)
			m, err := NewModel(g, Unbound(g), c.o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range m.Structure().Predictors {
				for _, term := range p.Terms {
					got = append(got, fmt.Sprintf("%s:%d", term.Name, term.Width))
				}
			}
			if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
				t.Error(d)
			}
			if err := decomposetest.Model(m, codedRows(t, 200), 1e-12); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOpenCodes: a column whose code is clipped may hold any number, and has no levels.
func TestOpenCodes(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil
	b.AddInts("last", 1)
	b.AddIntegers("largest", onnxpb.TensorProto_INT64, nil, 3)
	b.AddNode("Min", graphtest.In("a", "largest"), "code")
	b.AddInit("table", []int{4, 1}, 1, -1, 0.5, 2)
	lookUp(b, "table", "code", "e")
	b.AddNode("Tanh", graphtest.In("x"), "u")
	b.AddNode("Add", graphtest.In("e", "u"), "y")
	g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Discover(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"eta[] = 0 + f(a):1 + f(x):1"}, brief(s)); d != "" {
		t.Error(d)
	}
}

// TestWideCross: a network that is the table of a cross alone has nothing deep: its explained
// variance is 1.
func TestWideCross(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("b", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil
	b.AddInts("last", 1)
	crossing(b, 24)
	lookUp(b, "table", "row", "y")
	g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decompose.Decompose(context.Background(), m, codedTable(t, codedRows(t, 400)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Predictors[0].Variance; math.Abs(v.Structured/v.Total-1) > 1e-12 {
		t.Errorf("the structured part explains %g of the variance, all of it is the cross", v.Structured/v.Total)
	}
}

// TestEmbeddingIsFactor: the structured part explains as much as a regression on dummies
// of the levels, and a level without rows keeps the table's number.
func TestEmbeddingIsFactor(t *testing.T) {
	const n = 300
	g := codedNetwork(t, wideOfA)
	m, err := NewModel(g, Unbound(g), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := codedRows(t, n)
	r, err := decompose.Decompose(context.Background(), m, codedTable(t, rows), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Predictors[0]
	a := p.Terms[0]
	if len(p.Aliased) > 0 || a.Kind != decompose.Factor || a.Name != "a" || !cmp.Equal(a.Beta, []float64{0.25, -1, 2, 1, 0, -0.5}) {
		t.Fatalf("aliased %q, term %s of kind %s with beta %g", p.Aliased, a.Name, a.Kind, a.Beta)
	}
	if a.Alpha[0] != 0 {
		t.Errorf("level 0 has no rows, and alpha %g", a.Alpha[0])
	}
	out := &decompose.Outputs{Zeta: mat.NewDense(n, 1, nil), Eta: mat.NewDense(n, 1, nil)}
	if err := m.Forward(context.Background(), out, rows); err != nil {
		t.Fatal(err)
	}
	code, err := rows.Numeric("a")
	if err != nil {
		t.Fatal(err)
	}
	eta, sum, count := mat.Col(nil, 0, out.Eta), map[float64]float64{}, map[float64]float64{}
	for i, c := range code {
		sum[c] += eta[i]
		count[c]++
	}
	means := make([]float64, n)
	for i, c := range code {
		means[i] = sum[c] / count[c]
	}
	want := stat.PopVariance(means, nil) / stat.PopVariance(eta, nil)
	if got := p.Variance.Structured / p.Variance.Total; math.Abs(got-want) > 1e-12 {
		t.Errorf("explained variance %.15g, by the levels' means %.15g", got, want)
	}
	if occurred, err := p.Occurred(0, one(t, 0, 1)); err != nil || !cmp.Equal(occurred, []bool{false, true}) {
		t.Errorf("levels 0 and 1 occurred: %v (%v)", occurred, err)
	}
}

// one is a batch of these codes a.
func one(t *testing.T, codes ...float64) *data.Batch {
	t.Helper()
	b := data.NewBatch(len(codes), 0)
	if err := b.SetNumeric("a", codes); err != nil {
		t.Fatal(err)
	}
	return b
}

// codedTable has the columns of a batch of codedRows.
func codedTable(t *testing.T, b *data.Batch) *data.Table {
	t.Helper()
	out := data.NewTable(b.Rows())
	for _, name := range []string{"a", "b", "x"} {
		x, err := b.Numeric(name)
		if err == nil {
			err = out.AddNumeric(name, x)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
