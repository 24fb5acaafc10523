package decompose

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/penalty"
)

// Block is a term in a predictor with everything that changes the answer.
type Block struct {
	Term Term
	// Coef are the network's own coefficients beta (length Dim, raw
	// coordinates); nil means zero.
	Coef []float64
	// Base lists terms whose rows together are the base basis that means
	// (sum-to-zero) and norms (penalty scaling) are taken from; nil: Term itself.
	// The blocks of a factor by list all their siblings: the base is centred over
	// all rows, then masked.
	Base []Term
	// Constraint restricts what the projection may move to the term; the zero value
	// does not.
	Constraint Constraint
	// Coordinates are those of Penalty; the zero value: raw ones.
	Coordinates Coordinates
	Penalty     penalty.Penalty
	// Select adds the penalty on the null space of the others, so that the whole
	// term can be taken out (Marra and Wood 2011; mgcv's select): the projector on
	// what they leave unpenalised, in constrained coordinates, not scaled. Nothing
	// for a block without penalties or without a null space.
	Select bool
}

// Constraint restricts a block's raw coefficients a to a linear subspace. The zero
// value, Free(), leaves all of them. It is immutable.
type Constraint struct {
	kind   constraintKind
	normal []float64 // of orthogonalTo
}

type constraintKind uint8

const (
	unconstrained constraintKind = iota
	sumToZero
	treatment
	orthogonalTo
	allZero
)

// Free leaves all coefficients.
func Free() Constraint { return Constraint{} }

// SumToZero: the base basis' unweighted column means m satisfy m'a = 0
// (Wood 2017, 5.4.1).
func SumToZero() Constraint { return Constraint{kind: sumToZero} }

// Treatment: the coefficient of the first level that has rows is 0 (treatment contrasts).
func Treatment() Constraint { return Constraint{kind: treatment} }

// Orthogonal: v'a = 0 for v of length Dim, which is copied. The basis at a point makes
// the function 0 there (mgcv's pc), a vector of ones is a factor's sum contrast.
func Orthogonal(v []float64) Constraint {
	return Constraint{kind: orthogonalTo, normal: slices.Clone(v)}
}

// Kept: a = 0. The term stays a part of the structured predictor as the network has it,
// and nothing is projected on its columns. Such a block takes no penalty.
func Kept() Constraint { return Constraint{kind: allZero} }

// Equal tells whether c and o are the same constraint, to the last bit of a vector.
func (c Constraint) Equal(o Constraint) bool {
	return c.kind == o.kind && slices.Equal(c.normal, o.normal)
}

// String names the constraint: free, sum-to-zero, treatment, orthogonal, kept.
func (c Constraint) String() string {
	return [...]string{"free", "sum-to-zero", "treatment", "orthogonal", "kept"}[c.kind]
}

// Coordinates are those in which a block's coefficients are penalised, and say how the
// penalties are scaled. The zero value is Raw(). It is immutable but for the matrix of
// Mapped, which is not copied.
type Coordinates struct {
	toRaw        *mat.Dense
	norm         []Term
	standardised bool
}

// Raw coordinates are those of the term's columns. Penalties are scaled by the largest
// row 1-norm of the given terms or, without any, of the block's base.
func Raw(norm ...Term) Coordinates { return Coordinates{norm: norm} }

// Mapped coordinates restrict and transform the coefficients: raw ones are m (Dim x c)
// times those that the penalty is about. So a tensor product of B-splines is evaluated
// sparse and penalised in terms of function values. Penalties are scaled by the largest
// row 1-norm of the given terms: raw rows have another norm than mapped ones.
func Mapped(m *mat.Dense, norm ...Term) Coordinates { return Coordinates{toRaw: m, norm: norm} }

// Standardised coordinates are those of columns divided by their weighted standard
// deviations, and penalties in them are not scaled: lambda a'DSDa, D the diagonal of
// those. Ridge is then the penalty of a basis whose columns have no units, as a network
// learns it.
func Standardised() Coordinates { return Coordinates{standardised: true} }

// Map is the matrix of Mapped coordinates, shared; nil of others.
func (c Coordinates) Map() *mat.Dense { return c.toRaw }

// Norm are the terms, shared, that were given to Raw or Mapped.
func (c Coordinates) Norm() []Term { return c.norm }

// Standardised tells whether they are Standardised().
func (c Coordinates) Standardised() bool { return c.standardised }

// raw tells whether they are the zero value.
func (c Coordinates) raw() bool { return c.toRaw == nil && len(c.norm) == 0 && !c.standardised }

// isKept tells whether nothing is projected on the block.
func (b Block) isKept() bool { return b.Constraint.kind == allZero }

// freeDim is the number of coefficients that a penalty is about.
func (b Block) freeDim() int {
	if m := b.Coordinates.toRaw; m != nil {
		_, c := m.Dims()
		return c
	}
	return b.Term.Dim()
}
