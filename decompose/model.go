// Package decompose applies post-hoc orthogonalization (PHO, Rügamer 2023) to
// additive models: what the structured bases can explain moves from the deep
// predictor to the structured one, exactly, and predictions stay as they are.
package decompose

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/design"
)

// Term is a basis on data columns: row i of its n x Dim values depends on row i
// of the batch alone. Terms are immutable and safe for concurrent use; the same
// Term value in several predictors is evaluated once. A term that implements
// json.Marshaler can be written to the artifact.
type Term interface {
	Name() string // mgcv's label without spaces: x1, s(x2), te(lon,lat), s(x):lev
	Kind() Kind
	Columns() []string // data columns (features) the values depend on
	Dim() int          // d, the number of raw columns
	// Eval overwrites dst (n x d) with the raw basis at the rows of b.
	Eval(dst *mat.Dense, b *data.Batch) error
}

// SparseTerm may save work, never change an answer: EvalSparse gives the same
// values as Eval. They may be in b's memory, and nobody may change them.
type SparseTerm interface {
	Term
	EvalSparse(b *data.Batch) (design.Columns, error)
}

// ReusingTerm may save memory: EvalSparseInto is EvalSparse, but may write into old,
// which is nil or what an earlier call returned and nobody reads any more.
type ReusingTerm interface {
	SparseTerm
	EvalSparseInto(old design.Columns, b *data.Batch) (design.Columns, error)
}

// ProductTerm may save work: EvalProduct is EvalSparseInto, with the same n x d columns, memory and errors, but
// may leave them as a *design.Product, two bands that nobody has multiplied out yet.
type ProductTerm interface {
	ReusingTerm
	EvalProduct(old design.Columns, b *data.Batch) (design.Columns, error)
}

// Kind names what a term is, as in the artifact.
type Kind string

// The kinds of terms.
const (
	Linear  Kind = "linear"
	Factor  Kind = "factor"
	Smooth  Kind = "smooth"
	Tensor  Kind = "tensor"
	Random  Kind = "random"
	Learned Kind = "learned"
)

// Spec describes a term before it has seen data: a basis, its columns and settings.
// It is immutable and may be prepared on many sets of rows (Prepare); what one of
// them shows is in the Scanner that it gives for it and nowhere else.
type Spec interface {
	Columns() []string
	// Scanner begins a preparation: each call gives a scanner that has seen nothing.
	Scanner() Scanner
}

// Scanner turns a Spec into blocks by the rows of one source. Scan sees every row
// once, in order, from one goroutine; Build then returns the finished blocks (one,
// or one for each level of a factor by).
type Scanner interface {
	// NeedsScan is false when Build can be called at once.
	NeedsScan() bool
	// Scan may run while other scanners scan.
	Scan(b *data.Batch) error
	// Build may run while other scanners build.
	Build() ([]Block, error)
}

// Rescanner is a Scanner that looks at the rows more than once: with knots from the
// first pass a second one finds column sums, say. After each pass Again tells
// whether another is needed; Scan shows the rows to those that do.
type Rescanner interface {
	Scanner
	Again() (bool, error)
}

// Noter is a Scanner that may have done something worth telling: after Build, Notes
// says so in whole sentences; none is the normal case.
type Noter interface {
	Scanner
	Notes() []string
}

// Outputs receives one evaluation of a model. Fields are n x K, taps n x width;
// all are allocated by the caller and overwritten.
type Outputs struct {
	Zeta *mat.Dense            // deep predictor, link scale
	Eta  *mat.Dense            // the network's own additive predictor, link scale
	Taps map[string]*mat.Dense // every tensor named by Model.Taps
}

// Model is any additive model: eta_k = intercept_k + sum_j Phi_j beta_j + zeta_k.
type Model interface {
	// Predictors names the K predictors.
	Predictors() []string
	// Columns names the data columns Forward reads.
	Columns() []string
	// Intercept is the constant of predictor k that belongs to the structured part.
	Intercept(k int) float64
	// Blocks are the structured terms of predictor k; none for a black box.
	Blocks(k int) []Block
	// Taps names the tensors that learned terms read, with their widths.
	Taps() map[string]int
	// Forward evaluates the network on the rows of b. It uses one goroutine, may
	// be called concurrently, and row i of every output depends on row i alone.
	Forward(ctx context.Context, dst *Outputs, b *data.Batch) error
}

// TensorModel is a Model that reads columns which are tensors: data.Column.Width. It may be asked for fewer rows at a
// time. A Model that wraps one has the method, too.
type TensorModel interface {
	Model
	// Tensors are those columns, with the numbers that a row of each holds.
	Tensors() map[string]int
}

// TensorsOf are m's Tensors; nil for a Model that has no such method.
func TensorsOf(m Model) map[string]int {
	if t, ok := m.(TensorModel); ok {
		return t.Tensors()
	}
	return nil
}

// BatchRows is how many rows of what m reads are good to have in memory at a time: most, or fewer of tensors
// (data.TensorRows).
func BatchRows(m Model, most int) int { return data.TensorRows(tensorNumbers(m), most) }
