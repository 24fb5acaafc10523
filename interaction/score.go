package interaction

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// tolerance: what others leave of a direction, relative to all of it, that is rounding.
const tolerance = 1e-9

// score is what a pair's table says.
type score struct {
	pair int
	gain float64 // of sum w r^2, less what noise alone would reach
	p    float64 // that noise alone reaches it
	df   int
}

// tableScore scores the pair whose columns are a and b by its table: with T the products
// of functions of a and of b at the middles of the bins, T~ what the sums of functions of
// one column leave of them, q = T~'R, M = T~'CT~ and B = sum_c T~_c T~_c' V_c, the gain is
// q'M^-q - tr(M^-B), and q'B^-q is chi-squared if r is noise, whatever its variance in
// each cell. V is about such sums of functions of one column, times the inflation.
func tableScore(weight, r, noise, square []float64, inflation float64, a, b *scale) score {
	t := newTable(weight, a, b)
	df := t.width
	if df == 0 || len(t.at) == 0 {
		return score{p: 1}
	}
	reference := t.centredSquares()
	fitted := t.residualise(r)
	q, m, sandwich := make([]float64, df), make([]float64, df*df), make([]float64, df*df)
	for i, cell := range t.at {
		row := t.columns[i*df : (i+1)*df]
		c, v := weight[cell], 0.0
		if square[cell] > 0 { // sum w^2 (r - fitted)^2, if w is the same in a cell
			v = noise[cell] / square[cell] * max(0, square[cell]-2*fitted[i]*r[cell]+fitted[i]*fitted[i]*c) * inflation
		}
		for j, x := range row {
			q[j] += x * r[cell]
			for l := 0; l <= j; l++ {
				m[j*df+l] += x * c * row[l]
				sandwich[j*df+l] += x * v * row[l]
			}
		}
	}
	mirror(m, df)
	mirror(sandwich, df)
	return scored(q, m, sandwich, reference, tolerance)
}

// scored is the gain and the test of scores q with products m and sandwich.
func scored(q, m, sandwich, reference []float64, smallest float64) score {
	n := len(q)
	f := factorised(m, n, reference, smallest)
	if f.rank() == 0 {
		return score{p: 1}
	}
	s := score{gain: f.quadratic(q) - f.trace(sandwich, n), p: 1, df: f.rank()}
	sizes := make([]float64, n)
	for i := range sizes {
		sizes[i] = sandwich[i*n+i]
	}
	if g := factorised(f.within(sandwich, n), f.rank(), f.pick(sizes), tolerance); g.rank() > 0 {
		s.p = chiSquaredTail(g.quadratic(f.pick(q)), g.rank())
	}
	return s
}

// within is b, of the rows and columns kept.
func (s *semidefinite) within(b []float64, n int) []float64 {
	m := len(s.kept)
	out := make([]float64, m*m)
	for i, r := range s.kept {
		for j, c := range s.kept {
			out[i*m+j] = b[r*n+c]
		}
	}
	return out
}

// chiSquaredTail is P(X > x) for X chi-squared.
func chiSquaredTail(x float64, df int) float64 {
	if !(x > 0) {
		return 1
	}
	if math.IsInf(x, 1) {
		return 0
	}
	return mathext.GammaIncRegComp(float64(df)/2, x/2)
}

// table is a pair's table with its occupied cells in a row.
type table struct {
	at       []int     // where each occupied cell is
	bin      [][2]int  // its bins
	weight   []float64 // its rows
	width    int       // of the products
	columns  []float64 // cells x width: the products T, later T~
	total    float64
	binsOf   [2]int // occupied bins of each column
	numberOf [2][stride]int
}

// newTable reads the table; rows without a value for one of the columns say nothing.
func newTable(weight []float64, a, b *scale) *table {
	t := &table{}
	var margin [2][stride]float64
	for i := range bins {
		for j := range bins {
			if c := weight[i*stride+j]; c > 0 {
				t.at, t.bin, t.weight = append(t.at, i*stride+j), append(t.bin, [2]int{i, j}), append(t.weight, c)
				margin[0][i] += c
				margin[1][j] += c
				t.total += c
			}
		}
	}
	var of [2][stride][]float64
	var width [2]int
	for s, c := range []*scale{a, b} {
		of[s], width[s] = c.middles(margin[s], t.total)
		for i, v := range margin[s] {
			if v > 0 {
				t.numberOf[s][i] = t.binsOf[s]
				t.binsOf[s]++
			}
		}
	}
	t.width = width[0] * width[1]
	t.columns = make([]float64, 0, len(t.at)*t.width)
	for _, bin := range t.bin {
		for _, x := range of[0][bin[0]] {
			for _, y := range of[1][bin[1]] {
				t.columns = append(t.columns, x*y)
			}
		}
	}
	return t
}

// middles are the functions of the column in each bin, by the bins' weights: polynomials
// at mid-ranks, or indicators.
func (c *scale) middles(margin [stride]float64, total float64) (of [stride][]float64, width int) {
	occupied := 0
	for _, v := range margin {
		if v > 0 {
			occupied++
		}
	}
	width = occupied - 1
	if !c.factor {
		width = min(width, degrees)
	}
	if width < 1 {
		return of, 0
	}
	below, number := 0.0, 0
	for i, v := range margin {
		if v == 0 {
			continue
		}
		of[i] = make([]float64, width)
		switch {
		case !c.factor:
			legendre(of[i], (below+v/2)/total)
		case number > 0:
			of[i][number-1] = 1
		}
		below += v
		number++
	}
	return of, width
}

// centredSquares are the sums of squares of the columns about their means.
func (t *table) centredSquares() []float64 {
	mean, square := make([]float64, t.width), make([]float64, t.width)
	for i, c := range t.weight {
		for j, v := range t.columns[i*t.width : (i+1)*t.width] {
			mean[j] += c * v / t.total
			square[j] += c * v * v
		}
	}
	for j := range square {
		square[j] -= t.total * mean[j] * mean[j]
	}
	return square
}

// residualise projects sums of functions of one column out of the products, T~ = T - D(D'CD)^-D'CT
// with D the indicators of rows and of columns, and returns their fit to the scores r, D(D'CD)^-D'R
// by occupied cell.
func (t *table) residualise(r []float64) (fitted []float64) {
	n, width := t.binsOf[0]+t.binsOf[1], t.width+1 // the scores come last
	gram, sums := make([]float64, n*n), make([]float64, n*width)
	places := func(i int) (int, int) {
		return t.numberOf[0][t.bin[i][0]], t.binsOf[0] + t.numberOf[1][t.bin[i][1]]
	}
	for i, c := range t.weight {
		a, b := places(i)
		gram[a*n+a] += c
		gram[b*n+b] += c
		gram[b*n+a] += c
		for j, v := range t.columns[i*t.width : (i+1)*t.width] {
			sums[a*width+j] += c * v
			sums[b*width+j] += c * v
		}
		sums[a*width+t.width] += r[t.at[i]]
		sums[b*width+t.width] += r[t.at[i]]
	}
	reference := make([]float64, n)
	for i := range reference {
		reference[i] = gram[i*n+i]
	}
	f := factorised(gram, n, reference, tolerance)
	coef, column := make([]float64, n*width), make([]float64, n)
	for j := range width {
		for i := range n {
			column[i] = sums[i*width+j]
		}
		for i, v := range f.solve(column) {
			coef[f.kept[i]*width+j] = v
		}
	}
	for i := range t.at {
		a, b := places(i)
		row := t.columns[i*t.width : (i+1)*t.width]
		for j := range row {
			row[j] -= coef[a*width+j] + coef[b*width+j]
		}
		fitted = append(fitted, coef[a*width+t.width]+coef[b*width+t.width])
	}
	return fitted
}

// mirror copies the lower triangle to the upper.
func mirror(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
}
