package graph

import (
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
	case String:
		return "string"
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
	case onnxpb.TensorProto_STRING:
		return String, nil
	}
	if name, ok := onnxpb.TensorProto_DataType_name[code]; ok && code != 0 {
		return 0, fmt.Errorf("element type %s is not supported; export with float, double, int32, int64 or bool", name)
	}
	return 0, fmt.Errorf("unknown element type %d", code)
}

// Round is the value of type t that is nearest to x, ties to even: for float infinite
// beyond its range. Types other than float leave x as it is: double holds it, and what
// integers hold is checked (integer).
func (t DType) Round(x float64) float64 {
	if t == Float32 {
		return float64(float32(x))
	}
	return x
}

// Largest is the largest finite value of a floating type; of others that of double.
func (t DType) Largest() float64 {
	if t == Float32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// Narrows reports whether a conversion may change a number: float holds the integers
// up to 2^24 alone.
func Narrows(from, to DType) bool {
	return to == Float32 && (from == Float64 || from == Int64 || from == Int32)
}

// DType is a tensor element type the engine runs.
type DType uint8

// The element types. Float16/bfloat16 are refused at load. A String is held as its
// number in a table of Texts.
const (
	Float32 DType = iota + 1
	Float64
	Int32
	Int64
	Bool
	String
)
