package decompose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/moments"
	"github.com/pho-go/pho/penalty"
)

// Default rank tolerances: a basis learned in float32 carries noise of 1e-7 that
// a smaller tolerance would project on.
const (
	toleranceLearned = 1e-4
	toleranceDefault = 1e-6
)

// Solve projects each deep predictor on its structured columns, from the
// statistics alone: alpha, what it does to the terms, and how sure it is. The
// last pass (Explain) adds what needs rows. When ctx is done Solve ends with its
// error after the step that it is at, of which the longest is an eigendecomposition
// of all columns.
func Solve(ctx context.Context, m Model, s *Statistics, o *Options) (*Result, error) {
	o = o.orDefault()
	if err := o.validate(m); err != nil {
		return nil, err
	}
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	if err := p.belongs(m, s); err != nil {
		return nil, err
	}
	return p.solve(ctx, s, o)
}

func (p *plan) solve(ctx context.Context, s *Statistics, o *Options) (*Result, error) {
	total := s.sum.Total()
	if total.Positive == 0 {
		return nil, errors.New("decompose: all weights are zero")
	}
	if o.factor() && !total.Layout.Factor {
		return nil, fmt.Errorf("decompose: the statistics hold products, which do not decide ranks for a tolerance of %g: accumulate them with route qr", o.RankTolerance)
	}
	r := &Result{
		Format: Format, Rows: total.Positive, Method: o.method(p),
		Weights: o.Weights, Response: o.Response, Offset: o.Offset,
		Warnings: []string{}, Features: []Feature{}, sum: s.sum,
	}
	if r.Method == PHOGAM {
		r.Smoothing = o.Smoothing.Criterion.String()
		if s.groups != nil {
			r.Smoothing = "cv"
		}
	}
	if total.Layout.Factor {
		r.Route = QR
	}
	if o.RefitTotal {
		r.Refit = "total"
	}
	if o.Family != nil {
		r.Family = o.Family.Name()
		if o.Family.HasDispersion() {
			phi := total.Sum[p.p] / total.SumW
			r.Dispersion = &phi
		}
	}
	for i, f := range s.features {
		r.Features = append(r.Features, f.feature(total.Sum[p.p+1+i]/float64(total.Rows)))
	}
	for k := range p.predictors {
		d, warnings, err := p.solvePredictor(ctx, k, total, s.groups, r.Method, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("decompose: predictor %q: %w", p.predictors[k].name, err)
			if errors.Is(err, penalty.ErrLostDigits) && !total.Layout.Factor {
				err = fmt.Errorf("%w: accumulate the factor of the rows (route qr), or rescale columns with values far from all others", err)
			}
			return nil, err
		}
		if d.lost {
			warnings = append(warnings, "X'WX holds few digits of some direction that decides: take the figures with care, or use route qr")
		}
		r.Predictors = append(r.Predictors, d)
		for _, w := range warnings {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s", d.Name, w))
		}
	}
	return r, nil
}

func (f featureRange) feature(mean float64) Feature {
	if f.categorical {
		return Feature{Name: f.name, Levels: f.levels}
	}
	return Feature{Name: f.name, Min: f.min, Max: f.max, Mean: mean}
}

// belongs refuses statistics of another model or of other terms (see
// plan.statistics).
func (p *plan) belongs(m Model, s *Statistics) error {
	l, features := s.sum.Layout(), len(s.features)
	if len(l.Bases) != len(p.layout.Bases)+1+features || l.Responses != p.layout.Responses {
		return fmt.Errorf("decompose: the statistics are of %d bases and %d predictors, the model has %d and %d",
			max(0, len(l.Bases)-1-features), l.Responses, len(p.layout.Bases), p.layout.Responses)
	}
	if err := p.identify(); err != nil {
		return err
	}
	err := sameBases(l.Bases[:len(p.layout.Bases)], p.layout.Bases, "the statistics", "the model")
	if err == nil {
		err = s.network.same(identityOf(m), "the statistics", "the model")
	}
	if err != nil {
		return fmt.Errorf("decompose: the statistics are not the model's: %w", err)
	}
	return nil
}

// method resolves the default: penalised terms ask for PHOGAM.
func (o *Options) method(p *plan) Method {
	if o.Method != "" {
		return o.Method
	}
	for _, d := range p.predictors {
		for _, b := range d.blocks {
			if len(b.Penalty.S) > 0 {
				return PHOGAM
			}
		}
	}
	return PHO
}

func (o *Options) tolerance(d planned) float64 {
	if o.RankTolerance > 0 {
		return o.RankTolerance
	}
	for _, b := range d.blocks {
		if b.Term.Kind() == Learned && !b.Keep {
			return toleranceLearned
		}
	}
	return toleranceDefault
}

// mostVc is the number of columns up to which the uncertainty of smoothing
// parameters is worked out: it costs as much as choosing them, or more.
const mostVc = 500

func (p *plan) solvePredictor(ctx context.Context, k int, m *moments.Moments, groups *groupSums, method Method, o *Options) (Predictor, []string, error) {
	d := p.predictors[k]
	tolerance := o.tolerance(d)
	c, err := p.constrain(d, m, k, tolerance, o.SP)
	if err != nil {
		return Predictor{}, nil, err
	}
	c.notes = append(c.notes, c.tooCloseToConstant()...)
	for j := range c.terms {
		c.terms[j].DF = o.DF[c.terms[j].Name]
	}
	intercept := !o.withoutIntercept(d.name)
	beta := c.beta()
	problem := c.problem(m, intercept, o.RefitTotal, beta)
	f := c.factor(intercept, o.RefitTotal, beta)
	if f != nil {
		f.into(problem, c)
	}
	if err := ctx.Err(); err != nil {
		return Predictor{}, nil, err
	}

	var proj *projection
	if method == PHO {
		proj, err = orthogonal(problem, f, tolerance)
	} else {
		// Smoothing parameters are chosen by the moments on either route; what is
		// fitted at them is not.
		smoothing := o.Smoothing
		smoothing.RankTolerance = math.Max(tolerance, minGramTolerance)
		smoothing.WithoutVc = smoothing.WithoutVc || c.width() > mostVc
		if groups != nil {
			proj, err = c.crossValidated(ctx, k, groups, intercept, o.RefitTotal, beta, smoothing, problem)
		} else {
			proj, err = penalised(ctx, problem, f, smoothing)
		}
		if err == nil && f != nil && (problem.Factor == nil || tolerance < minGramTolerance) {
			err = proj.refine(ctx, problem, f, tolerance, smoothing.Scale)
		}
	}
	// What is said of dropped directions is read from correlations.
	reading := math.Max(tolerance, minGramTolerance)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = proj.settle(c.terms, c.ownProducts(proj.sd, intercept, o.RefitTotal, beta), reading)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Predictor{}, nil, err
	}

	one := 0
	if intercept {
		one = 1
	}
	kept := 0 // columns that stand for kept terms
	for _, b := range d.blocks {
		if b.Keep {
			kept++
		}
	}
	if method == PHOGAM {
		proj.rank -= kept // PHO does not count columns of zeros
	}
	out := Predictor{
		Name: d.name, Rank: proj.rank + one, Columns: c.width() - kept + one, RankTolerance: tolerance,
		EDF: proj.total, Scale: proj.scale, Score: proj.score, Status: proj.status, Iterations: proj.iterations,
		Aliased: []string{}, Terms: []TermResult{}, Importance: []Importance{},
		cov: c.expandCov(proj.cov), mean: c.view.Mean,
	}
	alpha := c.expand(proj.alpha)
	if o.RefitTotal {
		floats.Sub(alpha, beta)
	}
	after := make([]float64, len(alpha))
	floats.AddTo(after, beta, alpha)
	out.InterceptBefore = d.intercept + floats.Dot(c.view.Mean, beta)
	if moved := floats.Dot(c.view.Mean, alpha); intercept {
		out.InterceptMoved = c.view.MeanR - moved
		out.Intercept = out.InterceptBefore + c.view.MeanR // InterceptMoved + moved, without rounding
	} else {
		out.Intercept = out.InterceptBefore + moved
	}

	concurvity, pairs, err := c.concurvity(ctx, proj.corr, proj.sd, c.contract(after), reading)
	if err != nil {
		return Predictor{}, nil, err
	}
	out.Concurvity = []PairConcurvity{}
	for _, pair := range pairs {
		if !d.keeps(pair.Term) && !d.keeps(pair.With) {
			out.Concurvity = append(out.Concurvity, pair)
		}
	}
	aliases := findAliases(proj.dropped, proj.corr, c.start, reading)
	for _, i := range aliases.columns {
		if c.blocks[c.blockOf(i)].Keep {
			continue
		}
		out.Aliased = append(out.Aliased, c.columnName(i))
	}
	for j, b := range d.blocks {
		if err := ctx.Err(); err != nil {
			return Predictor{}, nil, err
		}
		t, err := c.term(j, b, m.SumW, beta, alpha)
		if err != nil {
			return Predictor{}, nil, err
		}
		t.EDF = proj.edf[j]
		if proj.edf1 != nil {
			t.EDF1 = &proj.edf1[j]
		}
		if proj.edf2 != nil {
			t.EDF2 = &proj.edf2[j]
		}
		t.SP = []float64{}
		if !b.Keep {
			t.SP = append(t.SP, proj.lambda[j]...)
		}
		for _, inf := range proj.atInfinity[j] {
			t.AtInfinity = t.AtInfinity || inf
		}
		if !b.Keep { // whose columns here are zeros
			t.Concurvity = concurvity[j]
		}
		t.Identified = len(aliases.terms[j]) == 0
		t.AliasedWith = []string{}
		for _, i := range aliases.terms[j] {
			t.AliasedWith = append(t.AliasedWith, d.blocks[i].Term.Name())
		}
		out.Terms = append(out.Terms, t)
	}
	out.Entangled = []Entanglement{}
	for _, group := range aliases.groups() {
		var terms []TermResult
		for _, j := range group {
			terms = append(terms, out.Terms[j])
		}
		out.Entangled = append(out.Entangled, entanglement(terms))
	}
	zero := make([]float64, len(alpha))
	out.Variance = c.variance(m.SumW, after, alpha)
	out.VarianceBefore = c.variance(m.SumW, beta, zero)
	if f != nil {
		out.Orthogonality = f.orthogonality(proj.alpha, proj.sd, m.SumW)
	} else {
		out.Orthogonality = c.orthogonality(m.SumW, alpha, problem, proj)
		out.lost = proj.weakest < digitsLost
	}
	return out, append(c.notes, c.warnings(m, &out, proj, intercept)...), nil
}

// problem is the projection as penalised least squares, of zeta or, to refit the
// total, of X beta + zeta. Nearly constant columns are set to exactly zero so
// that rounding is not taken for signal.
func (c *constrained) problem(m *moments.Moments, intercept, total bool, beta []float64) *penalty.Problem {
	p := &penalty.Problem{
		Rows: m.Positive, SumW: m.SumW, SumLogW: m.SumLogW, Intercept: intercept,
		ZZ: c.view.RR, Terms: c.terms,
	}
	xx, xz := mat.Symmetric(c.view.XX), c.view.XR
	if !intercept {
		xx, xz, p.ZZ = c.view.Raw()
	}
	if c.width() == 0 {
		return p
	}
	if total {
		var moved mat.VecDense
		b := mat.NewVecDense(len(beta), beta)
		moved.MulVec(xx, b)
		p.ZZ += 2*floats.Dot(xz, beta) + mat.Dot(&moved, b)
		xz = append([]float64(nil), xz...)
		floats.Add(xz, moved.RawVector().Data)
	}
	p.XX, p.XZ = c.reduce(xx), c.reduceVector(xz)
	if intercept {
		mean := c.reduceVector(c.view.Mean)
		p.XMean, p.ZMean = mean, c.view.MeanR
		if total {
			p.ZMean += floats.Dot(c.view.Mean, beta)
		}
		for i, mu := range mean {
			if c.varies(c.blockOf(i), p.XX.At(i, i), mu) {
				continue
			}
			p.XZ[i] = 0
			for j := range mean {
				p.XX.SetSym(i, j, 0)
			}
		}
	}
	return p
}

// beta collects the network's own raw coefficients.
func (c *constrained) beta() []float64 {
	beta := make([]float64, c.raw[len(c.blocks)])
	for j, b := range c.blocks {
		copy(beta[c.raw[j]:c.raw[j+1]], b.Coef)
	}
	return beta
}

// term fills in what the moments say of block j.
func (c *constrained) term(j int, b Block, sumW float64, beta, alpha []float64) (TermResult, error) {
	lo, hi := c.raw[j], c.raw[j+1]
	t := TermResult{
		Name: b.Term.Name(), Kind: b.Term.Kind(), Features: b.Term.Columns(),
		Columns: c.start[j+1] - c.start[j],
		Beta:    beta[lo:hi:hi], Alpha: alpha[lo:hi:hi], term: b.Term,
	}
	if b.Keep {
		t.Columns = 0
	}
	if enc, ok := b.Term.(json.Marshaler); ok {
		spec, err := enc.MarshalJSON()
		if err != nil {
			return t, fmt.Errorf("term %q: %w", t.Name, err)
		}
		t.Spec = spec
	}
	sum := make([]float64, hi-lo)
	floats.AddTo(sum, t.Beta, t.Alpha)
	t.Before = c.moment(lo, hi, t.Beta, sumW)
	t.After = c.moment(lo, hi, sum, sumW)
	t.Moved = c.moment(lo, hi, t.Alpha, sumW)
	t.Center = t.After.Mean
	return t, nil
}

// moment is the weighted mean and variance of Phi_j b.
func (c *constrained) moment(lo, hi int, b []float64, sumW float64) Moment {
	if c.view.R != nil {
		image := c.image(lo, b)
		return Moment{Mean: floats.Dot(c.view.Mean[lo:hi], b), Variance: mat.Dot(image, image) / sumW}
	}
	v := mat.NewVecDense(len(b), b)
	xx := c.view.XX.SliceSym(lo, hi)
	return Moment{
		Mean:     floats.Dot(c.view.Mean[lo:hi], b),
		Variance: math.Max(mat.Inner(v, xx, v)/sumW, 0), // rounding may leave -1e-17
	}
}

// variance splits the variance of X b + (zeta - X a), all weighted and centred.
func (c *constrained) variance(sumW float64, b, a []float64) Variance {
	if len(b) == 0 {
		return Variance{Unstructured: c.view.RR / sumW, Total: c.view.RR / sumW}
	}
	if c.view.R != nil {
		return c.varianceByFactor(sumW, b, a)
	}
	vb, va, xr := mat.NewVecDense(len(b), b), mat.NewVecDense(len(a), a), mat.NewVecDense(len(b), c.view.XR)
	var v Variance
	v.Structured = math.Max(mat.Inner(vb, c.view.XX, vb)/sumW, 0)
	v.Unstructured = math.Max((c.view.RR-2*mat.Dot(va, xr)+mat.Inner(va, c.view.XX, va))/sumW, 0)
	v.TwiceCovariance = 2 * (mat.Dot(vb, xr) - mat.Inner(vb, c.view.XX, va)) / sumW
	v.Total = v.Structured + v.Unstructured + v.TwiceCovariance
	return v
}

// orthogonality is the largest |correlation| of a column with what is left of
// zeta; directions below the rank tolerance are not projected on.
func (c *constrained) orthogonality(sumW float64, alpha []float64, p *penalty.Problem, proj *projection) float64 {
	n := len(proj.alpha)
	if n == 0 {
		return 0
	}
	var fitted mat.VecDense
	fitted.MulVec(p.XX, mat.NewVecDense(n, proj.alpha))
	left := p.ZZ - 2*floats.Dot(p.XZ, proj.alpha) + mat.Dot(&fitted, mat.NewVecDense(n, proj.alpha))
	if !(left > 1e-20*p.ZZ) {
		return 0
	}
	var worst float64
	for i, sd := range proj.sd {
		if sd > 0 {
			r := (p.XZ[i] - fitted.AtVec(i)) / (sd * math.Sqrt(sumW*left))
			worst = math.Max(worst, math.Abs(r))
		}
	}
	return worst
}

// keeps tells whether the term of that name is left as it is.
func (d planned) keeps(name string) bool {
	return slices.ContainsFunc(d.blocks, func(b Block) bool { return b.Keep && b.Term.Name() == name })
}

// blockOf is the block of constrained column i.
func (c *constrained) blockOf(i int) int {
	j := 0
	for c.start[j+1] <= i {
		j++
	}
	return j
}

// columnName names constrained column i by its term: x1, s(x2).3, dow[tue].
func (c *constrained) columnName(i int) string {
	j := c.blockOf(i)
	t, at := c.blocks[j].Term, i-c.start[j]
	if l, ok := t.(interface{ Levels() []string }); ok {
		if c.blocks[j].Constraint == Treatment {
			at++
		}
		if levels := l.Levels(); at < len(levels) {
			return fmt.Sprintf("%s[%s]", t.Name(), levels[at])
		}
	}
	if c.start[j+1]-c.start[j] == 1 {
		return t.Name()
	}
	return fmt.Sprintf("%s.%d", t.Name(), at+1)
}

func (c *constrained) warnings(m *moments.Moments, p *Predictor, proj *projection, intercept bool) []string {
	var w []string
	warn := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	if len(c.blocks) == 0 {
		warn("there is no structured term to project on: everything stays in the deep part; give a formula")
	}
	switch {
	case c.view.RR == 0 && p.VarianceBefore.Structured > 0:
		warn("the deep part is constant: the network is additive already, and nothing but a constant moves")
	case c.view.RR == 0:
		warn("the predictor is constant on these rows")
	}
	switch {
	case len(c.blocks) == 0:
	case proj.status != "" && int64(p.Columns) >= m.Positive:
		warn("%d structured columns on %d rows: without penalties they explain anything, so what is structured rests on the penalties alone; use fewer columns", p.Columns, m.Positive)
	case int64(p.Rank) >= m.Positive && proj.status == "":
		warn("the structured columns have rank %d on %d rows: they explain anything, and the unstructured part is zero by construction (paper, limitation 1); use fewer columns or a penalty", p.Rank, m.Positive)
	}
	if spanned := nearlySpanned(p); len(spanned) > 0 {
		warn("%s nearly in the span of other terms (concurvity above %g): how effects are split between them rests on little, or on penalties alone", isOrAre(spanned), concurvityWarned)
	}
	if len(p.Aliased) > 0 {
		warn("%d of %d columns are spanned by others, to the rank tolerance of %g, and carry no information of their own: %s", len(p.Aliased), p.Columns, p.RankTolerance, listed(p.Aliased))
	}
	if len(p.Entangled) > 0 {
		var texts []string
		for _, e := range p.Entangled {
			texts = append(texts, fmt.Sprintf("%s (%s)", strings.Join(e.Terms, " + "), e.Reason))
		}
		warn("only the sum of these terms is identified, not how it is split between them: %s", strings.Join(texts, "; "))
	}
	switch proj.status {
	case penalty.IterationLimit.String(), penalty.StepFailed.String():
		warn("smoothing selection did not converge: %s after %d iterations", proj.status, proj.iterations)
	case penalty.ZeroResidual.String():
		if c.view.RR > 0 {
			warn("the bases reproduce the deep part exactly: there is no residual to choose the smoothing by, so it is as weak as allowed")
		}
	}
	if !intercept {
		warn("projection without an intercept: the parts may covary (twice covariance %.3g of total variance %.3g)", p.Variance.TwiceCovariance, p.Variance.Total)
	}
	return w
}

// concurvityWarned is the concurvity in the worst case from which on a term that
// is identified to the rank tolerance gets a warning all the same.
const concurvityWarned = 0.995

// nearlySpanned names identified terms that others reproduce almost.
func nearlySpanned(p *Predictor) []string {
	var names []string
	for _, t := range p.Terms {
		if t.Identified && t.EDF > 0 && t.Concurvity.Worst > concurvityWarned {
			names = append(names, t.Name)
		}
	}
	return names
}

func isOrAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return listed(names) + " are"
}

// listed names at most eight.
func listed(names []string) string {
	if len(names) > 8 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:8], ", "), len(names)-8)
	}
	return strings.Join(names, ", ")
}
