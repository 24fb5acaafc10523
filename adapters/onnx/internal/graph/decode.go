package graph

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// decodeTensor reads a constant. what names it in errors ("initializer %q").
func decodeTensor(p *onnxpb.TensorProto, what string, budget *budget) (*Tensor, error) {
	if len(p.ExternalData) > 0 || p.DataLocation != onnxpb.TensorProto_DEFAULT {
		return nil, fmt.Errorf("onnx: %s stores its data in an external file, which this part of a model cannot; save the model with its data inside", what)
	}
	t, err := TypeOf(p.DataType)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", what, err)
	}
	shape, n, err := shapeOf(p.Dims)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", what, err)
	}
	out := &Tensor{Type: t, Shape: shape}
	if t == String {
		return out, decodeTexts(out, p, n, what, budget)
	}
	if len(p.RawData) > 0 {
		if size := bytesOf(t, n); len(p.RawData) != size {
			return nil, fmt.Errorf("onnx: %s: %d bytes of raw data, but shape %v of %s needs %d", what, len(p.RawData), shape, t, size)
		}
	} else if have, need := typedLength(p, t), typedNeeded(t, n); have != need {
		return nil, fmt.Errorf("onnx: %s: %d values, but shape %v of %s needs %d", what, have, shape, t, need)
	}
	if err := budget.take(n, what, shape); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	out.allocate(n)
	if len(p.RawData) > 0 {
		decodeRaw(out, p.RawData)
	} else {
		decodeTyped(out, p)
	}
	return out, nil
}

// maxAxis bounds the size of an axis in a file.
const maxAxis = math.MaxInt32 * int64(1024)

// shapeOf is the shape and the number of elements that a file gives a constant.
func shapeOf(dims []int64) (shape []int, n int, err error) {
	if len(dims) > MaxRank {
		return nil, 0, fmt.Errorf("has %d axes; at most %d are supported", len(dims), MaxRank)
	}
	shape = make([]int, len(dims))
	for i, d := range dims {
		if d < 0 || d > maxAxis {
			return nil, 0, fmt.Errorf("axis %d has impossible size %d", i, d)
		}
		shape[i] = int(d)
	}
	n, ok := Elements(shape)
	if !ok {
		return nil, 0, fmt.Errorf("shape %v overflows", shape)
	}
	return shape, n, nil
}

// decodeTexts numbers the texts of a constant.
func decodeTexts(out *Tensor, p *onnxpb.TensorProto, n int, what string, budget *budget) error {
	if len(p.StringData) != n || len(p.RawData) > 0 {
		return fmt.Errorf("onnx: %s: %d texts, but shape %v needs %d", what, len(p.StringData), out.Shape, n)
	}
	texts, size := make([]string, n), n
	for i, s := range p.StringData {
		texts[i] = string(s)
		size += len(s) / 8
	}
	if err := budget.take(size, what, out.Shape); err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return budget.texts.numberAll(out, texts)
}

// allocate gives t its room for n numbers.
func (t *Tensor) allocate(n int) {
	if t.Type.Floating() {
		t.F = make([]float64, n)
	} else {
		t.I = make([]int64, n)
	}
}

// bytesOf is how many bytes n numbers of type t take: two of 4 bits share one.
func bytesOf(t DType, n int) int {
	if t.Bits() == 4 {
		return n/2 + n%2
	}
	return n * (t.Bits() / 8)
}

// typedLength is how many entries the field has that holds numbers of type t, and
// typedNeeded how many n numbers need: two of 4 bits share one.
func typedLength(p *onnxpb.TensorProto, t DType) int {
	switch t {
	case Float32:
		return len(p.FloatData)
	case Float64:
		return len(p.DoubleData)
	case Int64:
		return len(p.Int64Data)
	case Uint32, Uint64:
		return len(p.Uint64Data)
	}
	return len(p.Int32Data)
}

func typedNeeded(t DType, n int) int {
	if t.Bits() == 4 {
		return bytesOf(t, n)
	}
	return n
}

func decodeTyped(out *Tensor, p *onnxpb.TensorProto) {
	switch out.Type {
	case Float32:
		for i, v := range p.FloatData {
			out.F[i] = float64(v)
		}
	case Float64:
		copy(out.F, p.DoubleData)
	case Float16:
		for i, v := range p.Int32Data {
			out.F[i] = ofHalf(uint16(v))
		}
	case BFloat16:
		for i, v := range p.Int32Data {
			out.F[i] = ofBrain(uint16(v))
		}
	case Int64:
		copy(out.I, p.Int64Data)
	case Uint32, Uint64:
		for i, v := range p.Uint64Data {
			out.I[i] = out.Type.Wrap(int64(v))
		}
	case Int4, Uint4:
		for i := range out.I {
			out.I[i] = out.Type.Wrap(int64(p.Int32Data[i/2] >> (4 * (i % 2))))
		}
	default:
		for i, v := range p.Int32Data {
			out.I[i] = out.Type.Wrap(int64(v))
		}
	}
}

func decodeRaw(out *Tensor, raw []byte) {
	le := binary.LittleEndian
	switch out.Type {
	case Float32:
		for i := range out.F {
			out.F[i] = float64(math.Float32frombits(le.Uint32(raw[4*i:])))
		}
	case Float64:
		for i := range out.F {
			out.F[i] = math.Float64frombits(le.Uint64(raw[8*i:]))
		}
	case Float16:
		for i := range out.F {
			out.F[i] = ofHalf(le.Uint16(raw[2*i:]))
		}
	case BFloat16:
		for i := range out.F {
			out.F[i] = ofBrain(le.Uint16(raw[2*i:]))
		}
	case Int4, Uint4:
		for i := range out.I {
			out.I[i] = out.Type.Wrap(int64(raw[i/2] >> (4 * (i % 2))))
		}
	case Int8, Uint8, Bool:
		for i := range out.I {
			out.I[i] = out.Type.Wrap(int64(raw[i]))
		}
	case Int16, Uint16:
		for i := range out.I {
			out.I[i] = out.Type.Wrap(int64(le.Uint16(raw[2*i:])))
		}
	case Int32, Uint32:
		for i := range out.I {
			out.I[i] = out.Type.Wrap(int64(le.Uint32(raw[4*i:])))
		}
	case Int64, Uint64:
		for i := range out.I {
			out.I[i] = int64(le.Uint64(raw[8*i:]))
		}
	}
}

// decodeAttr reads an attribute of node.
func decodeAttr(p *onnxpb.AttributeProto, node string, b *budget) (Attr, error) {
	refuse := func(what string) (Attr, error) {
		return Attr{}, fmt.Errorf("onnx: %s: attribute %q holds %s, which is not supported", node, p.Name, what)
	}
	switch {
	case len(p.Graphs) > 0:
		return refuse("a list of subgraphs")
	case len(p.SparseTensors) > 0:
		return refuse("a list of sparse tensors")
	case p.RefAttrName != "":
		return refuse("a reference to an attribute of a function outside of one")
	case len(p.Tensors) > 0:
		return refuse("a list of tensors")
	}
	a := Attr{graph: p.G, Int: p.I, Float: float64(p.F), String: string(p.S), Ints: p.Ints}
	for _, f := range p.Floats {
		a.Floats = append(a.Floats, float64(f))
	}
	for _, s := range p.Strings {
		a.Strings = append(a.Strings, string(s))
	}
	if p.T != nil {
		t, err := decodeTensor(widened(p.T), fmt.Sprintf("%s: attribute %q", node, p.Name), b)
		if err != nil {
			return Attr{}, err
		}
		a.Tensor = t
	}
	if p.SparseTensor != nil {
		_, t, err := decodeSparse(p.SparseTensor, fmt.Sprintf("%s: attribute %q", node, p.Name), b)
		if err != nil {
			return Attr{}, err
		}
		a.Tensor = t
	}
	return a, nil
}

// widened is p, or a vector of bytes (the modes of a TreeEnsemble's nodes) as one of int32.
func widened(p *onnxpb.TensorProto) *onnxpb.TensorProto {
	if p.DataType != int32(onnxpb.TensorProto_UINT8) {
		return p
	}
	w := &onnxpb.TensorProto{Dims: p.Dims, DataType: int32(onnxpb.TensorProto_INT32), Int32Data: p.Int32Data}
	for _, b := range p.RawData {
		w.Int32Data = append(w.Int32Data, int32(b))
	}
	return w
}
