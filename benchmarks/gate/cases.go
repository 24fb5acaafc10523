package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/pho-go/pho"
	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// against is the variant that a case is compared with.
type against int

const (
	withoutAssembly against = iota
	oneWorker
	standardLibrary
	anotherWay
	smallCase
)

// what names it after "times".
func (a against) what() string {
	return [...]string{"as fast as plain Go", "as fast as with one worker", "as fast as the standard library", "as fast as the other way", "as fast as the small case"}[a]
}

// variant ends the name of a case run the other way.
const variant = ", the other way"

// gated is a case with the least ratio that passes: about half of what an idle machine of two
// processors with AVX-512 showed, which others reach, too, where narrow is 0.
type gated struct {
	name    string
	against against
	least   float64
	narrow  float64 // least without AVX-512, whose vectors are twice as long; 0: as with it
	// prepare makes what is timed, several times.
	prepare func(other bool) (func() error, error)
}

var cases = []gated{
	{"forward, MLP 10-200-200-1, float32", withoutAssembly, 8, 4, forward("Relu", onnx.Single)},
	{"forward, MLP 10-200-200-1, float64", withoutAssembly, 5, 3, forward("Relu", onnx.Double)},
	{"forward, MLP 10-200-200-1 with tanh, float32", withoutAssembly, 4, 0, forward("Tanh", onnx.Single)},
	{"decompose, ten P-splines", withoutAssembly, 2, 0, splines},
	{"decompose, ten P-splines, two workers", oneWorker, 1.2, 0, workers},
	{"apply next to decompose", anotherWay, 0.8, 0, apply},
	{"one row to all parts", withoutAssembly, 1.2, 0, oneRow},
	{"solve, 600 columns", withoutAssembly, 1.5, 0, solve},
	{"training, 10-200-200-1, batches of 1024", withoutAssembly, 4, 0, training},
	{"read CSV", standardLibrary, 1.5, 0, readCSV},
	{"decompose, a factor of 2000 levels, not 10", smallCase, 0.06, 0, levels},
	{"decompose, 100 smooths, not 10", smallCase, 0.01, 0, manySmooths},
	{"decompose, 20 classes, not 2", smallCase, 0.05, 0, classes},
	{"decompose, NAM of learned bases, not its forward passes", anotherWay, 0.04, 0, learned},
}

// bound is the least ratio on this machine.
func (c gated) bound() float64 {
	if c.narrow > 0 && !cpu.X86.HasAVX512F {
		return c.narrow
	}
	return c.least
}

// timed is the best turn of a case in this process after one that is not counted: of two at least, and
// of as many as a third of a second holds. A turn of milliseconds is easily disturbed.
func timed(name string) (float64, error) {
	base, other := strings.CutSuffix(name, variant)
	for _, c := range cases {
		if c.name != base {
			continue
		}
		f, err := c.prepare(other)
		if err != nil {
			return 0, err
		}
		best, together := 0.0, 0.0
		for i := 0; i < 3 || together < 0.33; i++ {
			begin := time.Now()
			if err := f(); err != nil {
				return 0, err
			}
			took := time.Since(begin).Seconds()
			together += took
			if i == 1 || took < best {
				best = took
			}
		}
		return best, nil
	}
	return 0, fmt.Errorf("there is no case %q", name)
}

func forward(activation string, p onnx.Precision) func(bool) (func() error, error) {
	return func(bool) (func() error, error) {
		m, err := network(activation, p)
		if err != nil {
			return nil, err
		}
		return passes(m, table(6000)), nil
	}
}

// passes runs the network over all rows, in blocks.
func passes(m decompose.Model, t *data.Table) func() error {
	return func() error {
		ctx := context.Background()
		for b, err := range data.Rebatch(t.Batches(ctx, m.Columns()), 4096) {
			if err != nil {
				return err
			}
			if err := m.Forward(ctx, outputs(b.Rows()), b); err != nil {
				return err
			}
		}
		return nil
	}
}

func splines(bool) (func() error, error) { return decomposition(1, 6000, 20) }

func workers(other bool) (func() error, error) {
	n := 2
	if other {
		n = 1
	}
	return decomposition(n, 100_000, 20)
}

// decomposition is a whole one of rows in memory.
func decomposition(workers, rows, k int) (func() error, error) {
	t := table(rows)
	m, err := withSplines(t, k)
	if err != nil {
		return nil, err
	}
	return func() error {
		_, err := decompose.Decompose(context.Background(), m, t, limited(workers))
		return err
	}, nil
}

// levels is a decomposition with a factor of many levels.
func levels(other bool) (func() error, error) {
	n := 2000
	if other {
		n = 10
	}
	m, t := predicted(20_000, 1, 1, n)
	return byPredictions(m, t, `factor(g) + s(x0, bs="ps", k=20)`)
}

func manySmooths(other bool) (func() error, error) {
	n := 100
	if other {
		n = 10
	}
	var terms []string
	for j := range n {
		terms = append(terms, fmt.Sprintf(`s(%s, bs="ps", k=5)`, column(j)))
	}
	m, t := predicted(4000, n, 1, 10)
	return byPredictions(m, t, strings.Join(terms, " + "))
}

func classes(other bool) (func() error, error) {
	n := 20
	if other {
		n = 2
	}
	m, t := predicted(4000, 3, n, 10)
	return byPredictions(m, t, `s(x0, bs="ps", k=12) + s(x1, bs="ps", k=12) + s(x2, bs="ps", k=12)`)
}

// byPredictions is a decomposition of predictions by some terms.
func byPredictions(m predictions, t *data.Table, terms string) (func() error, error) {
	f, err := basis.Parse("~ "+terms, nil)
	if err != nil {
		return nil, err
	}
	blocks, err := decompose.Prepare(context.Background(), t, f.Specs, nil)
	if err != nil {
		return nil, err
	}
	with, err := decompose.With(m, map[string][]decompose.Block{"": blocks})
	if err != nil {
		return nil, err
	}
	return func() error {
		_, err := decompose.Decompose(context.Background(), with, t, limited(2))
		return err
	}, nil
}

// learned is the decomposition of a neural additive model; the other way are its forward passes, as many.
func learned(other bool) (func() error, error) {
	t := table(10_000)
	raw, err := additive()
	if err != nil {
		return nil, err
	}
	if other {
		m, err := bound(raw, onnx.Double)
		if err != nil {
			return nil, err
		}
		return passes(m, t), nil
	}
	path := filepath.Join(os.TempDir(), "pho-gate-nam.onnx")
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		return nil, err
	}
	return func() error {
		_, err := pho.Decompose(context.Background(), path, t, &pho.Options{Inputs: map[string][]string{"x": xs()}, Interactions: pho.NoInteractions, Decompose: limited(1)})
		return err
	}, nil
}

// apply is the way to parts of rows with a result in hand; the other way decomposes them.
func apply(other bool) (func() error, error) {
	if other {
		return decomposition(2, 50_000, 20)
	}
	t := table(50_000)
	a, err := applier(t)
	if err != nil {
		return nil, err
	}
	return func() error {
		for _, err := range a.All(context.Background(), t) {
			if err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func oneRow(bool) (func() error, error) {
	t := table(3000)
	a, err := applier(t)
	if err != nil {
		return nil, err
	}
	row := data.NewBatch(1, 0)
	for j := range inputs {
		if err := row.SetNumeric(column(j), []float64{0.3}); err != nil {
			return nil, err
		}
	}
	return func() error {
		for range 1000 {
			if _, err := a.Parts(context.Background(), row); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// solve is the smoothing and solution of many columns from moments in hand.
func solve(bool) (func() error, error) {
	ctx, t := context.Background(), table(2000)
	m, err := withSplines(t, 60)
	if err != nil {
		return nil, err
	}
	sums, err := decompose.Accumulate(ctx, m, t, limited(1))
	if err != nil {
		return nil, err
	}
	return func() error {
		_, err := decompose.Solve(ctx, m, sums, limited(1))
		return err
	}, nil
}

func training(bool) (func() error, error) {
	t := table(4096)
	var names []string
	for j := range inputs {
		names = append(names, column(j))
	}
	cfg := native.Config{
		Architecture: native.MLP, Response: "y",
		Deep:     native.Deep{Columns: names, Hidden: []int{200, 200}},
		Training: native.Training{BatchSize: 1024, Epochs: 3, Workers: 1, Single: true, ValidationShare: -1, LearningRate: 0.001, WithoutWarmStart: true},
	}
	return func() error {
		_, _, err := native.Train(context.Background(), cfg, t)
		return err
	}, nil
}

// readCSV reads all columns; the other way is encoding/csv with strconv.
func readCSV(other bool) (func() error, error) {
	path, err := csvFile(100_000)
	if err != nil {
		return nil, err
	}
	if other {
		return func() error { return parsed(path) }, nil
	}
	return func() error {
		src, err := data.OpenCSV([]string{path}, nil)
		if err != nil {
			return err
		}
		defer src.Close()
		for _, err := range src.Batches(context.Background(), src.Schema().Names()) {
			if err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func parsed(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := csv.NewReader(bufio.NewReader(file))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		return err
	}
	columns := make([][]float64, inputs+1)
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for j, text := range record {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return err
			}
			columns[j] = append(columns[j], x)
		}
	}
}
