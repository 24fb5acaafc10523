package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/decompose"
)

// effort is how much work goes into a model of ours.
type effort struct {
	inner   int // folds of the inner cross-validation
	members int // of each ensemble
	epochs  int
}

// candidate is a way to fit a predictor; its ensemble's members differ in their
// seeds.
type candidate struct {
	name     string
	additive func(train rows) string // formula of the additive part; nil: none
	bins     int                     // of the deep part's coded features; 0: there is no deep part
}

// candidates are the same for all data sets, but that interactions and networks
// depend on their size.
func candidates(train rows) []candidate {
	out := []candidate{{name: "gam", additive: gamFormula}, {name: "rich gam", additive: richFormula}}
	if train.n() > 5000 {
		return out
	}
	bins := 128
	if len(train.names) > 3 {
		bins = 32
	}
	return append(out, candidate{name: "ssn", additive: gamFormula, bins: bins}, candidate{name: "mlp", bins: bins})
}

func gamFormula(train rows) string { return "y ~ " + mains(train.names, train.distinct(), 9) }

// richFormula has larger bases and, of few features, all interactions, unless single
// features tell all points apart.
func richFormula(train rows) string {
	names, distinct := train.names, train.distinct()
	formula := "y ~ " + mains(names, distinct, 20)
	columns := 1
	for _, d := range distinct {
		columns += min(20, d-1) - 1
	}
	if columns >= train.points() {
		return formula
	}
	if len(names) <= 3 {
		formula += " + " + pairs(names, distinct, 8)
	}
	if len(names) == 3 {
		formula += fmt.Sprintf(" + ti(%s,k=6)", strings.Join(names, ","))
	}
	return formula
}

// config of one network. The number of steps is the same for all sizes of data: 40
// an epoch, but for batches below 8.
func (c candidate) config(train rows, columns []string, epochs int, seed uint64) native.Config {
	cfg := native.Config{Architecture: native.GAM, Response: "y"}
	if c.additive != nil {
		cfg.Structured.Formulas = []string{c.additive(train)}
	}
	if c.bins == 0 {
		return cfg
	}
	cfg.Architecture = native.MLP
	if c.additive != nil {
		cfg.Architecture = native.SSN
	}
	cfg.Deep = native.Deep{Columns: columns, Hidden: []int{200, 200}}
	cfg.Training = native.Training{
		Epochs: epochs, BatchSize: max(8, train.n()/40), Optimizer: native.AdamW, LearningRate: 3e-3, WeightDecay: 0.3, Schedule: native.Cosine,
		ValidationShare: -1, Seed: seed, Single: true, Workers: 1,
	}
	return cfg
}

// fit trains an ensemble on the rows; the table is made by the encoder it returns.
func (c candidate) fit(ctx context.Context, train rows, members, epochs int, seed uint64) (decompose.Model, *encoder, error) {
	var e *encoder
	var columns []string
	if c.bins > 0 {
		e = newEncoder(train, c.bins)
		columns = append(append(columns, train.names...), e.columns()...)
	} else {
		members = 1
	}
	src, err := train.table(e)
	if err != nil {
		return nil, nil, err
	}
	var models []decompose.Model
	for i := range members {
		m, _, err := native.Train(ctx, c.config(train, columns, epochs, seed+uint64(i)), src)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.name, err)
		}
		models = append(models, m)
	}
	m, err := blended(models, slices.Repeat([]float64{1 / float64(len(models))}, len(models)))
	return m, e, err
}

// score fits the candidate and tells its error on the test rows.
func (c candidate) score(ctx context.Context, train, test rows, w effort, seed uint64) (decompose.Model, *encoder, float64, error) {
	m, e, err := c.fit(ctx, train, w.members, w.epochs, seed)
	if err != nil {
		return nil, nil, 0, err
	}
	held, err := test.table(e)
	if err != nil {
		return nil, nil, 0, err
	}
	eta, err := predict(ctx, m, held)
	return m, e, rmse(test.y, eta), err
}

// ours fits the candidates that cross-validation within the training rows gives a
// weight and blends them: the test rows decide nothing. The first candidate is always
// fitted, to compare with.
func ours(ctx context.Context, train, test rows, w effort, seed uint64) ([]measure, error) {
	all := candidates(train)
	list, outOfFold, first, err := innerPredictions(ctx, all, train, w, seed)
	if err != nil {
		return nil, err
	}
	weights := stackWeights(train.y, outOfFold)
	if list[0].name == all[0].name {
		weights = simplest(train.y, outOfFold, weights)
	}
	var out []measure
	var models []decompose.Model
	var kept []float64
	var encoders []*encoder
	for i, c := range all {
		weight := 0.0
		out = append(out, measure{"first_inner_rmse " + c.name, first[i]})
		if at := slices.IndexFunc(list, func(l candidate) bool { return l.name == c.name }); at >= 0 {
			weight = weights[at]
			out = append(out, measure{"inner_rmse " + c.name, rmse(train.y, outOfFold[at])}, measure{"weight " + c.name, weight})
		}
		if weight == 0 && i > 0 {
			continue
		}
		m, e, score, err := c.score(ctx, train, test, w, seed)
		if err != nil {
			return nil, err
		}
		out = append(out, measure{"rmse " + c.name, score})
		if weight > 0 {
			models, kept, encoders = append(models, m), append(kept, weight), append(encoders, e)
		}
	}
	m, err := blended(models, kept)
	if err != nil {
		return nil, err
	}
	src, err := train.table(encoders...)
	if err != nil {
		return nil, err
	}
	held, err := test.table(encoders...)
	if err != nil {
		return nil, err
	}
	eta, err := predict(ctx, m, held)
	if err != nil {
		return nil, err
	}
	out = append([]measure{{"rmse", rmse(test.y, eta)}}, out...)
	shares, err := interpret(ctx, m, train, src, held)
	return append(out, shares...), err
}

// tooFar is how many times the lowest error on the first inner fold a candidate may
// have and stay.
const tooFar = 1.1

// innerPredictions are those of each candidate for each training row, by models
// that have not seen it; candidates that are too far off on the first fold, whose
// errors are first, are left out.
func innerPredictions(ctx context.Context, list []candidate, train rows, w effort, seed uint64) (kept []candidate, out [][]float64, first []float64, err error) {
	fold := make([]int, train.n())
	for i, row := range rand.New(rand.NewPCG(seed, 0x1f01d)).Perm(len(fold)) {
		fold[row] = i % w.inner
	}
	out = make([][]float64, len(list))
	for k := range w.inner {
		inside, outside := train.split(fold, k)
		off := make([]float64, len(list))
		for i, c := range list {
			m, e, err := c.fit(ctx, inside, 1, w.epochs, seed+uint64(1000*(k+1)))
			if err != nil {
				return nil, nil, nil, err
			}
			held, err := outside.table(e)
			if err != nil {
				return nil, nil, nil, err
			}
			eta, err := predict(ctx, m, held)
			if err != nil {
				return nil, nil, nil, err
			}
			off[i] = rmse(outside.y, eta)
			if out[i] == nil {
				out[i] = make([]float64, train.n())
			}
			at := 0
			for row, f := range fold {
				if f == k {
					out[i][row] = eta[at]
					at++
				}
			}
		}
		if k == 0 {
			first = off
			list, out = race(list, out, off)
		}
	}
	return list, out, first, nil
}

// race keeps the candidates that are not too far off.
func race(list []candidate, out [][]float64, off []float64) (kept []candidate, predictions [][]float64) {
	for i, c := range list {
		if off[i] <= tooFar*slices.Min(off) {
			kept, predictions = append(kept, c), append(predictions, out[i])
		}
	}
	return kept, predictions
}
