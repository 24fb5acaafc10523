package decompose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/base/dyadic"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/linalg"
)

// The sandwich of predictor k, with r = zeta - X alpha and the leverages
// h_i = w_i x_i'A^-1 x_i (the intercept's 1/sum w among them):
//
//	V = A^-1 [sum_i (w_i r_i/(1-h_i))^2 x_i x_i'] A^-1 + phi A^-1 S A^-1
//
// The sum is that of moments with weights s_i = (w_i r_i/(1-h_i))^2, so it is formed by
// the same kernels, in the same chunks and merged in the same order. What it is about is known
// beforehand, so that nothing is centred on the way (moments.Scatter).

const (
	// highLeverage: a row above it is fitted so closely that its remainder tells nothing; its
	// summand is then at least that of noise of variance phi/w_i.
	highLeverage = 0.99
	// fewRows: to a row with more than this share of its level a part of such noise is added, to one of two rows all.
	fewRows = 1.0 / 6
)

// sandwichPlan is what all workers share. A predictor without standard errors has none.
type sandwichPlan struct {
	predictors []*sandwichOf
	weights    string // column
	cluster    string // column; "": rows are independent
}

// sandwichOf is one predictor's part of the plan.
type sandwichOf struct {
	terms     []int                // index of each term's columns
	cov       mat.Symmetric        // phi A^-1
	sandwich  *projection.Sandwich // nil: two products are the fastest way
	penalties []linalg.Block       // S/phi, for what smoothing adds; nil: that is found otherwise
	form      *design.Quadratic    // of cov, for columns about what the frame has them about; nil: leader has one
	leader    int                  // the first predictor with the same columns and A^-1; itself, if no other has
	frame     *moments.Frame
	constant  float64   // leverage of the intercept for w = 1
	centre    []float64 // of the columns in the projection: their means, or zeros
	means     []float64 // of the columns
	phi       float64
	unit      float64 // the weights s_i are divided by phi and the mean weight
	sumW      float64
	networks  int                   // whose residuals are told apart (residuals); else 1
	splits    []splitOf             // none: no term is split from others, or bands are given these rows
	variances []float64             // of the terms that are
	pieces    [][][]piece           // of these terms, by network and split
	spare     chan *moments.Scatter // memory for the chunks to come
}

// newSandwich plans the sums of the last pass; nil without a predictor that has some.
func (r *Result) newSandwich(at [][]int, o *Options) (*sandwichPlan, error) {
	for k := range r.Predictors {
		r.Predictors[k].robust = nil
	}
	r.Bands, r.Cluster, r.Clusters = "", "", 0
	switch o.bands() {
	case NoBands:
		r.Bands = NoBands
		return nil, nil
	case ProjectionBands:
		return nil, nil
	}
	r.Bands, r.Cluster = o.bands(), o.Cluster
	p := &sandwichPlan{cluster: o.Cluster, predictors: make([]*sandwichOf, len(r.Predictors)), weights: o.Weights}
	some := false
	for k := range r.Predictors {
		d := &r.Predictors[k]
		if !d.sandwiched() {
			continue
		}
		phi := d.Scale
		if !(phi > 0) { // cov is 0: splits alone have errors, and phi is but a unit
			phi = cmp.Or(d.Variance.Total, 1)
		}
		s := &sandwichOf{terms: at[k], cov: d.cov, centre: d.mean, means: d.mean, constant: 1 / d.sumW, phi: phi, sumW: d.sumW, networks: 1}
		if d.fit != nil {
			s.sandwich, s.penalties = d.fit.sandwich, d.fit.penalties
		}
		if !d.hasIntercept() {
			s.centre, s.constant = make([]float64, len(d.mean)), 0
		}
		s.unit = float64(r.Rows) / (phi * d.sumW)
		s.frame = &moments.Frame{Point: s.centre}
		levels := 0 // columns
		for j := range d.Terms {
			if t := &d.Terms[j]; filled(t.term) && byLevel(t) != "" {
				levels += len(t.Alpha)
			}
		}
		for j := range d.Terms {
			t := &d.Terms[j]
			t.PinnedRows = 0
			dense := filled(t.term) && !(levels > fewLevelColumns && byLevel(t) != "") && p.cluster == "" // clusters need no products
			s.frame.Dims, s.frame.Dense = append(s.frame.Dims, len(t.Alpha)), append(s.frame.Dense, dense)
		}
		s.spare = make(chan *moments.Scatter, maxSpareSums)
		if o.bands() == RobustBands && d.splitSizes().counted() {
			if err := s.planSplits(d); err != nil {
				return nil, err
			}
		}
		if len(s.splits) > 0 || p.cluster != "" {
			s.networks = max(len(d.Members), 1)
		}
		p.predictors[k], s.leader = s, k
		s.leader = slices.IndexFunc(p.predictors, func(o *sandwichOf) bool { // sharing is up to rounding: what follows leads nobody
			return o != nil && p.predictors[o.leader] == o && o.sharesInverse(s)
		})
		if s.leader == k {
			var err error
			if s.form, err = design.NewQuadraticIn(s.frame.Joined(), s.cov, s.frame.Left()); err != nil {
				return nil, fmt.Errorf("decompose: predictor %q: %w", d.Name, err)
			}
		}
		some = true
	}
	if !some {
		return nil, nil
	}
	return p, nil
}

// sharesInverse tells whether o has the columns of s and, but for rounding, its A^-1, and its sums are of the same shape.
func (s *sandwichOf) sharesInverse(o *sandwichOf) bool {
	if s == o {
		return true
	}
	if !slices.Equal(s.terms, o.terms) || !slices.Equal(s.centre, o.centre) || s.constant != o.constant || s.series() != o.series() {
		return false
	}
	if !slices.EqualFunc(s.frame.Again, o.frame.Again, slices.Equal[[]int]) || !slices.Equal(s.frame.About, o.frame.About) {
		return false
	}
	if _, many := s.cov.(*linalg.Structured); many {
		return false
	}
	const rounding = 1e-13 // of what the diagonals allow
	v, u, root := linalg.Dense(s.cov), linalg.Dense(o.cov), linalg.Diagonal(s.cov)
	for i, d := range root {
		root[i] = math.Sqrt(d / s.phi)
	}
	for i := range root {
		other := upperRow(u, i)
		for l, x := range upperRow(v, i) {
			if !(math.Abs(x/s.phi-other[l]/o.phi) <= rounding*root[i]*root[i+l]) {
				return false
			}
		}
	}
	return true
}

// filled tells whether a row of the term's columns has few zeros, or one column. A SparseTerm may be such: those
// of a single column or of a network's tap are where the batch has them.
func filled(t Term) bool {
	_, sparse := t.(SparseTerm)
	return !sparse || t.Dim() == 1 || t.Kind() == Learned
}

// fewLevelColumns of terms by levels of factors are multiplied faster with their zeros than without.
const fewLevelColumns = 150

// maxSpareSums is how many sums are kept for chunks to come: as many as one may make free.
const maxSpareSums = 16

// sandwichChunk is what one chunk of rows adds, by predictor.
type sandwichChunk struct {
	plan     *sandwichPlan
	sums     []*moments.Scatter
	pinned   [][]int64    // rows of high leverage by term
	clusters *clusterSums // in place of sums
}

// finish turns the sums into covariances.
func (p *sandwichPlan) finish(r *Result, sums *bandSums) error {
	if p == nil {
		return nil
	}
	clusters, err := sums.allClusters()
	if err != nil {
		return err
	}
	if clusters != nil {
		r.Clusters = int64(len(clusters.names))
		if r.Clusters < 2 {
			return fmt.Errorf("decompose: clusters %q: all rows of weight are of one cluster, and what is between clusters cannot be told: choose a finer column", p.cluster)
		}
		r.Warnings = append(r.Warnings, clusters.warnings(r)...)
	}
	for k, s := range p.predictors {
		if s == nil {
			continue
		}
		d := &r.Predictors[k]
		for j, n := range sums.pinned[k] {
			d.Terms[j].PinnedRows = n
		}
		var robust *robustCovariance
		if clusters != nil {
			robust = s.clustered(clusters, k, d.fit.bias.Matrix())
		} else {
			total, ok, err := sums.sums[k].Total(addScatters)
			if err != nil {
				return err
			}
			if !ok {
				total = s.frame.NewScatter()
			}
			robust = s.covariance(total, d.fit.bias.Matrix())
		}
		if err := finiteSym(robust.cov); err != nil {
			return fmt.Errorf("decompose: predictor %q: robust bands: %w: numbers are too large or too small to be squared; weights count by their ratios, so multiply them all by one number that makes them about 1; projection bands square no weights", d.Name, err)
		}
		if !d.hasIntercept() {
			robust.byMeans(d.mean)
		}
		d.robust = robust
		d.tellGiven()
		if err := d.tellChance(); err != nil {
			return err
		}
		if err := d.tellStable(float64(cmp.Or(r.Clusters, r.Rows))); err != nil {
			return err
		}
		if err := d.addSmoothing(); err != nil {
			return err
		}
	}
	r.judge() // by these standard errors
	return nil
}

// covariance is V, and the intercept's part of it: the intercept moves by w_i r_i/sum w.
func (s *sandwichOf) covariance(sums *moments.Scatter, bias mat.Symmetric) *robustCovariance {
	lo, hi := 0, 0
	if s.sandwich != nil {
		lo, hi = s.sandwich.Lo, s.sandwich.Hi
	}
	xx, x, total := sums.About(s.frame, 1/s.unit, lo, hi)
	out := &robustCovariance{cov: s.around(xx, bias), intercept: s.times(x)}
	floats.Scale(1/(s.sumW*s.phi), out.intercept)
	out.variance = total / (s.sumW * s.sumW)
	if len(s.splits) > 0 {
		out.splits = s.splitCovariance(sums.Again(s.frame, 1/s.unit))
	}
	return out
}

// times is cov x; a form has filled in cov's lower triangle.
func (s *sandwichOf) times(x []float64) []float64 {
	out := make([]float64, len(x))
	if len(x) == 0 {
		return out
	}
	dense, ok := s.cov.(*mat.SymDense)
	if !ok || s.form == nil {
		return linalg.MulVec(s.cov, x)
	}
	cov := dense.RawSymmetric()
	linalg.EachRow(len(x), func(i int) { out[i] = kernel.Dot(cov.Data[i*cov.Stride:][:len(x)], x) })
	return out
}

// around is A^-1 m A^-1 and what smoothing adds, bias (nil: nothing) or A^-1 phi S A^-1; it uses up m.
func (s *sandwichOf) around(m linalg.Shifted, bias mat.Symmetric) mat.Symmetric {
	if s.sandwich != nil {
		return s.sandwich.Around(m, bias)
	}
	sum := m.Sum()
	for _, b := range s.penalties {
		d, _ := b.B.Dims()
		for i := range d {
			for j := i; j < d; j++ {
				sum.SetSym(b.At+i, b.At+j, sum.At(b.At+i, b.At+j)+s.phi*s.phi*b.B.At(i, j))
			}
		}
	}
	v := linalg.Sandwich(linalg.Dense(s.cov), sum)
	v.ScaleSym(1/(s.phi*s.phi), v)
	return linalg.Plus(v, bias)
}

// sandwichWorker forms the sums of one worker's chunks.
type sandwichWorker struct {
	plan     *sandwichPlan
	weighing []*weighing
	chunks   []*moments.ScatterChunk
	x        []design.Columns
	with     []float64      // residuals and weights
	clusters *clusterWorker // in place of chunks; nil: rows are independent
}

func (p *sandwichPlan) worker() *sandwichWorker {
	if p == nil {
		return nil
	}
	n := len(p.predictors)
	w := &sandwichWorker{plan: p, weighing: make([]*weighing, n), chunks: make([]*moments.ScatterChunk, n)}
	weigh := make([][]moments.Weigh, n) // by leader
	for k, s := range p.predictors {
		if s == nil {
			continue
		}
		own := &weighing{of: s, pinned: make([]int64, len(s.frame.Dims))}
		if w.weighing[k] = own; s.leader == k {
			own.form = s.form.Work()
		} else {
			own.leader = w.weighing[s.leader]
		}
		if p.cluster == "" && len(s.splits) > 0 {
			own.influence = newInfluenceWork(s.splits)
		}
		weigh[s.leader] = append(weigh[s.leader], own.weigh)
	}
	for k, each := range weigh {
		if p.cluster == "" && each != nil {
			w.chunks[k] = moments.NewScatterChunk(p.predictors[k].frame, p.predictors[k].series()+1, each...)
		}
	}
	if p.cluster != "" {
		w.clusters = &clusterWorker{sums: p.clusterSums()}
	}
	return w
}

// add adds the rows of b, whose terms have the columns x, with their residuals.
func (w *sandwichWorker) add(b *data.Batch, residuals [][][]float64, x []design.Columns) error {
	n := b.Rows()
	weights, err := weights(b, w.plan.weights)
	if err != nil {
		return err
	}
	if w.clusters != nil {
		if err := w.clusters.begin(b, weights); err != nil {
			return err
		}
	}
	for k, s := range w.plan.predictors {
		if s == nil || w.clusters == nil && s.leader != k {
			continue
		}
		w.x = w.x[:0]
		for _, at := range s.terms {
			w.x = append(w.x, x[at])
		}
		if w.clusters != nil {
			if err := w.weighing[k].pins(w.x, n, weights); err != nil {
				return err
			}
			if err := w.clusters.add(k, s, w.x, residuals[k], weights); err != nil {
				return err
			}
			continue
		}
		together := w.plan.led(k)
		numbers := len(residuals[k]) + 1
		all := numbers * len(together)
		w.with = sized(w.with, n*all)
		for i := range n {
			row := w.with[i*all:][:0]
			for _, l := range together {
				for _, r := range residuals[l] {
					row = append(row, r[i])
				}
				row = append(row, weight(weights, i))
			}
		}
		if err := w.chunks[k].Add(w.x, mat.NewDense(n, all, w.with)); err != nil {
			return atRow(b, err)
		}
	}
	return nil
}

// led are the predictors whose leverages predictor k finds, itself first.
func (p *sandwichPlan) led(k int) (all []int) {
	for l, s := range p.predictors {
		if s != nil && s.leader == k {
			all = append(all, l)
		}
	}
	return all
}

// take is what was added since the last call.
func (w *sandwichWorker) take() (*sandwichChunk, error) {
	if w == nil {
		return nil, nil
	}
	n := len(w.plan.predictors)
	out := &sandwichChunk{plan: w.plan, sums: make([]*moments.Scatter, n), pinned: make([][]int64, n)}
	if w.clusters != nil {
		out.clusters = w.clusters.sums
		w.clusters.sums = w.plan.clusterSums()
	}
	for k, c := range w.chunks {
		if c == nil {
			continue
		}
		together := w.plan.led(k)
		free := make([]*moments.Scatter, len(together))
		for i, l := range together {
			select {
			case free[i] = <-w.plan.predictors[l].spare:
			default:
			}
		}
		sums, err := c.Take(free)
		if err != nil {
			return nil, err
		}
		for i, l := range together {
			out.sums[l] = sums[i]
		}
	}
	for k, own := range w.weighing { // after all rows were weighed
		if own != nil {
			out.pinned[k], own.pinned = own.pinned, make([]int64, len(own.pinned))
		}
	}
	return out, nil
}

// adding adds up sums of predictor k, and keeps the memory of the second for chunks to come.
func (p *sandwichPlan) adding(k int) dyadic.Sum[*moments.Scatter] {
	return func(a, b *moments.Scatter) (*moments.Scatter, error) {
		err := a.Add(b)
		select {
		case p.predictors[k].spare <- b:
		default:
		}
		return a, err
	}
}
