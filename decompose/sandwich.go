package decompose

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
	"github.com/pho-go/pho/internal/kernel"
	"github.com/pho-go/pho/internal/linalg"
)

// The sandwich of predictor k, with r = zeta - X alpha and the leverages
// h_i = w_i x_i'A^-1 x_i (the intercept's 1/sum w among them):
//
//	V = A^-1 [sum_i (w_i r_i/(1-h_i))^2 x_i x_i'] A^-1 + phi A^-1 S A^-1
//
// The sum is that of moments with weights s_i = (w_i r_i/(1-h_i))^2, so it is formed by
// the same kernels, in the same chunks and merged in the same order.

// highLeverage: a row above it is fitted so closely that its remainder tells nothing; its
// summand is then at least that of noise of variance phi/w_i.
const highLeverage = 0.99

// sandwichPlan is what all workers share. A predictor without standard errors has none.
type sandwichPlan struct {
	predictors []*sandwichOf
	weights    string // column
	cluster    string // column; "": rows are independent
}

// sandwichOf is one predictor's part of the plan.
type sandwichOf struct {
	terms    []int // index of each term's columns
	dims     []int
	cov      *mat.SymDense                       // phi A^-1
	sandwich func(m *mat.SymDense) *mat.SymDense // A^-1 m A^-1 in a faster way; nil: there is none
	form     *design.Quadratic                   // of cov
	layout   moments.Layout
	constant float64   // leverage of the intercept for w = 1
	centre   []float64 // of the columns in the projection: their means, or zeros
	phi      float64
	unit     float64 // the weights s_i are divided by phi and the mean weight
	sumW     float64
	spare    *moments.Spare // memory for the chunks to come
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
	r.Bands, r.Cluster = RobustBands, o.Cluster
	p := &sandwichPlan{cluster: o.Cluster, predictors: make([]*sandwichOf, len(r.Predictors)), weights: o.Weights}
	some := false
	for k := range r.Predictors {
		d := &r.Predictors[k]
		if !d.sandwiched() {
			continue
		}
		s := &sandwichOf{terms: at[k], cov: d.cov, sandwich: d.sandwich, centre: d.mean, constant: 1 / d.sumW, phi: d.Scale, sumW: d.sumW, spare: moments.NewSpare()}
		if !d.hasIntercept() {
			s.centre, s.constant = make([]float64, len(d.mean)), 0
		}
		s.unit = float64(r.Rows) / (d.Scale * d.sumW)
		bases := []int{}
		for j := range d.Terms {
			t := &d.Terms[j]
			t.PinnedRows = 0
			s.dims = append(s.dims, len(t.Alpha))
			s.layout.Bases = append(s.layout.Bases, moments.Basis{Name: t.Name, Dim: len(t.Alpha)})
			bases = append(bases, j)
		}
		s.layout.Predictors, s.layout.Responses = [][]int{bases}, 1
		var err error
		if s.form, err = design.NewQuadraticIn(s.dims, s.cov, s.centre); err != nil {
			return nil, fmt.Errorf("decompose: predictor %q: %w", d.Name, err)
		}
		p.predictors[k] = s
		some = true
	}
	if !some {
		return nil, nil
	}
	return p, nil
}

// sandwichChunk is what one chunk of rows adds, by predictor.
type sandwichChunk struct {
	moments  []*moments.Moments
	pinned   [][]int64    // rows of high leverage by term
	clusters *clusterSums // in place of moments
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
			robust = s.clustered(clusters, k, d.bias)
		} else {
			robust = s.covariance(sums.sums[k].Drain(), d.bias)
		}
		if err := finiteSym(robust.cov); err != nil {
			return fmt.Errorf("decompose: predictor %q: robust bands: %w: weights or values differ by too many orders of magnitude; projection bands do not need them", d.Name, err)
		}
		if !d.hasIntercept() {
			robust.byMeans(d.mean)
		}
		d.robust = robust
	}
	r.judge() // by these standard errors
	return nil
}

// reuse hands memory that b does not need any more to the workers.
func (p *sandwichPlan) reuse(b *bandSums) {
	for k, sum := range b.sums {
		if sum != nil {
			p.predictors[k].spare.Take(sum)
		}
	}
}

// close ends b's chunks, and gives that memory back: what follows needs the room.
func (p *sandwichPlan) close(b *bandSums) {
	for k, sum := range b.sums {
		if sum != nil {
			sum.Fill()
			p.predictors[k].spare = moments.NewSpare()
		}
	}
}

// covariance is V, in the memory of m, and the intercept's part of it: the intercept moves by w_i r_i/sum w.
func (s *sandwichOf) covariance(m *moments.Moments, bias *mat.SymDense) *robustCovariance {
	p := len(s.centre)
	shift := mat.NewVecDense(p, nil) // of the sums' own means from the centre
	for j, c := range s.centre {
		shift.SetVec(j, m.Mean[j]-c)
	}
	about(m.XX, m.SumW, shift.RawVector().Data, 1/s.unit)
	out := &robustCovariance{cov: s.around(m.XX), intercept: make([]float64, p)}
	out.add(bias)
	cross := mat.NewVecDense(p, out.intercept)
	cross.MulVec(s.cov, shift)
	cross.ScaleVec(m.SumW/(s.unit*s.sumW*s.phi), cross)
	out.variance = m.SumW / (s.unit * s.sumW * s.sumW)
	return out
}

// about turns products about the mean into those about a point, shift from the mean, times unit.
func about(xx *mat.SymDense, sumW float64, shift []float64, unit float64) {
	raw := xx.RawSymmetric()
	linalg.EachRow(raw.N, func(i int) {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+raw.N]
		f := sumW * shift[i]
		for j, s := range shift[i:] {
			row[j] = unit * (row[j] + f*s)
		}
	})
}

// add adds what smoothing adds; nil: nothing.
func (c *robustCovariance) add(bias *mat.SymDense) {
	if bias == nil {
		return
	}
	to, from := c.cov.RawSymmetric(), bias.RawSymmetric()
	linalg.EachRow(to.N, func(i int) {
		row := to.Data[i*to.Stride+i : i*to.Stride+to.N]
		kernel.Add(row, row, from.Data[i*from.Stride+i:][:len(row)])
	})
}

// around is A^-1 m A^-1; it uses up m.
func (s *sandwichOf) around(m *mat.SymDense) *mat.SymDense {
	if s.sandwich != nil {
		return s.sandwich(m)
	}
	v := linalg.Sandwich(s.cov, m)
	v.ScaleSym(1/(s.phi*s.phi), v)
	return v
}

// sandwichWorker forms the sums of one worker's chunks.
type sandwichWorker struct {
	plan     *sandwichPlan
	forms    []*design.QuadraticWork
	chunks   []*moments.Chunk
	pinned   [][]int64
	x        []design.Columns
	h, s     []float64
	r        [][]float64    // remainders at the rows to come, by predictor; nil: the parts'
	zeros    *mat.Dense     // the sums have no response of their own
	clusters *clusterWorker // in place of chunks; nil: rows are independent
}

func (p *sandwichPlan) worker() *sandwichWorker {
	if p == nil {
		return nil
	}
	n := len(p.predictors)
	w := &sandwichWorker{plan: p, forms: make([]*design.QuadraticWork, n), chunks: make([]*moments.Chunk, n), pinned: make([][]int64, n),
		h: make([]float64, evalRows), s: make([]float64, evalRows), zeros: mat.NewDense(evalRows, 1, nil)}
	for k, s := range p.predictors {
		if s != nil {
			w.forms[k] = s.form.Work()
			if p.cluster == "" {
				w.chunks[k] = moments.NewChunk(s.layout)
			}
			w.pinned[k] = make([]int64, len(s.dims))
		}
	}
	if p.cluster != "" {
		w.clusters = &clusterWorker{sums: p.clusterSums()}
	}
	return w
}

// add adds rows i to i+b.Rows()-1 of the parts, whose terms have the columns x.
func (w *sandwichWorker) add(b *data.Batch, parts *Parts, i int, x []design.Columns) error {
	n := b.Rows()
	weight, err := weights(b, w.plan.weights)
	if err != nil {
		return err
	}
	if w.clusters != nil {
		if err := w.clusters.begin(b, weight); err != nil {
			return err
		}
	}
	for k, s := range w.plan.predictors {
		if s == nil {
			continue
		}
		w.x = w.x[:0]
		for _, at := range s.terms {
			w.x = append(w.x, x[at])
		}
		if err := w.forms[k].Rows(w.h[:n], w.x); err != nil {
			return err
		}
		r := parts.Predictors[k].Unstructured[i : i+n]
		if w.r != nil {
			r = w.r[k]
		}
		w.summands(k, r, weight)
		if w.clusters != nil {
			if err := w.clusters.add(k, w.x, r, weight); err != nil {
				return err
			}
			continue
		}
		if err := w.chunks[k].Add(w.x, w.s[:n], w.zeros.Slice(0, n, 0, 1).(*mat.Dense)); err != nil {
			return atRow(b, err)
		}
	}
	return nil
}

// summands turns the quadratic forms in w.h, phi times those of A^-1, into the weights in w.s.
func (w *sandwichWorker) summands(k int, r, weights []float64) {
	s, root := w.plan.predictors[k], math.Sqrt(w.plan.predictors[k].unit)
	for i, r := range r {
		wi := weight(weights, i)
		h := math.Max(wi*(s.constant+w.h[i]/s.phi), 0)
		left := 1 - h
		sum := 0.0
		if left > 1e-9 { // nothing but rounding is left of the others
			v := wi * r / left * root
			sum = v * v
		}
		if h > highLeverage {
			sum = math.Max(sum, wi*s.phi*s.unit)
			w.pin(k, i)
		}
		w.s[i] = sum
	}
}

// pin notes the terms that row i of w.x pins: those with a quarter of its leverage, which
// is x_j'[A^-1 x]_j of term j (all times phi).
func (w *sandwichWorker) pin(k, i int) {
	s := w.plan.predictors[k]
	x := mat.NewVecDense(len(s.centre), nil)
	at := 0
	for j, c := range w.x {
		design.CopyRow(x.RawVector().Data[at:at+s.dims[j]], c, i)
		at += s.dims[j]
	}
	x.SubVec(x, mat.NewVecDense(len(s.centre), s.centre))
	var cx mat.VecDense
	cx.MulVec(s.cov, x)
	at = 0
	total := w.h[i]
	for j, d := range s.dims {
		share := mat.Dot(x.SliceVec(at, at+d), cx.SliceVec(at, at+d))
		if share > total/4 {
			w.pinned[k][j]++
		}
		at += d
	}
}

// take is what was added since the last call.
func (w *sandwichWorker) take() *sandwichChunk {
	if w == nil {
		return nil
	}
	out := &sandwichChunk{moments: make([]*moments.Moments, len(w.chunks)), pinned: make([][]int64, len(w.chunks))}
	if w.clusters != nil {
		out.clusters = w.clusters.sums
		w.clusters.sums = w.plan.clusterSums()
	}
	for k, c := range w.chunks {
		if c != nil {
			out.moments[k] = c.MomentsInto(w.plan.predictors[k].spare.Get())
			c.Reset()
		}
		out.pinned[k] = append([]int64(nil), w.pinned[k]...)
		clear(w.pinned[k])
	}
	return out
}
