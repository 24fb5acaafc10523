package graph

import (
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/base/onnxpb"
)

// DType is the type of a tensor's elements, one that operators compute with.
type DType uint8

// The element types: floating ones are held as numbers of the engine's precision, the others
// as int64, a String as its number in a table of Texts.
const (
	Float32 DType = iota + 1
	Float64
	Int32
	Int64
	Bool
	Float16
	BFloat16
	Int8
	Uint8
	Int16
	Uint16
	Uint32
	Uint64 // held as the int64 of the same bits: see Order and Number
	Int4
	Uint4
	String
)

// dtypes are the names and numbers that the types have in ONNX.
var dtypes = [...]struct {
	name string
	code onnxpb.TensorProto_DataType
}{
	Float32:  {"float", onnxpb.TensorProto_FLOAT},
	Float64:  {"double", onnxpb.TensorProto_DOUBLE},
	Int32:    {"int32", onnxpb.TensorProto_INT32},
	Int64:    {"int64", onnxpb.TensorProto_INT64},
	Bool:     {"bool", onnxpb.TensorProto_BOOL},
	Float16:  {"float16", onnxpb.TensorProto_FLOAT16},
	BFloat16: {"bfloat16", onnxpb.TensorProto_BFLOAT16},
	Int8:     {"int8", onnxpb.TensorProto_INT8},
	Uint8:    {"uint8", onnxpb.TensorProto_UINT8},
	Int16:    {"int16", onnxpb.TensorProto_INT16},
	Uint16:   {"uint16", onnxpb.TensorProto_UINT16},
	Uint32:   {"uint32", onnxpb.TensorProto_UINT32},
	Uint64:   {"uint64", onnxpb.TensorProto_UINT64},
	Int4:     {"int4", codeInt4},
	Uint4:    {"uint4", codeUint4},
	String:   {"string", onnxpb.TensorProto_STRING},
}

// String is the type's name in ONNX.
func (t DType) String() string {
	if t == 0 || int(t) >= len(dtypes) {
		return fmt.Sprintf("type %d", uint8(t))
	}
	return dtypes[t].name
}

// Code is the type's number in ONNX.
func (t DType) Code() int32 { return int32(dtypes[t].code) }

// Floating reports whether t is a type of floating point numbers.
func (t DType) Floating() bool {
	return t == Float32 || t == Float64 || t == Float16 || t == BFloat16
}

// TypeOf is the type of that number in the format.
func TypeOf(code int32) (DType, error) {
	for t, known := range dtypes {
		if t > 0 && int32(known.code) == code {
			return DType(t), nil
		}
	}
	return 0, unsupportedType(code)
}

// Element types that package onnxpb has no names for.
const (
	codeFloat8First onnxpb.TensorProto_DataType = 17 // four of 8 bits
	codeFloat8Last  onnxpb.TensorProto_DataType = 20
	codeUint4       onnxpb.TensorProto_DataType = 21
	codeInt4        onnxpb.TensorProto_DataType = 22
	codeFloat4      onnxpb.TensorProto_DataType = 23
	codeFloat8Scale onnxpb.TensorProto_DataType = 24
	codeUint2       onnxpb.TensorProto_DataType = 25
	codeInt2        onnxpb.TensorProto_DataType = 26
)

// unsupportedType says why there are no tensors of that type, and what to do.
func unsupportedType(code int32) error {
	switch c := onnxpb.TensorProto_DataType(code); {
	case c >= codeFloat8First && c <= codeFloat8Last, c == codeFloat4, c == codeFloat8Scale:
		return fmt.Errorf("element type %d, floating point of 8 bits or fewer, is not supported; quantise to int8, or save the weights as float16", code)
	case c == codeUint2, c == codeInt2:
		return fmt.Errorf("element type %d, integers of 2 bits, is not supported; quantise to int4 or int8", code)
	case c == onnxpb.TensorProto_COMPLEX64, c == onnxpb.TensorProto_COMPLEX128:
		return fmt.Errorf("element type %s is not supported; export real and imaginary parts as tensors of their own", c)
	}
	if name, ok := onnxpb.TensorProto_DataType_name[code]; ok && code != 0 {
		return fmt.Errorf("element type %s is not supported; export with numbers or bool", name)
	}
	return fmt.Errorf("unknown element type %d", code)
}

// Round is the value of type t that is nearest to x, ties to even: infinite beyond its
// range. The types of 16 bits take it by way of float, as runtimes do. Other types leave
// x as it is: double holds it, and integers are checked where they enter a network.
func (t DType) Round(x float64) float64 {
	switch t {
	case Float32:
		return float64(float32(x))
	case Float16:
		return nearest(float64(float32(x)), 10, -14, largestHalf)
	case BFloat16:
		return nearest(float64(float32(x)), 7, -126, largestBrain)
	}
	return x
}

// Largest is the largest finite value of a floating type; of others that of double.
func (t DType) Largest() float64 {
	switch t {
	case Float32:
		return math.MaxFloat32
	case Float16:
		return largestHalf
	case BFloat16:
		return largestBrain
	}
	return math.MaxFloat64
}

// Narrows reports whether a conversion to a floating type may change a number. float has
// 24 binary digits, float16 11 and bfloat16 8; double is taken to hold everything.
func Narrows(from, to DType) bool {
	switch to {
	case Float32:
		return from == Float64 || from.Integer() && from.Bits() >= 32
	case Float16, BFloat16:
		return from.Floating() && from != to || from.Integer() && from.Bits() >= 16
	}
	return false
}
