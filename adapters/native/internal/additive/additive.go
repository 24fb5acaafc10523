package native

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/kernel"
)

// structured is the formula part of one predictor, in coordinates in which
// training is well conditioned: constraints absorbed, columns standardised over
// the training rows and multiplied by R^-1 with R'R = X'WX/W + S/W, the Hessian
// of the penalised loss. So a direction whose penalty has become infinite is a
// column of nearly 0 and not a steep valley.
type structured struct {
	blocks    []decompose.Block
	z         []*mat.Dense // raw coefficients of a block = z times its own; nil: the identity
	start     []int        // first column of each block, and p
	intercept bool
	mean, sd  []float64     // of the p columns; mean is 0 without intercept
	inverse   *mat.Dense    // R^-1, p x p, upper triangular; nil while it is the identity
	penalty   *mat.SymDense // R^-T S R^-1, lambda-weighted, in units of the log-likelihood; nil if p = 0
	// coef is the additive model's solution, the start of training.
	coef []float64
	fit  *decompose.Result // that it comes from
}

func (s *structured) width() int { return s.start[len(s.start)-1] }

// buildTerms scans the training rows and returns the blocks of each predictor and
// whether it has an intercept.
func (c *Config) buildTerms(ctx context.Context, formulas []*basis.Formula, train *frame) ([][]decompose.Block, []bool, error) {
	var specs []decompose.Spec
	for _, f := range formulas {
		specs = append(specs, f.Specs...)
	}
	prepared, err := decompose.PrepareEach(ctx, train, specs, nil)
	if err != nil {
		return nil, nil, err
	}
	names := c.predictorNames()
	blocks, intercept := make([][]decompose.Block, len(names)), make([]bool, len(names))
	for k := range names {
		intercept[k] = true
	}
	for _, f := range formulas {
		var b []decompose.Block
		for range f.Specs {
			b = append(b, prepared[0].Blocks...)
			prepared = prepared[1:]
		}
		for k, name := range names {
			if f.Predictor == "" || f.Predictor == name {
				blocks[k] = append(blocks[k], b...)
				intercept[k] = intercept[k] && f.Intercept
			}
		}
	}
	return blocks, intercept, nil
}

// Names of the columns that carry a working response and its weights; no column
// of a file has a control character in its name.
const (
	workingResponse = "\x00working response"
	workingWeights  = "\x00working weights"
)

// newStructured fits the penalised additive model of the working response z with
// weights w, which gives smoothing parameters and the start. known is the scale if
// it is known, else 0; divide tells that the log-likelihood estimates a scale of
// its own, so that penalties are relative to the one found here. sumW is W.
func (c *Config) newStructured(ctx context.Context, train *frame, blocks []decompose.Block, intercept bool, z, w []float64, sumW, known float64, divide bool) (*structured, error) {
	s := &structured{intercept: intercept, start: []int{0}}
	if len(blocks) == 0 {
		return s, nil
	}
	src, err := train.with([]string{workingResponse, workingWeights}, [][]float64{z, w})
	if err != nil {
		return nil, err
	}
	m := &response{column: workingResponse, blocks: blocks}
	o := &decompose.Options{Weights: workingWeights, Smoothing: c.Structured.Smoothing, SP: c.ownSP(blocks), Workers: c.Training.Workers}
	if o.Smoothing.Scale == 0 {
		o.Smoothing.Scale = known
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
	if s.fit, err = decompose.Solve(ctx, m, stats, o); err != nil {
		return nil, err
	}
	s.blocks, s.z = at.Blocks, at.Z
	for _, t := range at.Terms {
		s.start = append(s.start, t.Start+t.Dim)
	}
	if err := s.standardise(train.batch); err != nil {
		return nil, err
	}
	scale := 1.0
	if d := s.fit.Predictors[0]; divide && d.Scale > 0 {
		scale = d.Scale
	}
	if err := s.settle(at, scale); err != nil {
		return nil, err
	}
	return s, s.condition(train.batch, w, sumW)
}

// ownSP are the given smoothing parameters of these blocks.
func (c *Config) ownSP(blocks []decompose.Block) map[string][]float64 {
	sp := map[string][]float64{}
	for _, b := range blocks {
		if v, ok := c.Structured.SP[b.Term.Name()]; ok {
			sp[b.Term.Name()] = v
		}
	}
	return sp
}

// settle carries penalties and solution over to standardised columns.
func (s *structured) settle(at *decompose.Coordinates, scale float64) error {
	p := s.width()
	s.penalty, s.coef = mat.NewSymDense(p, nil), make([]float64, p)
	for j, t := range at.Terms {
		r := s.fit.Predictors[0].Terms[j]
		lambda := r.SP
		if len(lambda) != len(t.S) { // an unpenalised projection has none
			lambda = make([]float64, len(t.S))
		}
		for i, S := range t.S {
			for a := range t.Dim {
				for b := a; b < t.Dim; b++ {
					u, v := t.Start+a, t.Start+b
					s.penalty.SetSym(u, v, s.penalty.At(u, v)+lambda[i]/scale*S.At(a, b)/(s.sd[u]*s.sd[v]))
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
			s.coef[t.Start+i] = own.AtVec(i) * s.sd[t.Start+i]
		}
	}
	return nil
}

// standardise finds mean and standard deviation of the columns.
func (s *structured) standardise(b *data.Batch) error {
	p := s.width()
	s.mean, s.sd = make([]float64, p), make([]float64, p)
	for j := range s.sd {
		s.sd[j] = 1
	}
	x := make([]float64, b.Rows()*p)
	if err := s.eval(x, p, b); err != nil {
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
		if !s.intercept {
			mean[j] = 0
		}
	}
	s.mean, s.sd = mean, sd
	return nil
}

// eval writes the columns of training at the rows of b to dst (n x p, stride
// apart).
func (s *structured) eval(dst []float64, stride int, b *data.Batch) error {
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
		y.Mul(x.Slice(0, n, 0, s.width()), s.inverse)
		x.Slice(0, n, 0, s.width()).(*mat.Dense).Copy(&y)
	}
	return nil
}

// condition finds R and goes over to its coordinates; w are the working weights.
func (s *structured) condition(b *data.Batch, w []float64, sumW float64) error {
	p, n := s.width(), b.Rows()
	x := make([]float64, n*p)
	if err := s.eval(x, p, b); err != nil {
		return err
	}
	gram := make([]float64, p*p)
	kernel.AddGram(gram, p, x, p, p, n, w)
	h := mat.NewSymDense(p, gram)
	h.AddSym(h, s.penalty)
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
	coef.MulVec(&r, mat.NewVecDense(p, s.coef))
	copy(s.coef, coef.RawVector().Data)
	s.inverse = mat.DenseCopyOf(&inverse)
	var half, full mat.Dense
	half.Mul(s.penalty, s.inverse)
	full.Mul(s.inverse.T(), &half)
	for i := range p {
		for j := i; j < p; j++ {
			s.penalty.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	return nil
}

// raw returns the blocks with the raw coefficients that coef (p, as trained)
// stands for, and what the means add to the intercept.
func (s *structured) raw(coef []float64) (blocks []decompose.Block, shift float64) {
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
