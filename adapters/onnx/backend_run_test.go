package onnx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// wrongError is an answer that is not the expected one, as opposed to a refusal.
type wrongError struct{ text string }

func (e *wrongError) Error() string { return e.text }

func deviates(format string, args ...any) error { return &wrongError{fmt.Sprintf(format, args...)} }

// byRows runs the model with the first axis of its inputs as the batch axis: first of
// all inputs that are as long as the first one, then of the first one alone. The other
// inputs are constants.
func (c *backendCase) byRows(inputs, outputs []*backendTensor) error {
	if len(inputs) == 0 || len(inputs[0].shape) == 0 || inputs[0].shape[0] == 0 {
		return errors.New("onnx: the first input has no rows")
	}
	rows := inputs[0].shape[0]
	long := func(i int) bool { return len(inputs[i].shape) > 0 && inputs[i].shape[0] == rows }
	var refusal error
	for _, isRows := range []func(i int) bool{long, func(i int) bool { return i == 0 }} {
		o, err := c.load(inputs, isRows)
		if err == nil {
			err = c.run(o, inputs, outputs, rows)
		}
		var w *wrongError
		if err == nil || errors.As(err, &w) {
			return err
		}
		refusal = err
	}
	return refusal
}

// folded makes all inputs constants, so that the engine computes the outputs while it
// loads the model. It wants an input, which nothing reads.
func (c *backendCase) folded(inputs, outputs []*backendTensor) error {
	o, err := c.load(inputs, func(int) bool { return false })
	if err != nil {
		return err
	}
	for i, want := range outputs {
		t := o.outputs[i]
		if t.axis() >= 0 {
			return fmt.Errorf("onnx: output %q is not folded", t.name)
		}
		if !slices.Equal(t.shape, want.shape) {
			return deviates("folded: output %q has shape %v, not %v", t.name, t.shape, want.shape)
		}
		for j, got := range t.folded {
			if err := c.same("folded", t.name, j, got, want.values[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// load loads the model with the inputs that hold rows as inputs and the rest as
// initializers; where none holds rows, with an input that nothing reads.
func (c *backendCase) load(inputs []*backendTensor, isRows func(i int) bool) (*openedNetwork, error) {
	m := proto.Clone(c.model).(*onnxpb.ModelProto)
	var open []*onnxpb.ValueInfoProto
	for i, in := range m.Graph.Input {
		if !isRows(i) {
			m.Graph.Initializer = append(m.Graph.Initializer, inputs[i].message)
			continue
		}
		shape := &onnxpb.TensorShapeProto{Dim: []*onnxpb.TensorShapeProto_Dimension{{}}}
		for _, d := range inputs[i].shape[1:] {
			shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}})
		}
		in.GetType().GetTensorType().Shape = shape
		open = append(open, in)
	}
	if len(open) == 0 {
		b := onnxpb.NewBuilder(13)
		b.AddInput("rows", onnxpb.TensorProto_FLOAT, onnxpb.Rows, 1)
		open = b.Model().Graph.Input
	}
	m.Graph.Input = open
	raw, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	o, err := openNetwork(bytes.NewReader(raw), nil, nil)
	if err == nil && len(o.outputs) < len(m.Graph.Output) {
		return nil, errors.New("onnx: " + strings.Join(o.notes, "; "))
	}
	return o, err
}

// run runs the engine on the rows of the inputs that the graph has left.
func (c *backendCase) run(o *openedNetwork, inputs, outputs []*backendTensor, rows int) error {
	var in [][]float64
	for _, t := range o.inputs {
		at := slices.IndexFunc(inputs, func(b *backendTensor) bool { return b.message.Name == t.name })
		in = append(in, inputs[at].values)
	}
	for i, t := range o.outputs {
		if t.axis() < 0 {
			return fmt.Errorf("onnx: output %q has no batch axis", t.name)
		}
		shape := slices.Clone(t.shape)
		shape[t.axis()] = rows
		if !slices.Equal(shape, outputs[i].shape) {
			return deviates("rows: output %q has shape %v, not %v", t.name, shape, outputs[i].shape)
		}
	}
	got, err := o.run(o.outputs, in, rows)
	if err != nil {
		return err
	}
	for i, t := range o.outputs {
		want := toRows(outputs[i].values, outputs[i].shape, t.axis())
		for j, x := range got[i] {
			if err := c.same("rows", t.name, j, x, want[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// noise is how far expected numbers are from the exact ones, of tests that do not allow
// for it. numpy computed these in float: 1.9e-7 stands where the transform of numbers up
// to 99 is 0. (ONNX Runtime differs from them by 2e-5.)
var noise = map[string]float64{"test_dft_inverse": 2e-7, "test_dft_inverse_opset19": 2e-7}

// same compares as the backend tests do: |got - want| <= atol + rtol |want|.
func (c *backendCase) same(way, output string, element int, got, want float64) error {
	if got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= max(c.ATol, noise[c.Name])+c.RTol*math.Abs(want) {
		return nil
	}
	return deviates("%s: output %q, element %d: %g, not %g", way, output, element, got, want)
}

// backendTensor is a tensor of a test, its numbers as float64.
type backendTensor struct {
	message *onnxpb.TensorProto
	shape   []int
	values  []float64
}

func newBackendTensor(p *onnxpb.TensorProto) (*backendTensor, error) {
	t := &backendTensor{message: p, shape: []int{}}
	n := 1
	for _, d := range p.Dims {
		t.shape = append(t.shape, int(d))
		n *= int(d)
	}
	kind := onnxpb.TensorProto_DataType(p.DataType)
	size, number := rawNumber(kind)
	switch {
	case number == nil:
		return nil, fmt.Errorf("onnx: tensors of type %s are not compared", kind)
	case len(p.RawData) > 0:
		for at := 0; at+size <= len(p.RawData); at += size {
			t.values = append(t.values, number(p.RawData[at:]))
		}
	default:
		t.values = typedNumbers(p)
	}
	if len(t.values) != n {
		return nil, fmt.Errorf("onnx: tensor %q holds %d of %d numbers", p.Name, len(t.values), n)
	}
	return t, nil
}

// rawNumber is how a number of the type is read from bytes, nil if it is none of the
// applicable types.
func rawNumber(kind onnxpb.TensorProto_DataType) (size int, number func(b []byte) float64) {
	le := binary.LittleEndian
	switch kind {
	case onnxpb.TensorProto_FLOAT:
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	case onnxpb.TensorProto_DOUBLE:
		return 8, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	case onnxpb.TensorProto_BFLOAT16:
		return 2, func(b []byte) float64 { return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16)) }
	case onnxpb.TensorProto_FLOAT16:
		return 2, func(b []byte) float64 { return half(le.Uint16(b)) }
	case onnxpb.TensorProto_INT64:
		return 8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }
	case onnxpb.TensorProto_UINT64:
		return 8, func(b []byte) float64 { return float64(le.Uint64(b)) }
	case onnxpb.TensorProto_INT32:
		return 4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }
	case onnxpb.TensorProto_UINT32:
		return 4, func(b []byte) float64 { return float64(le.Uint32(b)) }
	case onnxpb.TensorProto_INT16:
		return 2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }
	case onnxpb.TensorProto_UINT16:
		return 2, func(b []byte) float64 { return float64(le.Uint16(b)) }
	case onnxpb.TensorProto_INT8:
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case onnxpb.TensorProto_UINT8, onnxpb.TensorProto_BOOL:
		return 1, func(b []byte) float64 { return float64(b[0]) }
	}
	return 0, nil
}

// halfDigits is two units in the last place of the floating types of 16 bits, relative: the
// engine has further digits than they hold. 0 for other types.
func halfDigits(kind onnxpb.TensorProto_DataType) float64 {
	switch kind {
	case onnxpb.TensorProto_FLOAT16:
		return 1.0 / (1 << 9)
	case onnxpb.TensorProto_BFLOAT16:
		return 1.0 / (1 << 6)
	}
	return 0
}

// half is the number that the bits of a float16 mean.
func half(b uint16) float64 {
	e, m := int(b>>10&31), float64(b&1023)
	x := math.Ldexp(1024+m, e-25)
	switch {
	case e == 0:
		x = math.Ldexp(m, -24)
	case e == 31 && m == 0:
		x = math.Inf(1)
	case e == 31:
		return math.NaN()
	}
	return math.Copysign(x, float64(int16(b)|1))
}

// typedNumbers are the numbers of a tensor that holds no raw bytes.
func typedNumbers(p *onnxpb.TensorProto) []float64 {
	var out []float64
	for _, v := range p.FloatData {
		out = append(out, float64(v))
	}
	kind := onnxpb.TensorProto_DataType(p.DataType)
	_, number := rawNumber(kind)
	for _, v := range p.Int32Data {
		if halfDigits(kind) > 0 {
			out = append(out, number([]byte{byte(v), byte(v >> 8)}))
		} else {
			out = append(out, float64(v))
		}
	}
	for _, v := range p.Int64Data {
		out = append(out, float64(v))
	}
	for _, v := range p.Uint64Data {
		out = append(out, float64(v))
	}
	return append(out, p.DoubleData...)
}
