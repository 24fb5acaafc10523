package export_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// hidden is a term that does not say what it computes.
type hidden struct{ decompose.Term }

func (hidden) Name() string { return "hidden" }

// All that cannot be written is refused by name, before rows are read.
func TestRefused(t *testing.T) {
	src := rows(t, 100)
	file := network(t, 13, float, "mu", "sigma")
	m := open(t, file, src)
	own := &decompose.LinearTerm{Column: "x5"}
	with, err := decompose.With(m, map[string][]decompose.Block{"": {{Term: hidden{own}}, {Term: &decompose.Tap{Tensor: "nowhere", Features: []string{"x1", "x5"}, Width: 2}}}})
	must(t, err)
	err = export.Check(export.File{Model: file}, m, with, nil)
	for _, want := range []string{`term "hidden" of predictor "mu"`, "does not say what it computes", `term "f(x1,x5)" of predictor "sigma"`, `its basis "nowhere" is not in the network`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	if err := export.Check(export.File{Model: []byte("no file")}, m, m, nil); err == nil || !strings.Contains(err.Error(), "not an ONNX model") {
		t.Errorf("of no file: %v", err)
	}
	outside := decode(t, file)
	outside.Graph.Initializer[0].DataLocation = onnxpb.TensorProto_EXTERNAL
	raw, err := proto.Marshal(outside)
	must(t, err)
	if err := export.Check(export.File{Model: raw}, m, m, nil); err == nil || !strings.Contains(err.Error(), "stores its data in an external file") {
		t.Errorf("with numbers elsewhere: %v", err)
	}
	other := network(t, 13, float, "y")
	if err := export.Check(export.File{Model: other}, m, m, nil); err == nil || !strings.Contains(err.Error(), `tensor "mu"`) {
		t.Errorf("of another file: %v", err)
	}
}
