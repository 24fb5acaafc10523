package linalg

import "gonum.org/v1/gonum/mat"

// New memory costs more than most of what is done with it, and is taken page by page: several
// processors write to it first.

const page = 4096 / 8 // numbers, on most systems; on none are there fewer

// Zeros returns n zeros for a matrix that is about to be written.
func Zeros(n int) []float64 {
	const (
		pages = 32 // that one takes at once
		worth = 32 // multiplications for each number
	)
	v := make([]float64, n)
	parallel((n+pages*page-1)/(pages*page), worth*n, func(lo, hi int) {
		take(v[lo*pages*page : min(hi*pages*page, n)])
	})
	return v
}

// Triangle is a matrix of zeros (n x n) of which the upper triangle is about to be written. The
// pages of the other stay with the system until somebody writes to them.
func Triangle(n int) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	v := s.RawSymmetric().Data
	EachRow(n, func(i int) { take(v[i*n+i : (i+1)*n]) })
	return s
}

// take writes to the pages of v.
func take(v []float64) {
	for i := 0; i < len(v); i += page {
		v[i] = 0
	}
	if len(v) > 0 {
		v[len(v)-1] = 0
	}
}
