// Package ort runs networks by ONNX Runtime, as an onnx.Engine. It needs cgo, and at run
// time ONNX Runtime's shared library, which is in every release of ONNX Runtime and in
// Python's onnxruntime (capi/libonnxruntime.so.*).
package ort

import (
	"fmt"

	runtime "github.com/yalue/onnxruntime_go"

	"github.com/pho-go/pho/adapters/onnx"
)

// Options are the settings of an Engine; the zero value holds the defaults.
type Options struct {
	// Library is the path of ONNX Runtime's shared library. "": what the environment
	// variable ORT_DYLIB_PATH names, or else what the system's loader finds under the
	// library's usual names.
	Library string
	// Threads is how many threads one Run uses within an operator. 0: one, since callers
	// run blocks of rows side by side.
	Threads int
	// Rows is the number of rows of every call of ONNX Runtime. Blocks are cut to it, and
	// the last one is filled up with copies of a row: its kernels round otherwise for
	// another number of rows, and a row alone must give what it gives among others.
	// A network whose batch axis has a fixed size is called with that size, and one that
	// quantises dynamically, by the range of all rows of a call, with single rows. 0: 256.
	Rows int
}

// Engine is an onnx.Engine that computes by ONNX Runtime, in the types that the network
// declares: float for most, where onnx.GoEngine computes in double unless told otherwise.
// Networks are loaded with LoadOptions.KeepFile.
type Engine struct{ options Options }

// New loads the library, once in a process, and makes an engine. Errors: negative
// options, a library that cannot be loaded, or another one than the process has loaded.
func New(o Options) (*Engine, error) {
	if o.Threads < 0 || o.Rows < 0 {
		return nil, fmt.Errorf("ort: Threads %d and Rows %d must not be negative", o.Threads, o.Rows)
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	if o.Rows == 0 {
		o.Rows = 256
	}
	if err := load(o.Library); err != nil {
		return nil, err
	}
	return &Engine{o}, nil
}

// Version is ONNX Runtime's.
func (e *Engine) Version() string { return runtime.GetVersion() }

// Prepare is onnx.Engine's. It opens one session, which is closed when nobody holds the
// evaluator any more. Errors: a network loaded without KeepFile, one that ONNX Runtime
// refuses, and a tensor that the file does not compute under that name.
func (e *Engine) Prepare(g *onnx.Graph, tensors []string) (onnx.Evaluator, error) {
	if g.File() == nil {
		return nil, fmt.Errorf("ort: the network was loaded without its file; set LoadOptions.KeepFile")
	}
	return e.newEvaluator(g, tensors)
}
