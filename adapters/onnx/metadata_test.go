package onnx_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// TestResponse: what is written is read back; what makes no sense is refused.
func TestResponse(t *testing.T) {
	open := func(entries ...string) *onnx.Graph {
		b := onnxpb.NewBuilder(17)
		b.AddInput("x", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		b.AddNode("Relu", []string{"x"}, "eta")
		b.Output("eta", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		for _, text := range entries {
			b.AddMetadata(onnx.MetadataResponse, text)
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
	want := onnx.Response{Column: `the "count"`, Family: "negative-binomial(theta=2)"}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := open(text).Response(); err != nil || *got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err := open().Response(); got != nil || err != nil {
		t.Errorf("no entry: %+v, %v", got, err)
	}
	for say, entries := range map[string][]string{
		"it is there 2 times":             {text, text},
		`its format is "pho.response/9"`:  {strings.Replace(text, "response/1", "response/9", 1)},
		"it lacks the column or the fam":  {`{"format":"pho.response/1","column":"y"}`},
		"unexpected end of JSON input":    {text[:20]},
		"cannot unmarshal number into Go": {strings.Replace(text, `"negative-binomial(theta=2)"`, "3", 1)},
	} {
		if _, err := open(entries...).Response(); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %s", entries, err, say)
		}
	}
}
