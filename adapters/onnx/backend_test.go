package onnx_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// backendCase is one of the backend tests that testdata/zoo/backend.py lays out.
type backendCase struct {
	Kind, Name string
	RTol, ATol float64
	dir        string
	model      *onnxpb.ModelProto
}

// TestBackend runs the backend tests of the onnx package, if PHO_BACKEND_TESTS names the
// directory in which `make backend-tests` has laid them out, and compares what becomes
// of them, by operator, with testdata/zoo/backend.txt.
//
// The engine runs networks of rows, and the tests are of single operators on tensors of
// fixed shape. So each is run in two ways (backend_run_test.go): by rows, the first axis
// of the inputs being the batch axis, and folded, all inputs being constants. A test is
// right if a way gives the expected outputs and none gives others; refused if both are.
//
// Applicable are the tests of kind node whose inputs and outputs are tensors of float,
// double, bool or integers of 8 to 64 bits, but for ai.onnx.preview: 1,572 of the 2,024
// of onnx 1.23.2. The others are run and counted all the same.
func TestBackend(t *testing.T) {
	cases, version := backendCases(t)
	applicable, others, operators, reasons := newTally(), newTally(), newTally(), newTally()
	base := map[string]string{}
	for _, c := range cases {
		if !strings.Contains(c.Name, "_expanded") {
			base[c.Name] = c.model.Graph.Node[0].OpType
		}
	}
	for _, c := range cases {
		state, why := c.judge(t)
		name, _, _ := strings.Cut(c.Name, "_expanded")
		switch {
		case state == "wrong":
			t.Errorf("%s/%s: WRONG: %v", c.Kind, c.Name, why)
		case state == "refused" && c.applicable():
			reasons.add(reason(why), state)
		}
		if c.applicable() {
			applicable.add("applicable", state)
			operators.add(base[name], state)
		} else {
			others.add(c.Kind+", not applicable", state)
		}
	}
	columns := []string{"right", "wrong", "refused"}
	one := func(c *tally) string { // without the line of sums
		s := strings.TrimSuffix(c.table("# ", columns...), "\n")
		return s[:strings.LastIndex(s, "\n")+1]
	}
	compareGolden(t, filepath.Join(zooDir, "backend.txt"),
		"# What TestBackend of adapters/onnx finds in the backend tests of onnx "+version+"; make backend-tests ONNX=DIR UPDATE=1 writes it.\n"+
			one(applicable)+one(others)+"# applicable ones, by operator:\n"+operators.table("", columns...)+"# refused, by reason:\n"+reasons.table("", "refused"))
	t.Logf("\n%s%s", one(applicable), one(others))
}

func backendCases(t *testing.T) (cases []*backendCase, version string) {
	t.Helper()
	dir := os.Getenv("PHO_BACKEND_TESTS")
	if dir == "" {
		t.Skip("no backend tests: make backend-tests ONNX=DIR lays them out and sets PHO_BACKEND_TESTS")
	}
	b, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Onnx  string
		Cases []*backendCase
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Cases {
		c.dir = filepath.Join(dir, c.Kind, c.Name)
		c.model = &onnxpb.ModelProto{}
		if err := readProto(filepath.Join(c.dir, "model.onnx"), c.model); err != nil {
			t.Fatal(err)
		}
	}
	return f.Cases, f.Onnx
}

func readProto(file string, m proto.Message) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// applicable: see TestBackend.
func (c *backendCase) applicable() bool {
	for _, v := range slices.Concat(c.model.Graph.Input, c.model.Graph.Output) {
		switch onnxpb.TensorProto_DataType(v.GetType().GetTensorType().GetElemType()) {
		case onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_DOUBLE, onnxpb.TensorProto_BOOL,
			onnxpb.TensorProto_INT8, onnxpb.TensorProto_INT16, onnxpb.TensorProto_INT32, onnxpb.TensorProto_INT64,
			onnxpb.TensorProto_UINT8, onnxpb.TensorProto_UINT16, onnxpb.TensorProto_UINT32, onnxpb.TensorProto_UINT64:
		default:
			return false
		}
	}
	return c.Kind == "node" && !slices.ContainsFunc(c.model.Graph.Node, func(n *onnxpb.NodeProto) bool {
		return strings.HasPrefix(n.Domain, "ai.onnx.preview")
	})
}

// judge runs the case in both ways on all its data. why is the deviation, or the refusal
// of the second way, which says most of the operator.
func (c *backendCase) judge(t *testing.T) (state string, why error) {
	t.Helper()
	sets, err := filepath.Glob(filepath.Join(c.dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		t.Fatalf("%s: no data (%v)", c.dir, err)
	}
	right := 0
	for _, set := range sets {
		inputs, err := c.tensors(set, "input", len(c.model.Graph.Input))
		if err != nil {
			return "refused", err
		}
		outputs, err := c.tensors(set, "output", len(c.model.Graph.Output))
		if err != nil {
			return "refused", err
		}
		for _, o := range outputs {
			c.RTol = max(c.RTol, halfDigits(onnxpb.TensorProto_DataType(o.message.DataType)))
		}
		ok := false
		for _, way := range []func(in, out []*backendTensor) error{c.byRows, c.folded} {
			err := way(inputs, outputs)
			var w *wrongError
			switch {
			case err == nil:
				ok = true
			case errors.As(err, &w):
				return "wrong", err
			default:
				why = err
			}
		}
		if ok {
			right++
		}
	}
	if right == len(sets) {
		return "right", nil
	}
	return "refused", why
}

// tensors reads the files input_0.pb and so on.
func (c *backendCase) tensors(set, kind string, n int) ([]*backendTensor, error) {
	var out []*backendTensor
	for i := range n {
		values := c.model.Graph.Input
		if kind == "output" {
			values = c.model.Graph.Output
		}
		if values[i].GetType().GetTensorType() == nil {
			return nil, fmt.Errorf("onnx: %ss that are no tensors", kind)
		}
		p := &onnxpb.TensorProto{}
		if err := readProto(filepath.Join(set, fmt.Sprintf("%s_%d.pb", kind, i)), p); err != nil {
			return nil, err
		}
		p.Name = values[i].Name
		t, err := newBackendTensor(p)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
