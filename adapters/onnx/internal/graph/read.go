package graph

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/pho-go/pho/adapters/onnx/internal/parts"
	"github.com/pho-go/pho/internal/base/onnxpb"
)

// Limits bound what a file may ask for; 0: the default.
type Limits struct {
	MaxMemory   int64 // bytes of the constants together, and of a tensor for one row: 4 GiB
	MaxElements int   // parts of the file, and what loops and functions expand to: 1,000,000
	MaxWork     int64 // multiply-adds of folding, and of one row: 1e11
	// Constants are the values of graph inputs that are constants, by name.
	Constants map[string][]float64
}

// DefaultMemory is Limits.MaxMemory where none is given.
const DefaultMemory = 4 << 30

func (l *Limits) setDefaults() {
	if l.MaxMemory == 0 {
		l.MaxMemory = DefaultMemory
	}
	if l.MaxElements == 0 {
		l.MaxElements = 1_000_000
	}
	if l.MaxWork == 0 {
		l.MaxWork = 1e11
	}
}

// maxDepth bounds how deep messages of a file may nest.
const maxDepth = 64

// MaxRank bounds the number of axes of a tensor.
const MaxRank = 16

// Read decodes the bytes of a file, checks every shape and type along the batch axis
// with ops, folds what is constant and keeps the nodes its outputs need. Tensors that
// keep their data in other files are refused. Outputs that are parts of a decomposition
// (Graph.Parts) are passed over.
func Read(file []byte, l Limits, ops Operators) (*Graph, error) {
	return ReadExternal(file, nil, l, ops)
}

// ReadExternal is Read with what reads the files beside this one; nil: nothing does.
func ReadExternal(file []byte, external External, l Limits, ops Operators) (*Graph, error) {
	l.setDefaults()
	if len(file) == 0 {
		return nil, errors.New("onnx: the model is empty (0 bytes)")
	}
	if err := scanWire(file, l.MaxElements); err != nil {
		return nil, err
	}
	m := &onnxpb.ModelProto{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(file, m); err != nil {
		return nil, fmt.Errorf("onnx: not an ONNX model: %w", err)
	}
	if err := TakeIn(m, external); err != nil {
		return nil, err
	}
	own, err := parts.Take(m)
	if err != nil {
		return nil, err
	}
	g, err := build(m, l, ops)
	if err != nil {
		return nil, err
	}
	g.Parts = own
	return g, nil
}
