package penalty

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	maxStep     = 5.0 // in any log lambda
	maxHalvings = 30
	// negligible bounds the effective degrees of freedom that a penalised part
	// keeps when its lambda is at the upper bound.
	negligible = 1e-8
	// tail is the edf of a penalised part below which infinity is tried at once:
	// from there Newton's steps in log lambda approach 1 however far it is.
	tail = 0.3
	// bare is the edf that a penalty takes away below which no penalty is tried,
	// for the same reason.
	bare = 0.01
	// unnoticed is the second derivative in a log lambda below which the criterion does
	// not depend on it.
	unnoticed = 1e-4
)

// search minimises a criterion over the log lambdas that are free. The criterion
// may be flat towards infinity, have several minima or be concave at the start.
type search struct {
	*criterion
	free     []int     // parameters
	lo, hi   []float64 // bounds of all rho
	start    []float64
	tried    []bool    // infinity was tried
	slope    []float64 // size of the gradient when infinity was tried last, on the way
	sunk     []bool    // the lower end was tried
	released []bool    // coming back from infinity was tried
	scanned  []bool    // other finite values were tried
	lowered  []bool    // lo was lowered
	pinned   []bool    // and is to stay
	lost     bool      // X'WX + S had too few digits where the criterion was to be known
	tol      float64
	log      []Step
}

func newSearch(c *criterion, tol float64, fixed []bool) *search {
	k := c.params
	s := &search{criterion: c, tol: tol, lo: make([]float64, k), hi: make([]float64, k), start: make([]float64, k),
		tried: make([]bool, k), slope: make([]float64, k), sunk: make([]bool, k), released: make([]bool, k), scanned: make([]bool, k), lowered: make([]bool, k), pinned: make([]bool, k)}
	linked := make([]float64, k)
	for j, i := range c.set {
		start, lo, hi := s.bound(j)
		if linked[i] == 0 {
			s.lo[i], s.hi[i] = lo, hi
			if !fixed[c.penalties[j].index] {
				s.free = append(s.free, i)
			}
		}
		s.lo[i], s.hi[i] = math.Min(s.lo[i], lo), math.Max(s.hi[i], hi)
		s.start[i] += start
		linked[i]++
	}
	for i := range k {
		s.start[i] /= linked[i]
		s.slope[i] = math.Inf(1)
	}
	return s
}

// bound is the start of the log lambda of penalty j, where X'WX and lambda S have the same trace on
// the range of S (Wood 2017, 6.2: balance of the diagonals), and its bounds. Along
// eigenvector i of S_j with eigenvalue v_i, and x_i = that direction's share of
// X'WX, the edf left is at most x_i/(lambda v_i).
func (s *search) bound(j int) (start, lo, hi float64) {
	pen := &s.penalties[j]
	b := &s.blocks[pen.block]
	floor := 0.0
	for i := range s.q {
		floor = math.Max(floor, s.gram.At(i, i))
	}
	floor *= 1e-8 // directions without data
	if floor == 0 {
		floor = 1
	}
	xs, vs, ratios := 0.0, 0.0, 0.0
	for i := range pen.rank {
		x, v := 0.0, 0.0
		if pen.diag != nil {
			x, v = s.gram.At(b.lo+i, b.lo+i), pen.diag[i]*pen.diag[i]
		} else {
			row := pen.root.RawRowView(i)
			for a, ra := range row {
				v += ra * ra
				for c, rc := range row {
					x += ra * rc * s.gram.At(b.lo+a, b.lo+c)
				}
			}
			x /= v
		}
		x = math.Max(x, floor)
		xs, vs, ratios = xs+x, vs+v, ratios+x/v
	}
	start = math.Log(xs / vs)
	return start, start + math.Log(1e-7), math.Log(ratios / negligible)
}

// atBound tells whether rho_j sits at a bound and the gradient pushes outwards,
// or is too small to say.
func (s *search) atBound(p *point, j int) bool {
	return p.rho[j] >= s.hi[j] && p.grad[j] <= s.enough(p) || p.rho[j] <= s.lo[j] && p.grad[j] >= -s.enough(p)
}

// enough is the gradient that counts as zero.
func (s *search) enough(p *point) float64 {
	return s.tol * (1 + math.Min(math.Abs(p.score), math.Abs(p.objective)))
}

// gradNorm is the largest gradient component that is free to move.
func (s *search) gradNorm(p *point) float64 {
	g := 0.0
	for _, j := range s.free {
		if !s.atBound(p, j) {
			g = math.Max(g, math.Abs(p.grad[j]))
		}
	}
	return g
}

// run is Newton's method from the given rho.
func (s *search) run(rho []float64, iterations int) (*point, Status, error) {
	p := s.eval(rho, true)
	if math.IsInf(p.objective, 1) {
		return nil, 0, fmt.Errorf("penalty: the %s criterion does not exist at the starting values: there are %g rows, %d coefficients and gamma is %g; lower gamma, fix smoothing parameters, or use fewer columns", s.method, s.n, s.q, s.gamma)
	}
	s.record(p, 0)
	for iteration := 1; ; iteration++ {
		if s.stopped() {
			return nil, 0, s.ctx.Err()
		}
		if len(s.free) == 0 {
			return p, Converged, nil
		}
		if s.gradNorm(p) <= s.enough(p) {
			if s.lower(p) {
				continue
			}
			q := s.elsewhere(p)
			if q == nil {
				return p, s.ending(p), nil
			}
			p = q
			s.record(p, 0)
			continue
		}
		if iteration > iterations {
			return p, IterationLimit, nil
		}
		if q := s.leap(p); q != nil {
			p = q
			s.record(p, 0)
			continue
		}
		step := s.direction(p)
		q, halvings := s.line(p, step)
		if q == nil {
			// Where rounding hides the descent, a gradient this small is as good
			// as zero.
			if s.gradNorm(p) <= 1e4*s.enough(p) {
				return p, s.ending(p), nil
			}
			if s.pin(p) {
				continue
			}
			return p, StepFailed, nil
		}
		p = q
		s.record(p, halvings)
	}
}

// lower moves lower bounds at which the gradient still points down though the penalty
// takes effective degrees of freedom there, and tells whether there was any. The bounds
// are relative to where the sizes of the data and of the penalty balance, and one
// value far from all others moves that balance by as much as it is far away.
func (s *search) lower(p *point) (moved bool) {
	for _, j := range s.free {
		if p.rho[j] <= s.lo[j] && p.grad[j] > s.enough(p) && s.ranks[j]-s.left(p, j) >= bare && !s.pinned[j] && s.lo[j] > math.Log(1e-100) {
			s.lo[j] += math.Log(1e-3)
			s.lowered[j], moved = true, true
		}
	}
	return moved
}

// pin makes bounds that were lowered those of p, where no digits are left to go further
// down with, and tells whether there was any.
func (s *search) pin(p *point) (moved bool) {
	for _, j := range s.free {
		if s.lowered[j] && !s.pinned[j] && p.rho[j] > s.lo[j] && p.grad[j] > 0 {
			s.lo[j], s.pinned[j], s.lost, moved = p.rho[j], true, true, true
		}
	}
	return moved
}

func (s *search) ending(p *point) Status {
	for _, j := range s.free {
		if p.rho[j] >= s.hi[j] || p.rho[j] <= s.lo[j] {
			return AtBound
		}
	}
	return Converged
}

func (s *search) record(p *point, halvings int) {
	step := Step{Iteration: len(s.log), Score: p.score, GradNorm: s.gradNorm(p), Halvings: halvings}
	for _, j := range s.free {
		step.Rho = append(step.Rho, p.rho[j])
	}
	s.log = append(s.log, step)
}

// leap sends one nearly linear term to infinity, or one that is hardly penalised
// to the lower end, if that is no worse. nil: none.
func (s *search) leap(p *point) *point {
	for _, j := range s.free {
		if !s.sunk[j] && p.rho[j] > s.lo[j] && p.grad[j] > 0 && s.ranks[j]-s.left(p, j) < bare {
			s.sunk[j] = true
			rho := append([]float64(nil), p.rho...)
			rho[j] = s.lo[j]
			if q := s.eval(rho, true); q.objective <= p.objective && s.atBound(q, j) {
				return q
			}
		}
		if p.rho[j] >= s.hi[j] || p.grad[j] >= 0 || !(s.fading(p, j) || !s.tried[j] && s.left(p, j) <= tail) {
			continue
		}
		s.tried[j], s.slope[j] = true, math.Abs(p.grad[j])
		rho := append([]float64(nil), p.rho...)
		rho[j] = s.hi[j]
		if q := s.eval(rho, true); q.objective <= p.objective {
			return q
		}
	}
	return nil
}

// fading tells whether the criterion falls towards infinity as exp(-rho_j) does, so
// that the second derivative is the negative of the first and Newton's steps are 1.
// Infinity was perhaps tried before other terms had moved; or penalties overlap, and
// the edf left to one of them says little. All else is to be at rest, and after a try
// the gradient ten times smaller for the next.
func (s *search) fading(p *point, j int) bool {
	g := math.Abs(p.grad[j])
	return g < 0.01 && g < s.slope[j]/10 && g >= s.gradNorm(p) && math.Abs(p.hess.At(j, j)-g) < 0.1*g
}

// left is the edf that the penalised parts of parameter i keep.
func (s *search) left(p *point, i int) float64 {
	left := s.ranks[i]
	for j, v := range p.spent {
		if s.set[j] == i {
			left -= v
		}
	}
	return left
}

// elsewhere tests, once for each term, whether another minimum is better: for a
// term at infinity any finite lambda, since on that plateau the gradient says
// nothing about it, and for the others infinity. The criteria can have both (a weak
// signal in what is penalised most), and GCV several finite ones. nil: nothing better.
func (s *search) elsewhere(p *point) *point {
	for _, j := range s.free {
		var down []float64 // from the upper bound
		infinite := p.rho[j] >= s.hi[j]
		switch {
		case infinite && !s.released[j]:
			s.released[j] = true
			down = []float64{4, 8, 12, 16, 20}
			for s.method == GCV && down[len(down)-1]+4 < s.hi[j]-s.lo[j] {
				down = append(down, down[len(down)-1]+4)
			}
		case !infinite:
			if !s.tried[j] {
				s.tried[j] = true
				down = []float64{0}
			}
			if s.method == GCV && !s.scanned[j] {
				s.scanned[j] = true
				for _, d := range []float64{-6, -3, -1.5, 1.5, 3} {
					down = append(down, math.Max(0, s.hi[j]-p.rho[j]-d))
				}
			}
		}
		rho := append([]float64(nil), p.rho...)
		last := p.objective
		for _, d := range down {
			rho[j] = math.Max(s.lo[j], s.hi[j]-d)
			q := s.eval(rho, false)
			if last = q.objective; s.better(q, p) {
				return s.withDerivatives(rho)
			}
		}
		switch {
		case infinite && len(down) > 0:
		case !infinite && !s.released[j] && p.hess != nil && math.Abs(p.hess.At(j, j)) < unnoticed:
			s.released[j], rho[j], last = true, p.rho[j], p.objective
		default:
			continue
		}
		if q := s.belowPlateau(p, j, rho[j], last); q != nil {
			return q
		}
	}
	return nil
}

// belowPlateau looks for a clearly better value of a log lambda that is so large that
// the criterion does not depend on it. Nearly always the plateau ends not far below
// from, where the criterion is last. It goes on if one value far from all others makes
// X'WX large and what the others say of it small; then values beyond its end are looked
// at until the criterion is clearly worse. A plateau that never ends is that of a term
// of which the rows say nothing.
func (s *search) belowPlateau(p *point, j int, from, last float64) *point {
	const step, flat, clearly, worse = 4.0, 0.1, 1.0, 10.0
	if math.Abs(last-p.objective) >= flat {
		return nil
	}
	rho, ended := append([]float64(nil), p.rho...), false
	for rho[j] = from; rho[j] > math.Log(1e-100) && last < p.objective+worse; {
		ended = ended || math.Abs(last-p.objective) >= flat
		rho[j] -= step
		last = s.eval(rho, false).objective
		if last < p.objective-clearly {
			s.lo[j] = math.Min(s.lo[j], rho[j]-step)
			return s.withDerivatives(rho)
		}
	}
	s.lost = s.lost || ended && math.IsInf(last, 1)
	return nil
}

// withDerivatives is eval where the criterion exists; nil: it was stopped meanwhile.
func (s *search) withDerivatives(rho []float64) *point {
	q := s.eval(rho, true)
	if q.grad == nil {
		return nil
	}
	return q
}

// better tells whether q's criterion is less than p's by more than rounding.
func (s *search) better(q, p *point) bool {
	return q.objective < p.objective-s.enough(p)-s.noise(p)
}

// direction is the Newton step in the components that can move, with the
// Hessian's eigenvalues made positive (Wood 2017, 6.2.1), at most maxStep long.
func (s *search) direction(p *point) []float64 {
	step := make([]float64, len(p.rho))
	var moving []int
	for _, j := range s.free {
		if !s.atBound(p, j) {
			moving = append(moving, j)
		}
	}
	h := mat.NewSymDense(len(moving), nil)
	for a, j := range moving {
		for b := a; b < len(moving); b++ {
			h.SetSym(a, b, p.hess.At(j, moving[b]))
		}
	}
	values, vectors, err := eigenDescending(h)
	if err != nil { // steepest descent
		for _, j := range moving {
			step[j] = -p.grad[j]
		}
	} else {
		largest := 0.0
		for _, v := range values {
			largest = math.Max(largest, math.Abs(v))
		}
		for i, v := range values {
			v = math.Max(math.Abs(v), math.Max(1e-9*largest, 1e-300))
			along := 0.0
			for a, j := range moving {
				along += vectors.At(a, i) * p.grad[j]
			}
			for a, j := range moving {
				step[j] -= vectors.At(a, i) * along / v
			}
		}
	}
	longest := 0.0
	for _, v := range step {
		longest = math.Max(longest, math.Abs(v))
	}
	if longest > maxStep {
		for j := range step {
			step[j] *= maxStep / longest
		}
	}
	return step
}

// noise is the rounding error of the objective. The residual is a difference of
// numbers of the size of z'Wz, and the objective holds n/2 times its log.
func (s *search) noise(p *point) float64 {
	noise := 1e-13 * (s.n + math.Abs(p.objective))
	if s.scale == 0 {
		noise += 1e-15 * s.n * s.zz / math.Max(p.rss, zeroResidual*s.zz)
	}
	return noise
}

// line halves the step, kept inside the bounds, until the criterion improves.
// Close to the minimum, where rounding decides, half the gradient counts too.
func (s *search) line(p *point, step []float64) (*point, int) {
	noise := s.noise(p)
	f := 1.0
	for halvings := range maxHalvings {
		rho := append([]float64(nil), p.rho...)
		for _, j := range s.free {
			rho[j] = math.Min(s.hi[j], math.Max(s.lo[j], rho[j]+f*step[j]))
		}
		q := s.eval(rho, halvings == 0)
		if q.objective <= p.objective+noise {
			if q.grad == nil {
				q = s.eval(rho, true)
			}
			if q.objective < p.objective-noise || s.gradNorm(q) < s.gradNorm(p)/2 {
				return q, halvings
			}
		}
		f /= 2
	}
	return nil, maxHalvings
}
