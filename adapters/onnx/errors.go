package onnx

import (
	"errors"
	"fmt"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/structure"
)

// ErrMemory is wrapped by errors of loading and running that a larger
// LoadOptions.MaxMemory or GoEngine.MaxMemory would avoid.
var ErrMemory = graph.ErrMemory

// UnsupportedOperatorError says which node of a network cannot be run, and why.
type UnsupportedOperatorError struct {
	Node    string // as messages name it: node "/fc/LSTM" (LSTM)
	Op      string
	Domain  string // "" for ai.onnx
	Version int    // the opset of its domain that the file imports
	Reason  string // the missing feature, and a way around it
}

func (e *UnsupportedOperatorError) Error() string {
	return fmt.Sprintf("onnx: %s: %s", e.Node, e.Reason)
}

// typed gives errors of loading and discovery their public types.
func typed(err error) error {
	if u := (*graph.Unsupported)(nil); errors.As(err, &u) {
		e := UnsupportedOperatorError(*u)
		return &e
	}
	if o := (*structure.OptionError)(nil); errors.As(err, &o) {
		e := OptionError(*o)
		return &e
	}
	return err
}

// OptionError says which value of which field of Options cannot be followed: a name in
// Deep, Learned or Predictor.
type OptionError struct {
	Option, Value string
	Reason        string // with the space or colon before it
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("onnx: Options.%s %q%s", e.Option, e.Value, e.Reason)
}

// AmbiguousBindingError says that nothing decides which columns fill some inputs.
type AmbiguousBindingError struct {
	Open []Tensor // the inputs
	Free []string // numeric columns that are neither bound nor excluded

	all string // describes inputs and columns
}

func (e *AmbiguousBindingError) Error() string {
	if len(e.Open) == 1 {
		in := e.Open[0]
		if in.Width() == 1 && len(e.Free) == 1 {
			return fmt.Sprintf("onnx: no column is named as input %q, while others are; name its column, which may be the one that is free (%s)\n%s", in.Name, graph.QuotedList(e.Free), e.all)
		}
		return fmt.Sprintf("onnx: input %q needs %d columns and %d numeric columns are free (%s); name its columns\n%s",
			in.Name, in.Width(), len(e.Free), graph.QuotedList(e.Free), e.all)
	}
	var names []string
	for _, in := range e.Open {
		names = append(names, in.Name)
	}
	return fmt.Sprintf("onnx: no columns are bound to the inputs %s; name the columns of each\n%s", graph.QuotedList(names), e.all)
}
