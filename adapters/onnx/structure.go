package onnx

import (
	"context"

	"github.com/pho-go/pho/adapters/onnx/internal/structure"
	"github.com/pho-go/pho/data"
)

// Options steer discovery. The zero value and nil are the defaults.
type Options struct {
	// MaxOrder is the largest number of columns of a learned term; a subnetwork
	// on more columns belongs to the deep part. 0: 3, and TreeOrder of terms of trees.
	MaxOrder int
	// TreeOrder is the largest number of columns of a term of trees; all trees of more belong to
	// the deep part: who could read a table of three columns? 0: MaxOrder or, if that is 0, 2.
	TreeOrder int
	// Deep and Learned force addends into the deep part or into learned terms.
	// A name is a term ("x3", "f(x3)"), a node or a tensor; a node or tensor
	// stands for every addend that reaches a predictor through it. What depends on an array is no
	// term: Learned by the array's column, the features of the deep part are taps (Model.Features).
	Deep, Learned []string
	// Predictor chooses the tensors that are decomposed, as they are: no head is
	// peeled. Empty: the graph's outputs, heads peeled.
	Predictor []string
	// NoStructure puts everything into the deep part.
	NoStructure bool
	// Clip is how far probabilities of classes are kept from 0 and 1 before their logarithms
	// are taken, where the network ends in probabilities and not in a sigmoid or softmax; less
	// than 0.5. 0: such that may be 0 and 1 are decomposed on the probability scale. An error
	// where the network has no such probabilities.
	Clip float64
	// Decode rebuilds the terms that a file declares in its metadata (basis.Decode):
	// where the graph bears them out on probe rows, they are the structured terms,
	// with their penalties; where it does not, a note says so. A declaration that
	// cannot be read is an error. nil: the metadata is not read.
	Decode Decoder
	// Missing: rows may lack categories, so that factors of trees have the level data.MissingLevel besides those that the file names.
	Missing bool
	// Engine computes Model.Forward. nil: GoEngine{}.
	Engine Engine
	// Derived computes the bound columns from others, which the model reads then. nil: the data have them.
	Derived *Derived
}

// Derived are columns that are computed from others, as the predictions of a model that is asked for them.
type Derived struct {
	// Columns are the data columns that Fill reads.
	Columns []string
	// Fill is a batch of the rows of b with the bound columns, as numbers; row i depends on row i of b alone.
	// It may be called concurrently.
	Fill func(ctx context.Context, b *data.Batch) (*data.Batch, error)
}

// DefaultTreeOrder is the largest number of columns of a term of trees unless Options say otherwise.
const DefaultTreeOrder = 2

// Structure is what discovery found. Its JSON field names are stable.
type Structure struct {
	Inputs     []InputInfo     `json:"inputs"`
	Predictors []PredictorInfo `json:"predictors"`
	// Softmaxes lists which predictors are those of the classes of one softmax: it takes out
	// a function that they have in common.
	Softmaxes []SoftmaxInfo `json:"softmaxes,omitempty"`
	// Unused lists the bound columns that no predictor depends on.
	Unused []string `json:"unused"`
	// PassedOver says why the terms that the file declares are not used; "": they
	// are, or there are none. It is among the Notes too.
	PassedOver string `json:"passed_over,omitempty"`
	// Notes are remarks on the whole model.
	Notes []string `json:"notes"`

	found *structure.Found
}

// InputInfo is a graph input and its columns in order.
type InputInfo struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Shape   string   `json:"shape"` // N is the batch axis
	Columns []string `json:"columns"`
	// Kind is what an input is taken for that one column fills, picture, sequence or array, and Whole describes it:
	// picture "img", 3 x 64 x 64. "": it has a column for each number.
	Kind  string `json:"kind,omitempty"`
	Whole string `json:"whole,omitempty"`
}

// SoftmaxInfo is the predictors of the classes of one softmax, at least one, in the order
// of the classes.
type SoftmaxInfo struct {
	Predictors []string `json:"predictors"`
	// Labels are the names of the classes, as a classifier of the file, a ZipMap or what
	// follows the place of the largest score has them; nil: the file does not say.
	Labels []string `json:"labels,omitempty"`
}

// PredictorInfo is one additive predictor: intercept + terms + deep part.
type PredictorInfo struct {
	Name      string   `json:"name"`
	Tensor    string   `json:"tensor"`
	Element   int      `json:"element"` // of the tensor's row
	Output    string   `json:"output"`  // the graph output it comes from
	Head      string   `json:"head"`    // peeled off; "" for none
	HeadNodes []string `json:"head_nodes"`
	// Ordinal is, of the head "ordinal", how the classes hang on the predictor.
	Ordinal *OrdinalInfo `json:"ordinal,omitempty"`
	// Probability says that the predictor is the probability of a class itself, since it may
	// be 0 and 1, which have no logarithm: see Options.Clip.
	Probability bool `json:"probability,omitempty"`
	// Classes are, of a network with one predictor, the two classes, the predictor being the log
	// odds or the Probability of the second; of several predictors that are each a Probability, the
	// classes in their order; nil: it has another meaning, or the file does not say.
	Classes   []string   `json:"classes,omitempty"`
	Intercept float64    `json:"intercept"`
	Terms     []TermInfo `json:"terms"`
	Deep      *DeepInfo  `json:"deep"` // nil: the deep predictor is 0
	Reasons   []string   `json:"reasons"`
}

// OrdinalInfo is how probabilities of ordered classes hang on one predictor eta: with the
// classes in ascending order (that of the output's columns), or in descending order,
//
//	P(class is one of the first k+1) = logistic(Thresholds[k] - eta).
type OrdinalInfo struct {
	Thresholds []float64 `json:"thresholds"` // one fewer than classes, not decreasing
	Descending bool      `json:"descending,omitempty"`
	// Labels are the names of the classes in ascending order; nil: the file does not say.
	Labels []string `json:"labels,omitempty"`
}

// Response is the network's output as a formula of the predictor eta, where Head has
// numbers in its name, as softplus+0.1; "" where the name says all.
func (p PredictorInfo) Response() string { return structure.Response(p.Head) }

// TermInfo is a structured term found in the graph.
type TermInfo struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"` // linear, learned, factor of codes, or that of a declared term
	Columns     []string `json:"columns"`
	Width       int      `json:"width"`       // columns of its basis
	Coefficient *float64 `json:"coefficient"` // of a linear term
	Tensors     []string `json:"tensors"`     // that hold its basis
	Nodes       []string `json:"nodes"`
	Reason      string   `json:"reason"`
	// Declared is, of a term that the file declares, what a formula would say of it,
	// and Penalties the number of its quadratic penalties.
	Declared  string `json:"declared,omitempty"`
	Penalties int    `json:"penalties,omitempty"`
	// Levels are given of a term that is the dummies of a column, where the graph names the levels;
	// in the order of the basis.
	Levels []string `json:"levels,omitempty"`
}

// DeepInfo is the deep predictor zeta = U gamma. Columns, Width and Nodes
// describe U (n x q).
type DeepInfo struct {
	Columns []string `json:"columns"`
	Width   int      `json:"width"` // q
	Tensors []string `json:"tensors"`
	Nodes   []string `json:"nodes"`
	Reasons []string `json:"reasons"`
}
