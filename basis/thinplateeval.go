package basis

import (
	"errors"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/kernel"
)

// plate evaluates a thin plate regression spline basis: k - M radial columns,
// each a combination of the thin plate functions of the distances to the points,
// then M polynomials. Immutable after prepare.
type plate struct {
	d, m, k  int
	shift    []float64 // d, subtracted from the columns
	points   []float64 // n x d, shifted
	weights  []float64 // n x (k - M): delta of each radial column, row by row
	scale    []float64 // M factors of the polynomials
	powers   [][]int   // M exponents of the d columns
	constant float64   // of the thin plate function

	packed *kernel.Weights[float64] // weights, for d > 1
	logs   *logTable                // for d = 2 and m = 2
	pieces []float64                // for d = 1, see tabulate
}

// newPlate has what follows from the settings alone.
func newPlate(p plateSettings) *plate {
	b := &plate{d: p.d, m: p.m, k: p.k, powers: exponents(p.d, p.m), constant: radialConstant(p.d, p.m)}
	if p.d == 2 && p.m == 2 {
		b.logs = newLogTable()
	}
	return b
}

func (b *plate) dim() int   { return b.k }
func (b *plate) width() int { return b.k }

// exponents lists the monomials in d variables of degree less than m: the first
// variable's exponent changes fastest.
func exponents(d, m int) [][]int {
	var out [][]int
	for e := make([]int, d); ; {
		out = append(out, append([]int(nil), e...))
		j := 0
		for e[j]++; degree(e) >= m; e[j]++ {
			if e[j] = 0; j == d-1 {
				return out
			}
			j++
		}
	}
}

func degree(e []int) int {
	sum := 0
	for _, v := range e {
		sum += v
	}
	return sum
}

// radialConstant is the factor of r^(2m-d), or of r^(2m-d) log r for even d, in
// the thin plate function (Wood 2017, 5.5.1). Its sign matters: it makes the
// penalty positive.
func radialConstant(d, m int) float64 {
	factorial := func(n int) float64 { return math.Gamma(float64(n + 1)) }
	half := float64(d) / 2
	if d%2 == 0 {
		sign := 1 - 2*float64((m+1+d/2)%2)
		return sign / (math.Pow(2, float64(2*m-1)) * math.Pow(math.Pi, half) * factorial(m-1) * factorial(m-d/2))
	}
	return math.Gamma(half-float64(m)) / (math.Pow(2, float64(2*m)) * math.Pow(math.Pi, half) * factorial(m-1))
}

// eta is the thin plate function of the squared distance.
func (b *plate) eta(square float64) float64 {
	if square == 0 {
		return 0
	}
	if b.d%2 == 0 {
		return b.constant * integerPower(square, b.m-b.d/2) * math.Log(square) / 2
	}
	return b.constant * integerPower(math.Sqrt(square), 2*b.m-b.d)
}

func integerPower(x float64, n int) float64 {
	out := 1.0
	for range n {
		out *= x
	}
	return out
}

// radial is E: the thin plate function of all distances between the points.
func (b *plate) radial() *mat.SymDense {
	n := len(b.points) / b.d
	e := mat.NewSymDense(n, nil)
	for i := range n {
		p := b.points[i*b.d : (i+1)*b.d]
		for j := range i {
			e.SetSym(i, j, b.eta(squaredDistance(p, b.points[j*b.d:(j+1)*b.d])))
		}
	}
	return e
}

func squaredDistance(p, q []float64) float64 {
	sum := 0.0
	for j, v := range p {
		sum += (v - q[j]) * (v - q[j])
	}
	return sum
}

// polynomials is T (n x M), the monomials at the points.
func (b *plate) polynomials() *mat.Dense {
	n := len(b.points) / b.d
	t := mat.NewDense(n, len(b.powers), nil)
	for i := range n {
		b.monomials(t.RawRowView(i), b.points[i*b.d:(i+1)*b.d])
	}
	return t
}

func (b *plate) monomials(out, p []float64) {
	for j, e := range b.powers {
		v := 1.0
		for l, n := range e {
			v *= integerPower(p[l], n)
		}
		out[j] = v
	}
}

// prepare makes the tables that evaluation needs from weights and points.
func (b *plate) prepare() {
	if b.d == 1 {
		b.tabulate()
		return
	}
	b.packed = kernel.Pack(len(b.points)/b.d, b.k-len(b.powers), b.weights, false)
}

// block is how many rows have their distances to all points in memory at once.
const block = 32

// evaluate writes the basis at n points (n x d, not shifted, row by row) to dst,
// whose rows are stride apart.
func (b *plate) evaluate(dst []float64, stride int, x []float64) {
	if b.d == 1 {
		for i, v := range x {
			b.row(dst[i*stride:], v)
		}
		return
	}
	n, knots, radial := len(x)/b.d, len(b.points)/b.d, b.k-len(b.powers)
	eta := make([]float64, min(n, block)*knots)
	at := make([]float64, b.d)
	for first := 0; first < n; first += block {
		rows := min(block, n-first)
		for i := range rows {
			row := dst[(first+i)*stride:]
			for j := range at {
				at[j] = x[(first+i)*b.d+j] - b.shift[j]
			}
			b.distances(eta[i*knots:(i+1)*knots], at)
			b.monomials(row[radial:b.k], at)
			for j, s := range b.scale {
				row[radial+j] *= s
			}
		}
		b.packed.Mul(dst[first*stride:], stride, eta, knots, rows, nil)
	}
}

// distances writes the thin plate functions of the distances from p.
func (b *plate) distances(out, p []float64) {
	if b.logs != nil {
		for j := range out {
			u, v := p[0]-b.points[2*j], p[1]-b.points[2*j+1]
			out[j] = u*u + v*v
		}
		b.logs.times(b.constant/2, out)
		return
	}
	for j := range out {
		out[j] = b.eta(squaredDistance(p, b.points[j*b.d:(j+1)*b.d]))
	}
}

// tabulate turns the radial columns of one variable, which are piecewise
// polynomials of degree 2m - 1 between the points and of degree m - 1 beyond
// (because the weights are orthogonal to polynomials), into their Taylor
// coefficients at the left end of each piece; for the leftmost, at its right end.
// pieces is (n + 1) x 2m x (k - M).
func (b *plate) tabulate() {
	n, terms, radial := len(b.points), 2*b.m, b.k-b.m
	b.pieces = make([]float64, (n+1)*radial*terms)
	binomial := make([]float64, terms)
	for q := range binomial {
		binomial[q] = float64(choose(terms-1, q))
	}
	power := make([]float64, terms)
	for piece := range n + 1 {
		t := b.points[max(piece-1, 0)]
		out := b.pieces[piece*radial*terms : (piece+1)*radial*terms]
		known := terms
		if piece == 0 || piece == n {
			known = b.m // the higher ones are 0
		}
		for i, p := range b.points {
			// constant |x - p|^(2m-1) = -+ constant (h + t - p)^(2m-1), h = x - t.
			side := b.constant
			if i >= piece {
				side = -side
			}
			power[0] = side
			for q := 1; q < terms; q++ {
				power[q] = power[q-1] * (t - p)
			}
			for q := range known {
				floats.AddScaled(out[q*radial:(q+1)*radial], binomial[q]*power[terms-1-q], b.weights[i*radial:(i+1)*radial])
			}
		}
	}
}

// row is evaluate at one value of one variable.
func (b *plate) row(out []float64, x float64) int {
	x -= b.shift[0]
	terms, radial := 2*b.m, b.k-b.m
	piece := sort.SearchFloat64s(b.points, x)
	if piece < len(b.points) && b.points[piece] == x {
		piece++
	}
	h := x - b.points[max(piece-1, 0)]
	c := b.pieces[piece*radial*terms : (piece+1)*radial*terms]
	out = out[:b.k]
	if terms == 4 {
		c0, c1, c2, c3 := c[:radial], c[radial:2*radial], c[2*radial:3*radial], c[3*radial:4*radial]
		for j := range c0 {
			out[j] = c0[j] + h*(c1[j]+h*(c2[j]+h*c3[j]))
		}
	} else {
		for j := range radial {
			v := 0.0
			for q := terms - 1; q >= 0; q-- {
				v = v*h + c[q*radial+j]
			}
			out[j] = v
		}
	}
	v := 1.0
	for j, s := range b.scale {
		out[radial+j] = v * s
		v *= x
	}
	return 0
}

// meanSquares are the root mean squares of the columns over the rows whose
// shifted points are given. It does not need the tables of prepare.
func (b *plate) meanSquares(at []float64, data *points) ([]float64, error) {
	n, knots, radial := len(at)/b.d, len(b.points)/b.d, b.k-len(b.powers)
	weights := kernel.Pack(knots, radial, b.weights, false)
	eta, x := make([]float64, block*knots), make([]float64, block*b.k)
	size := make([]float64, b.k)
	rows := 0.0
	for first := 0; first < n; first += block {
		some := min(block, n-first)
		for i := range some {
			p := at[(first+i)*b.d : (first+i+1)*b.d]
			b.distances(eta[i*knots:(i+1)*knots], p)
			b.monomials(x[i*b.k+radial:(i+1)*b.k], p)
		}
		weights.Mul(x, b.k, eta, knots, some, nil)
		for i := range some {
			c := float64(data.count[first+i])
			rows += c
			for j, v := range x[i*b.k : (i+1)*b.k] {
				size[j] += c * v * v
			}
		}
	}
	for j := range size {
		size[j] = math.Sqrt(size[j] / rows)
		if !(size[j] > 0) || math.IsInf(size[j], 0) {
			return nil, errors.New("the points are too close together or too far apart for 64-bit numbers: rescale")
		}
	}
	return size, nil
}

// divide scales the columns, which are the weighted sums and monomials so far, and
// prepares the basis for evaluation.
func (b *plate) divide(size []float64) {
	radial := b.k - len(b.powers)
	for i := range b.weights {
		b.weights[i] /= size[i%radial]
	}
	b.scale = make([]float64, len(b.powers))
	for j := range b.scale {
		b.scale[j] = 1 / size[radial+j]
	}
	b.prepare()
}
