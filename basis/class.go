package basis

import (
	"encoding/json"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/formula"
)

// Multivariate is a basis of one or more variables before its data scan: TP, RBF, or
// one of another package (see Class). It never changes.
//
// It must not centre the functions, scale its penalties or look at a by column:
// constraints, penalty scales, by, pc, id, sp and fx are this package's.
type Multivariate interface {
	// Class is its name, as in bs = "tp"; artifacts hold it.
	Class() string
	// Check refuses settings that no data of so many columns can save.
	Check(columns int) error
	// Limit is how many distinct points Build takes at most; of more it gets a sample, which
	// a note tells. 0: none, the range is all it asks for.
	Limit() int
	// Build makes the basis from the rows, and its penalties: none or more, k x k for k
	// functions, positive semi-definite, unscaled. What they all leave unpenalised is the
	// null space, which is found from them. It does not keep the sample.
	Build(s *Sample) (Evaluator, []*mat.SymDense, error)
}

// Evaluator is a basis of d variables that is ready for rows: immutable and safe for
// concurrent use. Its JSON holds all that Class.Decode needs to give the same bits.
type Evaluator interface {
	json.Marshaler
	// Dim is the number k of functions.
	Dim() int
	// Evaluate writes the functions at finite points x (n x d, row by row) to dst: row i
	// is dst[i*stride : i*stride+k], and what is between rows is left alone. A row must
	// depend on its point alone.
	Evaluate(dst []float64, stride int, x []float64)
}

// Class is a smooth class: what bs = "..." means in s(), and in a margin of te() and ti().
// It is handed to Parse, and to whoever reads artifacts: with a registry the meaning of a formula
// would depend on what else a program imports.
type Class struct {
	// New gives the smooth that the arguments of a formula ask for. Check is called on it
	// with the number of columns, so New need only refuse what Check does not see.
	New func(a *Arguments) (Multivariate, error)
	// Decode reads back what MarshalJSON of an Evaluator of so many columns wrote.
	Decode func(spec json.RawMessage, columns int) (Evaluator, error)
	// Cyclic tells that the argument period has a meaning.
	Cyclic bool
}

// Arguments are what a formula says of a basis. What it says of the term (by, sp, fx, pc,
// id) is not among them.
type Arguments struct {
	Columns []string
	K       int       // 0: not given; in te() and ti() always given
	M       []int     // nil: not given
	Knots   []float64 // nil: not given
	// Quantiles says that knots = "quantiles" was given, to "bs" alone.
	Quantiles bool
	Period    []float64      // nil: not given
	XT        *formula.Value // xt = ..., whatever else the class wants to know; nil: not given
}

// checkEvaluator refuses what no smooth can be made of.
func checkEvaluator(e Evaluator) error {
	if e == nil {
		return errors.New("the smooth class gives no basis")
	}
	if k := e.Dim(); k < 1 || k > maxK {
		return fmt.Errorf("a basis of %d functions: 1 to %d are possible", k, maxK)
	}
	return nil
}

// buildOf is b's Build, whose penalties are checked to fit.
func buildOf(b Multivariate, s *Sample) (Evaluator, []*mat.SymDense, error) {
	if s.Rows == 0 {
		return nil, nil, fmt.Errorf("no rows of %s were scanned", quoted(s.Columns))
	}
	e, penalties, err := b.Build(s)
	if err == nil {
		err = checkEvaluator(e)
	}
	if err != nil {
		return nil, nil, err
	}
	for i, p := range penalties {
		if p == nil {
			return nil, nil, fmt.Errorf("penalty %d of %s is nil", i+1, b.Class())
		}
		if n := p.SymmetricDim(); n != e.Dim() {
			return nil, nil, fmt.Errorf("penalty %d of %s is %d x %d for %d functions", i+1, b.Class(), n, n, e.Dim())
		}
	}
	return e, penalties, nil
}
