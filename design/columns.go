// Package design holds evaluated columns of a design matrix (dense, a fixed number
// of non-zeros per row, adjacent or not, or one code per row) and their sandwich
// products X'WX, pair by pair, without making them dense first.
package design

import "gonum.org/v1/gonum/mat"

// Columns are d columns evaluated on n rows: a Dense, a *Sparse, a *Banded, a *Codes, a
// *Product or an *Interpolated.
// The kinds are a closed set, since each has a sandwich product with each other one.
type Columns interface {
	// Dims returns the rows n and the columns d.
	Dims() (n, d int)
	columns()
}

// Dense holds every value, n x d.
type Dense struct{ *mat.Dense }

// Sparse holds exactly K entries in each row: row i has Value[i*K+l] in column
// Index[i*K+l], l < K. Entries of one row have different columns; a value may
// be 0.
type Sparse struct {
	D, K  int
	Index []int32
	Value []float64

	cells, memory   *cells    // nil unless Arrange found them; their memory
	occupied, found *occupied // likewise
}

// Banded holds K adjacent entries in each row, as B-splines of degree K-1 have: row
// i has Value[i*K+l] in column First[i]+l, l < K. If Cyclic, the columns are on a
// circle, and after D-1 comes 0; else First[i] <= D-K. A value may be 0.
type Banded struct {
	D, K   int
	Cyclic bool
	First  []int32
	Value  []float64

	occupied, memory *occupied // nil unless Arrange found them; their memory
	two              bool      // only the first two entries of a row are not 0: of Pieces
}

// Codes holds at most one entry in each row: Value[i] (1 if Value is nil) in
// column Code[i], or nothing if Code[i] < 0.
type Codes struct {
	D     int
	Code  []int32
	Value []float64
}

func (x Dense) Dims() (n, d int)   { return x.Dense.Dims() }
func (x *Sparse) Dims() (n, d int) { return len(x.Index) / max(x.K, 1), x.D }
func (x *Banded) Dims() (n, d int) { return len(x.First), x.D }
func (x *Codes) Dims() (n, d int)  { return len(x.Code), x.D }

func (Dense) columns()   {}
func (*Sparse) columns() {}
func (*Banded) columns() {}
func (*Codes) columns()  {}

// around is column j < 2D on the circle: a division would take longer than what is done with it.
func (x *Banded) around(j int) int {
	if j >= x.D {
		return j - x.D
	}
	return j
}

// starts is the number of columns where a row may begin.
func (x *Banded) starts() int {
	if x.Cyclic {
		return x.D
	}
	return x.D - x.K + 1
}
