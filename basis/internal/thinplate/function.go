package thinplate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis/internal/eigen"
)

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

// semiKernel is the thin plate function of the squared distance.
func (b *Basis) semiKernel(square float64) float64 {
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
func (b *Basis) radial() eigen.Operator {
	if b.d == 1 {
		return eigen.Operator{N: len(b.points), Times: b.sweep, Whole: b.allDistances}
	}
	return eigen.Product(b.allDistances())
}

// allDistances is E itself.
func (b *Basis) allDistances() *mat.SymDense {
	n := len(b.points) / b.d
	e := mat.NewSymDense(n, nil)
	for i := range n {
		p := b.points[i*b.d : (i+1)*b.d]
		for j := range i {
			e.SetSym(i, j, b.semiKernel(squaredDistance(p, b.points[j*b.d:(j+1)*b.d])))
		}
	}
	return e
}

// extent is the square of the diagonal of the box that the points fill.
func (b *Basis) extent() float64 {
	lo, hi := slices.Clone(b.points[:b.d]), slices.Clone(b.points[:b.d])
	for i, v := range b.points {
		j := i % b.d
		lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
	}
	return squaredDistance(lo, hi)
}

func squaredDistance(p, q []float64) float64 {
	sum := 0.0
	for j, v := range p {
		sum += (v - q[j]) * (v - q[j])
	}
	return sum
}

// polynomials is T (n x M), the monomials at the points.
func (b *Basis) polynomials() *mat.Dense {
	n := len(b.points) / b.d
	t := mat.NewDense(n, len(b.powers), nil)
	for i := range n {
		b.monomials(t.RawRowView(i), b.points[i*b.d:(i+1)*b.d])
	}
	return t
}

func (b *Basis) monomials(out, p []float64) {
	for j, e := range b.powers {
		v := 1.0
		for l, n := range e {
			v *= integerPower(p[l], n)
		}
		out[j] = v
	}
}

func factorial(n int) float64 { return math.Gamma(float64(n + 1)) }
