package onnx

import "github.com/pho-go/pho/decompose"

// Found is what discovery found: descriptions for people, whose fields are those of the
// public package, and what computing needs.
type Found struct {
	Inputs     []sInput
	Predictors []sPredictor
	Unused     []string
	PassedOver string
	Notes      []string

	columns []string
	entry   map[string]DType // what columns are rounded to: see entries
	parts   []predictor      // by predictor
	taps    []*tap
}

// sInput is a graph input and its columns in order.
type sInput struct {
	Name, Type, Shape string
	Columns           []string
}

// sPredictor describes an additive predictor: intercept + terms + deep part.
type sPredictor struct {
	Name      string
	Tensor    string
	Element   int
	Output    string
	Head      string
	HeadNodes []string
	Intercept float64
	Terms     []sTerm
	Deep      *sDeep
	Reasons   []string
}

// sTerm describes a structured term.
type sTerm struct {
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
}

// sDeep describes the deep predictor.
type sDeep struct {
	Columns []string
	Width   int
	Tensors []string
	Nodes   []string
	Reasons []string
}

// predictor is what Forward needs of one predictor.
type predictor struct {
	eta       element
	intercept float64
	linear    []linearPart
	declared  []decompose.Block
	learned   []learnedPart
	deep      []element // input elements or tensor elements
	gamma     []float64
}

type linearPart struct {
	column int
	coef   float64
}

type learnedPart struct {
	tap  *tap
	coef []float64 // by tap column
}

// tap is a learned basis: the elements that some predictors with common
// elements and one set of columns use.
type tap struct {
	name     string
	columns  []int
	elements []element
}
