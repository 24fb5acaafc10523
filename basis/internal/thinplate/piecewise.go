package thinplate

import (
	"math"
	"slices"
	"sort"

	"github.com/pho-go/pho/internal/kernel"
)

// piecewise holds functions of one variable that are polynomials between breaks
// and beyond them, as Taylor coefficients at the left end of each piece; for the
// leftmost, at its right end.
type piecewise struct {
	breaks       []float64 // n, increasing
	padded       []float64 // and infinities, so that maxCounted of them follow each
	terms, width int
	c            []float64 // (n + 1) x terms x width
	first        []uint16  // of each bucket: how many breaks are in those before
	perBucket    float64   // buckets per unit, from breaks[0] on
}

const (
	// bucketsPerBreak: most buckets of evenly spread breaks hold none or one.
	bucketsPerBreak = 4
	// maxCounted is how many breaks of a bucket find compares a value with, however many
	// the bucket holds; in a bucket of more it searches.
	maxCounted = 4
)

// tabulate turns the radial columns, of degree P between the points and of degree
// m - 1 beyond (because the weights are orthogonal to polynomials), into pieces.
func (b *Basis) tabulate() *piecewise {
	n, top, width := len(b.points), 2*b.m-1, b.k-b.m
	p := &piecewise{breaks: b.points, terms: top + 1, width: width, c: make([]float64, (n+1)*(top+1)*width)}
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
	p.makeBuckets()
	return p
}

// piece is the coefficients of one, terms x width.
func (p *piecewise) piece(i int) []float64 {
	size := p.terms * p.width
	return p.c[i*size : (i+1)*size]
}

func (p *piecewise) makeBuckets() {
	n := len(p.breaks)
	p.padded = slices.Clone(p.breaks)
	for range maxCounted {
		p.padded = append(p.padded, math.Inf(1))
	}
	buckets := bucketsPerBreak * n
	p.perBucket = float64(buckets) / (p.breaks[n-1] - p.breaks[0])
	p.first = make([]uint16, buckets+1)
	for _, x := range p.breaks {
		p.first[p.bucket(x)+1]++
	}
	for i := range buckets {
		p.first[i+1] += p.first[i]
	}
}

// bucket never decreases with x, so a break and the values beyond it are told
// apart whatever rounding does.
func (p *piecewise) bucket(x float64) int {
	f, last := (x-p.breaks[0])*p.perBucket, bucketsPerBreak*len(p.breaks)-1
	switch {
	case f >= float64(last):
		return last
	case f > 0:
		return int(f)
	}
	return 0
}

// find gives the number of breaks that are at most x, which is the piece of x.
// Nearly always no branch depends on x: a processor could not foretell it.
func (p *piecewise) find(x float64) int {
	i := p.bucket(x)
	lo, hi := int(p.first[i]), int(p.first[i+1])
	if hi-lo > maxCounted {
		return lo + sort.Search(hi-lo, func(i int) bool { return p.padded[lo+i] > x })
	}
	at := p.padded[lo:][:maxCounted] // those from hi on are greater than x
	return lo + atMost(at[0], x) + atMost(at[1], x) + atMost(at[2], x) + atMost(at[3], x)
}

// atMost is 1 if a <= b, else 0.
func atMost(a, b float64) (one int) {
	if a <= b {
		one = 1
	}
	return one
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
	piece = p.find(x)
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
