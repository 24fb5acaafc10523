package cubic

import "github.com/pho-go/pho/internal/base/kernel"

// rows evaluate many rows at a time. At x between knots j and j + 1, which are h apart, a row is
//
//	above (above^2/h - h) F_j / 6 + below (below^2/h - h) F_j+1 / 6 + (above/h) e_j + (below/h) e_j+1
//
// (Wood 2017, table 5.1), below and above being the distances of x from them, and e_j 1 in column j and 0
// elsewhere. Of above + below = h, above^2/h - h is -(h + above) below/h, where nothing cancels.
type rows struct {
	width int
	f     []float64 // rows of F / 6, of which a product takes four at a time: two of zeros follow
	share []float64 // 1/h by j
}

// newRows copies the rows of F up to that which may be an F_j+1.
func newRows(width int, knots []float64, f func(i int) []float64) rows {
	n := len(knots)
	r := rows{width, make([]float64, (n+2)*width), make([]float64, n-1)}
	for i := range n {
		for l, v := range f(i) {
			r.f[i*width+l] = v / 6
		}
	}
	for j := range r.share {
		r.share[j] = 1 / (knots[j+1] - knots[j])
	}
	return r
}

// evaluate writes the rows at x to rows of dst that are stride apart. place gives, for an x, the j, the j + 1
// among the columns, and the distances.
func (r *rows) evaluate(dst []float64, stride int, x []float64, place func(x float64) (j, next int, below, above float64)) {
	const block = 32 // its memory is cleared first, for one row, too
	var first [block]int32
	var weight [block * kernel.Band]float64
	var side [block]struct {
		next        int
		left, right float64
	}
	for len(x) > 0 {
		n := min(block, len(x))
		for i, v := range x[:n] {
			j, next, below, above := place(v)
			h, left, right := below+above, above*r.share[j], below*r.share[j]
			first[i], side[i].next, side[i].left, side[i].right = int32(j), next, left, right
			weight[i*kernel.Band], weight[i*kernel.Band+1] = -above*(h+above)*right, -below*(h+below)*left
		}
		kernel.MulBandRows(dst, stride, first[:n], weight[:n*kernel.Band], r.f, r.width, len(r.f)/r.width, r.width)
		for i := range n {
			row := dst[i*stride:]
			row[first[i]] += side[i].left
			row[side[i].next] += side[i].right
		}
		if x = x[n:]; len(x) > 0 {
			dst = dst[n*stride:]
		}
	}
}
