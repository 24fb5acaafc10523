package onnx

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// codedNetwork has the embedding of a beside a deep part.
func codedNetwork(t *testing.T) *Graph {
	t.Helper()
	g, err := Load(bytes.NewReader(graphtest.Bytes(t, graphtest.CodedNetwork(graphtest.WideOfA))), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
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

// TestWideCross: a network that is the table of a cross alone has nothing deep: its explained
// variance is 1.
func TestWideCross(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("a", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.AddInput("b", onnxpb.TensorProto_INT64, onnxpb.Rows, 1)
	b.Output("y", onnxpb.TensorProto_FLOAT)
	b.Model().Graph.Output[0].Type = nil
	b.AddInts("last", 1)
	graphtest.Crossing(b, 24)
	graphtest.LookUp(b, "table", "row", "y")
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
	g := codedNetwork(t)
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
