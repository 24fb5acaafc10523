// Package additive is the formula's part of one predictor, X beta: the penalised additive
// model from which training begins, and the columns X in coordinates in which training is
// well conditioned.
package additive

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/decompose"
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
	z        []*mat.Dense // raw coefficients of a block = z times its free ones; nil: the identity
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

// Fit fits the penalised additive model of the blocks to the working response, which gives
// smoothing parameters and the start of training, and finds the coordinates of training.
// Without blocks the part has no columns.
func Fit(ctx context.Context, train *rows.Frame, blocks []decompose.Block, intercept bool, z Working, o *Options) (*Part, error) {
	s := &Part{Intercept: intercept, start: []int{0}}
	if len(blocks) == 0 {
		return s, nil
	}
	at, err := s.solve(ctx, train, blocks, z, o)
	if err != nil {
		return nil, err
	}
	if err := s.standardise(train.Batch); err != nil {
		return nil, err
	}
	scale := 1.0
	if d := s.Result.Predictors[0]; o.OwnScale && d.Scale > 0 {
		scale = d.Scale
	}
	s.setPenalty(at, scale)
	if err := s.setCoef(at); err != nil {
		return nil, err
	}
	return s, s.condition(train.Batch, z.Weights, z.SumW)
}

// solve decomposes the working response, seen as the deep part of a model with the blocks:
// what moves is the additive model. It returns the coordinates in which decompose has
// solved it, constraints absorbed.
func (s *Part) solve(ctx context.Context, train *rows.Frame, blocks []decompose.Block, z Working, opts *Options) (*decompose.Constrained, error) {
	src, err := train.With([]string{workingResponse, workingWeights}, [][]float64{z.Response, z.Weights})
	if err != nil {
		return nil, err
	}
	m := &response{column: workingResponse, blocks: blocks}
	o := &decompose.Options{Projection: decompose.Projection{Terms: decompose.Fitted}, Columns: decompose.Columns{Weights: workingWeights}, Smoothing: decompose.Smoothing{Selection: opts.Smoothing, SP: ofBlocks(opts.SP, blocks)}, Resources: decompose.Resources{Workers: opts.Workers}}
	if o.Smoothing.Selection.Scale == 0 {
		o.Smoothing.Selection.Scale = opts.KnownScale
	}
	o.Smoothing.Selection.WithoutVc = true
	if !s.Intercept {
		o.WithoutIntercept = m.Predictors()
	}
	stats, err := decompose.Accumulate(ctx, m, src, o)
	if err != nil {
		return nil, err
	}
	at, err := decompose.Constrain(m, stats, 0)
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
	return at, nil
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

// StartIntercept is the intercept of the additive model in the coordinates of training:
// the fit's intercept is for raw columns, and the standardised ones lack their means.
func (s *Part) StartIntercept() float64 {
	_, shift := s.Raw(s.Coef)
	return s.Result.Predictors[0].InterceptMoved - shift
}

// Fingerprint writes what tells one part's coordinates and start from another's.
func (s *Part) Fingerprint(w io.Writer) { fmt.Fprint(w, s.start, s.mean, s.sd, s.Coef) }
