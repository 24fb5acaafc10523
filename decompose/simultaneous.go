package decompose

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// simultaneousLevel is the probability with which a simultaneous band holds a whole curve.
const simultaneousLevel = 0.95

// The draws of coefficients: as many as workDraws products allow, within bounds. The
// quantile's Monte Carlo error is about 0.7 % of it for 10,000 and 1.5 % for 2,000.
const (
	minDraws  = 2000
	maxDraws  = 10000
	workDraws = 1 << 28
	drawBlock = 128
)

// PointwiseQuantile is the half width of a pointwise 95 % band in standard errors: 1.96, or
// the quantile of the t distribution with df > 0 degrees of freedom (Result.BandDF).
func PointwiseQuantile(df float64) float64 {
	if df > 0 {
		return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(1 - (1-simultaneousLevel)/2)
	}
	return 1.96
}

// simultaneous gives the half widths, at the rows of a grid x (n x d, raw columns), of a
// band round the centred curve f that holds all of it: c se(alpha_0 + f), where c is the
// quantile of max |f* - f| / se(alpha_0 + f) over the grid, f* drawn from the coefficients'
// covariance. With the intercept's variance in it the denominator is nowhere near 0, where
// f itself is: there rounding and the smoothing bias would decide c. df are the degrees of
// freedom of the covariance, 0 for infinitely many. NaN without a covariance.
func (u *uncertainty) simultaneous(x *mat.Dense, df float64, seed uint64) []float64 {
	n, d := x.Dims()
	half := make([]float64, n)
	if u.cov == nil {
		for i := range half {
			half[i] = math.NaN()
		}
		return half
	}
	root := u.root()
	_, rank := root.Dims()
	centred := mat.DenseCopyOf(x)
	for i := range n {
		floats.Sub(centred.RawRowView(i), u.mean)
	}
	curves := linalg.Product(centred, root.Slice(0, d, 0, rank).(*mat.Dense)) // rows: f at a point for independent draws
	least := 0.0
	for i := range n {
		row := curves.RawRowView(i)
		level := slices.Clone(row)
		kernel.Add(level, level, root.RawRowView(d))
		half[i] = math.Sqrt(kernel.Dot(level, level))
		if half[i] > 0 {
			for l := range row {
				row[l] /= half[i]
			}
			least = math.Max(least, math.Sqrt(kernel.Dot(row, row)))
		}
	}
	// Each point's own quantile is known without draws, and no less than all of it.
	c := math.Max(maxQuantile(curves, df, seed), PointwiseQuantile(df)*least)
	for i := range half {
		half[i] *= c
	}
	return half
}

// root is L (d+1 x rank) with LL' the covariance of the coefficients and, last, the
// intercept, down to what is rounding: by eigenvectors, or of many columns, where these take a hundred times as long,
// a Cholesky factor with pivots, which rounding changes more.
func (u *uncertainty) root() *mat.Dense {
	d := u.cov.SymmetricDim()
	joint := mat.NewSymDense(d+1, nil)
	scale := make([]float64, d+1) // so that columns of any units count alike
	for i := range d {
		scale[i] = math.Sqrt(math.Max(u.cov.At(i, i), 0))
	}
	scale[d] = math.Sqrt(math.Max(u.variance, 0))
	for i := range d + 1 {
		for j := i; j <= d; j++ {
			v := u.variance
			switch {
			case j < d:
				v = u.cov.At(i, j)
			case i < d:
				v = u.intercept[i]
			}
			if s := scale[i] * scale[j]; s > 0 {
				joint.SetSym(i, j, v/s)
			}
		}
	}
	roots := eigenRoot
	if d >= manyColumns {
		roots = choleskyRoot
	}
	root := roots(joint)
	for i := range d + 1 {
		floats.Scale(scale[i], root.RawRowView(i))
	}
	return root
}

// rootRounding is the share of the largest variance that is taken for rounding.
const rootRounding = 1e-13

// eigenRoot is L with LL' = s by the eigenvectors of s; a column of zeros if s is 0.
func eigenRoot(s *mat.SymDense) *mat.Dense {
	n := s.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return mat.NewDense(n, 1, nil)
	}
	values := eigen.Values(nil) // increasing
	first := 0
	for first < n && !(values[first] > rootRounding*values[n-1]) {
		first++
	}
	if first == n {
		return mat.NewDense(n, 1, nil)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	root := mat.DenseCopyOf(vectors.Slice(0, n, first, n))
	for i := range n {
		row := root.RawRowView(i)
		for l := range row {
			row[l] *= math.Sqrt(values[first+l])
		}
	}
	return root
}

// choleskyRoot is L with LL' = s by a Cholesky factor with pivots; a column of zeros if s is 0. Pivots below
// 1e-10 of the largest are dropped: most of them is rounding, and their roots would change draws in the eighth digit.
func choleskyRoot(s *mat.SymDense) *mat.Dense {
	var factor mat.PivotedCholesky
	factor.Factorize(s, 1e-10)
	upper, rank := factor.RawU(), factor.Rank()
	root := mat.NewDense(s.SymmetricDim(), max(rank, 1), nil)
	for k, i := range factor.ColumnPivots(nil) {
		row := root.RawRowView(i)
		for l := range min(rank, k+1) {
			row[l] = upper.At(l, k)
		}
	}
	return root
}

// maxQuantile is the quantile of max_i |(F z)_i| for standard normal z, divided by the root
// of a chi-squared over df where df > 0.
func maxQuantile(f *mat.Dense, df float64, seed uint64) float64 {
	n, rank := f.Dims()
	draws := min(max(workDraws/(n*rank), minDraws), maxDraws)
	random := rand.New(rand.NewPCG(seed, 0))
	packed := kernel.Pack(rank, n, transposed(f), false)
	z, values := make([]float64, drawBlock*rank), make([]float64, drawBlock*n)
	most := make([]float64, 0, draws)
	for len(most) < draws {
		for i := range z {
			z[i] = random.NormFloat64()
		}
		packed.Mul(values, n, z, rank, drawBlock, nil)
		for b := range drawBlock {
			lo, hi, _ := kernel.Bounds(values[b*n:][:n])
			m := math.Max(-lo, hi)
			if df > 0 {
				m /= math.Sqrt(chiSquared(random, df) / df)
			}
			most = append(most, m)
		}
	}
	return ordered(most[:draws], int(math.Ceil(simultaneousLevel*float64(draws)))-1)
}

// ordered is the number that would be at a place of v in order (Hoare's selection); v is put in another order.
func ordered(v []float64, place int) float64 {
	for {
		pivot, i, j := v[len(v)/2], 0, len(v)-1
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case place <= j:
			v = v[:j+1]
		case place >= i:
			v, place = v[i:], place-i
		default:
			return v[place]
		}
	}
}

// transposed is f (n x rank) by columns.
func transposed(f *mat.Dense) []float64 {
	n, rank := f.Dims()
	out := make([]float64, n*rank)
	for i := range n {
		for l, v := range f.RawRowView(i) {
			out[l*n+i] = v
		}
	}
	return out
}

// chiSquared draws one with df degrees of freedom (Marsaglia and Tsang 2000).
func chiSquared(r *rand.Rand, df float64) float64 {
	shape, boost := df/2, 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := r.NormFloat64()
		v := 1 + c*z
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < z*z/2+d-d*v+d*math.Log(v) {
			return 2 * d * v * boost
		}
	}
}
