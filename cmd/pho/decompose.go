package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/penalty"
	"github.com/pho-go/pho/report"
)

// decomposeFlags are the flags of pho decompose.
type decomposeFlags struct {
	model, out, log   string
	inputs, formulas  []string
	method, smoothing string
	sp                []string
	gamma             float64
	rankTolerance     float64
	weights, offset   string
	response, family  string
	workers           int
	cache             bool
	data              dataFlags
	network           networkFlags
}

func newDecompose(s streams) *cobra.Command {
	var d decomposeFlags
	cmd := &cobra.Command{
		Use:   "decompose --model MODEL.onnx --data FILE... [--formula F]... --out DIR",
		Short: "Split a network's predictor over all rows of the data and write the result",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := d.run(cmd.Context(), s, args)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.model, "model", "", "ONNX file")
	f.StringVar(&d.out, "out", "", "result directory: absent, empty, or an earlier result")
	f.StringArrayVar(&d.inputs, "input", nil, "bind data columns to an input: NAME=col,col or NAME=x0..x9 (repeatable)")
	f.StringArrayVar(&d.formulas, "formula", nil, `structured terms, e.g. '~ x1 + s(x2, bs="ps", k=20)'; 'sigma = ~ x1' for one predictor (repeatable)`)
	f.StringVar(&d.method, "method", "", "pho or phogam (default: phogam if terms are penalised)")
	f.StringVar(&d.smoothing, "smoothing", "reml", "how to choose smoothing parameters: reml, gcv or fixed")
	f.StringArrayVar(&d.sp, "sp", nil, "fix a term's smoothing parameters: 's(x2)=0.3' (repeatable)")
	f.Float64Var(&d.gamma, "gamma", 0, "count degrees of freedom this often (default 1; more is smoother)")
	f.Float64Var(&d.rankTolerance, "rank-tolerance", 0, "smallest relative singular value to project on (default 1e-4 with learned terms, else 1e-6)")
	f.StringVar(&d.weights, "weights", "", "column of row weights")
	f.StringVar(&d.offset, "offset", "", "column added to the first predictor in the likelihood")
	f.StringVar(&d.response, "response", "", "column of the response, for importance")
	f.StringVar(&d.family, "family", "", "distribution of the response: gaussian, binomial or poisson (default: gaussian with a response)")
	f.IntVar(&d.workers, "workers", 0, "goroutines (default: one per processor; results do not depend on it)")
	f.BoolVar(&d.cache, "cache", false, "keep the network's outputs in memory instead of running it twice")
	f.StringVar(&d.log, "log", "", "json: progress as lines of JSON")
	d.data.add(f)
	d.data.addFactors(f)
	d.network.add(f)
	return cmd
}

// run does the main job end to end and returns the result it wrote to d.out.
func (d *decomposeFlags) run(ctx context.Context, s streams, further []string) (*decompose.Result, error) {
	started := time.Now()
	o, err := d.options()
	if err != nil {
		return nil, err
	}
	progress, err := newProgress(s.err, d.log)
	if err != nil {
		return nil, err
	}
	g, hash, err := loadNetwork(d.model, d.network.maxMemory)
	if err != nil {
		return nil, err
	}
	src, err := d.data.open(s, further)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	formulas, err := d.parse(src.Schema(), o)
	if err != nil {
		return nil, err
	}
	bind, err := onnx.Bind(g, src.Schema(), d.inputs, present(o.Response, o.Weights, o.Offset)...)
	if err != nil {
		return nil, err
	}
	graph, err := onnx.NewModel(g, bind, d.network.options())
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", d.model, err)
	}
	if o.Family, err = d.likelihood(o.Response, graph.Structure()); err != nil {
		return nil, err
	}
	m, err := extend(ctx, graph, src, formulas, o)
	if err != nil {
		return nil, err
	}

	dir, err := newResultDir(d.out)
	if err != nil {
		return nil, err
	}
	defer dir.discard()
	o.Progress = progress.report
	r, err := decomposeInto(ctx, dir, m, src, o)
	progress.end()
	if err != nil {
		return nil, err
	}
	if _, dropped := src.Rows(); dropped > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d rows with missing cells were left out", dropped))
	}
	r.CreatedBy = createdBy()
	if r.Model, err = d.network.describe(d.model, hash, bind, d.data.factors); err != nil {
		return nil, err
	}
	if err := writeResult(ctx, dir, m, r); err != nil {
		return nil, err
	}
	if err := writeRun(dir, started, o.Workers); err != nil {
		return nil, err
	}
	if err := dir.commit(); err != nil {
		return nil, err
	}
	summarise(s.err, r)
	fmt.Fprintf(s.err, "report: %s\n", d.out+string(os.PathSeparator)+fileReport)
	return r, nil
}

// options turns flags into options and reports wrong usage.
func (d *decomposeFlags) options() (*decompose.Options, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if d.model == "" {
		fault("--model is missing: name an ONNX file")
	}
	if d.out == "" {
		fault("--out is missing: name the result directory")
	}
	o := &decompose.Options{
		Method: decompose.Method(d.method), RankTolerance: d.rankTolerance,
		Weights: d.weights, Offset: d.offset, Response: d.response, Workers: d.workers, Cache: d.cache,
		SP: map[string][]float64{},
	}
	if o.Method != "" && o.Method != decompose.PHO && o.Method != decompose.PHOGAM {
		fault("--method %q: it is pho or phogam", d.method)
	}
	if d.workers < 0 {
		fault("--workers %d is negative", d.workers)
	}
	var err error
	if o.Smoothing.Method, err = penalty.ParseMethod(d.smoothing); err != nil {
		fault("--smoothing: %w", err)
	}
	o.Smoothing.Gamma = d.gamma
	for _, text := range d.sp {
		name, values, err := parseSP(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		o.SP[name] = values
	}
	if err := errors.Join(faults...); err != nil {
		return nil, usageError{err}
	}
	return o, nil
}

// parseSP reads 's(x2)=0.3' or 'te(a,b)=0.3,1.2'.
func parseSP(text string) (name string, values []float64, err error) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return "", nil, fmt.Errorf("--sp %q: write 's(x2)=0.3'", text)
	}
	for _, v := range strings.Split(text[at+1:], ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || !(f >= 0) {
			return "", nil, fmt.Errorf("--sp %q: %q is not a number >= 0", text, v)
		}
		values = append(values, f)
	}
	return strings.ReplaceAll(text[:at], " ", ""), values, nil
}

// parse reads the formulas, and the response from them.
func (d *decomposeFlags) parse(schema data.Schema, o *decompose.Options) ([]*basis.Formula, error) {
	var formulas []*basis.Formula
	for _, text := range d.formulas {
		f, err := basis.Parse(text, &basis.Options{Schema: schema, Factors: d.data.factors})
		if err != nil {
			return nil, usageError{fmt.Errorf("--formula: %w", err)}
		}
		if f.Response != "" {
			if o.Response != "" && o.Response != f.Response {
				return nil, usagef("the response is %q here and %q there: name one", o.Response, f.Response)
			}
			o.Response = f.Response
		}
		formulas = append(formulas, f)
	}
	for _, c := range []struct{ flag, column string }{{"--weights", o.Weights}, {"--response", o.Response}, {"--offset", o.Offset}} {
		if c.column == "" {
			continue
		}
		column, ok := schema.Lookup(c.column)
		if !ok {
			return nil, fmt.Errorf("%s: there is no column %q in the data, which have %q", c.flag, c.column, schema.Names())
		}
		if !column.Numeric {
			return nil, fmt.Errorf("%s: column %q holds text, where numbers are needed", c.flag, c.column)
		}
	}
	return formulas, nil
}

// likelihood finds the family of the response; nil without a response.
func (d *decomposeFlags) likelihood(response string, structure *onnx.Structure) (family.Family, error) {
	if response == "" {
		if d.family != "" {
			return nil, usagef("--family %s needs a response: give --response COLUMN or 'y ~ ...'", d.family)
		}
		return nil, nil
	}
	heads := make([]string, len(structure.Predictors))
	for k, p := range structure.Predictors {
		heads[k] = p.Head
	}
	name := d.family
	if name == "" {
		name = defaultFamily(heads)
	}
	f, err := family.Parse(name, heads)
	if err != nil {
		return nil, fmt.Errorf("--family %s: %w", name, err)
	}
	return f, nil
}

// defaultFamily is what the head of a single predictor suggests.
func defaultFamily(heads []string) string {
	if len(heads) == 1 {
		switch heads[0] {
		case "sigmoid":
			return "binomial"
		case "exp":
			return "poisson"
		}
	}
	return "gaussian"
}

// extend scans the formulas' terms and adds them to the network's own.
func extend(ctx context.Context, m decompose.Model, src data.Source, formulas []*basis.Formula, o *decompose.Options) (decompose.Model, error) {
	reads := append(slices.Clone(m.Columns()), present(o.Weights, o.Response, o.Offset)...)
	var specs []decompose.Spec
	for _, f := range formulas {
		for _, spec := range f.Specs {
			reads = append(reads, spec.Columns()...)
		}
		specs = append(specs, f.Specs...)
	}
	if err := decompose.Scan(ctx, src, specs, reads); err != nil {
		return nil, err
	}
	extra := map[string][]decompose.Block{}
	for _, f := range formulas {
		blocks, err := decompose.Build(f.Specs)
		if err != nil {
			return nil, err
		}
		extra[f.Predictor] = append(extra[f.Predictor], blocks...)
		if !f.Intercept {
			for _, name := range m.Predictors() {
				if f.Predictor == "" || f.Predictor == name {
					o.WithoutIntercept = append(o.WithoutIntercept, name)
				}
			}
		}
	}
	return decompose.With(m, extra)
}

// decomposeInto runs the passes, writing contributions as they come.
func decomposeInto(ctx context.Context, dir *resultDir, m decompose.Model, src *data.CSV, o *decompose.Options) (*decompose.Result, error) {
	file, err := os.Create(dir.path(fileContributions))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	o.Visitors = []decompose.Visitor{report.NewContributions(file, totalRows(src)), importance.New(o.Family)}
	r, err := decompose.Decompose(ctx, m, src, o)
	if err != nil {
		return nil, err
	}
	return r, file.Close()
}

// totalRows tells, after a pass, how many rows the data have, those left out for
// missing cells included.
func totalRows(src *data.CSV) func() int64 {
	return func() int64 { total, _ := src.Rows(); return total }
}

// writeResult writes everything but the contributions.
func writeResult(ctx context.Context, dir *resultDir, m decompose.Model, r *decompose.Result) error {
	if err := writeFile(dir.path(fileMoments), func(f *os.File) error { return r.EncodeMoments(f) }); err != nil {
		return err
	}
	if err := writeFile(dir.path(fileDecomposition), func(f *os.File) error { return r.Encode(f) }); err != nil {
		return err
	}
	return writeReport(ctx, dir.path, m, r)
}

// writeReport writes the effects and the report.
func writeReport(ctx context.Context, path func(string) string, m decompose.Model, r *decompose.Result) error {
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	effects, err := report.Effects(ctx, r, a)
	if err != nil {
		return err
	}
	if err := writeFile(path(fileEffects), func(f *os.File) error { return report.WriteEffects(f, effects) }); err != nil {
		return err
	}
	return writeFile(path(fileReport), func(f *os.File) error { return report.Write(f, r, effects) })
}

// writeRun notes what must not be in the artifact: time and machine.
func writeRun(dir *resultDir, started time.Time, workers int) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return writeFile(dir.path(fileRun), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{
			"created_by": createdBy(), "started": started.UTC().Format(time.RFC3339),
			"seconds": time.Since(started).Seconds(), "workers": workers,
			"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "arguments": os.Args[1:],
		})
	})
}

// present leaves out empty names.
func present(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}
