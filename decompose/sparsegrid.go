package decompose

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// sparseGrid are rows x of many columns of which few are not 0, as at the levels of a factor. With V the columns' covariance
// and m their means, quadratic forms take their entries alone,
//
//	(x - m)'V(x - m) = x'Vx - 2 x'Vm + m'Vm,
//
// and so do curves once coefficients are drawn.
type sparseGrid struct {
	first  []int // entry of each row, and the end
	column []int
	value  []float64
}

// newSparseGrid lists the entries of columns side by side; nil where they are few columns, or more than an eighth of all
// numbers is not 0.
func newSparseGrid(n int, x []design.Columns) (*sparseGrid, error) {
	d := 0
	for _, own := range x {
		_, width := own.Dims()
		d += width
	}
	if d < manyColumns {
		return nil, nil
	}
	g, entries := &sparseGrid{first: make([]int, n+1)}, 0
	for _, own := range x {
		if err := design.Each(own, func(i, _ int, v float64) {
			if v != 0 {
				g.first[i+1]++
				entries++
			}
		}); err != nil {
			return nil, err
		}
	}
	if entries > n*d/8 {
		return nil, nil
	}
	for i := range n {
		g.first[i+1] += g.first[i]
	}
	g.column, g.value = make([]int, g.first[n]), make([]float64, g.first[n])
	next, lo := append([]int(nil), g.first...), 0
	for _, own := range x {
		if err := design.Each(own, func(i, j int, v float64) {
			if v != 0 {
				g.column[next[i]], g.value[next[i]] = lo+j, v
				next[i]++
			}
		}); err != nil {
			return nil, err
		}
		_, width := own.Dims()
		lo += width
	}
	return g, nil
}

// times is x'v at row i.
func (g *sparseGrid) times(i int, v []float64) (sum float64) {
	for l := g.first[i]; l < g.first[i+1]; l++ {
		sum += g.value[l] * v[g.column[l]]
	}
	return sum
}

// quadratic is x'Vx at row i.
func (g *sparseGrid) quadratic(i int, v mat.Symmetric) (sum float64) {
	for l := g.first[i]; l < g.first[i+1]; l++ {
		for k := g.first[i]; k < g.first[i+1]; k++ {
			sum += g.value[l] * g.value[k] * v.At(g.column[l], g.column[k])
		}
	}
	return sum
}

// standardErrors are those of the centred curve, se(f), and of the curve with the intercept, se(alpha_0 + f).
func (g *sparseGrid) standardErrors(u *uncertainty) (curve, level []float64) {
	vm := linalg.MulVec(u.cov, u.mean)
	mvm, shift := floats.Dot(u.mean, vm), floats.Dot(u.mean, u.intercept)
	for i := range len(g.first) - 1 {
		variance := math.Max(g.quadratic(i, u.cov)-2*g.times(i, vm)+mvm, 0)
		curve = append(curve, math.Sqrt(variance))
		level = append(level, math.Sqrt(math.Max(variance+2*(g.times(i, u.intercept)-shift)+u.variance, 0)))
	}
	return curve, level
}

// simultaneous is uncertainty.simultaneous. Coefficients are drawn by a Cholesky factor of their correlations, whose work
// is d^3/3 and d^2/2 for each draw; of many levels c is Sidak's bound of it.
func (g *sparseGrid) simultaneous(u *uncertainty, df float64, seed uint64) []float64 {
	se, half := g.standardErrors(u)
	least := 0.0
	for i, v := range half {
		if v > 0 {
			least = math.Max(least, se[i]/v)
		}
	}
	c := PointwiseQuantile(df) * least
	if _, many := u.cov.(*linalg.Structured); many {
		c = math.Max(c, sidakQuantile(se, half, df))
	} else {
		c = math.Max(c, g.maxQuantile(u, half, df, seed))
	}
	floats.Scale(c, half)
	return half
}

// sidakQuantile is a c that max_i |f_i| / half_i exceeds with no more than the probability that is left, f_i being normal of standard
// deviation se_i, whatever their correlations (Sidak 1967): independent ones would exceed it with just that. With df > 0 they
// are divided by the root of a common chi-squared over df.
func sidakQuantile(se, half []float64, df float64) float64 {
	var cdf func(x float64) float64
	if df > 0 {
		cdf = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF
	} else {
		cdf = distuv.UnitNormal.CDF
	}
	inside := func(c float64) float64 { // log of the probability of none
		sum := 0.0
		for i, h := range half {
			if h > 0 && se[i] > 0 {
				sum += math.Log1p(-2 * cdf(-c*h/se[i]))
			}
		}
		return sum
	}
	lo, hi := 0.0, 1.0
	for inside(hi) < math.Log(simultaneousLevel) {
		lo, hi = hi, 2*hi
	}
	for range 40 { // to twelve digits
		if c := (lo + hi) / 2; inside(c) < math.Log(simultaneousLevel) {
			lo = c
		} else {
			hi = c
		}
	}
	return hi
}

// maxQuantile is the quantile of max_i |f_i| / half_i for centred curves f of coefficients that are drawn.
func (g *sparseGrid) maxQuantile(u *uncertainty, half []float64, df float64, seed uint64) float64 {
	factor, n := newCorrelated(u.cov), len(half)
	if len(factor.columns) == 0 {
		return 0
	}
	draws := min(max(workDraws/(n*len(factor.columns)), minDraws), maxDraws)
	most := make([]float64, (draws+drawBlock-1)/drawBlock*drawBlock)
	linalg.Each(len(most)/drawBlock, func(block int) {
		random := rand.New(rand.NewPCG(seed, 1+uint64(block)))
		coefficients := factor.draw(random) // d x drawBlock
		mean, f := make([]float64, drawBlock), make([]float64, drawBlock)
		for j, m := range u.mean {
			kernel.Axpy(mean, coefficients[j*drawBlock:][:drawBlock], m)
		}
		own := most[block*drawBlock:][:drawBlock]
		for i, h := range half {
			if !(h > 0) {
				continue
			}
			clear(f)
			kernel.Axpy(f, mean, -1/h)
			for l := g.first[i]; l < g.first[i+1]; l++ {
				kernel.Axpy(f, coefficients[g.column[l]*drawBlock:][:drawBlock], g.value[l]/h)
			}
			for b, v := range f {
				own[b] = max(own[b], math.Abs(v))
			}
		}
		if df > 0 {
			for b := range own {
				own[b] /= math.Sqrt(chiSquared(random, df) / df)
			}
		}
	})
	return ordered(most[:draws], int(math.Ceil(simultaneousLevel*float64(draws)))-1)
}

// correlated draws coefficients with a covariance V = D R D, by R = U'U.
type correlated struct {
	d       int
	columns []int     // those that vary
	sd      []float64 // D, of these
	upper   []float64 // U
}

// correlationRounding is added to the diagonal of R, which may be singular: far more than the rounding error of a
// pivot, far less than the differences between draws.
const correlationRounding = 1e-10

func newCorrelated(v mat.Symmetric) *correlated {
	c := &correlated{d: v.SymmetricDim()}
	for i := range c.d {
		if variance := v.At(i, i); variance > 0 {
			c.columns, c.sd = append(c.columns, i), append(c.sd, math.Sqrt(variance))
		}
	}
	n := len(c.columns)
	if n == 0 {
		return c
	}
	factor, r := new(linalg.Cholesky), mat.NewSymDense(n, nil)
	for added := correlationRounding; ; added *= 10 { // at 1 the matrix is definite
		linalg.EachRow(n, func(i int) {
			for j := i; j < n; j++ {
				r.SetSym(i, j, v.At(c.columns[i], c.columns[j])/(c.sd[i]*c.sd[j]))
			}
			r.SetSym(i, i, 1+added)
		})
		if factor.Factorize(r) || !(added < float64(n)) {
			break
		}
	}
	c.upper = r.RawSymmetric().Data
	for i := range n {
		clear(c.upper[i*n+i/drawPanel*drawPanel:][:i%drawPanel])
	}
	return c
}

// drawPanel is how many coefficients are made at a time, in the place of as many normal numbers.
const drawPanel = 64

// draw are drawBlock draws (d x drawBlock).
func (c *correlated) draw(random *rand.Rand) []float64 {
	n := len(c.columns)
	z, own := make([]float64, n*drawBlock), make([]float64, drawPanel*drawBlock)
	for i := range z {
		z[i] = random.NormFloat64()
	}
	for lo := (n - 1) / drawPanel * drawPanel; lo >= 0; lo -= drawPanel { // coefficient j is of the first j numbers
		hi := min(lo+drawPanel, n)
		clear(own)
		kernel.AddCross(own, drawBlock, c.upper[lo:], n, hi-lo, z, drawBlock, drawBlock, hi, nil)
		copy(z[lo*drawBlock:hi*drawBlock], own)
	}
	out := make([]float64, c.d*drawBlock)
	for i, j := range c.columns {
		kernel.Axpy(out[j*drawBlock:][:drawBlock], z[i*drawBlock:][:drawBlock], c.sd[i])
	}
	return out
}
