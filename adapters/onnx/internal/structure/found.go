// Package structure discovers what is additive in a graph: each predictor is unrolled
// through linear operators to atoms, and these are grouped by the data columns that they
// depend on.
// Unrolling does not depend on which of Gemm, Slice, Concat or ReduceSum an exporter wrote;
// patterns of operators would know one exporter at a time.
package structure

import (
	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/decompose"
)

// Found is the result of discovery: descriptions for people, with the fields of the public
// package's, and the values that computing needs.
type Found struct {
	Inputs     []Input
	Predictors []Predictor
	Softmaxes  []Softmax
	Unused     []string
	PassedOver string
	Notes      []string

	Graph     *graph.Graph // what was looked at: see SplitTrees
	Columns   []string
	Missing   []bool                 // by column: may be NaN
	RoundedTo map[string]graph.DType // types of columns on their way into the network
	Parts     []Parts                // by predictor
	Taps      []*Tap
	Features  []*Tap // of deep parts, which Options.Learned names by their array
}

// Input is a graph input and its columns in order.
type Input struct {
	Name, Type, Shape string
	Columns           []string
	Kind, Whole       string // of an array
}

// Predictor describes an additive predictor: intercept + terms + deep part.
type Predictor struct {
	Name        string
	Tensor      string
	Element     int
	Output      string
	Head        string
	HeadNodes   []string
	Ordinal     *Ordinal // of the head ordinal, else nil
	Probability bool
	Classes     []string
	Intercept   float64
	Terms       []Term
	Deep        *Deep
	Reasons     []string
}

// Term describes a structured term.
type Term struct {
	Name        string
	Kind        string
	Columns     []string
	Width       int
	Coefficient *float64
	Tensors     []string
	Nodes       []string
	Reason      string
	Declared    string
	Penalties   int
	Levels      []string
}

// Deep describes the deep predictor.
type Deep struct {
	Columns []string
	Width   int
	Tensors []string
	Nodes   []string
	Reasons []string
}

// Parts is what Forward needs of one predictor.
type Parts struct {
	Eta       Element
	Intercept float64
	Linear    []linearPart
	Declared  []decompose.Block
	Learned   []LearnedPart
	Deep      []Element // input elements or tensor elements
	Gamma     []float64
}

type linearPart struct {
	Column int
	Coef   float64
}

// LearnedPart is what a predictor adds of a learned basis.
type LearnedPart struct {
	Tap  *Tap
	Coef []float64 // by tap column
}

// Tap is a learned basis: the elements that some predictors with common
// elements and one set of columns use.
type Tap struct {
	Name     string
	Columns  []int
	Elements []Element
}
