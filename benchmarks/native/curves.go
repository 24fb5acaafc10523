package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

const (
	curveSeeds = 6
	curveBatch = 128
	curveRate  = 0.001
)

// curveData is what the peer trains on: rows, the columns of the splines with their
// constraints absorbed, and the sum of their penalties, smoothing parameters 1.
type curveData struct {
	Train   curveRows   `json:"train"`
	Valid   curveRows   `json:"valid"`
	Penalty [][]float64 `json:"penalty"`
}

type curveRows struct {
	X       [][]float64 `json:"x"` // n x 10
	Y       []float64   `json:"y"`
	Columns [][]float64 `json:"columns"` // n x 60
}

// printCurves trains both networks from each seed, prints the validation loss of
// every epoch (half the mean squared error of the standardised response) and writes
// the rows for the peer to path.
func printCurves(rows, epochs int, path string) error {
	train, names, err := simulate(rows, 1)
	if err != nil {
		return err
	}
	valid, _, err := simulate(rows/2, 2)
	if err != nil {
		return err
	}
	sp := map[string][]float64{"s(x0)": {1}, "s(x1)": {1}, "s(x2)": {1}}
	structured := native.Structured{Formulas: []string{splines}, SP: sp}
	if err := writeCurveData(train, valid, names, structured, path); err != nil {
		return err
	}
	all := map[string][][]float64{}
	for name, cfg := range map[string]native.Config{
		"ssn": {Structured: structured, Deep: native.Deep{Columns: names, Hidden: []int{200, 200}}},
		"nam": {Architecture: native.NAM, Response: "y", FeatureNetworks: native.FeatureNetworks{Columns: names, Hidden: []int{64, 64, 32}}},
	} {
		for seed := range curveSeeds {
			cfg.Training = native.Training{
				Epochs: epochs, BatchSize: curveBatch, LearningRate: curveRate, Validation: valid, Patience: -1,
				Seed: uint64(seed), Single: true, WithoutWarmStart: true, Initialization: native.PyTorch,
			}
			_, fit, err := native.Train(context.Background(), cfg, train)
			if err != nil {
				return err
			}
			var curve []float64
			for _, e := range fit.Epochs {
				curve = append(curve, e.Validation-math.Log(2*math.Pi)/2)
			}
			all[name] = append(all[name], curve)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

func writeCurveData(train, valid *data.Table, names []string, s native.Structured, path string) error {
	ctx := context.Background()
	m, _, err := native.Train(ctx, native.Config{Architecture: native.GAM, Structured: s}, train)
	if err != nil {
		return err
	}
	stats, err := decompose.Accumulate(ctx, m, train, nil)
	if err != nil {
		return err
	}
	at, err := decompose.Constrain(m, stats, 0)
	if err != nil {
		return err
	}
	width := 0
	for _, t := range at.Terms {
		width += t.Dim
	}
	doc := curveData{Penalty: make([][]float64, width)}
	for i := range doc.Penalty {
		doc.Penalty[i] = make([]float64, width)
	}
	for _, t := range at.Terms {
		for i := range t.Dim {
			for j := range t.Dim {
				doc.Penalty[t.Start+i][t.Start+j] = t.S[0].At(i, j)
			}
		}
	}
	if doc.Train, err = curveColumns(train, names, at); err != nil {
		return err
	}
	if doc.Valid, err = curveColumns(valid, names, at); err != nil {
		return err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(path), text, 0o644)
}

func curveColumns(t *data.Table, names []string, at *decompose.Constrained) (rows curveRows, err error) {
	for b, err := range t.Batches(context.Background(), append([]string{"y"}, names...)) {
		if err != nil {
			return rows, err
		}
		n := b.Rows()
		x, own := make([][]float64, n), make([][]float64, n)
		for _, name := range names {
			v, err := b.Numeric(name)
			if err != nil {
				return rows, err
			}
			for i := range x {
				x[i] = append(x[i], v[i])
			}
		}
		for j, block := range at.Blocks {
			raw := mat.NewDense(n, block.Term.Dim(), nil)
			if err := block.Term.Eval(raw, b); err != nil {
				return rows, err
			}
			free := raw
			if at.Z[j] != nil {
				free = new(mat.Dense)
				free.Mul(raw, at.Z[j])
			}
			for i := range own {
				own[i] = append(own[i], free.RawRowView(i)...)
			}
		}
		y, err := b.Numeric("y")
		if err != nil {
			return rows, err
		}
		rows.X, rows.Columns, rows.Y = append(rows.X, x...), append(rows.Columns, own...), append(rows.Y, y...)
	}
	return rows, nil
}
