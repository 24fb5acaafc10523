package main

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
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
	"github.com/pho-go/pho/internal/resultdir"
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
		Short: "The main job end to end on embedded networks and data it makes itself",
		Long: `The main job end to end: simulates rows of the PHO paper's ten functions, writes them
and two networks that PyTorch trained on such data to a directory, decomposes both
networks, and compares the effects of each feature with the functions behind the data.`,
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
	at := func(name ...string) string { return shown(filepath.Join(append([]string{d.out}, name...)...)) }
	fmt.Fprintf(s.out, "%d rows of y = f0(x0) + ... + f9(x9) + noise, the ten functions of the PHO paper, and two\n"+
		"networks that PyTorch trained on such rows without any constraint. They are in %s.\n", d.rows, at())
	for _, name := range []string{"ssn", "nam"} {
		if err := d.decompose(ctx, s, name, table); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.out, "\nLook at %s and %s in a browser. The second by hand:\n"+
		"  pho inspect %s\n  pho decompose --model %s --data %s --response y --out %s\n",
		at("ssn", resultdir.Report), at("nam", resultdir.Report), at("nam.onnx"), at("nam.onnx"), at("data.csv"), at("nam"))
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

// decompose runs the main job on one network and compares with the truth.
func (d *demoFlags) decompose(ctx context.Context, s streams, name string, table *data.Table) error {
	job := decomposeFlags{
		models: []string{filepath.Join(d.out, name+".onnx")}, out: filepath.Join(d.out, name), smoothing: "reml",
		contributions: "csv", gamma: 1,
		data: dataFlags{paths: []string{filepath.Join(d.out, "data.csv")}, delimiter: ",", na: "error"}, network: networkFlags{},
		response: "y",
	}
	switch name {
	case "ssn":
		fmt.Fprint(s.out, "\n1. A semi-structured network: linear effects + a deep part on all features.\n"+
			"   A formula adds a spline of each feature; REML chooses how smooth (PHOGAM). The line x0\n"+
			"   lies within the spline s(x0), so only their sum is identified.\n\n")
		var terms []string
		for j := range demoFunctions() {
			terms = append(terms, fmt.Sprintf(`s(x%d, bs="ps", k=20)`, j))
		}
		job.formulas = []string{"y ~ " + strings.Join(terms, " + ")}
	case "nam":
		fmt.Fprint(s.out, "\n2. A neural additive model + a deep part on all features.\n"+
			"   The bases are the ones its feature networks learned, found in the graph (PHO).\n\n")
	}
	r, err := job.run(ctx, streams{in: s.in, out: s.out, err: s.out, args: s.args}, nil)
	if err != nil {
		return err
	}
	opened, err := reopen(r, job.out, "", "1GiB", "")
	if err != nil {
		return err
	}
	return distances(ctx, s.out, r, opened.Model, table)
}

// distances prints how far each feature's curve was and is from the truth.
func distances(ctx context.Context, w io.Writer, r *decompose.Result, m decompose.Model, table *data.Table) error {
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\ndistance of each feature's effect from the true function (root mean square over rows)\n        ")
	functions := demoFunctions()
	for j := range functions {
		fmt.Fprintf(w, "%7s", fmt.Sprintf("x%d", j))
	}
	apart := [2][]float64{make([]float64, len(functions)), make([]float64, len(functions))}
	for b, err := range data.Rebatch(table.Batches(ctx, table.Schema().Names()), table.Rows()) {
		if err != nil {
			return err
		}
		for j, f := range functions {
			name := fmt.Sprintf("x%d", j)
			before, after, err := curve(ctx, r, a, b, name)
			if err != nil {
				return err
			}
			x, err := b.Numeric(name)
			if err != nil {
				return err
			}
			apart[0][j], apart[1][j] = distance(before, x, f), distance(after, x, f)
		}
	}
	for i, label := range []string{"before", "after"} {
		fmt.Fprintf(w, "\n%-8s", label)
		for _, v := range apart[i] {
			fmt.Fprintf(w, "%7.2f", v)
		}
	}
	fmt.Fprintln(w)
	return nil
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
