// Package oip reads requests and writes answers of the Open Inference Protocol, version 2
// (KServe, Triton and others speak it), in JSON and with the extension of binary tensors.
// Plain rows may stand in place of tensors. It knows nothing of models or of HTTP.
package oip

import (
	"fmt"
)

// Request is an inference request. Reset makes it ready for another; what it holds is
// reused then, so that a server that keeps requests allocates little.
type Request struct {
	ID      string
	Inputs  []Tensor
	Rows    int      // of plain rows, which stand in Inputs as tensors; -1: the request had inputs
	Outputs []Output // that are asked for; empty: the server chooses
	// BinaryOutput: outputs go out as binary data, where Outputs do not say otherwise.
	BinaryOutput bool
	Parameters   []Parameter // others than BinaryOutput, in the order of the request

	Passed []string // columns of the first plain row that are not kept
	// Reads tells which columns of plain rows are kept; nil: all. Reset leaves it.
	Reads func(column []byte) bool

	numbers []float64 // that tensors' values are cut from
	codes   []int32
	scratch []byte // a string without its escapes
}

// Tensor is an input: Numbers, or Codes of texts if its datatype is BYTES, in row-major
// order.
type Tensor struct {
	Name     string
	Datatype Datatype
	Shape    []int
	Numbers  []float64 // NaN: null
	Codes    []int32   // positions in Levels; -1: null
	Levels   []string  // each once
	Absent   int       // of plain rows: the first, from 1, without this column, which then has no values; 0: none

	binary int  // bytes of binary data behind the JSON; -1: data is JSON
	given  bool // data is there
	kind   kind // of that

	rounded int // the number, from 1, of the first whole one in the JSON that is no float64; 0: none
}

// Output is an output that is asked for.
type Output struct {
	Name   string
	Binary Choice
}

// Choice is a yes or no that may be left to a default.
type Choice uint8

// The choices.
const (
	Default Choice = iota
	No
	Yes
)

// Parameter is a parameter of a request: a number, a text or a truth value.
type Parameter struct {
	Name  string
	Value any // float64, string or bool
}

// Error is a request that cannot be used: the client's fault, in the client's terms.
type Error struct{ text string }

// Error says what is wrong.
func (e *Error) Error() string { return e.text }

func errorf(format string, values ...any) error { return &Error{fmt.Sprintf(format, values...)} }

// Datatype is how the protocol calls a tensor's type.
type Datatype string

// The datatypes that columns may have.
const (
	Bool   Datatype = "BOOL"
	Uint8  Datatype = "UINT8"
	Uint16 Datatype = "UINT16"
	Uint32 Datatype = "UINT32"
	Uint64 Datatype = "UINT64"
	Int8   Datatype = "INT8"
	Int16  Datatype = "INT16"
	Int32  Datatype = "INT32"
	Int64  Datatype = "INT64"
	FP16   Datatype = "FP16"
	FP32   Datatype = "FP32"
	FP64   Datatype = "FP64"
	Bytes  Datatype = "BYTES"
)

func datatype(name []byte) (Datatype, bool) {
	switch d := string(name); Datatype(d) { // the conversion in a switch allocates nothing
	case FP64:
		return FP64, true
	case FP32:
		return FP32, true
	case Int64:
		return Int64, true
	case Bytes:
		return Bytes, true
	case Bool, Uint8, Uint16, Uint32, Uint64, Int8, Int16, Int32, FP16:
		return Datatype(d), true
	}
	return "", false
}

// size is the number of bytes of an element; 0 of BYTES, whose elements tell theirs.
func (d Datatype) size() int {
	switch d {
	case Bool, Uint8, Int8:
		return 1
	case Uint16, Int16, FP16:
		return 2
	case Uint32, Int32, FP32:
		return 4
	case Uint64, Int64, FP64:
		return 8
	}
	return 0
}

// Len is how many elements the tensor's shape has; false if that is more than any slice.
func (t *Tensor) Len() (int, bool) {
	n := 1
	for _, d := range t.Shape {
		if d != 0 && n > (1<<40)/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}
