package basis

import (
	"errors"
	"math"
	"slices"

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
	line   *piecewise               // the radial columns, for d = 1
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
func (b *plate) radial() operator {
	if b.d == 1 {
		return operator{n: len(b.points), times: b.sweep, whole: b.allDistances}
	}
	return product(b.allDistances())
}

// allDistances is E itself.
func (b *plate) allDistances() *mat.SymDense {
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

// extent is the square of the diagonal of the box that the points fill.
func (b *plate) extent() float64 {
	least, most := slices.Clone(b.points[:b.d]), slices.Clone(b.points[:b.d])
	for i, v := range b.points {
		j := i % b.d
		least[j], most[j] = min(least[j], v), max(most[j], v)
	}
	return squaredDistance(least, most)
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
		b.line = b.tabulate()
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
		b.line.evaluate(dst, stride, x, b.shift[0])
		for i, v := range x {
			power, row := 1.0, dst[i*stride+b.line.width:]
			for j, s := range b.scale {
				row[j] = power * s
				power *= v - b.shift[0]
			}
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

// row is evaluate at one value of one variable.
func (b *plate) row(out []float64, x float64) int {
	b.evaluate(out, b.k, []float64{x})
	return 0
}

// meanSquares are the root mean squares of the columns over the rows of data.
func (b *plate) meanSquares(data *points) ([]float64, error) {
	x, size := make([]float64, block*b.k), make([]float64, b.k)
	rows := 0.0
	for first := 0; first < data.n(); first += block {
		some := min(block, data.n()-first)
		b.evaluate(x, b.k, data.x[first*b.d:(first+some)*b.d])
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

// standardise divides the columns, which are the weighted sums and monomials
// before, by their root mean squares over the rows of data, and returns those.
func (b *plate) standardise(data *points) ([]float64, error) {
	b.scale = make([]float64, len(b.powers))
	for j := range b.scale {
		b.scale[j] = 1
	}
	b.prepare()
	size, err := b.meanSquares(data)
	if err != nil {
		return nil, err
	}
	radial := b.k - len(b.powers)
	for i := range b.weights {
		b.weights[i] /= size[i%radial]
	}
	for j := range b.scale {
		b.scale[j] = 1 / size[radial+j]
	}
	b.prepare()
	return size, nil
}
