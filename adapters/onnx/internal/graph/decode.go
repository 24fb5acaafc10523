package graph

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/onnxpb"
)

// decodeTensor reads a constant. what names it in errors ("initializer %q").
func decodeTensor(p *onnxpb.TensorProto, what string, budget *budget) (*Tensor, error) {
	if len(p.ExternalData) > 0 || p.DataLocation != onnxpb.TensorProto_DEFAULT {
		return nil, fmt.Errorf("onnx: %s stores its data in an external file, which is not supported; save the model with its data inside", what)
	}
	t, err := TypeOf(p.DataType)
	if err != nil {
		return nil, fmt.Errorf("onnx: %s: %w", what, err)
	}
	if len(p.Dims) > MaxRank {
		return nil, fmt.Errorf("onnx: %s has %d axes; at most %d are supported", what, len(p.Dims), MaxRank)
	}
	shape := make([]int, len(p.Dims))
	for i, d := range p.Dims {
		if d < 0 || d > math.MaxInt32*int64(1024) {
			return nil, fmt.Errorf("onnx: %s: axis %d has impossible size %d", what, i, d)
		}
		shape[i] = int(d)
	}
	n, ok := Elements(shape)
	if !ok {
		return nil, fmt.Errorf("onnx: %s: shape %v overflows", what, shape)
	}
	out := &Tensor{Type: t, Shape: shape}
	if t == String {
		return out, decodeTexts(out, p, n, what, budget)
	}
	if len(p.RawData) > 0 {
		size := map[DType]int{Float32: 4, Float64: 8, Int32: 4, Int64: 8, Bool: 1}[t]
		if len(p.RawData) != n*size {
			return nil, fmt.Errorf("onnx: %s: %d bytes of raw data, but shape %v of %s needs %d", what, len(p.RawData), shape, t, n*size)
		}
	} else if have := typedLength(p, t); have != n {
		return nil, fmt.Errorf("onnx: %s: %d values, but shape %v of %s needs %d", what, have, shape, t, n)
	}
	if err := budget.take(n, what, shape); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if t.Floating() {
		out.F = make([]float64, n)
	} else {
		out.I = make([]int64, n)
	}
	if len(p.RawData) > 0 {
		decodeRaw(out, p.RawData)
		return out, nil
	}
	switch t {
	case Float32:
		for i, v := range p.FloatData {
			out.F[i] = float64(v)
		}
	case Float64:
		copy(out.F, p.DoubleData)
	case Int64:
		copy(out.I, p.Int64Data)
	case Int32:
		for i, v := range p.Int32Data {
			out.I[i] = int64(v)
		}
	case Bool:
		for i, v := range p.Int32Data {
			if v != 0 {
				out.I[i] = 1
			}
		}
	}
	return out, nil
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

func typedLength(p *onnxpb.TensorProto, t DType) int {
	switch t {
	case Float32:
		return len(p.FloatData)
	case Float64:
		return len(p.DoubleData)
	case Int64:
		return len(p.Int64Data)
	}
	return len(p.Int32Data)
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
	case Int32:
		for i := range out.I {
			out.I[i] = int64(int32(le.Uint32(raw[4*i:])))
		}
	case Int64:
		for i := range out.I {
			out.I[i] = int64(le.Uint64(raw[8*i:]))
		}
	case Bool:
		for i := range out.I {
			if raw[i] != 0 {
				out.I[i] = 1
			}
		}
	}
}

// decodeAttr reads an attribute of node.
func decodeAttr(p *onnxpb.AttributeProto, node string, b *budget) (Attr, error) {
	refuse := func(what string) (Attr, error) {
		return Attr{}, fmt.Errorf("onnx: %s: attribute %q holds %s, which is not supported", node, p.Name, what)
	}
	switch {
	case p.G != nil || len(p.Graphs) > 0:
		return refuse("a subgraph")
	case p.SparseTensor != nil || len(p.SparseTensors) > 0:
		return refuse("a sparse tensor")
	case p.RefAttrName != "":
		return refuse("a reference to an attribute of a function")
	case len(p.Tensors) > 0:
		return refuse("a list of tensors")
	}
	a := Attr{Int: p.I, Float: float64(p.F), String: string(p.S), Ints: p.Ints}
	for _, f := range p.Floats {
		a.Floats = append(a.Floats, float64(f))
	}
	for _, s := range p.Strings {
		a.Strings = append(a.Strings, string(s))
	}
	if p.T != nil {
		t, err := decodeTensor(p.T, fmt.Sprintf("%s: attribute %q", node, p.Name), b)
		if err != nil {
			return Attr{}, err
		}
		a.Tensor = t
	}
	return a, nil
}
