package penalty

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/internal/base/kernel"
)

const (
	maxStep     = 5.0 // in any log lambda
	maxHalvings = 30
	// boundEDF bounds the effective degrees of freedom that a penalised part
	// keeps when its lambda is at the upper bound.
	boundEDF = 1e-8
	// tailEDF is the edf of a penalised part below which lambda = infinity is tried at
	// once: from there Newton's steps in log lambda have length 1, however far it is.
	tailEDF = 0.3
	// minSpent is the edf taken by a penalty below which lambda's lower bound is tried at
	// once, for the same reason.
	minSpent = 0.01
	// flatCurvature is the second derivative in a log lambda below which the criterion does
	// not depend on it.
	flatCurvature = 1e-4
)

// search minimises a criterion over the log lambdas that are free. The criterion
// may be flat towards infinity, have several minima or be concave at the start.
type search struct {
	*criterion
	free          []int     // parameters
	lo, hi        []float64 // bounds of all rho
	start         []float64
	triedInfinity []bool    // infinity was tried
	slope         []float64 // size of the gradient when infinity was tried last
	triedZero     []bool    // the lower bound was tried
	triedFinite   []bool    // finite values were tried from infinity
	triedOthers   []bool    // other finite values were tried from a finite one
	loLowered     []bool    // lo was lowered
	loFinal       []bool    // lo was lowered and raised again: it stays
	converged     *point    // where bounds were lowered last; nil: nowhere, or it was gone back to
	lostDigits    bool      // X'WX + S had too few digits at some lambda that was tried
	tol           float64
	log           []Step
}

func newSearch(c *criterion, tol float64, fixed []bool) *search {
	k := c.params
	s := &search{criterion: c, tol: tol, lo: make([]float64, k), hi: make([]float64, k), start: make([]float64, k),
		triedInfinity: make([]bool, k), slope: make([]float64, k), triedZero: make([]bool, k), triedFinite: make([]bool, k), triedOthers: make([]bool, k), loLowered: make([]bool, k), loFinal: make([]bool, k)}
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

// bound is the start of the log lambda of penalty j and its bounds. At the start X'WX and
// lambda S have the same trace on the range of S (Wood 2017, section 6.2). Along
// eigenvector i of S_j with eigenvalue v_i, and x_i = that direction's share of
// X'WX, the edf left is at most x_i/(lambda v_i).
func (s *search) bound(j int) (start, lo, hi float64) {
	pen := &s.penalties[j]
	floor := 0.0
	for i := range s.q {
		floor = math.Max(floor, s.ownProduct(i))
	}
	floor *= 1e-8 // directions without data
	if floor == 0 {
		floor = 1
	}
	xs, vs, ratios := 0.0, 0.0, 0.0
	var image *mat.Dense // root X'WX
	if pen.diag == nil {
		image = product(pen.root, s.ownProducts(j))
	}
	for i := range pen.rank {
		x, v := 0.0, 0.0
		if pen.diag != nil {
			x, v = s.ownProduct(s.coordinate(j, i)), pen.diag[i]*pen.diag[i]
		} else {
			row := pen.root.RawRowView(i)
			v = kernel.Dot(row, row)
			x = kernel.Dot(row, image.RawRowView(i)) / v
		}
		x = math.Max(x, floor)
		xs, vs, ratios = xs+x, vs+v, ratios+x/v
	}
	start = math.Log(xs / vs)
	return start, start + math.Log(1e-7), math.Log(ratios / boundEDF)
}

// ownProducts are the entries of X'WX of penalty j's block.
func (s *search) ownProducts(j int) *mat.Dense {
	_, dim := s.penalties[j].root.Dims()
	own := mat.NewDense(dim, dim, nil)
	for a := range dim {
		row := own.RawRowView(a)
		for c := range row {
			row[c] = s.between(s.coordinate(j, a), s.coordinate(j, c))
		}
	}
	return own
}

// atBound tells whether rho_j sits at a bound and the gradient pushes outwards,
// or is too small to say.
func (s *search) atBound(p *point, j int) bool {
	return p.rho[j] >= s.hi[j] && p.grad[j] <= s.gradTolerance(p) || p.rho[j] <= s.lo[j] && p.grad[j] >= -s.gradTolerance(p)
}

// gradTolerance is the gradient that counts as zero.
func (s *search) gradTolerance(p *point) float64 {
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
		return nil, 0, fmt.Errorf("penalty: the %s criterion does not exist at the starting values: there are %g rows, %d coefficients and gamma is %g; lower gamma, fix smoothing parameters, or use fewer columns", s.kind, s.n, s.q, s.gamma)
	}
	s.record(p, 0)
	for iteration := 1; ; iteration++ {
		if s.stopped() {
			return nil, 0, s.ctx.Err()
		}
		if len(s.free) == 0 {
			return p, Converged, nil
		}
		if s.gradNorm(p) <= s.gradTolerance(p) {
			if s.lowerBounds(p) {
				continue
			}
			q := s.otherMinimum(p)
			if q == nil {
				return p, s.status(p), nil
			}
			p = q
			s.record(p, 0)
			continue
		}
		if iteration > iterations {
			return p, IterationLimit, nil
		}
		if q := s.tryBound(p); q != nil {
			p = q
			s.record(p, 0)
			continue
		}
		step := s.direction(p)
		q, halvings := s.lineSearch(p, step)
		if q == nil {
			// Where rounding hides the descent, a gradient this small is as good
			// as zero.
			if s.gradNorm(p) <= 1e4*s.gradTolerance(p) {
				return p, s.status(p), nil
			}
			if last := s.fixLowered(); last != nil {
				p = last
				s.record(p, 0)
				continue
			}
			return p, StepFailed, nil
		}
		p = q
		s.record(p, halvings)
	}
}

func (s *search) status(p *point) Status {
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

// edfLeft is the edf that the penalised parts of parameter i keep.
func (s *search) edfLeft(p *point, i int) float64 {
	left := s.ranks[i]
	for j, v := range p.spent {
		if s.set[j] == i {
			left -= v
		}
	}
	return left
}
