package basis

import (
	"encoding/json"
	"errors"

	"github.com/pho-go/pho/decompose"
)

// Linear is the spec of a numeric column as it is: one unpenalised coefficient.
// It needs no scan.
func Linear(column string) decompose.Spec { return nil }

// FactorOptions are the choices for Factor; the zero value is the default.
type FactorOptions struct {
	Label     string // name of the term; empty: the column's name
	AllLevels bool   // a coefficient for every level; false: the first level's is 0
}

// Factor is the spec of a categorical term: one coefficient per level.
func Factor(column string, o *FactorOptions) decompose.Spec { return nil }

// Univariate is a spline basis of one variable: PS or CR.
type Univariate interface{ bs() string }

// PS is the P-spline basis.
type PS struct {
	K     int       // basis dimension; 0: 10
	M     []int     // m1, m2; nil: 2, 2
	Knots []float64 // nil: equispaced
}

// CR is the cubic regression spline basis.
type CR struct {
	K     int
	Knots []float64
}

func (PS) bs() string { return "ps" }
func (CR) bs() string { return "cr" }

// SmoothOptions are the choices common to all smooths; nil is the default.
type SmoothOptions struct {
	By          string    // column that multiplies (numeric) or splits (factor) the smooth
	ByFactor    bool      // treat a numeric By column as categories
	SP          []float64 // fixed smoothing parameter; nil: to be chosen
	Unpenalized bool      // mgcv's fx = TRUE
}

// Smooth is the spec of a smooth of one numeric column.
func Smooth(column string, b Univariate, o *SmoothOptions) decompose.Spec { return nil }

// Decode rebuilds a term from its kind and its spec (what its MarshalJSON wrote).
func Decode(kind decompose.Kind, spec json.RawMessage) (decompose.Term, error) {
	return nil, errors.New("basis: not decoded yet")
}
