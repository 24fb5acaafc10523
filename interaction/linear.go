package interaction

import "math"

// Products of Legendre polynomials are sums of such polynomials. So products of two sets of functions that
// share a column follow from sums of that column's polynomials of higher degree with the other functions.
// Sums of functions of single columns with pairs are made over rows anyway.

// linearised are the coefficients of P_i P_k by the degree of the polynomial, of which each other one is 0
// (Adams 1878).
func linearised(i, k int) []float64 {
	c := make([]float64, i+k+1)
	for r := range min(i, k) + 1 {
		n := i + k - r
		c[n-r] = leading(r) * leading(i-r) * leading(k-r) / leading(n) * float64(2*(n-r)+1) / float64(2*n+1)
	}
	return c
}

// leading is (2r-1)!!/r!, the first coefficient of P_r.
func leading(r int) float64 {
	a := 1.0
	for l := 1; l <= r; l++ {
		a *= float64(2*l-1) / float64(l)
	}
	return a
}

// byLast are the coefficients of P_i P_k, i < last, on P_0 to P_last, followed by its coefficients on
// P_last P_1, P_last P_2, ...: in place of polynomials of higher degree.
func byLast(i, k, last int) []float64 {
	c := append(linearised(i, k), make([]float64, 2*last)...)[:2*last+1]
	for m := i + k; m > last; m-- {
		of := linearised(last, m-last)
		factor := c[m] / of[m]
		for n, v := range of[:m] {
			c[n] -= factor * v
		}
		c[m] = factor
	}
	return c
}

// place is where sums of functions lie in a matrix: the first, and how far apart neighbours are by either index.
type place struct{ at, row, col int }

// derived are sums of products f_i g_j and f_k h_l, f being polynomials of one column: f_i f_k are sums of
// others, those with g_j h_l lying at from.
type derived struct {
	first, second int // the degrees of f are 1 up to these
	rows, cols    int // numbers of g and h
	from          []place
	coef          func(i, k int) []float64 // of from
	to            place                    // of i = k = 0
	left, right   int                      // steps of i and k
}

// write writes the sums to matrices.
func (d *derived) write(matrices ...[]float64) {
	for i := 1; i <= d.first; i++ {
		for k := 1; k <= d.second; k++ {
			coef := d.coef(i, k)
			for _, matrix := range matrices {
				to := matrix[d.to.at+i*d.left+k*d.right:]
				for j := range d.rows {
					for l := range d.cols {
						sum := 0.0
						for m, c := range coef {
							if c != 0 {
								from := &d.from[m]
								sum += c * matrix[from.at+j*from.row+l*from.col]
							}
						}
						to[j*d.to.row+l*d.to.col] = sum
					}
				}
			}
		}
	}
}

// complete are the columns of which each row has a polynomial: numbers without missing ones.
func (f *functions) complete(v *values) []bool {
	all := make([]bool, len(f.scales))
	for _, j := range f.of {
		all[j] = !f.scales[j].factor && !hasNaN(v.numbers[j])
	}
	return all
}

func hasNaN(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) {
			return true
		}
	}
	return false
}

// alone is where function d of column j begins, counted from 1; 0: the constant.
func (f *functions) alone(j, d int) int {
	if d == 0 {
		return 0
	}
	return f.singles[j] + d - 1
}

// step is how far apart neighbouring functions of column j are among those of pair p.
func (f *functions) step(p, j int) int {
	if pair := f.pairs[p]; j == pair[0] {
		return f.scales[pair[1]].width(degrees)
	}
	return 1
}

// between is where the functions of columns a and b alone meet, those of a from degree d on.
func (f *functions) between(a, d, b int) place {
	n, x, y := f.width(), f.alone(a, d), f.alone(b, 1)
	if x < y {
		return place{x*n + y, n, 1}
	}
	return place{y*n + x, 1, n}
}

// ownDerived are the sums of column a's functions alone with those of its pair p with b, up to a degree.
func (f *functions) ownDerived(p, a, b int) *derived {
	n, wide := f.width(), f.scales[a].width(degrees)
	d := &derived{first: f.scales[a].width(f.degree) - wide, second: wide, rows: f.scales[b].width(degrees), cols: 1, coef: linearised,
		left: n, right: f.step(p, a)}
	for m := range d.first + d.second + 1 {
		from := f.between(a, m, b)
		d.from = append(d.from, place{from.at, from.col, 0})
	}
	d.to = place{f.singles[a]*n + f.begins[p] - d.left - d.right, f.step(p, b), 0}
	return d
}

// sharedDerived are the sums of pair p, of a and b, with pair q, of a and c. r is the pair of b and c; -1: there is none,
// and of the functions of a the last one's products are summed over rows, in p or in q.
func (f *functions) sharedDerived(p, q, r, a, b, c int) *derived {
	n, wide := f.width(), f.scales[a].width(degrees)
	d := &derived{first: wide, second: wide, rows: f.scales[b].width(degrees), cols: f.scales[c].width(degrees), coef: linearised,
		left: f.step(p, a) * n, right: f.step(q, a), from: []place{f.between(b, 1, c)}}
	d.to = place{f.begins[p]*n + f.begins[q] - d.left - d.right, f.step(p, b) * n, f.step(q, c)}
	for m := 1; m <= wide; m++ {
		d.from = append(d.from, place{f.singles[c]*n + f.begins[p] + (m-1)*f.step(p, a), f.step(p, b), n})
	}
	for m := wide + 1; m <= 2*wide; m++ {
		switch k := m - wide; {
		case r >= 0:
			d.from = append(d.from, place{f.alone(a, m)*n + f.begins[r], f.step(r, b), f.step(r, c)})
		case a == f.pairs[p][0]:
			d.from = append(d.from, place{d.to.at + wide*d.left + k*d.right, d.to.row, d.to.col})
		default:
			d.from = append(d.from, place{d.to.at + k*d.left + wide*d.right, d.to.row, d.to.col})
		}
	}
	if r >= 0 {
		return d
	}
	if a == f.pairs[p][0] {
		d.first--
	} else {
		d.second--
	}
	d.coef = func(i, k int) []float64 { return byLast(i, k, wide) }
	return d
}
