package native

import (
	"context"
	"fmt"
	"math"

	"github.com/pho-go/pho/adapters/native/internal/additive"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// scoring is Fisher scoring of the additive model, one predictor after the other.
type scoring struct {
	*job
	eta []float64 // n x K, without the offset
}

// maxRounds bounds the passes over all predictors.
const maxRounds = 200

// converge fits the additive models of all predictors to convergence: each in turn to its
// working response at the present ones, with smoothing parameters selected again each time
// (performance iteration: Gu 1992; Wood 2017, 6.4), until a round over all of them changes
// the mean log-likelihood by less than 1e-8. Several predictors are the algorithm RS of
// Rigby and Stasinopoulos (2005). Where that does not settle, Fit.Warnings says so.
func (j *job) converge(ctx context.Context, blocks [][]decompose.Block, free []bool) error {
	k := len(j.names)
	s := &scoring{j, make([]float64, len(j.trainTarget.Y)*k)}
	for i := range j.trainTarget.Y {
		copy(s.at(i), j.intercepts)
	}
	before := s.logLik()
	for range maxRounds {
		for k := range j.names {
			if err := s.predictor(ctx, k, blocks[k], free[k]); err != nil {
				return err
			}
		}
		if err := s.rebase(); err != nil {
			return err
		}
		now := s.logLik()
		if math.Abs(now-before) < 1e-8*(1+math.Abs(now)) {
			return nil
		}
		before = now
	}
	j.fit.Warnings = append(j.fit.Warnings, fmt.Sprintf("the additive model has not settled after %d rounds of Fisher scoring: this is the last one; fewer or simpler terms may settle", maxRounds))
	return nil
}

func (s *scoring) at(i int) []float64 {
	k := len(s.names)
	return s.eta[i*k : (i+1)*k]
}

// logLik is the weighted mean over the training rows.
func (s *scoring) logLik() float64 {
	eta := make([]float64, len(s.names))
	return s.trainTarget.LogLik(s.family, func(i int) []float64 {
		s.trainTarget.At(eta, s.at(i), i)
		return eta
	}) / s.trainTarget.SumW
}

// predictor fits predictor k with the others held. Far from the maximum a step of Fisher
// scoring can make it worse; then it is halved, by halving what the working response adds.
func (s *scoring) predictor(ctx context.Context, k int, blocks []decompose.Block, free bool) error {
	const worse = 0.01 // for a row: a larger penalty may cost a little
	before := s.logLik()
	old := make([]float64, len(s.trainTarget.Y))
	for i := range old {
		old[i] = s.at(i)[k]
	}
	full, w := s.trainTarget.WorkingAt(s.family, s.at, k)
	for share := 1.0; ; share /= 2 {
		z := make([]float64, len(full))
		for i := range z {
			z[i] = old[i] + share*(full[i]-old[i])
		}
		if err := s.step(ctx, k, blocks, free, z, w); err != nil {
			return err
		}
		if now := s.logLik(); now-now == 0 && now > before-worse {
			return nil
		}
		if share < 1e-6 {
			return fmt.Errorf("native: the additive model of family %s has no likelihood that Fisher scoring can raise, at predictor %q: leave out terms, or train an ssn with this formula", s.family.Name(), s.names[k])
		}
		for i := range old {
			s.at(i)[k] = old[i]
		}
	}
}

// step is the weighted fit of predictor k to z: of its terms, or of an intercept alone.
func (s *scoring) step(ctx context.Context, k int, blocks []decompose.Block, free bool, z, w []float64) error {
	if len(blocks) == 0 {
		if free {
			s.intercept(k, z, w)
		}
		return nil
	}
	part, err := additive.Fit(ctx, s.train, blocks, free, additive.Working{Response: z, Weights: w, SumW: s.trainTarget.SumW}, s.additiveOptions())
	if err != nil {
		return err
	}
	p := part.Width()
	x := make([]float64, len(z)*p)
	if err := part.Eval(x, p, s.train.Batch); err != nil {
		return err
	}
	intercept := part.StartIntercept()
	for i := range z {
		eta := intercept
		for c, b := range part.Coef {
			eta += x[i*p+c] * b
		}
		s.at(i)[k] = eta
	}
	s.parts[k], s.fit.Additive[k] = part, part.Result
	return nil
}

// intercept moves a predictor without terms to the weighted mean of z, by at most 1, and a
// shape not beyond where it changes nothing.
func (s *scoring) intercept(k int, z, w []float64) {
	sum, total := 0.0, 0.0
	for i := range z {
		sum += w[i] * z[i]
		total += w[i]
	}
	if !(total > 0) {
		return
	}
	old := s.intercepts[k]
	now := sum / total
	if k > 0 || !family.TraitsOf(s.family).Location {
		now = math.Max(old-1, math.Min(old+1, now))
	}
	if k > 0 && s.names[k] != "sigma" && !family.TraitsOf(s.family).Nominal {
		now = math.Max(-15, math.Min(15, now))
	}
	s.intercepts[k] = now
	for i := range z {
		s.at(i)[k] = now
	}
}

// rebase finds the baseline, or the thresholds, of such a family at the present predictor.
func (s *scoring) rebase() error {
	f, ok := s.family.(family.Profiled)
	if !ok {
		return nil
	}
	t := s.trainTarget
	eta := make([]float64, len(t.Y))
	for i := range eta {
		t.At(eta[i:i+1], s.at(i), i)
	}
	refitted, err := f.Refit(family.Sample{Y: t.Y, W: t.W, Event: t.Event, Eta: eta})
	if err == nil {
		s.family = refitted
	}
	return err
}
