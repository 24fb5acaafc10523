package onnx

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pho-go/pho/adapters/onnx/internal/graphtest"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Metadata that say untrue things of parts are refused, or harmless.
func TestHostileParts(t *testing.T) {
	const output = `{"name":"pho/part","predictor":"eta","part":"term","term":"x5"}`
	many := strings.Repeat(output+",", 50_000) + output
	for name, c := range map[string]struct {
		entries []string
		want    string // of the error; "": none
	}{
		"true":               {[]string{`{"format":"pho.structure/1","parts":{"inputs":["x5"],"outputs":[` + output + `]}}`}, ""},
		"none":               {[]string{`{"format":"pho.structure/1","parts":{}}`}, ""},
		"null":               {[]string{`{"format":"pho.structure/1","parts":null}`}, ""},
		"of nothing there":   {[]string{`{"parts":{"inputs":["a"],"outputs":[{"name":"b"}]}}`}, ""},
		"many":               {[]string{`{"parts":{"inputs":["x5"],"outputs":[` + many + `]}}`}, ""},
		"twice":              {[]string{`{"parts":{}}`, `{"parts":{}}`}, "it is there several times"},
		"no JSON":            {[]string{`{"parts":`}, `the metadata entry "pho.structure", which says what outputs are parts of a decomposition, is damaged`},
		"another type":       {[]string{`{"parts":{"outputs":"y"}}`}, "is damaged"},
		"deep":               {[]string{`{"parts":` + strings.Repeat("[", 100_000)}, "is damaged"},
		"long":               {[]string{`{"parts":{},"x":"` + strings.Repeat("x", 17<<20) + `"}`}, "at most 16777216 are read"},
		"all outputs":        {[]string{`{"parts":{"outputs":[{"name":"y"},` + output + `]}}`}, "the graph has no outputs"},
		"the network's own":  {[]string{`{"parts":{"inputs":["x"],"outputs":[` + output + `]}}`}, `reads "x", which nothing produces`},
		"an input of a part": {[]string{`{"parts":{"inputs":["x5"],"outputs":[]}}`}, `reads "x5", which nothing produces`},
	} {
		b := graphtest.Model(13, func(b *onnxpb.Builder) {
			b.AddInit("w", []int{3}, 1, 2, 3)
			b.AddNode("Mul", graphtest.In("x", "w"), "y")
			b.AddInput("x5", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
			b.AddNode("Exp", graphtest.In("x5"), "pho/part")
			b.Output("pho/part", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
			for _, text := range c.entries {
				b.AddMetadata(MetadataStructure, text)
			}
		})
		g, err := Load(bytes.NewReader(graphtest.Bytes(t, b)), &LoadOptions{KeepFile: true})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %.300v, want %q", name, err, c.want)
		}
		if name != "true" || err != nil {
			continue
		}
		if in, out := fmt.Sprint(g.Inputs()), fmt.Sprint(g.Outputs()); strings.Contains(in, "x5") || strings.Contains(out, "part") {
			t.Errorf("inputs %s, outputs %s", in, out)
		}
		if bytes.Contains(g.File(), []byte("x5")) {
			t.Error("the file for an engine has the parts")
		}
	}
}
