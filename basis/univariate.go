package basis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/coordinates"
	"github.com/pho-go/pho/basis/internal/distinct"
	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/data"
)

// maxK bounds the dimension of a smooth.
const maxK = knot.MaxDim

// Univariate is a spline basis of one variable before its data scan: TP, PS, BS, CP, CR
// or CC. Bases of other packages are Multivariate, of one variable too.
type Univariate interface {
	label() string                                      // as in bs=
	check() error                                       // of the settings alone
	scan(column string) columnScan                      // what to collect
	build(v *columnScan) (spline, *mat.SymDense, error) // the basis and its first penalty
}

// spline is a basis of one variable with its knots: immutable.
type spline = coordinates.Spline

// columnScan is what a scan finds out about a column of numbers.
type columnScan struct {
	column string
	distinct.Values
}

// scanAll collects the distinct values, scanFew the range and whether there are k of
// them, scanCounts the values with their counts, limit at most.
func scanAll(column string) columnScan {
	return columnScan{column, distinct.Values{Limit: distinct.MaxValues}}
}

func scanFew(column string, k int) columnScan {
	return columnScan{column, distinct.Values{Limit: max(k, 1), Few: true}}
}

func scanCounts(column string, limit int) columnScan {
	return columnScan{column, distinct.Values{Limit: limit, Points: distinct.NewPoints(1, limit)}}
}

func (v *columnScan) scan(term string, b *data.Batch) error {
	x, err := b.Numeric(v.column)
	if err != nil {
		return fmt.Errorf("term %s: %w", term, err)
	}
	if bad := v.Add(x); bad >= 0 {
		return notFinite(term, v.column, x[bad], b.Row(bad))
	}
	return nil
}

// enough refuses data with fewer distinct values than k, the least k possible
// being lowest.
func enough(v *columnScan, k, lowest int) error {
	n := v.N()
	switch {
	case v.Rows == 0:
		return fmt.Errorf("no rows of column %q were scanned", v.column)
	case v.Min == v.Max:
		return fmt.Errorf("column %q has 1 distinct value, %v, where k = %d needs %d: leave the term out", v.column, v.Min, k, k)
	case n < k && n >= lowest:
		return fmt.Errorf("column %q has %d distinct values, fewer than k = %d: set k = %d or less", v.column, n, k, n)
	case n < k:
		return fmt.Errorf("column %q has %d distinct values, fewer than k = %d (and this basis needs %d at least): use the column itself or factor(%s)", v.column, n, k, lowest, v.column)
	}
	return nil
}

// checkPeriod refuses a period that is none.
func checkPeriod(label string, period, knots []float64) error {
	switch {
	case len(period) != 0 && len(period) != 2:
		return fmt.Errorf("period has %d values: it is the two ends that are one point, as in period = c(0, 24)", len(period))
	case len(period) == 2 && !(knot.Finite(period[0]) && knot.Finite(period[1]) && period[0] < period[1]):
		return fmt.Errorf("period = c(%v, %v): its two ends must increase", period[0], period[1])
	case len(period) == 2 && len(knots) > 0:
		return fmt.Errorf("both period and knots are given: the first and last of the knots of %s are the period", label)
	}
	return knot.Check(knots)
}

// within refuses data beyond lo and hi, which the argument named says.
func within(v *columnScan, lo, hi float64, argument string) error {
	if v.Min < lo || v.Max > hi {
		return fmt.Errorf("column %q runs from %v to %v, beyond %v to %v: widen %s", v.column, v.Min, v.Max, lo, hi, argument)
	}
	return nil
}

// guessedPeriod tells of a cyclic basis whose period is the range of whole numbers: the last of
// them is the first then, December January. "" of all others.
func guessedPeriod(term string, b Univariate, v *columnScan) string {
	cyclic, ok := b.(interface{ hasPeriod() bool })
	if !ok || cyclic.hasPeriod() || v.Rows == 0 || v.Min == v.Max || len(v.Distinct()) == 0 || slices.ContainsFunc(v.Distinct(), func(x float64) bool { return x != math.Trunc(x) }) {
		return ""
	}
	return fmt.Sprintf("term %s: column %q holds whole numbers from %v to %v, and without a period these two are taken for one point, so that they have the same effect; if %v is a step behind %v, as January is behind December, write period = c(%v, %v)",
		term, v.column, v.Min, v.Max, v.Min, v.Max, v.Min, v.Max+1)
}
