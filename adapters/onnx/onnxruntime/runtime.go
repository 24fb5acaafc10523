package onnxruntime

import (
	"fmt"
	"slices"
)

// Runtime is an ONNX Runtime that opens networks: that of a helper (Start), or one that the
// process has loaded (package adapters/onnx/ort).
type Runtime interface {
	// Version is ONNX Runtime's, as "1.23.0".
	Version() string
	// Open makes a session of n. Errors are ONNX Runtime's, which refuses the network.
	Open(n Network) (Session, error)
}

// Network is what a session computes. Nothing of it is changed or kept once it is open.
type Network struct {
	File     []byte            // of ONNX
	External map[string][]byte // files with data of tensors, by their location in File
	Inputs   []Tensor          // all of them
	Outputs  []Tensor          // graph outputs, without repetition
}

// Tensor is an input or output with a fixed shape: all its numbers, the rows' axis with them.
type Tensor struct {
	Name  string
	Type  string // of its elements, as ONNX calls it
	Shape []int64
}

// maxBytes bounds a tensor.
const maxBytes = 1 << 33

// Bytes is how many bytes the numbers of t take. Errors: a type that no session passes on, a
// size below 0, more than 8 GiB.
func (t Tensor) Bytes() (int, error) {
	e, ok := elements[t.Type]
	if !ok {
		return 0, fmt.Errorf("tensor %q has elements of type %q, which this engine does not pass on", t.Name, t.Type)
	}
	if slices.Contains(t.Shape, 0) {
		return 0, nil
	}
	n := int64(e.size)
	for _, d := range t.Shape {
		if d < 0 || n > maxBytes/d {
			return 0, fmt.Errorf("tensor %q of shape %v: sizes below 0, or more than %d bytes", t.Name, t.Shape, int64(maxBytes))
		}
		n *= d
	}
	return int(n), nil
}

// Session is an open network. It is safe for concurrent use.
type Session interface {
	// NewCall makes memory for calls that follow each other.
	NewCall() (Call, error)
	// Close frees what the session holds, once no call of it runs.
	Close() error
}

// Call is the memory of one call at a time: the numbers of each input and output of the
// network, row-major, in the machine's order of bytes.
type Call interface {
	In(i int) []byte
	Out(i int) []byte
	// Run computes Out from In.
	Run() error
}
