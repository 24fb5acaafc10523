package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/report"
)

// The files of a comparison's directory.
const (
	comparisonPage = "compare.html"
	comparisonJSON = "compare.json"
)

func newCompare(s streams) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare A B [--data FILE...] | STATE [STATE] --periods A..B",
		Short: "Compare two decompositions, or two periods of one: where changes of mean and variance come from",
		Long: `Compare the decompositions in the directories A and B: two trainings of a network, or
one network on the rows of two periods. For each term: how far its curve in B is from that in
A where both have rows, and whether by more than the standard errors of two independent
sets of rows allow; what A's function changes by on B's rows (exact where both accumulated the same
columns); and its part of the predictor's variance in each, which add up.

--data names the rows that B was made of. They are run through A's network, so that what
the rows change is known for every term; if A was made of the same rows, through both
networks: then there are joint standard errors of the differences, which results alone
do not give.

With states of 'pho monitor' in place of directories: the change from one period to
another, --periods A..B, of one state or of two of the same decomposition, split by terms
exactly and tested against chance. Two states of one period each need no --periods.`,
		Example: `  pho compare january february
  pho compare january february --out drift
  pho compare first-training second-training --data rows.csv
  pho compare drift.json --periods 2026-01..2026-02`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if isState(args) {
				return f.states(s, cmd.Flags(), args)
			}
			if err := exactArgs("A", "B")(cmd, args); err != nil {
				return err
			}
			if f.periods != "" {
				return usagef("--periods goes with states of pho monitor: %q is a directory", args[0])
			}
			c, err := f.read(cmd.Context(), s, args[0], args[1])
			if err != nil {
				return err
			}
			doc, err := json.MarshalIndent(c, "", "  ")
			if err != nil {
				return err
			}
			doc = append(doc, '\n')
			if f.out != "" {
				if err := writeComparison(s, f.out, args, c, doc); err != nil {
					return err
				}
			}
			if f.asJSON {
				_, err = s.out.Write(doc)
				return err
			}
			printComparison(s.out, c.Labelled())
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.out, "out", "", "`DIR` for compare.html, with the curves of both, and compare.json; of states monitor.html and monitor.json")
	addLabels(flags, &f.labels, ", in place of those of A, or of B where A has none")
	flags.BoolVar(&f.asJSON, "json", false, "write the comparison as JSON")
	flags.StringVar(&f.periods, "periods", "", "`A..B`: two periods of a state of pho monitor, B against A")
	f.data.add(flags)
	flags.StringArrayVar(&f.models, "model", nil, "the networks' `FILE`s, A's and then B's, if they are not where they were")
	flags.StringVar(&f.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

type compareFlags struct {
	out       string
	asJSON    bool
	data      dataFlags
	models    []string
	maxMemory string
	labels    string
	periods   string
}

// read compares the results in two directories.
func (f *compareFlags) read(ctx context.Context, s streams, dirA, dirB string) (*compare.Comparison, error) {
	if len(f.models) != 0 && (len(f.models) != 2 || len(f.data.paths) == 0) {
		return nil, usagef("--model is given twice, A's network and then B's, and goes with --data")
	}
	if a, err := os.Stat(dirA); err == nil {
		if b, err := os.Stat(dirB); err == nil && os.SameFile(a, b) {
			return nil, usagef("A and B are the same directory %q", dirA)
		}
	}
	a, err := readSide(dirA, f.labels)
	if err != nil {
		return nil, err
	}
	b, err := readSide(dirB, "")
	if err != nil {
		return nil, err
	}
	if f.labels != "" {
		b.Result.Labels = a.Result.Labels
	}
	c, err := compare.New(*a, *b, compare.Rows{})
	if err != nil || len(f.data.paths) == 0 {
		return c, err
	}
	rows, err := f.rows(ctx, s, a, b, c.SameRows)
	if err != nil {
		return nil, err
	}
	return compare.New(*a, *b, *rows)
}

// seen is a result with its network and the rows as that sees them.
type seen struct {
	applier *decompose.Applier
	rows    files.Source
}

// open opens the network of side number i and the rows; the caller closes them.
func (f *compareFlags) open(s streams, side *compare.Side, i int) (*seen, error) {
	path := ""
	if len(f.models) == 2 {
		path = f.models[i]
	}
	opened, err := reopen(side.Result, side.Name, path, f.maxMemory, computing{engine: wiring.Own})
	if err != nil {
		return nil, err
	}
	applier, err := side.Result.Applier(opened.Model)
	if err != nil {
		return nil, err
	}
	o, err := f.data.options(s)
	if err != nil {
		return nil, err
	}
	paths, err := f.data.files(nil)
	if err != nil {
		return nil, err
	}
	if err := opened.Reading(side.Result, o); err != nil {
		return nil, err
	}
	network := opened.Networks[0]
	src, err := openRows(paths, o, nil, network.Graph())
	if err != nil {
		return nil, err
	}
	return &seen{applier, opened.Seen(side.Result, src)}, nil
}

// rows is what B's rows tell.
func (f *compareFlags) rows(ctx context.Context, s streams, a, b *compare.Side, same bool) (*compare.Rows, error) {
	if slices.Contains(f.data.paths, "-") {
		return nil, usagef("--data -: the rows are read more than once, so name a file")
	}
	first, err := f.open(s, a, 0)
	if err != nil {
		return nil, err
	}
	defer first.rows.Close()
	if !same {
		if err := ofResult(ctx, first.rows, b.Result); err != nil {
			return nil, fmt.Errorf("--data: %w: name the rows of B", err)
		}
		means, _, err := first.applier.MeansOf(ctx, first.rows, b.Result.Weights)
		return &compare.Rows{Means: means}, err
	}
	second, err := f.open(s, b, 1)
	if err != nil {
		return nil, err
	}
	defer second.rows.Close()
	joint, err := decompose.NewJoint(ctx, first.applier, second.applier, [2]data.Source{first.rows, second.rows}, a.Result.Weights)
	if err != nil {
		return nil, err
	}
	errors, err := report.DifferenceErrors(ctx, a.Result, b.Result, first.applier, second.applier, joint)
	return &compare.Rows{Joint: errors}, err
}

// ofResult tells rows that r was not made of by the means of its columns of numbers.
func ofResult(ctx context.Context, src data.Source, r *decompose.Result) error {
	var names []string
	for _, f := range r.Features {
		if f.Levels == nil {
			names = append(names, f.Name)
		}
	}
	sums, n := make([]float64, len(names)), 0
	for b, err := range src.Batches(ctx, names) {
		if err != nil {
			return err
		}
		n += b.Rows()
		for j, name := range names {
			x, err := b.Numeric(name)
			if err != nil {
				return err
			}
			for _, v := range x {
				sums[j] += v
			}
		}
	}
	for j, name := range names {
		i := slices.IndexFunc(r.Features, func(f decompose.Feature) bool { return f.Name == name })
		f := &r.Features[i]
		if mean := sums[j] / float64(n); !(math.Abs(mean-f.Mean) <= 1e-6*max(f.Max-f.Min, math.Abs(f.Mean))) {
			return fmt.Errorf("the mean of %s is %.6g in these rows and was %.6g", name, mean, f.Mean)
		}
	}
	return nil
}

// readSide reads the result in dir, sums over rows and all, with its curves and the labels in a file.
func readSide(dir, labels string) (*compare.Side, error) {
	r, err := labelledBy(labels, dir, resultdir.Read)
	if err != nil {
		return nil, err
	}
	effects, err := resultdir.ReadFile(dir, resultdir.Effects)
	if err != nil {
		return nil, fmt.Errorf("%w; pho report writes %s again", err, resultdir.Effects)
	}
	curves, err := compare.ReadCurves(bytes.NewReader(effects))
	if err != nil {
		return nil, fmt.Errorf("decomposition %q: %w", dir, err)
	}
	ref := wiring.ReferenceOf(r)
	return &compare.Side{Name: dir, Result: r, Curves: curves, Network: ref.SHA256, Predictions: ref.Kind == wiring.Columns || ref.Kind == wiring.Address}, nil
}

// writeComparison writes the page and the JSON to out, which may not be one of the results.
func writeComparison(s streams, out string, results []string, c *compare.Comparison, doc []byte) error {
	var in sources
	in.add("part of A", results[0])
	in.add("part of B", results[1])
	return writePageDir(s, out, in, comparisonJSON, doc, comparisonPage, func(f *os.File) error { return report.WriteComparison(f, c) })
}

// writePageDir writes the directory of a page and of the JSON that it shows to out, which may be no place of in.
func writePageDir(s streams, out string, in sources, nameOfJSON string, doc []byte, name string, page func(*os.File) error) error {
	if err := in.spareDir("--out", out); err != nil {
		return err
	}
	dir, err := durable.NewDir(s.unfinished(), durable.Files{name, nameOfJSON}, out)
	if err != nil {
		return err
	}
	defer dir.Discard()
	if err := durable.WriteFile(dir.Path(nameOfJSON), func(f *os.File) error { _, err := f.Write(doc); return err }); err != nil {
		return err
	}
	if err := durable.WriteFile(dir.Path(name), page); err != nil {
		return err
	}
	return dir.Commit()
}

func printComparison(w io.Writer, c *compare.Comparison) {
	network := "other networks"
	switch {
	case c.Predictions:
		network = "models that are known by their predictions"
	case c.SameNetwork:
		network = "the same network"
	}
	fmt.Fprintf(w, "B %s against A %s: %s\n", shown(c.B), shown(c.A), network)
	for i := range c.Predictors {
		p := &c.Predictors[i]
		fmt.Fprintf(w, "%s: mean %.4g in A, %.4g in B (%+.4g)\n", shown(p.Name), p.Mean.A, p.Mean.B, p.Mean.Change.Change)
		if p.Mean.Known > 0 && !c.SameRows {
			fmt.Fprintf(w, "  of the change, %+.4g because the rows are other ones (A's functions, %d of its terms), %+.4g because\n  functions or the intercept are\n",
				p.Mean.Rows, p.Mean.Known, p.Mean.Rest)
		}
		fmt.Fprintf(w, "  variance %.4g in A, %.4g in B (%+.4g)", p.Variance.A, p.Variance.B, p.Variance.Change)
		if p.Unstructured != nil {
			fmt.Fprintf(w, ", of which unstructured %.4g and %.4g (%+.4g)", p.Unstructured.A, p.Unstructured.B, p.Unstructured.Change)
		}
		fmt.Fprintln(w)
		if s := p.Structured; s != nil && !c.SameRows {
			fmt.Fprintf(w, "  variance of the structured part %.4g in A, %.4g in B: %+.4g because the rows are other ones,\n  %+.4g because functions are\n", s.A, s.B, s.Rows, s.Functions)
		}
		writeTable(w, comparisonRows(p), 1)
		for _, t := range slices.Concat(p.Terms, p.Sums) {
			for _, why := range []string{t.Why, t.Note} {
				if why != "" {
					fmt.Fprintf(w, "  %s: %s\n", shown(t.Shown()), bounded(why))
				}
			}
			writeOverlap(w, &t)
		}
	}
	fmt.Fprintf(w, "uncertainty: %s\n", c.Uncertainty)
	for _, n := range c.Notes {
		fmt.Fprintf(w, "note: %s\n", bounded(n))
	}
}

func comparisonRows(p *compare.Predictor) [][]string {
	rows := [][]string{{"term", "curve moved (rms)", "most", "at", "in se", "beyond error", "mean: rows", "variance A", "variance B"}}
	figure := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.3g", *v)
	}
	for _, t := range slices.Concat(p.Terms, p.Sums) {
		row := []string{wiring.Shorten(shown(t.Shown()), summaryName), "-", "-", "-", "-", "-", figure(t.Rows), "-", "-"}
		if t.Curve != nil {
			at := t.Curve.X
			if t.Curve.X2 != "" {
				at += ", " + t.Curve.X2
			}
			row[1], row[2], row[3], row[4] = figure(&t.Curve.RMS), fmt.Sprintf("%+.3g", t.Curve.Largest), wiring.Shorten(shown(at), 16), figure(t.Curve.Ratio)
			if b := t.Curve.Beyond; b != nil {
				row[5] = map[bool]string{true: "yes", false: "no"}[*b]
			}
		}
		if t.Variance != nil {
			row[7], row[8] = figure(&t.Variance.A), figure(&t.Variance.B)
		}
		rows = append(rows, row)
	}
	return rows
}

// writeOverlap names levels that only one of the two has.
func writeOverlap(w io.Writer, t *compare.Term) {
	if t.Curve == nil {
		return
	}
	for _, o := range t.Curve.Over {
		for _, only := range []struct {
			in     string
			levels []string
		}{{"A", o.OnlyA}, {"B", o.OnlyB}} {
			if len(only.levels) > 0 {
				fmt.Fprintf(w, "  %s: levels of %s in %s only: %s\n", shown(t.Shown()), shown(o.Feature), only.in, bounded(strings.Join(only.levels, ", ")))
			}
		}
	}
}
