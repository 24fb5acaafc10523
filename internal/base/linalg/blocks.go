package linalg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

// chunk is how many columns of some rows stay in the second cache.
const chunk = 256

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
	var memory pool
	// What each block does to the rows: the upper trapezoid right of its own first column.
	for _, b := range blocks {
		lo, d := b.At, order(b)
		left, turned := mirrored(s, lo, d), b.B // B', or B if trans
		if !trans {
			turned = mat.DenseCopyOf(b.B.T())
		}
		parallel((n-lo+chunk-1)/chunk, d*d*(n-lo), func(first, end int) {
			for j := lo + first*chunk; j < min(lo+end*chunk, n); j += chunk {
				width := min(chunk, n-j)
				old := memory.get(d * width)
				for i := range d {
					to := raw.Data[(lo+i)*raw.Stride+j : (lo+i)*raw.Stride+j+width]
					copy(old[i*width:], to)
					if j < lo+d { // columns of the block itself: both of its triangles
						copy(old[i*width:(i+1)*width], left[i*d+j-lo:(i+1)*d])
					}
					clear(to)
				}
				kernel.AddCross(raw.Data[lo*raw.Stride+j:], raw.Stride, turned.RawMatrix().Data, turned.RawMatrix().Stride, d, old, width, width, d, nil)
				memory.put(old)
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
				old := memory.get(m * d)
				for r := range m {
					copy(old[r*d:(r+1)*d], raw.Data[(i+r)*raw.Stride+lo:])
				}
				w.Mul(raw.Data[i*raw.Stride+lo:], raw.Stride, old, d, m, nil)
				memory.put(old)
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

// ScaleBoth multiplies rows and columns of s by e.
func ScaleBoth(s *mat.SymDense, e []float64) {
	raw := s.RawSymmetric()
	EachRow(raw.N, func(i int) {
		scale, right := e[i], e[i:]
		row := raw.Data[i*raw.Stride+i:][:len(right)]
		for j, v := range right {
			row[j] *= scale * v
		}
	})
}

// CopyTriangle copies the upper triangle of src to dst of the same size.
func CopyTriangle(dst, src *mat.SymDense) {
	to, from := dst.RawSymmetric(), src.RawSymmetric()
	EachRow(to.N, func(i int) {
		copy(to.Data[i*to.Stride+i:i*to.Stride+to.N], from.Data[i*from.Stride+i:i*from.Stride+to.N])
	})
}

// AddTriangle adds the upper triangle of src, of the same size, to that of dst; nil: nothing.
func AddTriangle(dst, src *mat.SymDense) {
	if src == nil {
		return
	}
	to, from := dst.RawSymmetric(), src.RawSymmetric()
	EachRow(to.N, func(i int) {
		row := to.Data[i*to.Stride+i : i*to.Stride+to.N]
		kernel.Add(row, row, from.Data[i*from.Stride+i:][:len(row)])
	})
}

// Quadratic is x's x - 2 x'b, summed by rows of the upper triangle of s.
func Quadratic(s *mat.SymDense, x, b []float64) float64 {
	raw, parts := s.RawSymmetric(), make([]float64, len(x))
	EachRow(raw.N, func(i int) {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
		parts[i] = x[i] * (row[0]*x[i] + 2*(kernel.Dot(row[1:], x[i+1:])-b[i]))
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum
}

// TriangleTimes sets dst to s x, from the upper triangle of s, which is read once.
func TriangleTimes(dst []float64, s *mat.SymDense, x []float64) {
	const rows = 256 // at once, with sums of their own
	raw := s.RawSymmetric()
	sums := make([][]float64, (raw.N+rows-1)/rows)
	parallel(len(sums), 4*raw.N*raw.N, func(first, end int) { // a number moved is worth eight multiplications
		for b := first; b < end; b++ {
			lo := b * rows
			sums[b] = make([]float64, raw.N-lo)
			for i := lo; i < min(lo+rows, raw.N); i++ {
				row, own := raw.Data[i*raw.Stride+i:i*raw.Stride+raw.N], sums[b][i-lo:]
				own[0] += kernel.Dot(row, x[i:])
				kernel.Axpy(own[1:], row[1:], x[i])
			}
		}
	})
	clear(dst)
	for b, own := range sums {
		kernel.Add(dst[b*rows:], dst[b*rows:], own)
	}
}

// Inner is x's y, summed by rows of the upper triangle of s.
func Inner(s *mat.SymDense, x, y []float64) float64 {
	raw, sum := s.RawSymmetric(), 0.0
	for i, v := range x {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
		sum += v*kernel.Dot(row, y[i:]) + y[i]*kernel.Dot(row[1:], x[i+1:])
	}
	return sum
}

// TraceOfProduct is tr(a b), summed by rows of the upper triangles.
func TraceOfProduct(a, b *mat.SymDense) float64 {
	ra, rb := a.RawSymmetric(), b.RawSymmetric()
	parts := make([]float64, ra.N)
	EachRow(ra.N, func(i int) {
		x, y := ra.Data[i*ra.Stride+i:i*ra.Stride+ra.N], rb.Data[i*rb.Stride+i:i*rb.Stride+ra.N]
		parts[i] = x[0]*y[0] + 2*kernel.Dot(x[1:], y[1:])
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum
}

// EachRow calls f for the n rows of a triangle, several at the same time where moving so
// much memory takes longer than waking a processor.
func EachRow(n int, f func(i int)) {
	const rows, moving = 32, 8 // a number moved is worth so many multiplications
	parallel((n+rows-1)/rows, moving*n*n, func(first, end int) {
		for i := first * rows; i < min(end*rows, n); i++ {
			f(i)
		}
	})
}

// Around is v B v, the upper triangle of it, for a symmetric v (n x n), both triangles of
// which are read, and a block diagonal symmetric B; what no block covers is zero here.
func Around(v *mat.Dense, blocks []Block) *mat.SymDense {
	n, _ := v.Dims()
	out, from := mat.NewSymDense(n, nil), v.RawMatrix()
	to := out.RawSymmetric()
	team := newTeam(n * n * n / 2)
	defer team.end()
	var memory pool
	team.columns(0, n, n*n*n/2, func(lo, hi int) {
		width := hi - lo
		image := memory.get(n * width) // B v of these columns
		clear(image)
		for _, b := range blocks {
			d, raw := order(b), b.B.RawMatrix()
			kernel.AddCross(image[b.At*width:], width, raw.Data, raw.Stride, d, from.Data[b.At*from.Stride+lo:], from.Stride, width, d, nil)
		}
		for _, r := range covered(blocks) {
			upper(0, lo, hi, func(first, last, left, right int) {
				kernel.AddCross(to.Data[first*to.Stride+left:], to.Stride, from.Data[r.lo*from.Stride+first:], from.Stride, last-first, image[r.lo*width+left-lo:], width, right-left, r.hi-r.lo, nil)
			})
		}
		memory.put(image)
	})
	return out
}

// rowRange is rows lo:hi.
type rowRange struct{ lo, hi int }

// covered are the rows of the blocks, neighbours together.
func covered(blocks []Block) []rowRange {
	var out []rowRange
	for _, b := range blocks {
		if k := len(out) - 1; k >= 0 && out[k].hi == b.At {
			out[k].hi += order(b)
		} else {
			out = append(out, rowRange{b.At, b.At + order(b)})
		}
	}
	return out
}
