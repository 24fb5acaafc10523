// Package additive is the formula's part of one predictor, X beta: the penalised additive
// model from which training begins, and the columns X in coordinates in which training is
// well conditioned.
package additive

import (
	"context"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/kernel"
	"github.com/pho-go/pho/penalty"
)

// Part is the formula part of one predictor in the coordinates of training: constraints
// absorbed, columns standardised over the training rows and multiplied by R^-1 with R'R =
// X'WX/W + S/W, the Hessian of the penalised loss. So a direction whose penalty has become
// infinite is a column of nearly 0 and not a steep valley.
type Part struct {
	Intercept bool // the predictor has one
	// Penalty is R^-T S R^-1 (p x p), weighted with the smoothing parameters, in units of
	// the log-likelihood; nil without columns.
	Penalty *mat.SymDense
	// Coef are the p coefficients of the additive model, and Result is the fit they come
	// from; nil without columns.
	Coef   []float64
	Result *decompose.Result

	blocks   []decompose.Block
	z        []*mat.Dense // raw coefficients of a block = z times its own; nil: the identity
	start    []int        // first column of each block, and p
	mean, sd []float64    // of the p columns; mean is 0 without intercept
	inverse  *mat.Dense   // R^-1, p x p, upper triangular; nil while it is the identity
}

// Width is p, the number of columns.
func (s *Part) Width() int { return s.start[len(s.start)-1] }

// Options say how the additive model is fitted.
type Options struct {
	Smoothing penalty.Options
	SP        map[string][]float64 // fixed smoothing parameters by term name; terms of other predictors may be among them
	Workers   int
	// KnownScale is the scale of the response if the family knows it, else 0.
	KnownScale float64
	// OwnScale: the log-likelihood estimates a scale of its own, so that penalties are
	// relative to the scale found here.
	OwnScale bool
}

// Working is a working response z with its weights (Wood 2017, 3.1.2), for the rows of
// training. SumW is the sum of the prior weights, W.
type Working struct {
	Response, Weights []float64
	SumW              float64
}

// Names of the columns that carry a working response and its weights; no column
// of a file has a control character in its name.
const (
	workingResponse = "\x00working response"
	workingWeights  = "\x00working weights"
)

// Fit fits the penalised additive model of the blocks to the working response by
// decomposing it, which gives smoothing parameters and the start of training. Without
// blocks the part has no columns.
func Fit(ctx context.Context, train *rows.Frame, blocks []decompose.Block, intercept bool, z Working, opts *Options) (*Part, error) {
	s := &Part{Intercept: intercept, start: []int{0}}
	if len(blocks) == 0 {
		return s, nil
	}
	src, err := train.With([]string{workingResponse, workingWeights}, [][]float64{z.Response, z.Weights})
	if err != nil {
		return nil, err
	}
	m := &response{column: workingResponse, blocks: blocks}
	o := &decompose.Options{Weights: workingWeights, Smoothing: opts.Smoothing, SP: ofBlocks(opts.SP, blocks), Workers: opts.Workers}
	if o.Smoothing.Scale == 0 {
		o.Smoothing.Scale = opts.KnownScale
	}
	o.Smoothing.WithoutVc = true
	if !intercept {
		o.WithoutIntercept = m.Predictors()
	}
	stats, err := decompose.Accumulate(ctx, m, src, o)
	if err != nil {
		return nil, err
	}
	at, err := decompose.PredictorCoordinates(m, stats, 0)
	if err != nil {
		return nil, err
	}
	if s.Result, err = decompose.Solve(ctx, m, stats, o); err != nil {
		return nil, err
	}
	s.blocks, s.z = at.Blocks, at.Z
	for _, t := range at.Terms {
		s.start = append(s.start, t.Start+t.Dim)
	}
	if err := s.standardise(train.Batch); err != nil {
		return nil, err
	}
	scale := 1.0
	if d := s.Result.Predictors[0]; opts.OwnScale && d.Scale > 0 {
		scale = d.Scale
	}
	if err := s.settle(at, scale); err != nil {
		return nil, err
	}
	return s, s.condition(train.Batch, z.Weights, z.SumW)
}

// ofBlocks are the given smoothing parameters of these blocks.
func ofBlocks(all map[string][]float64, blocks []decompose.Block) map[string][]float64 {
	sp := map[string][]float64{}
	for _, b := range blocks {
		if v, ok := all[b.Term.Name()]; ok {
			sp[b.Term.Name()] = v
		}
	}
	return sp
}

// settle carries penalties and solution over to standardised columns.
func (s *Part) settle(at *decompose.Coordinates, scale float64) error {
	p := s.Width()
	s.Penalty, s.Coef = mat.NewSymDense(p, nil), make([]float64, p)
	for j, t := range at.Terms {
		r := s.Result.Predictors[0].Terms[j]
		lambda := r.SP
		if len(lambda) != len(t.S) { // an unpenalised projection has none
			lambda = make([]float64, len(t.S))
		}
		for i, S := range t.S {
			for a := range t.Dim {
				for b := a; b < t.Dim; b++ {
					u, v := t.Start+a, t.Start+b
					s.Penalty.SetSym(u, v, s.Penalty.At(u, v)+lambda[i]/scale*S.At(a, b)/(s.sd[u]*s.sd[v]))
				}
			}
		}
		own := mat.NewVecDense(len(r.Alpha), r.Alpha)
		if at.Z[j] != nil {
			free := mat.NewVecDense(t.Dim, nil)
			if err := free.SolveVec(at.Z[j], own); err != nil {
				return fmt.Errorf("native: term %q: its coefficients are not in the space of its constraint: %w", r.Name, err)
			}
			own = free
		}
		for i := range t.Dim {
			s.Coef[t.Start+i] = own.AtVec(i) * s.sd[t.Start+i]
		}
	}
	return nil
}

// standardise finds mean and standard deviation of the columns.
func (s *Part) standardise(b *data.Batch) error {
	p := s.Width()
	s.mean, s.sd = make([]float64, p), make([]float64, p)
	for j := range s.sd {
		s.sd[j] = 1
	}
	x := make([]float64, b.Rows()*p)
	if err := s.Eval(x, p, b); err != nil {
		return err
	}
	mean, sd := make([]float64, p), make([]float64, p)
	n := float64(b.Rows())
	for i, v := range x {
		mean[i%p] += v / n
	}
	for i, v := range x {
		d := v - mean[i%p]
		sd[i%p] += d * d / n
	}
	for j := range sd {
		sd[j] = math.Sqrt(sd[j])
		if !(sd[j] > 1e-12*math.Abs(mean[j])) {
			sd[j] = 1
		}
		if !s.Intercept {
			mean[j] = 0
		}
	}
	s.mean, s.sd = mean, sd
	return nil
}

// Eval writes the columns of training at the rows of b to dst (n x p, stride
// apart).
func (s *Part) Eval(dst []float64, stride int, b *data.Batch) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	for j, block := range s.blocks {
		raw := mat.NewDense(n, block.Term.Dim(), nil)
		if err := block.Term.Eval(raw, b); err != nil {
			return err
		}
		x := raw
		if s.z[j] != nil {
			x = new(mat.Dense)
			x.Mul(raw, s.z[j])
		}
		for i := range n {
			row := dst[i*stride+s.start[j]:]
			for k, v := range x.RawRowView(i) {
				row[k] = (v - s.mean[s.start[j]+k]) / s.sd[s.start[j]+k]
			}
		}
	}
	if s.inverse != nil {
		x := mat.NewDense(n, stride, dst[:n*stride])
		var y mat.Dense
		y.Mul(x.Slice(0, n, 0, s.Width()), s.inverse)
		x.Slice(0, n, 0, s.Width()).(*mat.Dense).Copy(&y)
	}
	return nil
}

// condition finds R and goes over to its coordinates; w are the working weights.
func (s *Part) condition(b *data.Batch, w []float64, sumW float64) error {
	p, n := s.Width(), b.Rows()
	x := make([]float64, n*p)
	if err := s.Eval(x, p, b); err != nil {
		return err
	}
	gram := make([]float64, p*p)
	kernel.AddGram(gram, p, x, p, p, n, w)
	h := mat.NewSymDense(p, gram)
	h.AddSym(h, s.Penalty)
	h.ScaleSym(1/sumW, h)
	const ridge = 1e-8 // of the mean diagonal: aliased columns have no curvature
	mean := mat.Trace(h) / float64(p)
	for i := range p {
		h.SetSym(i, i, h.At(i, i)+ridge*(mean+h.At(i, i)))
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return fmt.Errorf("native: the formula's columns and penalties have no positive definite Hessian: fix smoothing parameters (SP) or leave terms out")
	}
	var r, inverse mat.TriDense
	chol.UTo(&r)
	if err := inverse.InverseTri(&r); err != nil {
		return fmt.Errorf("native: the formula's columns are too close to linear dependence to train: leave terms out: %w", err)
	}
	var coef mat.VecDense
	coef.MulVec(&r, mat.NewVecDense(p, s.Coef))
	copy(s.Coef, coef.RawVector().Data)
	s.inverse = mat.DenseCopyOf(&inverse)
	var half, full mat.Dense
	half.Mul(s.Penalty, s.inverse)
	full.Mul(s.inverse.T(), &half)
	for i := range p {
		for j := i; j < p; j++ {
			s.Penalty.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return nil
}

// Raw returns the blocks with the raw coefficients that coef (p, as trained)
// stands for, and what the means add to the intercept.
func (s *Part) Raw(coef []float64) (blocks []decompose.Block, shift float64) {
	if s.inverse != nil {
		var v mat.VecDense
		v.MulVec(s.inverse, mat.NewVecDense(len(coef), coef))
		coef = v.RawVector().Data
	}
	for j, block := range s.blocks {
		own := make([]float64, s.start[j+1]-s.start[j])
		for k := range own {
			at := s.start[j] + k
			own[k] = coef[at] / s.sd[at]
			shift -= own[k] * s.mean[at]
		}
		if s.z[j] != nil {
			var v mat.VecDense
			v.MulVec(s.z[j], mat.NewVecDense(len(own), own))
			own = v.RawVector().Data
		}
		block.Coef = own
		blocks = append(blocks, block)
	}
	return blocks, shift
}

// StartIntercept is the intercept of the additive model in the coordinates of training:
// that of the fit is for raw columns, whose means the standardised ones do not carry.
func (s *Part) StartIntercept() float64 {
	_, shift := s.Raw(s.Coef)
	return s.Result.Predictors[0].InterceptMoved - shift
}

// Fingerprint writes what tells one part's coordinates and start from another's.
func (s *Part) Fingerprint(w io.Writer) { fmt.Fprint(w, s.start, s.mean, s.sd, s.Coef) }
