package main

import (
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
)

// architectures of the paper (appendix "Benchmark Details"); the authors' table
// shows the one that is best on the test folds.
var architectures = []struct {
	name   string
	hidden []int
}{{"a", []int{200}}, {"b", []int{200, 200}}, {"c", []int{20}}, {"d", []int{20, 20}}}

// onlineBatch is the number of rows that the authors' framework predicts at a time.
const onlineBatch = 32

// asPublished is the configuration of the paper: raw response, intercept and
// coefficients from 0, Adam at 1e-3, batches of 32, patience 50.
func asPublished(method string, hidden []int, names []string, distinct []int, epochs int, seed uint64) native.Config {
	cfg := native.Config{
		Architecture: native.SSN, Response: "y",
		Deep: native.Deep{Hidden: hidden, Dropout: 0.1, WithoutFirstBias: true, Orthogonalize: method == "ONO"},
		Training: native.Training{
			Epochs: epochs, BatchSize: 32, LearningRate: 1e-3, ValidationShare: 0.1, Patience: 50, Seed: seed, Single: true, Workers: 1,
			WithoutResponseScaling: true, WithoutInterceptStart: true, WithoutWarmStart: true,
			Initialization: native.Glorot, // what layers of Keras do unless told otherwise
		},
	}
	if method != "GAM" {
		cfg.Deep.Columns = names
	}
	if method == "MLP" {
		cfg.Architecture = native.MLP
	} else {
		cfg.Structured.Formulas = []string{"y ~ " + mains(names, distinct, 9)}
	}
	return cfg
}

// mains is a sum of splines with k columns, fewer where there are fewer values.
func mains(names []string, distinct []int, k int) string {
	var terms []string
	for j, name := range names {
		terms = append(terms, fmt.Sprintf("s(%s,k=%d)", name, min(k, distinct[j]-1)))
	}
	return strings.Join(terms, " + ")
}

// published trains one row of the table on one fold.
func published(ctx context.Context, method string, hidden []int, train, test rows, epochs int, seed uint64) ([]measure, error) {
	src, err := train.table()
	if err != nil {
		return nil, err
	}
	held, err := test.table()
	if err != nil {
		return nil, err
	}
	m, fit, err := native.Train(ctx, asPublished(method, hidden, train.names, train.distinct(), epochs, seed), src)
	if err != nil {
		return nil, err
	}
	eta, err := predict(ctx, m, held)
	if err != nil {
		return nil, err
	}
	out := []measure{{"rmse", rmse(test.y, eta)}, {"epochs", float64(len(fit.Epochs))}}
	switch method {
	case "ONO": // its own prediction projects each batch of new rows again
		online, err := predictOnline(m, held)
		if err != nil {
			return nil, err
		}
		out[0] = measure{"rmse", rmse(test.y, online)}
		off, err := predict(ctx, m.Unprojected(), held)
		if err != nil {
			return nil, err
		}
		out = append(out, measure{"rmse_projection_off", rmse(test.y, off)})
	case "PHO":
		shares, err := explained(ctx, m, src, held)
		if err != nil {
			return nil, err
		}
		out = append(out, shares...)
	}
	return out, nil
}

func predictOnline(m *native.Model, t *data.Table) ([]float64, error) {
	t.BatchRows = onlineBatch
	var eta []float64
	for b, err := range t.Batches(context.Background(), m.Columns()) {
		if err != nil {
			return nil, err
		}
		v, err := m.PredictOnline(b)
		if err != nil {
			return nil, err
		}
		eta = append(eta, mat.Col(nil, 0, v)...)
	}
	return eta, nil
}
