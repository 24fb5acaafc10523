package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/native"
)

// settings are what both sides train with.
type settings struct {
	Deep     []int   `json:"deep"`    // widths of the hidden layers of MLP and SSN
	Feature  []int   `json:"feature"` // of the networks of a NAM
	Rate     float64 `json:"rate"`
	Batch    int     `json:"batch"`
	Epochs   int     `json:"epochs"`
	Patience int     `json:"patience"`
	Seeds    int     `json:"seeds"` // networks for each split, whose errors are averaged
}

// kinds of networks; an SSN has a linear term for each column next to the deep part.
var kinds = []string{"mlp", "ssn", "nam"}

func (s *settings) config(kind string, columns []string, seed uint64, start native.Initialization) native.Config {
	cfg := native.Config{Architecture: native.Architecture(kind), Response: "y"}
	switch kind {
	case "nam":
		cfg.FeatureNetworks = native.FeatureNetworks{Columns: columns, Hidden: s.Feature}
	case "ssn":
		cfg.Structured.Formulas = []string{"~ " + strings.Join(columns, " + ")}
		fallthrough
	case "mlp":
		cfg.Deep = native.Deep{Columns: columns, Hidden: s.Deep}
	}
	cfg.Training = native.Training{
		Epochs: s.Epochs, BatchSize: s.Batch, LearningRate: s.Rate, Patience: s.Patience,
		Seed: seed, Single: true, Workers: 1, WithoutWarmStart: true, Initialization: start,
	}
	return cfg
}

// run is one trained network.
type run struct {
	Set    string  `json:"set"`
	Split  int     `json:"split"`
	Kind   string  `json:"kind"`
	Seed   int     `json:"seed"`
	Arm    string  `json:"arm"` // torch, or our initialisation
	RMSE   float64 `json:"rmse"`
	Epochs int     `json:"epochs"`
	Best   int     `json:"best"` // the epoch whose parameters count
}

func (r *run) key() string {
	return fmt.Sprint(r.Set, " ", r.Split, " ", r.Kind, " ", r.Seed, " ", r.Arm)
}

// train adds the runs of ours that are not in the file yet.
func train(ctx context.Context, dir string, s *settings, which, arms []string, first, last int) error {
	path := filepath.Join(dir, "ours.jsonl")
	done, err := readRuns(path)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, set := range sets() {
		for number := first; number <= last; number++ {
			rows, err := readSplit(splitPath(dir, set.name, number))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return err
			}
			for _, kind := range which {
				for seed := range s.Seeds {
					for _, arm := range arms {
						r := run{Set: set.name, Split: number, Kind: kind, Seed: seed, Arm: arm}
						if done[r.key()] != nil {
							continue
						}
						if err := r.train(ctx, s, &rows); err != nil {
							return fmt.Errorf("%s: %w", r.key(), err)
						}
						if err := json.NewEncoder(out).Encode(r); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return out.Close()
}

// train fits the network and measures its error on the test rows.
func (r *run) train(ctx context.Context, s *settings, rows *split) error {
	src, err := rows.Train.source()
	if err != nil {
		return err
	}
	held, err := rows.Valid.source()
	if err != nil {
		return err
	}
	test, err := rows.Test.source()
	if err != nil {
		return err
	}
	cfg := s.config(r.Kind, numbered(len(rows.Train.X[0])), uint64(1000*r.Split+r.Seed), native.Initialization(r.Arm))
	cfg.Training.Validation = held
	m, fit, err := native.Train(ctx, cfg, src)
	if err != nil {
		return err
	}
	sum, at := 0.0, 0
	for b, err := range test.Batches(ctx, m.Columns()) {
		if err != nil {
			return err
		}
		eta, err := m.Predict(ctx, b)
		if err != nil {
			return err
		}
		for i := range b.Rows() {
			miss := eta.At(i, 0) - float64(rows.Test.Y[at])
			sum, at = sum+miss*miss, at+1
		}
	}
	r.RMSE = rows.Scale * math.Sqrt(sum/float64(at))
	r.Epochs, r.Best = len(fit.Epochs), fit.Best
	return nil
}

// readRuns are the runs of a file, by key; none if it is not there.
func readRuns(path string) (map[string]*run, error) {
	runs := map[string]*run{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return runs, nil
	} else if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		r := &run{}
		if err := json.Unmarshal([]byte(line), r); err != nil {
			return nil, fmt.Errorf("%s, line %s: %w", path, strconv.Itoa(number), err)
		}
		runs[r.key()] = r
	}
	return runs, nil
}
