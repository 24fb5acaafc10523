package thinplate

import (
	"github.com/pho-go/pho/basis/internal/knot"
	"github.com/pho-go/pho/internal/base/kernel"
)

// piecewise holds functions of one variable that are polynomials between breaks
// and beyond them, as Taylor coefficients at the left end of each piece; for the
// leftmost, at its right end.
type piecewise struct {
	breaks       []float64 // n, increasing
	count        *knot.Breaks
	terms, width int
	c            []float64 // (n + 1) x terms x width
}

// tabulate turns the radial columns, of degree P between the points and of degree
// m - 1 beyond (because the weights are orthogonal to polynomials), into pieces.
func (b *Basis) tabulate() *piecewise {
	n, top, width := len(b.points), 2*b.m-1, b.k-b.m
	p := &piecewise{breaks: b.points, count: knot.NewBreaks(b.points), terms: top + 1, width: width, c: make([]float64, (n+1)*(top+1)*width)}
	// (h + d)^P = sum_q h^q P!/q! d^(P-q)/(P-q)!, for a point d to the left of t; of
	// one to the right h counts backwards.
	add := func(piece int, side sideMoments, direction float64) {
		known := p.terms
		if piece == 0 || piece == n {
			known = b.m // the higher ones are 0
		}
		factor := b.constant * factorial(top)
		for q := range known {
			if q > 0 {
				factor *= direction / float64(q)
			}
			to := p.piece(piece)[q*width : (q+1)*width]
			for j, v := range side.order(top - q) {
				to[j] += factor * v
			}
		}
	}
	weights := func(i int) []float64 { return b.weights[i*width : (i+1)*width] }
	side := newSideMoments(p.terms, width)
	for i := range n {
		if i > 0 {
			side.advance(b.points[i] - b.points[i-1])
		}
		side.pass(weights(i))
		add(i+1, side, 1)
	}
	clear(side.m)
	for i := n - 1; i >= 0; i-- {
		side.pass(weights(i))
		if i > 0 {
			side.advance(b.points[i] - b.points[i-1])
		}
		add(i, side, -1)
	}
	return p
}

// piece is the coefficients of one, terms x width.
func (p *piecewise) piece(i int) []float64 {
	size := p.terms * p.width
	return p.c[i*size : (i+1)*size]
}

// evaluate writes the functions at x - shift to rows of dst that are stride apart.
func (p *piecewise) evaluate(dst []float64, stride int, x []float64, shift float64) {
	if p.terms == kernel.Band {
		p.cubics(dst, stride, x, shift)
		return
	}
	for i, v := range x {
		piece, h := p.at(v - shift)
		c, out := p.piece(piece), dst[i*stride:][:p.width]
		for j := range out {
			v := 0.0
			for q := p.terms - 1; q >= 0; q-- {
				v = v*h + c[q*p.width+j]
			}
			out[j] = v
		}
	}
}

// at is the piece of x, and how far x is from where its coefficients are taken.
func (p *piecewise) at(x float64) (piece int, h float64) {
	piece = p.count.Count(x)
	return piece, x - p.breaks[max(piece-1, 0)]
}

// cubics is evaluate of pieces of four terms: the powers of h times their rows.
func (p *piecewise) cubics(dst []float64, stride int, x []float64, shift float64) {
	const block = 64
	var first [block]int32
	var powers [block * kernel.Band]float64
	rows := len(p.c) / p.width
	for len(x) > 0 {
		n := min(block, len(x))
		for i, v := range x[:n] {
			piece, h := p.at(v - shift)
			if first[i] = int32(piece * kernel.Band); piece == 0 || piece == len(p.breaks) {
				*(*[kernel.Band]float64)(powers[i*kernel.Band:]) = [kernel.Band]float64{1, h} // linear: of a great h a power may be infinite
			} else {
				*(*[kernel.Band]float64)(powers[i*kernel.Band:]) = [kernel.Band]float64{1, h, h * h, h * h * h}
			}
		}
		kernel.MulBandRows(dst, stride, first[:n], powers[:n*kernel.Band], p.c, p.width, rows, p.width)
		if x = x[n:]; len(x) > 0 {
			dst = dst[n*stride:]
		}
	}
}
