package penalty

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// correct sets Vc and EDF2 (Wood, Pya and Saefken 2016, section 4). With rho the
// log lambdas chosen, their Hessian joint with log phi if that is estimated,
// A = X'WX + S = R'R and d_k a derivative in rho_k:
//
//	Vc = Vp + J V J' + phi sum_kl V*_kl (d_k R^-1)(d_l R^-1)',   J = d alpha/d rho,
//
// V the inverse of the Hessian without eigenvalues <= 0, V* = (Hess_+ + 0.1 I)^-1,
// and d_k R^-1 = -R^-1 Phi(R^-T lambda_k S_k R^-1), Phi taking the upper triangle
// and half the diagonal. The last term depends on the coordinates; here they are
// Problem's. It is left out where R does not exist there in floating point.
func (f *Fit) correct(p *Problem, s *search, best *point) {
	var inner []int // parameters not at a bound
	for _, i := range s.free {
		if best.rho[i] < s.hi[i] && best.rho[i] > s.lo[i] {
			inner = append(inner, i)
		}
	}
	s.rootTimesAlpha(best.each)
	var v *mat.Dense
	var second *mat.SymDense
	if len(inner) > 0 {
		var star *mat.Dense
		if v, star = s.uncertainty(best, inner); star != nil {
			second = f.factorUncertainty(p, s, inner, star)
		}
	}
	for r, own := range f.all() {
		var jv *mat.Dense
		if v != nil {
			jv = new(mat.Dense)
			jv.Mul(s.sensitivity(&s.at[r], best, inner), v)
		}
		own.correctResponse(p, jv, second)
	}
}

// correctResponse is correct of one response: jv jv' is J V J', second the last term but
// for the scale; nil: zero.
func (f *Fit) correctResponse(p *Problem, jv *mat.Dense, second *mat.SymDense) {
	dim := len(p.XZ)
	f.Vc = mat.NewSymDense(dim, nil)
	f.Vc.CopySym(f.Vp)
	if jv != nil {
		f.Vc.SymRankK(f.Vc, 1, jv)
	}
	if second != nil {
		f.Vc.AddSym(f.Vc, scaledBy(second, f.Scale))
	}
	f.EDF2 = make([]float64, len(p.Terms))
	sum1, sum2 := 0.0, 0.0
	for t, term := range p.Terms {
		for i := term.Start; i < term.Start+term.Dim; i++ {
			for j := range dim {
				f.EDF2[t] += f.Vc.At(i, j) * p.XX.At(j, i)
			}
		}
		if f.Scale > 0 {
			f.EDF2[t] /= f.Scale
		}
		sum1, sum2 = sum1+f.EDF1[t], sum2+f.EDF2[t]
	}
	if sum2 > sum1 || !(f.Scale > 0) {
		copy(f.EDF2, f.EDF1)
	}
}

// uncertainty returns roots v and star (m x something) of V and V*, their rows
// those of the listed parameters.
func (s *search) uncertainty(best *point, inner []int) (v, star *mat.Dense) {
	m := len(inner)
	size := m
	if s.scale == 0 {
		size++ // log phi
	}
	slope := make([]float64, s.params) // of rp of all responses
	for j, i := range s.set {
		for r := range s.at {
			for _, g := range s.part(s.at[r].g, j) {
				slope[i] += g * g
			}
		}
	}
	rp := best.rp * s.among
	h := mat.NewSymDense(size, nil)
	unit := 2 * s.gamma * best.phi
	for a, i := range inner {
		for b := a; b < m; b++ {
			x := best.hess.At(i, inner[b])
			if s.scale == 0 {
				x += slope[i] * slope[inner[b]] / (unit * rp)
			}
			h.SetSym(a, b, x)
		}
		if s.scale == 0 {
			h.SetSym(a, m, -slope[i]/unit)
		}
	}
	if s.scale == 0 {
		h.SetSym(m, m, rp/unit)
	}
	values, vectors, err := eigenDescending(h)
	if err != nil {
		return nil, nil
	}
	star = mat.NewDense(m, size, nil)
	v = mat.NewDense(m, size, nil)
	for c, d := range values {
		for a := range m {
			star.Set(a, c, vectors.At(a, c)/math.Sqrt(math.Max(d, 0)+0.1))
			if d > 0 {
				v.Set(a, c, vectors.At(a, c)/math.Sqrt(d))
			}
		}
	}
	return v, star
}

// sensitivity is J (p x m): -A^-1 lambda_i S_i alpha, from the factor at hand.
func (s *search) sensitivity(of *solution, best *point, inner []int) *mat.Dense {
	columns := mat.NewDense(len(of.alpha), len(inner), nil)
	for j := range s.penalties {
		pen := &s.penalties[j]
		diag, root := s.scaledRoot(j, best.each)
		g := s.part(of.g, j)
		for a, i := range inner {
			if i != s.set[j] {
				continue
			}
			for r := range pen.rank {
				if diag != nil {
					at := s.coordinate(j, r)
					columns.Set(at, a, columns.At(at, a)-diag[r]*g[r])
					continue
				}
				for c, x := range root.RawRowView(r) {
					at := s.coordinate(j, c)
					columns.Set(at, a, columns.At(at, a)-x*g[r])
				}
			}
		}
	}
	return s.inverseTimes(columns)
}

// factorUncertainty is sum_kl V*_kl (d_k R^-1)(d_l R^-1)', one column of V*'s root at a
// time: Phi is linear. Every other column is another goroutine's. nil: it does not exist.
func (f *Fit) factorUncertainty(p *Problem, s *search, inner []int, star *mat.Dense) *mat.SymDense {
	dim := len(p.XZ)
	a := mat.NewSymDense(dim, nil)
	a.CopySym(p.XX)
	addPenalties(a, p, f.Lambda)
	if s.dropped != nil { // any positive value along what is not determined
		a.SymRankK(a, mat.Trace(a)/float64(dim), s.dropped)
	}
	chol := linalg.Cholesky{Stopped: s.stopped}
	if !chol.Factorize(a) {
		return nil
	}
	ri := mat.NewDense(dim, dim, nil)
	chol.InverseFactorTo(ri)
	_, columns := star.Dims()
	var sums [2]*mat.SymDense
	var all sync.WaitGroup
	for i := range sums {
		sums[i] = mat.NewSymDense(dim, kernel.Zeros[float64](dim*dim))
		all.Go(func() {
			sr, phi := mat.NewDense(dim, dim, nil), mat.NewDense(dim, dim, nil)
			for c := i; c < columns && !s.stopped(); c += len(sums) {
				if weights := f.weights(s, inner, star, c); weights != nil {
					p.factorDerivative(phi, sr, ri, weights)
					linalg.AddLowerGram(sums[i], phi)
				}
			}
		})
	}
	all.Wait()
	sums[0].AddSym(sums[0], sums[1])
	extra := sandwich(ri, sums[0])
	if !finite(mat.Norm(extra, 2)) {
		return nil
	}
	return extra
}

// weights are column c of V*'s root times lambda, one for each penalty; nil if all
// are zero.
func (f *Fit) weights(s *search, inner []int, star *mat.Dense, c int) []float64 {
	weights := make([]float64, len(f.Lambda))
	any := false
	for j, i := range s.set {
		for b, param := range inner {
			if param == i {
				weights[s.penalties[j].index] = star.At(b, c) * f.Lambda[s.penalties[j].index]
				any = any || weights[s.penalties[j].index] != 0
			}
		}
	}
	if !any {
		return nil
	}
	return weights
}

// factorDerivative sets phi = Phi(R^-T S R^-1)', a lower triangle, for the sum S of
// weighted penalties, block diagonal. ri is R^-1, sr the memory for S R^-1.
func (p *Problem) factorDerivative(phi, sr, ri *mat.Dense, weights []float64) {
	dim := len(p.XZ)
	sr.Zero()
	left, right := ri.RawMatrix().Data, sr.RawMatrix().Data
	next := 0
	for _, t := range p.Terms {
		if t.Dim == 0 {
			next += len(t.S)
			continue
		}
		own := mat.NewSymDense(t.Dim, nil)
		for j := range t.S {
			if weights[next] != 0 {
				own.AddSym(own, scaledBy(t.S[j], weights[next]))
			}
			next++
		}
		at := t.Start*dim + t.Start // R^-1 is zero below the diagonal
		kernel.AddCross(right[at:], dim, full(own).RawMatrix().Data, t.Dim, t.Dim, left[at:], dim, dim-t.Start, t.Dim, nil)
	}
	phi.Zero()
	to := phi.RawMatrix().Data
	const rows = 64 // R^-T is zero right of them
	for lo := 0; lo < dim; lo += rows {
		hi := min(lo+rows, dim)
		kernel.AddCross(to[lo*dim:], dim, left[lo:], dim, hi-lo, right, dim, hi, hi, nil)
		for i := lo; i < hi; i++ {
			row := phi.RawRowView(i)
			row[i] /= 2
			clear(row[i+1:])
		}
	}
}

// addPenalties adds sum_j lambda_j S_j to a, in problem coordinates.
func addPenalties(a *mat.SymDense, p *Problem, lambda []float64) {
	next := 0
	for _, t := range p.Terms {
		for j := range t.S {
			s := t.S[j]
			for i := range t.Dim {
				for j := i; j < t.Dim; j++ {
					a.SetSym(t.Start+i, t.Start+j, a.At(t.Start+i, t.Start+j)+lambda[next]*s.At(i, j))
				}
			}
			next++
		}
	}
}
