// Package ort runs networks by ONNX Runtime inside the process, as an onnx.Engine. It needs at
// run time ONNX Runtime's shared library, 1.18 or later, which is in every release of ONNX
// Runtime and in Python's onnxruntime (capi/libonnxruntime.so.*); not cgo. Programs that shall
// stay static let pho-ort load it, the program below cmd (package adapters/onnx/onnxruntime).
package ort

import (
	"fmt"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
)

// Options are the settings of an Engine; the zero value holds the defaults.
type Options struct {
	// Library is the path of ONNX Runtime's shared library. "": the file that the environment
	// variable ORT_DYLIB_PATH names, or else the one that the system's loader finds by the
	// library's usual names.
	Library string
	// Threads is how many threads one Run uses within an operator. 0: one, since callers
	// run blocks of rows side by side.
	Threads int
	// Rows is onnxruntime.Engine's.
	Rows int
}

// Engine is an onnx.Engine that computes by ONNX Runtime, in the types that the network
// declares: float for most, where onnx.GoEngine computes in double unless told otherwise.
// Networks are loaded with LoadOptions.KeepFile.
type Engine struct{ engine onnxruntime.Engine }

// New loads the library, once in a process, and makes an engine. Errors: negative
// options, a library that cannot be loaded, or another one than the process has loaded.
func New(o Options) (*Engine, error) {
	if o.Threads < 0 || o.Rows < 0 {
		return nil, fmt.Errorf("ort: Threads %d and Rows %d must not be negative", o.Threads, o.Rows)
	}
	r, err := Load(o.Library, o.Threads)
	if err != nil {
		return nil, err
	}
	return &Engine{onnxruntime.Engine{Runtime: r, Rows: o.Rows}}, nil
}

// Version is ONNX Runtime's.
func (e *Engine) Version() string { return e.engine.Runtime.Version() }

// Prepare is onnxruntime.Engine's.
func (e *Engine) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	return e.engine.Prepare(g, tensors)
}
