package interaction

import "github.com/pho-go/pho/internal/base/kernel"

// Polynomials of single columns in the exact products are of these degrees: as high as the
// number of columns allows, and above that of the pairs. Of columns that correlate, a product
// of two polynomials is in part a polynomial of the sum of their degrees; and what the
// formula's curves could not follow is a curve of one column, not a pair.
const (
	minSingleDegree = 6
	maxSingleDegree = 12
)

// functions are the columns of the exact products of one predictor: 1, functions of single
// columns, products for pairs that are in the formula, and, from known on, products for the
// candidates.
type functions struct {
	scales  []*scale
	of      []int    // scales whose functions of their own are among the columns,
	degree  int      // up to this degree
	pairs   [][2]int // known pairs, then candidates
	begins  []int    // first column of each pair, and the width
	known   int      // columns before the candidates
	first   int      // of the candidates among pairs
	needed  []bool   // scales of any of them
	offsets []int    // in a row of functions of all scales
	singles []int    // first column of each scale's own functions; -1: there are none
}

// newFunctions are those of the candidates beside known pairs and single columns.
func newFunctions(scales []*scale, single []int, degree int, known, candidates [][2]int) *functions {
	f := &functions{scales: scales, of: single, degree: degree, pairs: append(append([][2]int(nil), known...), candidates...),
		first: len(known), needed: make([]bool, len(scales)), singles: make([]int, len(scales))}
	width := 1
	for j := range f.singles {
		f.singles[j] = -1
	}
	for _, j := range single {
		f.singles[j] = width
		f.needed[j] = true
		width += scales[j].singleWidth(degree)
	}
	for i, p := range f.pairs {
		if i == f.first {
			f.known = width
		}
		f.begins = append(f.begins, width)
		f.needed[p[0]], f.needed[p[1]] = true, true
		width += scales[p[0]].width(degrees) * scales[p[1]].width(degrees)
	}
	f.begins = append(f.begins, width)
	if len(candidates) == 0 {
		f.known = width
	}
	at := 0
	for _, c := range scales {
		f.offsets = append(f.offsets, at)
		at += c.width(degree)
	}
	f.offsets = append(f.offsets, at)
	return f
}

// singleWidth counts the columns for functions of this column alone.
func (c *scale) singleWidth(degree int) int {
	n := c.width(degree)
	if c.withMissing {
		n++
	}
	return n
}

func (f *functions) width() int { return f.begins[len(f.pairs)] }

// values hold the columns of some rows: numbers (of a factor none), and bins.
type values struct {
	numbers [][]float64
	codes   [][]uint8
}

// fill sets dst to the columns in row i; each is memory for functions of all scales.
func (f *functions) fill(dst, each []float64, v *values, i int) {
	for j, c := range f.scales {
		if f.needed[j] {
			c.functions(each[f.offsets[j]:f.offsets[j+1]], v.numbers[j], v.codes[j], i)
		}
	}
	dst[0] = 1
	at := 1
	for _, j := range f.of {
		own := each[f.offsets[j]:f.offsets[j+1]]
		at += copy(dst[at:], own)
		if f.scales[j].withMissing {
			dst[at] = 0
			if f.scales[j].isMissing(v.numbers[j], v.codes[j], i) {
				dst[at] = 1
			}
			at++
		}
	}
	for _, p := range f.pairs {
		a, b := f.pairFunctions(each, p[0]), f.pairFunctions(each, p[1])
		for _, x := range a {
			row := dst[at:][:len(b)]
			for l, y := range b {
				row[l] = x * y
			}
			at += len(b)
		}
	}
}

// pairFunctions are those of column j's functions that products take.
func (f *functions) pairFunctions(each []float64, j int) []float64 {
	return each[f.offsets[j]:][:f.scales[j].width(degrees)]
}

// products are sums over rows of z z' w, z z' w^2 e^2, z w r, w and w r^2, z being the
// functions and e^2 what is noise of the remainder r, times the inflation.
type products struct {
	n              int
	gram, sandwich []float64 // n x n
	score          []float64
	weight, square float64
}

// newProducts are those of no rows.
func newProducts(n int) *products {
	return &products{n: n, gram: kernel.Zeros[float64](n * n), sandwich: kernel.Zeros[float64](n * n), score: make([]float64, n)}
}
