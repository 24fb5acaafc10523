// Package diagnostics holds checks of a decomposition that need rows, not only
// moments: whether smooths had enough basis functions.
package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pho-go/pho/decompose"
)

// sampleRows is the largest number of rows that the k-check looks at.
const sampleRows = 5000

// KCheck is a visitor that checks the dimension of every smooth of numeric
// features (Wood 2017, 5.9; the measure of mgcv's k.check): are residuals of neighbours in a
// feature more alike than residuals of random pairs? The residual is the unstructured part, the
// rest of the deep predictor, times the root of the weight. It looks at no more than 5,000 rows,
// chosen by a hash of the row number and a seed, and writes TermResult.KCheck in End.
//
// An unstructured part is not noise: a low index says that the term, with more
// basis functions, would explain more of the network; or that what is left
// varies with the feature in company of others (an interaction).
type KCheck struct {
	ctx     context.Context
	seed    uint64
	columns []string
	weights string
	limit   uint64 // rows whose hash is below it are kept
	sample  *sample
}

// NewKCheck returns a visitor for one decomposition.
func NewKCheck(seed uint64) *KCheck { return &KCheck{ctx: context.Background(), seed: seed} }

// WithContext returns a visitor whose End gives up, with ctx's error, when ctx is done.
func (c *KCheck) WithContext(ctx context.Context) *KCheck { return &KCheck{ctx: ctx, seed: c.seed} }

// Columns is empty: terms' features and weights are read anyway.
func (c *KCheck) Columns() []string { return nil }

// Begin finds the smooths to check.
func (c *KCheck) Begin(r *decompose.Result) error {
	c.columns, c.weights = nil, r.Weights
	for _, d := range r.Predictors {
		for _, t := range d.Terms {
			if !checkable(r, &t) {
				continue
			}
			for _, f := range t.Features {
				if !slices.Contains(c.columns, f) {
					c.columns = append(c.columns, f)
				}
			}
		}
	}
	c.sample = c.noRows(len(r.Predictors))
	share := 1.0
	if r.Rows > 0 {
		share = 1.2 * sampleRows / float64(r.Rows) // a little more, cut in End
	}
	c.limit = ^uint64(0)
	if share < 1 {
		c.limit = uint64(share * (1 << 63) * 2)
	}
	return nil
}

// checkable: a smooth or tensor product of numeric features.
func checkable(r *decompose.Result, t *decompose.TermResult) bool {
	if t.Kind != decompose.Smooth && t.Kind != decompose.Tensor {
		return false
	}
	for _, f := range r.Features {
		if f.Levels != nil && slices.Contains(t.Features, f.Name) {
			return false
		}
	}
	return true
}

// noRows is a sample of none, for so many predictors.
func (c *KCheck) noRows(predictors int) *sample {
	return &sample{seed: c.seed, features: len(c.columns), predictors: predictors}
}

// Map keeps the rows of the sample, as decompose.Sums.
func (c *KCheck) Map(p *decompose.Parts) (any, error) {
	kept := c.noRows(len(p.Predictors))
	if len(c.columns) == 0 {
		return kept, nil
	}
	columns := make([][]float64, len(c.columns))
	for j, name := range c.columns {
		var err error
		if columns[j], err = p.Batch.Numeric(name); err != nil {
			return nil, fmt.Errorf("diagnostics: %w", err)
		}
	}
	var w []float64
	if c.weights != "" {
		var err error
		if w, err = p.Batch.Numeric(c.weights); err != nil {
			return nil, fmt.Errorf("diagnostics: %w", err)
		}
	}
	for i := range p.Batch.Rows() {
		hash := mix(c.seed, uint64(p.Batch.Row(i)))
		if hash > c.limit || w != nil && w[i] == 0 {
			continue
		}
		s := sampled{hash: hash, row: p.Batch.Row(i)}
		for j := range columns {
			s.features = append(s.features, columns[j][i])
		}
		for _, d := range p.Predictors {
			s.residual = append(s.residual, d.Unstructured[i]*rootWeight(w, i))
		}
		kept.rows = append(kept.rows, s)
	}
	return kept, nil
}

// Reduce takes the sample of all rows, or adds that of rows that follow.
func (c *KCheck) Reduce(part any) error {
	s, ok := part.(*sample)
	if !ok {
		return errors.New("diagnostics: Reduce got something that Map did not make")
	}
	return c.sample.Add(s)
}

// End computes the index and its p-value for every smooth.
func (c *KCheck) End(r *decompose.Result) error {
	c.sample.cut()
	if len(c.sample.rows) < 10 {
		return nil // too few to say anything
	}
	for k := range r.Predictors {
		residual, square := make([]float64, len(c.sample.rows)), 0.0
		for i, row := range c.sample.rows {
			residual[i] = row.residual[k]
			square += residual[i] * residual[i] / float64(len(residual))
		}
		if square == 0 {
			continue // nothing is left to compare
		}
		var terms []*decompose.TermResult
		for j := range r.Predictors[k].Terms {
			if t := &r.Predictors[k].Terms[j]; checkable(r, t) {
				terms = append(terms, t)
			}
		}
		if err := c.check(terms, residual, square); err != nil {
			return err
		}
	}
	return nil
}

// check compares the mean squared half difference of neighbours in each term's
// features with the variance, and with that of random pairs.
func (c *KCheck) check(terms []*decompose.TermResult, residual []float64, variance float64) error {
	observed, pairs := make([]float64, len(terms)), make([]neighbours, len(terms))
	var all sync.WaitGroup
	for j, t := range terms {
		all.Go(func() {
			if len(t.Features) == 1 {
				observed[j] = neighbours(nil).differences(inOrderOf(c.feature(t.Features[0]), residual))
				return
			}
			if pairs[j] = nearestRows(c.ctx, c.features(t.Features)); c.ctx.Err() == nil {
				observed[j] = pairs[j].differences(residual)
			}
		})
	}
	all.Wait()
	if err := c.ctx.Err(); err != nil {
		return err
	}
	reference := randomOrders(c.ctx, c.seed, residual, pairs)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	for j, t := range terms {
		below := 0
		for _, v := range reference[j] {
			if v < observed[j] {
				below++
			}
		}
		t.KCheck = &decompose.KCheck{Index: observed[j] / variance, P: float64(below) / shuffles, Rows: len(residual)}
	}
	return nil
}

// feature gathers the values of one feature by row.
func (c *KCheck) feature(name string) []float64 {
	at := slices.Index(c.columns, name)
	x := make([]float64, len(c.sample.rows))
	for i, row := range c.sample.rows {
		x[i] = row.features[at]
	}
	return x
}

// features gathers those of several, row by row.
func (c *KCheck) features(names []string) [][]float64 {
	x := make([][]float64, len(c.sample.rows))
	for _, name := range names {
		for i, v := range c.feature(name) {
			x[i] = append(x[i], v)
		}
	}
	return x
}

// mix is a 64-bit finalizer (splitmix64): equal rows, equal sample.
func mix(seed, x uint64) uint64 {
	x += 0x9e3779b97f4a7c15 * (seed + 1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
