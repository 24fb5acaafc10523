package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// labelled is a network whose metadata have the given entries of labels.
func labelled(t *testing.T, entries ...string) *onnx.Graph {
	t.Helper()
	b := onnxpb.NewBuilder(17)
	b.AddInput("g", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddNode("Relu", []string{"g"}, "eta")
	b.Output("eta", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	for _, text := range entries {
		b.AddMetadata(onnx.MetadataLabels, text)
	}
	raw, err := b.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnx.Load(bytes.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestTextsEnterAsNumbers: a batch that has a column's texts alone is computed as their numbers; a text without a number is refused.
func TestTextsEnterAsNumbers(t *testing.T) {
	text, err := (&onnx.Labels{Columns: map[string][]string{"g": {"b", "a", "c"}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.NewModel(labelled(t, text), onnx.Binding{{Input: "g", Columns: []string{"g"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	eta := func(levels ...string) ([]float64, error) {
		b := data.NewBatch(3, 0)
		if err := b.SetCodes("g", data.Codes{Index: []int32{2, 0, 1}, Levels: levels}); err != nil {
			t.Fatal(err)
		}
		out := &decompose.Outputs{Zeta: mat.NewDense(3, 1, nil), Eta: mat.NewDense(3, 1, nil), Taps: map[string]*mat.Dense{}}
		for name, width := range m.Taps() {
			out.Taps[name] = mat.NewDense(3, width, nil)
		}
		err := m.Forward(context.Background(), out, b)
		return mat.Col(nil, 0, out.Eta), err
	}
	if got, err := eta("a", "b", "c"); err != nil || !slices.Equal(got, []float64{2, 1, 0}) {
		t.Errorf("%v, %v", got, err)
	}
	var unseen *data.UnseenLevelError
	if _, err := eta("a", "b", "d"); !errors.As(err, &unseen) || unseen.Level != "d" {
		t.Error(err)
	}
}

// TestLabels: what is written is read back; what makes no sense is refused.
func TestLabels(t *testing.T) {
	want := &onnx.Labels{Columns: map[string][]string{"g": {"a", "ö, \"b\"", ""}}, Response: "y", Classes: []string{"no", "yes"}}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := labelled(t, text).Labels(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := labelled(t).Labels(); got != nil || err != nil {
		t.Errorf("no entry: %+v, %v", got, err)
	}
	for say, entries := range map[string][]string{
		"it is there 2 times":                        {text, text},
		`its format is "pho.labels/9"`:               {strings.Replace(text, "labels/1", "labels/9", 1)},
		"unknown field":                              {strings.Replace(text, `"columns"`, `"colums"`, 1)},
		"something follows":                          {text + "{}"},
		`column "g" has 3 levels, and no two may be`: {strings.Replace(text, `"a"`, `""`, 1)},
		`response "y" with 0 classes`:                {`{"format":"pho.labels/1","response":"y"}`},
		"unexpected EOF":                             {text[:20]},
	} {
		if _, err := labelled(t, entries...).Labels(); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %s", entries, err, say)
		}
	}
}
