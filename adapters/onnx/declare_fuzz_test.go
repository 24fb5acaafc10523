package onnx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// FuzzDeclaration: any text in the metadata is read, passed over or refused, and
// never changes what else is found.
func FuzzDeclaration(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("..", "native", "testdata", "golden", "terms.onnx"))
	if err != nil {
		f.Fatal(err)
	}
	var m onnxpb.ModelProto
	if err := proto.Unmarshal(raw, &m); err != nil {
		f.Fatal(err)
	}
	whole := m.MetadataProps[0].Value
	f.Add(whole)
	f.Add(strings.Replace(whole, `"from":-`, `"from":1e308,"to":-1e308,"x":`, 1))
	f.Add(strings.Replace(whole, `"degree":3`, `"degree":-1`, 1))
	f.Add(`{"format":"pho.structure/1","columns":{},"predictors":[{"output":"eta","tensors":[],"deep":["x1"]}],"blocks":{"terms":[],"predictors":[[]]}}`)
	f.Add(`{"format":"pho.structure/1","columns":{"x1":{"from":0,"to":1}},"predictors":[{"output":"eta","tensors":["x1"]}],"blocks":{"terms":[{"kind":"linear","spec":{"column":"x1"}}],"predictors":[[{"term":0}]]}}`)
	b := onnxpb.NewBuilder(17)
	b.AddInput("x1", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	b.AddInit("w", []int{1, 2}, 1, -1)
	b.AddNode("MatMul", []string{"x1", "w"}, "h")
	b.AddNode("Relu", []string{"h"}, "u")
	b.AddInit("v", []int{2, 1}, 1, 2)
	b.AddNode("MatMul", []string{"u", "v"}, "eta")
	b.Output("eta", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
	f.Fuzz(func(t *testing.T, text string) {
		for _, from := range []*onnxpb.ModelProto{&m, b.Model()} {
			p := proto.Clone(from).(*onnxpb.ModelProto)
			p.MetadataProps = []*onnxpb.StringStringEntryProto{{Key: onnx.MetadataStructure, Value: strings.ToValidUTF8(text, "?")}}
			raw, err := proto.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			g, err := onnx.Load(strings.NewReader(string(raw)), nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := onnx.Discover(g, onnx.Unbound(g), &onnx.Options{Decode: basis.Decode})
			if err == nil && len(s.Predictors) != 1 {
				t.Errorf("%d predictors", len(s.Predictors))
			}
		}
	})
}
