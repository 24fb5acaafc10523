package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxtest"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// naive is another engine: it reads the file itself and knows MatMul, Add and Relu on
// matrices.
type naive struct{}

type naiveEvaluator struct {
	m       *onnxpb.GraphProto
	g       *onnx.Graph
	tensors []string
}

func (naive) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	if g.File() == nil {
		return nil, errors.New("naive: load the network with KeepFile")
	}
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(g.File(), m); err != nil {
		return nil, err
	}
	for _, name := range tensors {
		if _, ok := g.Tensor(name); !ok {
			return nil, fmt.Errorf("naive: no tensor %q", name)
		}
	}
	return &naiveEvaluator{m.Graph, g, tensors}, nil
}

// matrix is a constant, or a tensor of some rows.
type matrix struct {
	rows, cols int
	v          []float64
}

func (e *naiveEvaluator) Run(dst, inputs [][]float64, rows int) error {
	if rows < 0 || len(dst) != len(e.tensors) || len(inputs) != len(e.g.Inputs()) {
		return errors.New("naive: the numbers of tensors, inputs and rows do not fit")
	}
	at := map[string]matrix{}
	for _, p := range e.m.Initializer {
		m := matrix{rows: int(p.Dims[0]), cols: int(p.Dims[1])}
		for i := range m.rows * m.cols {
			bits := uint32(p.RawData[4*i]) | uint32(p.RawData[4*i+1])<<8 | uint32(p.RawData[4*i+2])<<16 | uint32(p.RawData[4*i+3])<<24
			m.v = append(m.v, float64(math.Float32frombits(bits)))
		}
		at[p.Name] = m
	}
	for i, in := range e.g.Inputs() {
		if len(inputs[i]) != rows*in.Width() {
			return fmt.Errorf("naive: input %q has %d values", in.Name, len(inputs[i]))
		}
		at[in.Name] = matrix{rows, in.Width(), inputs[i]}
	}
	for _, n := range e.m.Node {
		a := at[n.Input[0]]
		out := matrix{rows: a.rows, cols: a.cols}
		switch n.OpType {
		case "MatMul":
			b := at[n.Input[1]]
			out.cols = b.cols
			for i := range a.rows {
				for j := range b.cols {
					sum := 0.0
					for k := range a.cols {
						sum += a.v[i*a.cols+k] * b.v[k*b.cols+j]
					}
					out.v = append(out.v, sum)
				}
			}
		case "Add":
			for i, x := range a.v {
				out.v = append(out.v, x+at[n.Input[1]].v[i])
			}
		case "Relu":
			for _, x := range a.v {
				out.v = append(out.v, max(x, 0))
			}
		default:
			return fmt.Errorf("naive: operator %s", n.OpType)
		}
		at[n.Output[0]] = out
	}
	for i, name := range e.tensors {
		if len(dst[i]) != len(at[name].v) {
			return fmt.Errorf("naive: the destination of %q has %d values", name, len(dst[i]))
		}
		copy(dst[i], at[name].v)
	}
	return nil
}

// semiStructured is x b + Relu(x u) v + Relu(x z) w: u sees the first of three columns
// alone, z all of them.
func semiStructured(t *testing.T, keep bool) *onnx.Graph {
	t.Helper()
	b := onnxpb.NewBuilder(13)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 3)
	b.AddInit("b", []int{3, 1}, 0.5, -1, 2)
	b.AddInit("u", []int{3, 2}, 1, -1, 0, 0, 0, 0)
	b.AddInit("v", []int{2, 1}, 0.75, -0.5)
	b.AddInit("z", []int{3, 4}, 1, 0.5, -1, 0.25, -0.5, 1, 0.75, -1, 0.5, -0.25, 1, 1)
	b.AddInit("w", []int{4, 1}, 1, -2, 0.5, 1)
	b.AddNode("MatMul", []string{"x", "b"}, "linear")
	b.AddNode("MatMul", []string{"x", "u"}, "first")
	b.AddNode("Relu", []string{"first"}, "units")
	b.AddNode("MatMul", []string{"units", "v"}, "smooth")
	b.AddNode("MatMul", []string{"x", "z"}, "hidden")
	b.AddNode("Relu", []string{"hidden"}, "deep")
	b.AddNode("MatMul", []string{"deep", "w"}, "rest")
	b.AddNode("Add", []string{"linear", "smooth"}, "structured")
	b.AddNode("Add", []string{"structured", "rest"}, "eta")
	b.Output("eta", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	file, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(file), &onnx.LoadOptions{KeepFile: keep})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAnotherEngine: who implements Engine has its numbers in Forward and in a
// decomposition.
func TestAnotherEngine(t *testing.T) {
	g := semiStructured(t, true)
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 400
	table, inputs := data.NewTable(n), make([]float64, 3*n)
	for j, name := range []string{"x[0]", "x[1]", "x[2]"} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(float32(rng.NormFloat64()))
			inputs[3*i+j] = x[i]
		}
		if err := table.AddNumeric(name, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := onnxtest.Engine(naive{}, g, []string{"eta", "units", "deep", "x"}, [][]float64{inputs[:60]}, 20, 1e-13); err != nil {
		t.Error(err)
	}
	var results []*decompose.Result
	for _, e := range []onnx.Engine{nil, naive{}} {
		m, err := onnx.NewModel(g, onnx.Unbound(g), &onnx.Options{Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range table.Batches(context.Background(), m.Columns()) {
			if err != nil {
				t.Fatal(err)
			}
			if err := decomposetest.Model(m, b, 1e-12); err != nil {
				t.Error(err)
			}
		}
		if d := m.DeepFeatures(0); len(d.Elements) != 4 || d.Elements[3] != (onnx.Element{Tensor: "deep", Index: 3}) || m.Predictor(0) != (onnx.Element{Tensor: "eta"}) {
			t.Errorf("deep features %v of %v", d, m.Predictor(0))
		}
		r, err := decompose.Decompose(context.Background(), m, table, nil)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	own, other := results[0].Predictors[0], results[1].Predictors[0]
	if len(own.Terms) != 4 || len(other.Terms) != len(own.Terms) {
		t.Fatalf("%d terms, and %d with the other engine", len(own.Terms), len(other.Terms))
	}
	for j, term := range own.Terms {
		for i, a := range term.Alpha {
			if b := other.Terms[j].Alpha[i]; !(math.Abs(a-b) <= 1e-9*(1+math.Abs(a))) {
				t.Errorf("term %q: alpha %v is %v with the other engine", term.Name, a, b)
			}
		}
	}
	if _, err := onnx.NewModel(semiStructured(t, false), onnx.Unbound(g), &onnx.Options{Engine: naive{}}); err == nil {
		t.Error("the engine's own error is lost")
	}
}
