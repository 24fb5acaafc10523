package onnx_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// shape is a predictor in a line: see graphtest.Shape.
func shape(p onnx.PredictorInfo) string {
	out := structure.Predictor{Head: p.Head, Deep: (*structure.Deep)(p.Deep)}
	for _, t := range p.Terms {
		out.Terms = append(out.Terms, structure.Term(t))
	}
	return graphtest.Shape(out)
}

func modelOf(t *testing.T, b *onnxpb.Builder, o *onnx.Options) *onnx.Model {
	t.Helper()
	g, err := onnx.Load(bytes.NewReader(graphtest.Bytes(t, b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.NewModel(g, onnx.Unbound(g), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// forward runs a model on columns of n rows.
func forward(t *testing.T, m *onnx.Model, columns [][]float64) *decompose.Outputs {
	t.Helper()
	n := len(columns[0])
	b := data.NewBatch(n, 0)
	for i, name := range m.Columns() {
		if err := b.SetNumeric(name, columns[i]); err != nil {
			t.Fatal(err)
		}
	}
	k := len(m.Predictors())
	out := &decompose.Outputs{Zeta: mat.NewDense(n, k, nil), Eta: mat.NewDense(n, k, nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(n, width, nil)
	}
	if err := m.Forward(context.Background(), out, b); err != nil {
		t.Fatal(err)
	}
	return out
}

// Two classes from one sum are one predictor on the scale of the sum.
func TestPairedClassesAreOnePredictor(t *testing.T) {
	b := onnxpb.NewBuilder(17)
	b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	b.Import("ai.onnx.ml", 3)
	tr := new(graphtest.Trees).Stump(0, 0, 0, 1, -2).Stump(1, 1, 0, 0.5, 0.25)
	b.AddNodes("ai.onnx.ml", "TreeEnsembleClassifier", []string{"x"}, []string{"label", "p"},
		tr.Attrs("class", onnxpb.Ints("classlabels_int64s", 3, 4), onnxpb.Text("post_transform", "LOGISTIC"), onnxpb.Floats("base_values", 0.125))...)
	b.Output("label", onnxpb.TensorProto_INT64, onnxpb.Rows)
	b.Output("p", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 2)
	m := modelOf(t, b, nil)
	s := m.Structure()
	if len(s.Predictors) != 1 || shape(s.Predictors[0]) != "sigmoid f(x[0]) f(x[1])" || s.Predictors[0].Intercept != 0.125 {
		t.Fatalf("%+v", s.Predictors)
	}
	if !slices.Contains(s.Notes, `output "p1" is 1 - output "p2" and not repeated`) {
		t.Errorf("notes %q", s.Notes)
	}
	out := forward(t, m, [][]float64{{-1, 1}, {1, -1}})
	if a, b := out.Eta.At(0, 0), out.Eta.At(1, 0); a != 1.375 || b != -1.375 {
		t.Errorf("eta %v and %v, want 1.375 and -1.375", a, b)
	}
	// The label comes from the nodes that were there.
	e, err := onnx.GoEngine{}.Prepare(m.Graph(), []string{"label", "p"})
	if err != nil {
		t.Fatal(err)
	}
	dst := [][]float64{make([]float64, 2), make([]float64, 4)}
	if err := e.Run(dst, [][]float64{{-1, 1, 1, -1}}, 2); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dst[0], []float64{4, 3}) || math.Abs(dst[1][0]+dst[1][1]-1) > 1e-15 || math.Abs(dst[1][1]-1/(1+math.Exp(-1.375))) > 1e-15 {
		t.Errorf("labels and probabilities %v", dst)
	}
}
