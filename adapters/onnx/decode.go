package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/onnxpb"
)

// String is the type's name in ONNX.
func (t DType) String() string {
	switch t {
	case Float32:
		return "float"
	case Float64:
		return "double"
	case Int32:
		return "int32"
	case Int64:
		return "int64"
	case Bool:
		return "bool"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Floating reports whether values of the type are held as floating point.
func (t DType) Floating() bool { return t == Float32 || t == Float64 }

// TypeOf maps the format's element types to those the engine runs.
func TypeOf(code int32) (DType, error) {
	switch onnxpb.TensorProto_DataType(code) {
	case onnxpb.TensorProto_FLOAT:
		return Float32, nil
	case onnxpb.TensorProto_DOUBLE:
		return Float64, nil
	case onnxpb.TensorProto_INT32:
		return Int32, nil
	case onnxpb.TensorProto_INT64:
		return Int64, nil
	case onnxpb.TensorProto_BOOL:
		return Bool, nil
	}
	if name, ok := onnxpb.TensorProto_DataType_name[code]; ok && code != 0 {
		return 0, fmt.Errorf("element type %s is not supported; export with float, double, int32, int64 or bool", name)
	}
	return 0, fmt.Errorf("unknown element type %d", code)
}

// Elements is the product of the sizes; ok is false if it overflows or a size
// is negative. Batch counts as 1: the elements of one row.
func Elements(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d == Batch {
			continue
		}
		if d < 0 {
			return 0, false
		}
		if d != 0 && n > math.MaxInt/64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

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

// budget bounds the memory of all constants and the work of folding and of one
// row before either is spent.
type budget struct {
	memory, memoryMax int64 // bytes, at 8 per element
	foldWork, rowWork int64
	workMax           int64
}

func newBudget(o LoadOptions) *budget {
	return &budget{memory: o.MaxMemory, memoryMax: o.MaxMemory, foldWork: o.MaxWork, rowWork: o.MaxWork, workMax: o.MaxWork}
}

func (b *budget) take(n int, what string, shape []int) error {
	if err := b.fits(n, what, shape); err != nil {
		return err
	}
	b.memory -= 8 * int64(n)
	if b.memory < 0 {
		return fmt.Errorf("%s of shape %v: the constants together need more than %d bytes (MaxMemory)", what, shape, b.memoryMax)
	}
	return nil
}

// spend takes the multiply-adds of a node: of one row, or of folding.
func (b *budget) spend(work int64, folding bool) error {
	left := &b.rowWork
	if folding {
		left = &b.foldWork
	}
	if *left -= work; *left < 0 {
		return fmt.Errorf("the graph needs more than %d multiply-adds for one row (MaxWork)", b.workMax)
	}
	return nil
}

func (b *budget) fits(n int, what string, shape []int) error {
	if int64(n) > b.memoryMax/8 {
		return fmt.Errorf("%s of shape %v needs more than %d bytes (MaxMemory)", what, shape, b.memoryMax)
	}
	return nil
}
