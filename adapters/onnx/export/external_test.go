package export_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// outside is the network with its weights in a file beside it.
func outside(t *testing.T, file []byte) (model, weights []byte) {
	m := decode(t, file)
	for _, p := range m.Graph.Initializer {
		p.DataLocation = onnxpb.TensorProto_EXTERNAL
		p.ExternalData = []*onnxpb.StringStringEntryProto{{Key: "location", Value: "w.bin"}, {Key: "offset", Value: strconv.Itoa(len(weights))}, {Key: "length", Value: strconv.Itoa(len(p.RawData))}}
		weights, p.RawData = append(weights, p.RawData...), nil
	}
	model, err := proto.Marshal(m)
	must(t, err)
	return model, weights
}

// Weights beside the network come into the file written, which is what the network with its
// weights inside becomes.
func TestExternal(t *testing.T) {
	src := rows(t, 200)
	whole := network(t, 13, float, "y")
	m, with, r := decomposed(t, whole, src, "~ s(x1, k=5)", &decompose.Options{})
	want := written(t, whole, m, with, r)
	model, weights := outside(t, whole)
	g, err := onnx.Load(bytes.NewReader(model), &onnx.LoadOptions{KeepFile: true, External: fstest.MapFS{"w.bin": {Data: weights}}})
	must(t, err)
	bind, err := onnx.Bind(g, src.Schema(), map[string][]string{"x": {"x1", "x2", "x3"}})
	must(t, err)
	apart, err := onnx.NewModel(g, bind, nil)
	must(t, err)
	var out bytes.Buffer
	must(t, export.Write(&out, export.File{Model: g.File(), External: g.External()}, apart, r, nil))
	if !bytes.Equal(out.Bytes(), want) {
		t.Error("the file differs from that of the network with its weights inside")
	}
	for _, c := range []struct {
		what string
		file export.File
		want string
	}{
		{"no files", export.File{Model: model}, "load the network with LoadOptions.KeepFile"},
		{"a short file", export.File{Model: model, External: map[string][]byte{"w.bin": weights[:8]}}, "the file is truncated"},
	} {
		if err := export.Check(c.file, apart, apart, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: no %q in %v", c.what, c.want, err)
		}
	}
}

// Data of a subgraph are taken in, too; what was not given is said.
func TestExternalInside(t *testing.T) {
	src := rows(t, 50)
	file := network(t, 13, float, "y")
	m := open(t, file, src)
	p := decode(t, file)
	p.Graph.Node = append(p.Graph.Node, &onnxpb.NodeProto{OpType: "If", Name: "unneeded", Attribute: []*onnxpb.AttributeProto{{
		Name: "then_branch", G: &onnxpb.GraphProto{Initializer: []*onnxpb.TensorProto{{Name: "far", DataLocation: onnxpb.TensorProto_EXTERNAL}}},
	}}})
	raw, err := proto.Marshal(p)
	must(t, err)
	if err := export.Check(export.File{Model: raw}, m, m, nil); err == nil || !strings.Contains(err.Error(), `attribute "then_branch": initializer "far"`) {
		t.Errorf("%v", err)
	}
}
