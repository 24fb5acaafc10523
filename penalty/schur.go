package penalty

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// schur is what a criterion has in place of a matrix of all coordinates if some were
// eliminated. With the blocks A_g of A_f = L L', Y = L^-1 B' and P = A_f^-1 B' = L^-T Y,
//
//	T        = C + S_left - Y'Y                          (of left)
//	log|A|   = log|A_f| + log|T| (- log sumW)
//	alpha    = T^-1 (X_left'Wz - Y'L^-1 X_f'Wz),  alpha_f = L^-T (L^-1 X_f'Wz - Y alpha)
//	A^-1     = [ A_f^-1 + P T^-1 P'   -P T^-1 ]
//	           [ -T^-1 P'              T^-1   ]
//
// (Wood 2017, 6.2 has the same derivatives by A^-1; here its blocks are put in.) With Q =
// P T^-1, and for each penalty j on eliminated columns the diagonal R_j of its root,
// zero elsewhere, K_j = P'R_j^2 P and H_j = Q'R_j^2 Q,
//
//	tr(A^-1 R_j^2)                = sum_a R_j,a^2 ((A_f^-1)_aa + Q_a P_a')
//	tr(A^-1 R_j^2 A^-1 R_k^2)     = sum_ab R_j,a^2 R_k,b^2 ((A_f^-1)_ab^2 + 2 (A_f^-1)_ab Q_a P_b') + tr(H_j K_k)
//	tr(A^-1 R_j^2 A^-1 S_l), l left = tr(H_j S_l)
//
// where a and b are of one group. Without penalties on eliminated columns derivatives take T^-1 alone,
// and P and Q wait for who wants the whole inverse. All of it takes time in proportion to n (m^2 + q^2), m
// being the size of a group, once for each set of lambdas.
type schur struct {
	*eliminated
	left     *criterion    // of the columns left and, last, the intercept; its gram is that of T without penalties
	one      bool          // there is an intercept
	base     *mat.SymDense // C
	basis    *basis        // of left without the intercept, in the problem's coordinates; nil: there is no other column
	crosses  [][]float64   // X'Wz of the columns left, by response
	leftOf   []int         // the penalty of left that a penalty is; -1: on eliminated columns
	members  [][]int       // positions of those that are; nil: of left
	blockOf  []int         // of left's blocks, the system's
	rho      []float64     // of left's penalties
	root     []float64     // R
	factor   []float64     // L of each group, as gram is stored
	lower    [][]float64   // L^-1 X_f'Wz, by response
	logDet   float64       // log|A_f|
	reduced  []float64     // the R for which factor, logDet, lower, Y and T without penalties are there; nil: for none
	below    *mat.SymDense // T^-1, in the coordinates of left's overlaps; made by invert
	expanded bool          // what follows was made after that
	inverse  []float64     // A_g^-1
	y, p, pt []float64     // Y, P (once inverted in the coordinates of left's overlaps) and Q = P T^-1: n x q
	across   *mat.Dense    // N (outer); nil: nobody has asked for it
	k, h     []*mat.SymDense
	near     *mat.SymDense // the sum over a and b above, by penalties
	of, sums []float64     // workspaces: n and q
}

// newSchur is the criterion of p with some columns eliminated first; nil: there are none,
// or the rest of the columns or those without penalty are not determined by a wide
// margin, which is for the dense path to settle. crossed: some could be, but that would not pay.
func newSchur(ctx context.Context, p *Problem, live []bool, o *Options) (c *criterion, crossed bool) {
	if p.XX == nil {
		return nil, false
	}
	d, varies := p.scales()
	f := p.eliminate(live, d, varies)
	if f == nil {
		return nil, false
	}
	if !pays(f.n(), len(p.XZ)) {
		return nil, true
	}
	return f.first(ctx, p, live, o, varies), false
}

// pays tells whether to eliminate n of p columns first. With q = p - n left a step of the search takes some q^3 + 5 n q^2
// operations, in place of p^3, but covariances and sandwiches 9 p q^2, in place of 3 p^3, and there are
// twelve matrices of q x q or p x q. Few columns take no time either way.
func pays(n, p int) bool {
	const few = 1000
	return p <= few || 2*n >= p-n
}

// first is the criterion with the columns f eliminated first; nil as newSchur is.
func (f *eliminated) first(ctx context.Context, p *Problem, live []bool, o *Options, varies []float64) *criterion {
	other, alive := p.without(f, live)
	s, err := reduce(ctx, other, alive, o.RankTolerance)
	if err != nil || s.dropped != nil || s.q == 0 && !p.Intercept {
		return nil
	}
	whole := &system{ctx: ctx, n: s.n, sumLogW: s.sumLogW, one: s.one, q: s.q + f.n(), among: s.among, logDetA: s.logDetA, logDetS: s.logDetS}
	if p.Intercept {
		whole.logDetA -= math.Log(p.SumW)
		s.appendIntercept(p.SumW)
	}
	e := &schur{eliminated: f, one: p.Intercept}
	f.join(p, s, varies)
	for i, v := range f.d {
		whole.logDetA += 2 * math.Log(v)
		if f.owner[i] >= 0 {
			whole.logDetS += 2 * math.Log(v)
		}
	}
	whole.kept = make([]float64, len(p.XZ))
	for i := range whole.kept {
		whole.kept[i] = 1
	}
	e.penalties(p, whole, s, live)
	e.left = newCriterion(s, o, nil)
	e.allocate(s)
	if f.owner[0] < 0 && !e.determined(s, p.SumW, o.RankTolerance) {
		return nil
	}
	c := &criterion{system: whole, kind: o.Criterion, withoutVe: o.WithoutVe, gamma: o.Gamma, scale: o.Scale, schur: e}
	c.number(p.links())
	for _, r := range s.responses {
		whole.responses = append(whole.responses, response{zz: r.zz})
		c.at = append(c.at, solution{alpha: make([]float64, f.n()+s.q), g: make([]float64, c.rows)})
	}
	c.overlap = make([]*overlap, len(whole.blocks))
	return c
}

// appendIntercept adds the column of ones to s, whose columns are centred.
func (s *system) appendIntercept(sumW float64) {
	gram := mat.NewSymDense(s.q+1, nil)
	for i := range s.q {
		for j := i; j < s.q; j++ {
			gram.SetSym(i, j, s.gram.At(i, j))
		}
	}
	gram.SetSym(s.q, s.q, sumW)
	s.gram = gram
	s.q++
	for r := range s.responses {
		own := make([]float64, s.q) // with z about its mean there is no product
		copy(own, s.responses[r].cross)
		s.responses[r].cross = own
	}
}

// join sets products of the eliminated columns with those left, in the coordinates of s,
// and with the responses.
func (f *eliminated) join(p *Problem, s *system, varies []float64) {
	f.q = s.q
	f.border = make([]float64, f.n()*f.q)
	raw := f.across(p.XX)
	for i, c := range f.column {
		row, at := raw.RawRowView(i), f.start+c
		for j, column := range f.columns {
			row[j] = varies[at] * varies[column] * row[j] / f.d[i]
		}
	}
	if s.basis != nil {
		own := product(raw, s.basis.dense())
		for i := range f.n() {
			copy(f.border[i*f.q:], own.RawRowView(i))
		}
	}
	if p.Intercept {
		for i, m := range f.mean {
			f.border[(i+1)*f.q-1] = math.Sqrt(p.SumW) * m
		}
	}
	for r, of := range p.responses() {
		cross := make([]float64, f.n())
		if s.responses[r].zz > 0 {
			for i, c := range f.column {
				cross[i] = varies[f.start+c] * of.XZ[f.start+c] / f.d[i]
			}
		}
		f.cross = append(f.cross, cross)
	}
}

// across are the products of the eliminated columns, by position, with those left.
func (f *eliminated) across(xx mat.Symmetric) *mat.Dense {
	if many, ok := xx.(*linalg.Structured); ok {
		rows := make([]int, f.n()) // each is a group, in order
		for i := range rows {
			rows[i] = f.start + i
		}
		return many.Block(rows, f.columns)
	}
	out := mat.NewDense(f.n(), max(len(f.columns), 1), nil)
	for i, c := range f.column {
		row := out.RawRowView(i)
		for j, column := range f.columns {
			row[j] = xx.At(f.start+c, column)
		}
	}
	return out
}

// penalties lists those of the columns left and of the eliminated ones in whole, in the
// order of p's terms.
func (e *schur) penalties(p *Problem, whole, s *system, live []bool) {
	next, leftIndex, leftTerm, block, own := 0, 0, 0, 0, 0
	e.blockOf = make([]int, len(s.blocks))
	for number, t := range p.Terms {
		if e.has(t) {
			for j := range t.S {
				var diag []float64
				var members []int
				for i, owner := range e.owner {
					if owner == own+j {
						diag, members = append(diag, math.Sqrt(e.size[i])), append(members, i)
					}
				}
				if len(members) == 0 {
					continue
				}
				for _, i := range members {
					e.owner[i] = -2 - len(whole.penalties) // not to be taken for one of the term's
				}
				e.leftOf, e.members = append(e.leftOf, -1), append(e.members, members)
				whole.addBlock(penalty{index: next + j, component: number, diag: diag, rank: len(diag)})
			}
			next += len(t.S)
			own += len(t.S)
			continue
		}
		for ; block < len(s.blocks); block++ {
			b := s.blocks[block]
			if s.penalties[b.penalties[0]].component != leftTerm {
				break
			}
			var members []penalty
			for _, k := range b.penalties {
				pen := s.penalties[k]
				pen.index, pen.component, pen.lo = pen.index-leftIndex+next, number, 0
				members = append(members, pen)
				e.leftOf, e.members = append(e.leftOf, k), append(e.members, nil)
			}
			e.blockOf[block] = len(whole.blocks)
			whole.addBlock(members...)
		}
		leftTerm++
		leftIndex += len(t.S)
		next += len(t.S)
	}
	for i, owner := range e.owner {
		if owner < -1 {
			e.owner[i] = -2 - owner
		}
	}
}

func (e *schur) allocate(s *system) {
	n := e.n()
	e.base, e.basis, e.rho = s.gram, s.basis, make([]float64, len(s.penalties))
	e.below = mat.NewSymDense(s.q, nil)
	s.gram = mat.NewSymDense(s.q, nil)
	for r := range s.responses {
		e.lower, e.crosses = append(e.lower, make([]float64, n)), append(e.crosses, s.responses[r].cross)
		s.responses[r].cross = make([]float64, s.q)
	}
	e.root, e.of, e.sums = make([]float64, n), make([]float64, n), make([]float64, e.q)
	e.factor, e.inverse = make([]float64, len(e.gram)), make([]float64, len(e.gram))
	e.y, e.p, e.pt = make([]float64, n*e.q), make([]float64, n*e.q), make([]float64, n*e.q)
	for _, own := range e.members {
		var k, h *mat.SymDense
		if own != nil {
			k, h = mat.NewSymDense(e.q, nil), mat.NewSymDense(e.q, nil)
		}
		e.k, e.h = append(e.k, k), append(e.h, h)
	}
	if k := len(e.members); k > 0 {
		e.near = mat.NewSymDense(k, nil)
	}
}

// setRho splits log lambdas among the two sorts of columns.
func (e *schur) setRho(rho []float64) {
	for j, own := range e.members {
		if own == nil {
			e.rho[e.leftOf[j]] = rho[j]
			continue
		}
		f := math.Exp(rho[j] / 2)
		for _, i := range own {
			e.root[i] = f * math.Sqrt(e.size[i])
		}
	}
}

// solve is criterion.solve.
func (e *schur) solve(c *criterion, rho []float64) (logDet float64, ok bool) {
	e.setRho(rho)
	if !e.reduce() {
		return 0, false
	}
	own, ok := e.left.solve(e.rho)
	if !ok {
		return 0, false
	}
	for i, at := range e.blockOf {
		c.overlap[at] = e.left.overlap[i]
	}
	for r := range c.at {
		alpha := c.at[r].alpha
		copy(alpha[e.n():], e.left.at[r].alpha)
		for i, v := range e.lower[r] {
			alpha[i] = v - kernel.Dot(e.y[i*e.q:(i+1)*e.q], alpha[e.n():])
		}
		e.solveUpper(alpha[:e.n()], 1)
	}
	logDet = e.logDet + own
	return logDet, finite(logDet)
}

// reduce sets what left is without its penalties, at the roots at hand, unless it is that: only penalties of
// eliminated columns change it.
func (e *schur) reduce() (ok bool) {
	if e.reduced != nil && slices.Equal(e.reduced, e.root) {
		return true
	}
	e.reduced = nil
	if e.logDet, ok = e.factorize(); !ok {
		return false
	}
	subtractGram(e.left.gram, e.base, e.y, e.n())
	for r, z := range e.lower {
		copy(z, e.cross[r])
		e.solveLower(z, 1)
		cross := e.left.responses[r].cross
		copy(cross, e.crosses[r])
		for i, v := range z {
			kernel.Axpy(cross, e.y[i*e.q:(i+1)*e.q], -v)
		}
	}
	e.reduced = slices.Clone(e.root)
	return true
}

// penalised tells whether eliminated columns have penalties.
func (e *schur) penalised() bool {
	return slices.ContainsFunc(e.members, func(own []int) bool { return own != nil })
}

// subtractGram sets dst = base - y'y, y of n rows.
func subtractGram(dst, base *mat.SymDense, y []float64, n int) {
	linalg.CopyTriangle(dst, base)
	x := mat.NewDense(n, dst.SymmetricDim(), y)
	linalg.SubtractSymmetric(dst, x, x)
}

// residualSum is criterion.residualSum: products about the means are those of the groups
// less the means'.
func (e *schur) residualSum(alpha []float64, r int, zz float64) float64 {
	n, left := e.n(), e.q
	if e.one {
		left--
	}
	f, s, along := alpha[:n], alpha[n:n+left], 0.0
	for i, m := range e.mean {
		along += m * f[i]
	}
	sum, shared := zz, e.sums
	clear(shared)
	for g, at := range e.at {
		lo, hi := e.group(g)
		m := hi - lo
		for i := range m {
			row := e.border[(lo+i)*e.q : (lo+i+1)*e.q]
			a := f[lo+i]
			fitted := dot(e.gram[at+i*m:at+(i+1)*m], f[lo:hi]) - e.mean[lo+i]*along
			sum += a * (fitted - 2*e.cross[r][lo+i])
			kernel.Axpy(shared, row, a)
		}
	}
	fitted := mat.NewVecDense(e.q, nil)
	whole := append(append(make([]float64, 0, e.q), s...), make([]float64, e.q-left)...)
	fitted.MulVec(e.base, mat.NewVecDense(e.q, whole))
	for i, a := range s {
		sum += a * (fitted.AtVec(i) + 2*shared[i] - 2*e.crosses[r][i])
	}
	return sum
}

// rootTimesAlpha is criterion.rootTimesAlpha.
func (e *schur) rootTimesAlpha(c *criterion) {
	e.left.rootTimesAlpha(e.rho)
	for r := range c.at {
		for j, own := range e.members {
			g := c.part(c.at[r].g, j)
			if own == nil {
				copy(g, e.left.part(e.left.at[r].g, e.leftOf[j]))
				continue
			}
			for l, i := range own {
				g[l] = e.root[i] * c.at[r].alpha[i]
			}
		}
	}
}

// fewDigits is criterion.fewDigits: digits are lost by the subtraction from C, or next to the
// diagonal of its result.
func (e *schur) fewDigits() bool {
	if e.left.fewDigits() {
		return true
	}
	y := append([]float64(nil), e.y...)
	e.left.intoInner(y, e.n())
	for i, v := range e.left.e {
		taken := 0.0
		for l := i; l < len(y); l += e.q {
			taken += y[l] * y[l]
		}
		if 1/(1+taken*v*v) < 1e-12 {
			return true
		}
	}
	return false
}
