package projection

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose/internal/moments"
)

// Canonical compares columns U with columns X: what X tells of each column of U by least squares, and which linear
// functions of U it tells best. Their R2 are the squared canonical correlations (Hotelling 1936), the squared singular
// values of Q_X'Q_U, Q being orthonormal bases of the two spans (Björck and Golub 1973).
type Canonical struct {
	RankX, RankU int
	Explained    float64             // mean R2 of the columns of U that vary
	Functions    []CanonicalFunction // the largest R2 first
}

// CanonicalFunction is a linear function v of U with variance 1, and what X tells of it.
type CanonicalFunction struct {
	R2     float64
	Share  float64   // R2 times the mean of cor(u_j, v)^2: those of all functions add up to Explained
	Groups []float64 // of the variance of the prediction by X, what each group of columns tells alone
}

// CanonicalOf compares the last of the view's bases, U, with all others. X's are in groups by their numbers; learned
// bases were computed in float32. Directions count whose singular value is more than the tolerance times the largest.
func CanonicalOf(v moments.View, learned []bool, group []int, toleranceX, toleranceU float64) Canonical {
	p := v.Starts[len(v.Starts)-2]
	corr := canonicalCorrelations(v, learned, toleranceX, toleranceU)
	q, _ := corr.Dims()
	part := func(i, k, j, l int) *mat.Dense { return corr.Slice(i, k, j, l).(*mat.Dense) }
	units := 0.0
	for j := p; j < q; j++ {
		units += corr.At(j, j)
	}
	if units == 0 || p == 0 || mat.Trace(part(0, p, 0, p)) == 0 {
		return Canonical{}
	}
	xx, uu := part(0, p, 0, p), part(p, q, p, q)
	ofX, ofU := whiten(symmetrised(xx)).above(toleranceX), whiten(symmetrised(uu)).above(toleranceU)
	told := times(ofX.T(), part(0, p, p, q)) // Q_X'U
	out := Canonical{Explained: share(squares(told) / units)}
	_, out.RankX = ofX.Dims()
	_, out.RankU = ofU.Dims()
	var svd mat.SVD
	if !svd.Factorize(times(told, ofU), mat.SVDThin) {
		return out
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	loadings := times(uu, times(ofU, &right))   // cor(u_j, v)
	covariances := times(xx, times(ofX, &left)) // of X with predictions of variance 1
	for i, rho := range svd.Values(nil) {
		f := CanonicalFunction{R2: share(rho * rho)}
		f.Share = f.R2 * squares(loadings.ColView(i)) / units
		out.Functions = append(out.Functions, f)
	}
	for _, at := range groupsOf(v, group) {
		own, with := mat.NewSymDense(len(at), nil), mat.NewDense(len(at), len(out.Functions), nil)
		for i, j := range at {
			for l, k := range at[i:] {
				own.SetSym(i, i+l, xx.At(j, k))
			}
			with.SetRow(i, covariances.RawRowView(j))
		}
		alone := times(whiten(own).above(toleranceX).T(), with)
		for i := range out.Functions {
			out.Functions[i].Groups = append(out.Functions[i].Groups, share(squares(alone.ColView(i))))
		}
	}
	return out
}

// groupsOf are the columns of each group of bases.
func groupsOf(v moments.View, group []int) [][]int {
	columns := make([][]int, slices.Max(group)+1)
	for b, g := range group {
		for j := v.Starts[b]; j < v.Starts[b+1]; j++ {
			columns[g] = append(columns[g], j)
		}
	}
	return columns
}

func squares(a mat.Matrix) float64 {
	norm := mat.Norm(a, 2)
	return norm * norm
}

// canonicalCorrelations are those of the view's columns; rows and columns of such that do not vary are zeros.
func canonicalCorrelations(v moments.View, learned []bool, toleranceX, toleranceU float64) *mat.Dense {
	over := make([]float64, len(v.Mean))
	for b, own := range learned {
		tolerance := toleranceX
		if b == len(learned)-1 {
			tolerance = toleranceU
		}
		lo, hi := v.Starts[b], v.Starts[b+1]
		least := leastVariationOf(own, hi-lo, v.R != nil, tolerance)
		for j := lo; j < hi; j++ {
			if s := v.XX.At(j, j); s > least*least*v.Mean[j]*v.Mean[j]*v.SumW {
				over[j] = 1 / math.Sqrt(s)
			}
		}
	}
	corr := mat.DenseCopyOf(v.XX)
	corr.Apply(func(i, j int, c float64) float64 { return c * over[i] * over[j] }, corr)
	return corr
}

// ChanceR2 is the R2 that the first of the canonical functions exceeds in one of a hundred samples of so many rows where p
// normal columns have nothing to do with q others: the largest root of a double Wishart matrix has nearly the distribution of
// Tracy and Widom on the scale of logits (Johnstone 2009). 1: the columns take up all rows.
func ChanceR2(p, q int, rows float64) float64 {
	const percent99 = 2.0234 // of Tracy and Widom's law of order 1
	free := rows - 1
	if float64(p+q) >= free || p == 0 || q == 0 {
		return 1
	}
	angle := func(n int) float64 { return 2 * math.Asin(math.Sqrt((float64(n)-0.5)/(free-1))) }
	gamma, phi := angle(min(p, q)), angle(max(p, q))
	sine := math.Sin(phi + gamma)
	centre := 2 * math.Log(math.Tan((phi+gamma)/2))
	scale := math.Cbrt(16 / ((free - 1) * (free - 1)) / (sine * sine * math.Sin(phi) * math.Sin(gamma)))
	return 1 / (1 + math.Exp(-centre-percent99*scale))
}
