package linalg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// Block is a square block on the diagonal of a block diagonal matrix, from row and column At
// on. What no block covers is the identity.
type Block struct {
	At int
	B  *mat.Dense
}

// Congruence overwrites the upper triangle of s (n x n) with B s B' for the block diagonal B, or
// B'sB if trans; the lower triangle is worth nothing afterwards. Blocks are in order and do
// not overlap.
func Congruence(s *mat.SymDense, blocks []Block, trans bool) {
	n, raw := s.SymmetricDim(), s.RawSymmetric()
	// What each block does to the rows: the upper trapezoid right of its own first column.
	for _, b := range blocks {
		lo, d := b.At, order(b)
		left := mirrored(s, lo, d)
		parallel((n-lo+chunk-1)/chunk, d*d*(n-lo), func(first, end int) {
			for j := lo + first*chunk; j < min(lo+end*chunk, n); j += chunk {
				width := min(chunk, n-j)
				old := make([]float64, d*width)
				for i := range d {
					to := raw.Data[(lo+i)*raw.Stride+j : (lo+i)*raw.Stride+j+width]
					copy(old[i*width:], to)
					if j < lo+d { // columns of the block itself: both of its triangles
						copy(old[i*width:(i+1)*width], left[i*d+j-lo:(i+1)*d])
					}
					clear(to)
				}
				product(raw.Data[lo*raw.Stride+j:], raw.Stride, b, trans, old, width)
			}
		})
	}
	// And to the columns, from the first row to the block's last.
	for _, b := range blocks {
		lo, d := b.At, order(b)
		rows := lo + d
		right := b.B
		if !trans { // s B'
			right = mat.DenseCopyOf(b.B.T())
		}
		w := kernel.Pack(d, d, Compact(right), false)
		const height = 264
		parallel((rows+height-1)/height, d*d*rows, func(first, end int) {
			for i := first * height; i < min(end*height, rows); i += height {
				m := min(height, rows-i)
				old := make([]float64, m*d)
				for r := range m {
					copy(old[r*d:(r+1)*d], raw.Data[(i+r)*raw.Stride+lo:])
				}
				w.Mul(raw.Data[i*raw.Stride+lo:], raw.Stride, old, d, m, nil)
			}
		})
	}
}

func order(b Block) int {
	d, _ := b.B.Dims()
	return d
}

// mirrored is the block of s on the diagonal, both triangles, without gaps.
func mirrored(s *mat.SymDense, lo, d int) []float64 {
	raw := s.RawSymmetric()
	out := make([]float64, d*d)
	for i := range d {
		copy(out[i*d+i:(i+1)*d], raw.Data[(lo+i)*raw.Stride+lo+i:])
	}
	kernel.AddGram(out, d, nil, 0, d, 0, nil)
	return out
}

// product adds B x, or B'x if trans, to c; x is d x width without gaps.
func product(c []float64, ldc int, b Block, trans bool, x []float64, width int) {
	d, raw := order(b), b.B.RawMatrix()
	if trans {
		kernel.AddCross(c, ldc, raw.Data, raw.Stride, d, x, width, width, d, nil)
		return
	}
	t := mat.DenseCopyOf(b.B.T()).RawMatrix()
	kernel.AddCross(c, ldc, t.Data, t.Stride, d, x, width, width, d, nil)
}

// ScaleBoth multiplies rows and columns of s by e.
func ScaleBoth(s *mat.SymDense, e []float64) {
	raw := s.RawSymmetric()
	for i, scale := range e {
		row := raw.Data[i*raw.Stride+i:][:len(e)-i]
		for j, v := range e[i:] {
			row[j] *= scale * v
		}
	}
}
