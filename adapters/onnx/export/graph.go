package export

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// file is an ONNX file that nodes are added to.
type file struct {
	model  *onnxpb.ModelProto
	names  map[string]bool // of all tensors, those of subgraphs too
	faults []error
}

// read decodes a file, takes the parts of an earlier decomposition out of it and the data of
// other files in.
func read(raw File) (*file, error) {
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(raw.Model, m); err != nil {
		return nil, fmt.Errorf("onnx: not an ONNX model: %w", err)
	}
	if m.Graph == nil {
		return nil, fmt.Errorf("onnx: not an ONNX model: the file has no graph")
	}
	if _, err := parts.Take(m); err != nil {
		return nil, err
	}
	f := &file{model: m, names: map[string]bool{}}
	own, err := proto.Marshal(m.Graph)
	if err != nil {
		return nil, err
	}
	collect(own, f.names, 0)
	if err := graph.TakeIn(m, raw.open); err != nil {
		return nil, err
	}
	return f, nil
}

// open is the content of a file beside the network's.
func (r File) open(location string) ([]byte, error) {
	content := r.External[location]
	if content == nil {
		return nil, fmt.Errorf("what %q holds was not given: load the network with LoadOptions.KeepFile, and give Graph.External", location)
	}
	return content, nil
}

// maxDepth bounds how deep subgraphs nest that names are looked for in; files that are
// nested deeper are not loaded.
const maxDepth = 64

// collect finds the names of all tensors of a GraphProto, subgraphs included: in ONNX no
// name may stand for two. It reads the wire format, in which subgraphs are bytes.
func collect(graph []byte, names map[string]bool, depth int) {
	if depth > maxDepth {
		return
	}
	fields(graph, func(number protowire.Number, value []byte) {
		switch number {
		case 1: // node
			fields(value, func(number protowire.Number, value []byte) {
				switch number {
				case 2: // output
					names[string(value)] = true
				case 5: // attribute
					fields(value, func(number protowire.Number, value []byte) {
						if number == 6 || number == 11 { // g, graphs
							collect(value, names, depth+1)
						}
					})
				}
			})
		case 5: // initializer
			fields(value, nameIn(names, 8))
		case 11: // input
			fields(value, nameIn(names, 1))
		}
	})
}

// nameIn adds the field of that number to the names.
func nameIn(names map[string]bool, of protowire.Number) func(protowire.Number, []byte) {
	return func(number protowire.Number, value []byte) {
		if number == of {
			names[string(value)] = true
		}
	}
}

// fields calls f for the fields of a message that are bytes; a damaged message ends early.
func fields(message []byte, f func(number protowire.Number, value []byte)) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		message = message[n:]
		if kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(message)
			if n < 0 {
				return
			}
			f(number, value)
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return
		}
		message = message[n:]
	}
}

// opset is the version of a domain that the file imports; 0: none.
func (f *file) opset(domain string) int64 {
	for _, o := range f.model.OpsetImport {
		if d := o.GetDomain(); d == domain || domain == "" && d == "ai.onnx" {
			return o.GetVersion()
		}
	}
	return 0
}

// imports is the version of a domain, which is added to the file's imports if need be.
func (f *file) imports(domain string, otherwise int64) int64 {
	v := f.opset(domain)
	if v == 0 {
		v = otherwise
		f.model.OpsetImport = append(f.model.OpsetImport, &onnxpb.OperatorSetIdProto{Domain: domain, Version: v})
	}
	return v
}

// newName is name or, if a tensor is called so, the first of name#2, name#3, ... that none is.
func (f *file) newName(name string) string {
	own := name
	for n := 2; f.names[own]; n++ {
		own = fmt.Sprintf("%s#%d", name, n)
	}
	f.names[own] = true
	return own
}

// outputName is name, or pho/NAME where the file uses it otherwise.
func (f *file) outputName(name string) string {
	for f.names[name] {
		name = parts.Prefix + name
	}
	f.names[name] = true
	return name
}

// Node adds a node and returns the name of its output. An op may have a domain before it:
// ai.onnx.ml.LabelEncoder.
func (f *file) Node(op, name string, inputs []string, attrs ...onnxpb.Attr) string {
	name = f.newName(parts.Prefix + name)
	f.add(op, name, inputs, []string{name}, attrs...)
	return name
}

// add adds a node of that name. Names of nodes begin with parts.Prefix.
func (f *file) add(op, name string, inputs, outputs []string, attrs ...onnxpb.Attr) {
	n := &onnxpb.NodeProto{Name: name, OpType: op, Input: inputs, Output: outputs}
	if at := strings.LastIndex(op, "."); at >= 0 {
		n.Domain, n.OpType = op[:at], op[at+1:]
	}
	for _, attr := range attrs {
		a, err := attr()
		if err != nil {
			f.faults = append(f.faults, err)
			continue
		}
		n.Attribute = append(n.Attribute, a)
	}
	f.model.Graph.Node = append(f.model.Graph.Node, n)
}

// Constants are nodes: in files of IR version 3 initializers would be inputs.

// Doubles adds a constant, float64.
func (f *file) Doubles(name string, shape []int, values ...float64) string {
	return f.Node("Constant", name, nil, onnxpb.TensorAttr("value", onnxpb.TensorProto_DOUBLE, shape, values...))
}

// Ints adds a constant, int64: a vector.
func (f *file) Ints(name string, values ...int64) string {
	if f.opset("") < 9 { // in which constants are fractions
		exact := make([]float64, len(values))
		for i, v := range values {
			exact[i] = float64(v)
		}
		return f.Node("Cast", name, []string{f.Doubles(name+".double", []int{len(exact)}, exact...)}, onnxpb.Int("to", int64(onnxpb.TensorProto_INT64)))
	}
	return f.Node("Constant", name, nil, onnxpb.TensorAttr("value", onnxpb.TensorProto_INT64, []int{len(values)}, values...))
}

// computes tells whether the file's own graph has the tensor, outside of subgraphs.
func (f *file) computes(name string) bool {
	g := f.model.Graph
	return slices.ContainsFunc(g.Input, func(v *onnxpb.ValueInfoProto) bool { return v.GetName() == name }) ||
		slices.ContainsFunc(g.Node, func(n *onnxpb.NodeProto) bool { return slices.Contains(n.GetOutput(), name) })
}

// isMaps tells whether that is what a ZipMap writes: no tensor.
func (f *file) isMaps(name string) bool {
	return slices.ContainsFunc(f.model.Graph.Node, func(n *onnxpb.NodeProto) bool {
		return n.GetOpType() == "ZipMap" && slices.Contains(n.GetOutput(), name)
	})
}

// declares tells whether the file says that the tensor has that many axes, or does not say.
func (f *file) declares(name string, axes int) bool {
	g := f.model.Graph
	return !slices.ContainsFunc(slices.Concat(g.Output, g.ValueInfo), func(v *onnxpb.ValueInfoProto) bool {
		shape := v.GetType().GetTensorType().GetShape()
		return v.GetName() == name && shape != nil && len(shape.GetDim()) != axes
	})
}

func tensorType(kind onnxpb.TensorProto_DataType, dims ...*onnxpb.TensorShapeProto_Dimension) *onnxpb.TypeProto {
	return &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{TensorType: &onnxpb.TypeProto_Tensor{
		ElemType: int32(kind), Shape: &onnxpb.TensorShapeProto{Dim: dims},
	}}}
}

func one() *onnxpb.TensorShapeProto_Dimension {
	return &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: 1}}
}
