// Package diagnostics holds checks of a decomposition that need rows, not only
// moments: whether smooths had enough basis functions.
package diagnostics

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// sampleRows is the largest number of rows that the k-check looks at.
const sampleRows = 5000

// shuffles is the number of random orders that the observed one is compared with.
const shuffles = 400

// KCheck is a visitor that checks the dimension of every smooth of numeric
// features (Wood 2017, 5.9; the measure of mgcv's k.check): are residuals of
// neighbours in a feature more alike than those of random pairs? The residual
// is the unstructured part, what the smooths left of the deep predictor, times
// the root of the weight. It looks at no more than 5,000 rows, chosen by a hash
// of the row number and a seed, and writes TermResult.KCheck in End.
//
// An unstructured part is not noise: a low index says that the term, with more
// basis functions, would explain more of the network; or that what is left
// varies with the feature in company of others (an interaction).
type KCheck struct {
	seed    uint64
	columns []string
	weights string
	limit   uint64 // rows whose hash is below it are kept
	rows    []sampled
}

// sampled is one row of the sample.
type sampled struct {
	hash     uint64
	row      int64
	features []float64 // in order of columns; NaN for one that is not numeric
	residual []float64 // by predictor
}

// NewKCheck returns a visitor for one decomposition.
func NewKCheck(seed uint64) *KCheck { return &KCheck{seed: seed} }

// Columns is empty: terms' features and weights are read anyway.
func (c *KCheck) Columns() []string { return nil }

// Begin finds the smooths to check.
func (c *KCheck) Begin(r *decompose.Result) error {
	c.columns, c.weights, c.rows = nil, r.Weights, nil
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

// Map keeps the rows of the sample.
func (c *KCheck) Map(p *decompose.Parts) (any, error) {
	if len(c.columns) == 0 {
		return []sampled(nil), nil
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
	var rows []sampled
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
		rows = append(rows, s)
	}
	return rows, nil
}

// Reduce gathers the sample.
func (c *KCheck) Reduce(part any) error {
	rows, ok := part.([]sampled)
	if !ok {
		return errors.New("diagnostics: Reduce got something that Map did not make")
	}
	c.rows = append(c.rows, rows...)
	return nil
}

// End computes the index and its p-value for every smooth.
func (c *KCheck) End(r *decompose.Result) error {
	slices.SortFunc(c.rows, func(a, b sampled) int { return cmp.Compare(a.hash, b.hash) })
	c.rows = c.rows[:min(len(c.rows), sampleRows)]
	slices.SortFunc(c.rows, func(a, b sampled) int { return cmp.Compare(a.row, b.row) }) // ties keep row order
	if len(c.rows) < 10 {
		return nil // too few to say anything
	}
	for k := range r.Predictors {
		residual := make([]float64, len(c.rows))
		for i := range residual {
			residual[i] = c.rows[i].residual[k]
		}
		orders := randomOrders(c.seed, len(residual))
		var random []float64 // of one feature: the same for all
		for j := range r.Predictors[k].Terms {
			t := &r.Predictors[k].Terms[j]
			if !checkable(r, t) {
				continue
			}
			pairs := neighbours(c.feature(t.Features))
			reference := random
			if len(t.Features) > 1 || reference == nil {
				reference = make([]float64, len(orders))
				for s, order := range orders {
					reference[s] = differences(residual, pairs, order)
				}
				if len(t.Features) == 1 {
					random = reference
				}
			}
			t.KCheck = index(residual, pairs, reference)
		}
	}
	return nil
}

// feature gathers the values of features by row.
func (c *KCheck) feature(names []string) [][]float64 {
	var at []int
	for _, name := range names {
		at = append(at, slices.Index(c.columns, name))
	}
	x := make([][]float64, len(c.rows))
	for i := range x {
		for _, j := range at {
			x[i] = append(x[i], c.rows[i].features[j])
		}
	}
	return x
}

// index compares the mean squared half difference of neighbours with the
// variance, and with that of random pairs; nil if nothing is left to compare.
func index(residual []float64, pairs [][2]int, reference []float64) *decompose.KCheck {
	var square float64
	for _, v := range residual {
		square += v * v / float64(len(residual))
	}
	if square == 0 {
		return nil
	}
	observed := differences(residual, pairs, nil)
	below := 0
	for _, v := range reference {
		if v < observed {
			below++
		}
	}
	return &decompose.KCheck{Index: observed / square, P: float64(below) / float64(len(reference)), Rows: len(residual)}
}

// differences is the mean of (e_i - e_j)^2/2 over the pairs, rows taken in the
// given order (nil: as they are).
func differences(e []float64, pairs [][2]int, order []int) float64 {
	var sum float64
	for _, p := range pairs {
		i, j := p[0], p[1]
		if order != nil {
			i, j = order[i], order[j]
		}
		d := e[i] - e[j]
		sum += d * d / 2
	}
	return sum / float64(len(pairs))
}

func randomOrders(seed uint64, n int) [][]int {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	orders := make([][]int, shuffles)
	for i := range orders {
		orders[i] = r.Perm(n)
	}
	return orders
}

// mix is a 64-bit finalizer (splitmix64): equal rows, equal sample.
func mix(seed, x uint64) uint64 {
	x += 0x9e3779b97f4a7c15 * (seed + 1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
