package onnx_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
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
