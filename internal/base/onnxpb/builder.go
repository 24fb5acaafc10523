package onnxpb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"
)

// Rows stands for the dynamic batch axis "N" in a builder's shapes.
const Rows = -1

// Builder writes an ONNX model node by node. Faults (a name used twice, values
// that do not fill their shape) are collected and returned by Marshal.
type Builder struct {
	model *ModelProto
	names map[string]bool // values defined so far
	errs  []error
}

// NewBuilder starts a model that imports the given opset of ai.onnx.
func NewBuilder(opset int64) *Builder {
	return &Builder{
		model: &ModelProto{
			IrVersion:    8,
			ProducerName: "pho",
			OpsetImport:  []*OperatorSetIdProto{{Version: opset}},
			Graph:        &GraphProto{Name: "pho"},
		},
		names: map[string]bool{},
	}
}

// Import adds the opset of another domain.
func (b *Builder) Import(domain string, version int64) {
	b.model.OpsetImport = append(b.model.OpsetImport, &OperatorSetIdProto{Domain: domain, Version: version})
}

func (b *Builder) fail(format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf("onnxpb: "+format, args...))
}

func (b *Builder) define(name string) {
	if name == "" || b.names[name] {
		b.fail("value %q is unnamed or defined twice", name)
	}
	b.names[name] = true
}

func valueInfo(name string, t TensorProto_DataType, shape []int) *ValueInfoProto {
	s := &TensorShapeProto{}
	for _, d := range shape {
		dim := &TensorShapeProto_Dimension{Value: &TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}}
		if d == Rows {
			dim.Value = &TensorShapeProto_Dimension_DimParam{DimParam: "N"}
		}
		s.Dim = append(s.Dim, dim)
	}
	return &ValueInfoProto{Name: name, Type: &TypeProto{Value: &TypeProto_TensorType{
		TensorType: &TypeProto_Tensor{ElemType: int32(t), Shape: s}}}}
}

// Has tells whether a value of that name is defined.
func (b *Builder) Has(name string) bool { return b.names[name] }

// AddInput declares a graph input; Rows marks its batch axis.
func (b *Builder) AddInput(name string, t TensorProto_DataType, shape ...int) {
	b.define(name)
	b.model.Graph.Input = append(b.model.Graph.Input, valueInfo(name, t, shape))
}

// NewTensor makes a constant: values, row-major, fill the shape and are float64
// or int64, stored as t.
func NewTensor[V float64 | int64](name string, t TensorProto_DataType, shape []int, values []V) (*TensorProto, error) {
	n := 1
	p := &TensorProto{Name: name, DataType: int32(t)}
	for _, d := range shape {
		n *= d
		p.Dims = append(p.Dims, int64(d))
	}
	if n != len(values) {
		return nil, fmt.Errorf("onnxpb: tensor %q of shape %v is given %d values", name, shape, len(values))
	}
	for _, v := range values {
		switch t {
		case TensorProto_FLOAT:
			p.RawData = binary.LittleEndian.AppendUint32(p.RawData, math.Float32bits(float32(v)))
		case TensorProto_DOUBLE:
			p.RawData = binary.LittleEndian.AppendUint64(p.RawData, math.Float64bits(float64(v)))
		case TensorProto_INT32:
			p.RawData = binary.LittleEndian.AppendUint32(p.RawData, uint32(int32(v)))
		case TensorProto_INT64:
			p.RawData = binary.LittleEndian.AppendUint64(p.RawData, uint64(int64(v)))
		case TensorProto_UINT32:
			p.RawData = binary.LittleEndian.AppendUint32(p.RawData, uint32(int64(v)))
		case TensorProto_UINT64:
			p.RawData = binary.LittleEndian.AppendUint64(p.RawData, uint64(int64(v)))
		case TensorProto_INT16, TensorProto_UINT16:
			p.RawData = binary.LittleEndian.AppendUint16(p.RawData, uint16(int64(v)))
		case TensorProto_BOOL, TensorProto_INT8, TensorProto_UINT8:
			p.RawData = append(p.RawData, byte(int64(v)))
		default:
			return nil, fmt.Errorf("onnxpb: tensor %q: type %s is not written", name, t)
		}
	}
	return p, nil
}

// AddInit adds a float initializer.
func (b *Builder) AddInit(name string, shape []int, values ...float64) {
	addInit(b, name, TensorProto_FLOAT, shape, values)
}

// AddDouble adds a double initializer.
func (b *Builder) AddDouble(name string, shape []int, values ...float64) {
	addInit(b, name, TensorProto_DOUBLE, shape, values)
}

// AddInts adds an int64 initializer: a vector.
func (b *Builder) AddInts(name string, values ...int64) {
	addInit(b, name, TensorProto_INT64, []int{len(values)}, values)
}

// AddIntegers adds an initializer of a type of integers.
func (b *Builder) AddIntegers(name string, t TensorProto_DataType, shape []int, values ...int64) {
	addInit(b, name, t, shape, values)
}

func addInit[V float64 | int64](b *Builder, name string, t TensorProto_DataType, shape []int, values []V) {
	b.define(name)
	p, err := NewTensor(name, t, shape, values)
	if err != nil {
		b.errs = append(b.errs, err)
		return
	}
	b.model.Graph.Initializer = append(b.model.Graph.Initializer, p)
}

// Attr is an attribute for AddNode.
type Attr func() (*AttributeProto, error)

// Int is an integer attribute.
func Int(name string, v int64) Attr {
	return func() (*AttributeProto, error) {
		return &AttributeProto{Name: name, Type: AttributeProto_INT, I: v}, nil
	}
}

// Float is a floating point attribute.
func Float(name string, v float64) Attr {
	return func() (*AttributeProto, error) {
		return &AttributeProto{Name: name, Type: AttributeProto_FLOAT, F: float32(v)}, nil
	}
}

// Text is a string attribute.
func Text(name, v string) Attr {
	return func() (*AttributeProto, error) {
		return &AttributeProto{Name: name, Type: AttributeProto_STRING, S: []byte(v)}, nil
	}
}

// Texts is an attribute of several strings.
func Texts(name string, v ...string) Attr {
	return func() (*AttributeProto, error) {
		a := &AttributeProto{Name: name, Type: AttributeProto_STRINGS}
		for _, s := range v {
			a.Strings = append(a.Strings, []byte(s))
		}
		return a, nil
	}
}

// Ints is an attribute of several integers.
func Ints(name string, v ...int64) Attr {
	return func() (*AttributeProto, error) {
		return &AttributeProto{Name: name, Type: AttributeProto_INTS, Ints: v}, nil
	}
}

// Floats is an attribute of several floating point numbers.
func Floats(name string, v ...float64) Attr {
	return func() (*AttributeProto, error) {
		a := &AttributeProto{Name: name, Type: AttributeProto_FLOATS}
		for _, x := range v {
			a.Floats = append(a.Floats, float32(x))
		}
		return a, nil
	}
}

// TensorAttr is a tensor attribute.
func TensorAttr[V float64 | int64](name string, t TensorProto_DataType, shape []int, values ...V) Attr {
	return func() (*AttributeProto, error) {
		p, err := NewTensor("", t, shape, values)
		return &AttributeProto{Name: name, Type: AttributeProto_TENSOR, T: p}, err
	}
}

// AddNode adds an operator of ai.onnx that reads inputs ("" leaves one out) and
// defines output, its only one.
func (b *Builder) AddNode(op string, inputs []string, output string, attrs ...Attr) {
	b.AddNodes("", op, inputs, []string{output}, attrs...)
}

// AddNodes adds an operator of any imported domain with any number of outputs.
func (b *Builder) AddNodes(domain, op string, inputs, outputs []string, attrs ...Attr) {
	n := &NodeProto{Domain: domain, OpType: op, Input: inputs, Output: outputs}
	for _, o := range outputs {
		if o != "" {
			b.define(o)
			if n.Name == "" {
				n.Name = o
			}
		}
	}
	for _, f := range attrs {
		a, err := f()
		if err != nil {
			b.errs = append(b.errs, err)
			continue
		}
		n.Attribute = append(n.Attribute, a)
	}
	b.model.Graph.Node = append(b.model.Graph.Node, n)
}

// Output declares a defined value as a graph output.
func (b *Builder) Output(name string, t TensorProto_DataType, shape ...int) {
	b.model.Graph.Output = append(b.model.Graph.Output, valueInfo(name, t, shape))
}

// AddMetadata adds an entry to the model's metadata.
func (b *Builder) AddMetadata(key, value string) {
	b.model.MetadataProps = append(b.model.MetadataProps, &StringStringEntryProto{Key: key, Value: value})
}

// Model is the message built so far, for changes the builder has no method for.
func (b *Builder) Model() *ModelProto { return b.model }

// Marshal returns the file's bytes, the same for the same calls. Every value read
// must be defined; nodes may come in any order.
func (b *Builder) Marshal() ([]byte, error) {
	errs := b.errs
	for _, n := range b.model.Graph.Node {
		for _, in := range n.Input {
			if in != "" && !b.names[in] {
				errs = append(errs, fmt.Errorf("onnxpb: node %q reads %q, which is not defined", n.Name, in))
			}
		}
	}
	for _, o := range b.model.Graph.Output {
		if !b.names[o.Name] {
			errs = append(errs, fmt.Errorf("onnxpb: output %q is not defined", o.Name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(b.model)
}
