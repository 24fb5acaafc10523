// Package moments accumulates what a decomposition needs to know of the data:
// mergeable weighted sums over rows, centred as they are formed. See
// docs in DESIGN.md for the list and the reasons.
package moments

// Layout fixes the order and the meaning of the columns in a Moments. Two
// Moments merge only if their layouts are equal.
type Layout struct {
	Bases      []Basis // distinct raw bases, in column order
	Predictors [][]int // predictor k uses bases Predictors[k], increasing
	Responses  int     // columns of R: the K zetas first
}

// Basis is a group of adjacent raw columns.
type Basis struct {
	Name string
	Dim  int
}

// BlockRows is the number of rows B = max(4096, nextpow2(p^2/64)) of a merge
// block for p raw columns. Blocks start at multiples of B whatever the batches,
// so that sums do not depend on batch size or worker count.
func BlockRows(p int) int {
	b := 4096
	for b < p*p/64 {
		b *= 2
	}
	return b
}
