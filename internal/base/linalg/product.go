package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// Product is a b.
func Product(a, b *mat.Dense) *mat.Dense {
	m, _ := a.Dims()
	_, n := b.Dims()
	c := mat.NewDense(m, n, nil)
	ProductInto(c.RawMatrix(), a.RawMatrix(), Compact(b), false)
	return c
}

// ProductTrans is a b'.
func ProductTrans(a, b *mat.Dense) *mat.Dense {
	m, _ := a.Dims()
	n, _ := b.Dims()
	c := mat.NewDense(m, n, nil)
	ProductInto(c.RawMatrix(), a.RawMatrix(), Compact(b), true)
	return c
}

// preparedColumns of b are prepared together: they and their copy are what a product holds
// beside its operands.
const preparedColumns = 512

// ProductInto sets c = a b, or a b' if trans; b holds its rows without gaps. c overlaps
// neither.
func ProductInto(c, a blas64.General, b []float64, trans bool) {
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if !trans || c.Cols <= preparedColumns {
		rowsTimes(c, a, kernel.Pack(a.Cols, c.Cols, b, trans))
		return
	}
	for j := 0; j < c.Cols; j += preparedColumns {
		n := min(preparedColumns, c.Cols-j)
		part := blas64.General{Rows: c.Rows, Cols: n, Stride: c.Stride, Data: c.Data[j:]}
		rowsTimes(part, a, kernel.Pack(a.Cols, n, b[j*a.Cols:(j+n)*a.Cols], true))
	}
}

// rowsTimes sets c = a W, blocks of rows at the same time.
func rowsTimes(c, a blas64.General, w *kernel.Weights[float64]) {
	const rows = 264 // as many as kernel works on at once
	parallel((a.Rows+rows-1)/rows, a.Rows*a.Cols*c.Cols, func(first, end int) {
		lo, hi := first*rows, min(end*rows, a.Rows)
		w.Mul(c.Data[lo*c.Stride:], c.Stride, a.Data[lo*a.Stride:], a.Stride, hi-lo, nil)
	})
}

// TransTimes is a'b.
func TransTimes(a, b *mat.Dense) *mat.Dense {
	const columns = 128 // of a, at once
	left, right := a.RawMatrix(), b.RawMatrix()
	out := mat.NewDense(left.Cols, right.Cols, kernel.Zeros[float64](left.Cols*right.Cols))
	to := out.RawMatrix().Data
	parallel((left.Cols+columns-1)/columns, left.Rows*left.Cols*right.Cols, func(first, end int) {
		lo, hi := first*columns, min(end*columns, left.Cols)
		kernel.AddCross(to[lo*right.Cols:], right.Cols, left.Data[lo:], left.Stride, hi-lo, right.Data, right.Stride, right.Cols, left.Rows, nil)
	})
	return out
}

// Compact is x's rows without gaps: its own memory if it has none.
func Compact(x *mat.Dense) []float64 {
	raw := x.RawMatrix()
	if raw.Stride == raw.Cols {
		return raw.Data[:raw.Rows*raw.Cols]
	}
	return mat.DenseCopyOf(x).RawMatrix().Data
}

// Mirror copies the upper triangle of s to the lower one and returns its rows.
func Mirror(s *mat.SymDense) *mat.Dense {
	const rows, moving = 64, 8 // a number moved is worth so many multiplications
	raw := s.RawSymmetric()
	parallel((raw.N+rows-1)/rows, moving*raw.N*raw.N, func(first, end int) {
		kernel.Mirror(raw.Data, raw.Stride, raw.N, first*rows, min(end*rows, raw.N))
	})
	var all mat.Dense
	all.SetRawMatrix(blas64.General{Rows: raw.N, Cols: raw.N, Stride: raw.Stride, Data: raw.Data})
	return &all
}

// Times is a b for matrices of any kind.
func Times(a, b mat.Matrix) *mat.Dense { return Product(rows(a), rows(b)) }

// rows is x by rows: its own memory if it has them.
func rows(x mat.Matrix) *mat.Dense {
	switch x := x.(type) {
	case *mat.Dense:
		return x
	case *mat.SymDense:
		return Full(x)
	}
	return mat.DenseCopyOf(x)
}

// Full is both triangles of s: a copy.
func Full(s *mat.SymDense) *mat.Dense {
	c := mat.NewSymDense(s.SymmetricDim(), nil)
	c.CopySym(s)
	return Mirror(c)
}

// AddGram adds x'x to s, x (m x n) by rows.
func AddGram(s *mat.SymDense, x *mat.Dense) { addSymmetric(s, x, x, nil, 0) }

// AddLowerGram adds x'x to s for an x (n x n) that is zero above the diagonal.
func AddLowerGram(s *mat.SymDense, x *mat.Dense) { addSymmetric(s, x, x, nil, 1) }

// AddWeightedGram adds x'diag(w)x to s; w has a number for each row of x.
func AddWeightedGram(s *mat.SymDense, x *mat.Dense, w []float64) { addSymmetric(s, x, x, w, 0) }

// AddSymmetric adds x'y, which is symmetric, to s; x and y are m x n by rows.
func AddSymmetric(s *mat.SymDense, x, y *mat.Dense) { addSymmetric(s, x, y, nil, 0) }

// SubtractSymmetric takes x'y, which is symmetric, from s; x and y are m x n by rows.
func SubtractSymmetric(s *mat.SymDense, x, y *mat.Dense) {
	m, _ := x.Dims()
	minus := make([]float64, m)
	for i := range minus {
		minus[i] = -1
	}
	addSymmetric(s, x, y, minus, 0)
}

// Sandwich is c m c, the upper triangle of it, from those of c and m, whose lower ones become their mirror images: some columns at a
// time, so that there is room for these alone beside the three matrices.
func Sandwich(c, m *mat.SymDense) *mat.SymDense {
	n, outer, inner := c.SymmetricDim(), Mirror(c), Mirror(m).RawMatrix()
	out := mat.NewSymDense(n, nil) // half of its pages are never written
	to := out.RawSymmetric()
	for lo := 0; lo < n; lo += preparedColumns {
		hi := min(lo+preparedColumns, n)
		half := mat.NewDense(n, hi-lo, nil) // columns lo to hi-1 of m c
		ProductInto(half.RawMatrix(), inner, Compact(outer.Slice(lo, hi, 0, n).(*mat.Dense)), true)
		above := blas64.General{Rows: hi, Cols: hi - lo, Stride: to.Stride, Data: to.Data[lo:]}
		ProductInto(above, outer.Slice(0, hi, 0, n).(*mat.Dense).RawMatrix(), half.RawMatrix().Data, false)
	}
	return out
}

// addSymmetric adds x'diag(w)y to the upper triangle of s; columns from j on are zero in the
// first j slope rows.
func addSymmetric(s *mat.SymDense, x, y *mat.Dense, w []float64, slope int) {
	n, to, left, right := s.SymmetricDim(), s.RawSymmetric(), x.RawMatrix(), y.RawMatrix()
	if left.Rows == 0 {
		return
	}
	parallel((n+panel-1)/panel, n*n*left.Rows/2, func(begin, end int) {
		own := make([]float64, panel*panel)
		for lo := begin * panel; lo < min(end*panel, n); lo += panel {
			hi, top := min(lo+panel, n), slope*lo
			width, rows, weights := hi-lo, left.Rows-top, w
			if rows <= 0 {
				continue
			}
			if w != nil {
				weights = w[top:]
			}
			a, b := left.Data[top*left.Stride:], right.Data[top*right.Stride+lo:]
			if lo > 0 {
				kernel.AddCross(to.Data[lo:], to.Stride, a, left.Stride, lo, b, right.Stride, width, rows, weights)
			}
			for i := range width { // what is below the diagonal of s stays
				copy(own[i*width+i:(i+1)*width], to.Data[(lo+i)*to.Stride+lo+i:])
			}
			kernel.AddCross(own, width, a[lo:], left.Stride, width, b, right.Stride, width, rows, weights)
			for i := range width {
				copy(to.Data[(lo+i)*to.Stride+lo+i:(lo+i)*to.Stride+hi], own[i*width+i:(i+1)*width])
			}
		}
	})
}
