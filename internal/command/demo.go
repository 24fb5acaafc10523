package command

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// demoNetworks were trained without any identifiability constraint and exported
// by PyTorch: demo/train.py.
//
//go:embed demo/ssn.onnx demo/nam.onnx
var demoNetworks embed.FS

// demoFlags are the flags of pho demo.
type demoFlags struct {
	out  string
	rows int
	seed uint64
}

func newDemo(s streams) *cobra.Command {
	var d demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See what pho does, on networks and data that it brings along",
		Long: `The main job end to end: simulates rows of the PHO paper's ten functions, writes them
and two networks that PyTorch trained on such data to a directory, takes both networks apart,
and compares the curves of each column with the functions behind the data.`,
		Example: `  pho demo
  pho demo --out /tmp/pho-demo --rows 100000`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context(), s) },
	}
	cmd.Flags().StringVar(&d.out, "out", "pho-demo", "`DIR` to write")
	cmd.Flags().IntVar(&d.rows, "rows", 5000, "`NUMBER` of rows to simulate")
	cmd.Flags().Uint64Var(&d.seed, "seed", 1, "`NUMBER` that the simulation starts from")
	return cmd
}

func (d *demoFlags) run(ctx context.Context, s streams) error {
	if d.rows < 1000 || d.rows > 10_000_000 {
		return usagef("--rows %d: the demo takes 1000 to 10000000", d.rows)
	}
	table, err := simulate(d.rows, d.seed)
	if err != nil {
		return err
	}
	if err := d.prepare(table); err != nil {
		return err
	}
	for _, part := range []func(context.Context, io.Writer, *data.Table) error{d.curves, d.lines} {
		if err := part(ctx, s.out, table); err != nil {
			return err
		}
	}
	d.next(s.out)
	return nil
}

// prepare writes the networks and the data.
func (d *demoFlags) prepare(table *data.Table) error {
	entries, err := os.ReadDir(d.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--out %q: %w: give a directory", d.out, durable.Reason(err))
	}
	networks := []string{"ssn.onnx", "nam.onnx"}
	earlier := 0
	for _, e := range entries {
		if slices.Contains(networks, e.Name()) {
			earlier++
		}
		name := e.Name()
		if finished, ok := durable.Named(name); ok {
			name = finished
		}
		if !slices.Contains(append(networks, "data.csv", "ssn", "nam"), name) {
			return fmt.Errorf("--out %q holds %q, which is not part of the demo: give an empty or a new directory", d.out, e.Name())
		}
	}
	if len(entries) > 0 && earlier < len(networks) { // a data.csv of somebody's own
		return fmt.Errorf("--out %q is neither empty nor an earlier demo: give an empty or a new directory", d.out)
	}
	if err := os.MkdirAll(d.out, 0o777); err != nil {
		return fmt.Errorf("--out %q cannot be written: %w", d.out, durable.Reason(err))
	}
	for _, name := range networks {
		raw, err := demoNetworks.ReadFile("demo/" + name)
		if err != nil {
			return err
		}
		err = durable.WriteFile(filepath.Join(d.out, name), func(f *os.File) error { _, err := f.Write(raw); return err })
		if err != nil {
			return err
		}
	}
	return durable.WriteFile(filepath.Join(d.out, "data.csv"), func(f *os.File) error { return writeRows(f, table) })
}

// decompose runs the main job on one network, without a word, and opens it for curves.
func (d *demoFlags) decompose(ctx context.Context, name string, formulas ...string) (*decompose.Result, *decompose.Applier, error) {
	job := decomposeFlags{
		models: []string{filepath.Join(d.out, name+".onnx")}, out: filepath.Join(d.out, name), smoothing: "reml",
		contributions: "csv", gamma: 1, formulas: formulas,
		data: dataFlags{paths: []string{filepath.Join(d.out, "data.csv")}, delimiter: ",", na: "error"}, network: networkFlags{},
		response: "y",
	}
	r, err := job.run(ctx, streams{out: io.Discard, err: io.Discard}, nil)
	if err != nil {
		return nil, nil, err
	}
	opened, err := reopen(r, job.out, "", "1GiB", computing{})
	if err != nil {
		return nil, nil, err
	}
	a, err := r.Applier(opened.Model)
	return r, a, err
}

// curve adds up the terms of one feature at the rows of b.
func curve(ctx context.Context, r *decompose.Result, a *decompose.Applier, b *data.Batch, feature string) (before, after []float64, err error) {
	before, after = make([]float64, b.Rows()), make([]float64, b.Rows())
	for j, t := range r.Predictors[0].Terms {
		if !slices.Equal(t.Features, []string{feature}) {
			continue
		}
		e, err := a.Effect(ctx, 0, j, b)
		if err != nil {
			return nil, nil, err
		}
		for i := range before {
			before[i] += e.Before[i]
			after[i] += e.After[i]
		}
	}
	return before, after, nil
}

// distance is the root mean square difference of two centred curves.
func distance(curve, x []float64, f func(float64) float64) float64 {
	var mean float64
	for _, v := range x {
		mean += f(v) / float64(len(x))
	}
	var sum float64
	for i, v := range x {
		diff := curve[i] - (f(v) - mean)
		sum += diff * diff
	}
	return math.Sqrt(sum / float64(len(x)))
}
