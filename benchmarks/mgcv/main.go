// Command mgcv fits the models of real.R to the same rows and prints, term by term,
// how far the two are apart, and a row with the seconds of both, mgcv's those of the
// setting that was fastest: benchmarks/mgcv.sh runs it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/benchmarks/internal/column"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/penalty"
)

func main() {
	page := flag.String("page", "", "file of Markdown that gets what is printed, but for the rows, between two lines <!-- real --> and <!-- end of real -->")
	flag.Parse()
	if err := run(*page, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mgcv:", err)
		os.Exit(1)
	}
}

func run(page string, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: mgcv [-page FILE] DIR, with what real.R wrote, and its seconds in DIR/seconds")
	}
	seconds, err := readSeconds(filepath.Join(args[0], "seconds"))
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(args[0], "*.json"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("no results of real.R in %q", args[0]), err)
	}
	var text strings.Builder
	for _, file := range files {
		var c theirs
		raw, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(raw, &c)
		}
		if err == nil {
			err = c.compare(io.MultiWriter(os.Stdout, &text), filepath.Join(args[0], c.Name+".csv"), seconds[c.Name+" "+c.Kind])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if page == "" {
		return nil
	}
	return write(page, text.String())
}

// write puts the text between the marks of a page.
func write(page, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	const begin, end = "<!-- real -->\n", "<!-- end of real -->\n"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q", page, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(page, []byte(before+begin+text+end+after), 0o666)
}

// theirs is mgcv's fit as real.R writes it.
type theirs struct {
	Name, Formula, Call, Kind, Version string
	Rows                               int
	Score, Scale, EDF                  float64
	ChosenScore                        float64 `json:"chosen_score"`
	At                                 []int
	Terms                              []struct {
		Name           string
		EDF            float64
		Values, SE, SP []float64
		SScale         []float64 `json:"s_scale"`
	}
}

// timed is the fastest way to call mgcv for a model.
type timed struct {
	seconds float64
	setting string
}

// readSeconds reads lines of OpenBLAS's setting, model, exact or discrete, seconds, and
// way, between tabs, and keeps the fastest for each model and kind.
func readSeconds(path string) (map[string]timed, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	best := map[string]timed{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("%s: line %q has not five fields", path, line)
		}
		v, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		key := f[1] + " " + f[2]
		if b, ok := best[key]; !ok || v < b.seconds {
			best[key] = timed{v, f[4] + "; " + f[0]}
		}
	}
	return best, nil
}

// read holds the rows in memory, as R does.
func read(path string) (*data.Table, error) {
	src, err := data.OpenCSV([]string{path}, nil)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	numbers, texts, rows := map[string][]float64{}, map[string][]string{}, 0
	for b, err := range src.Batches(context.Background(), src.Schema().Names()) {
		if err != nil {
			return nil, err
		}
		rows += b.Rows()
		for _, c := range src.Schema() {
			if c.Numeric {
				v, err := b.Numeric(c.Name)
				if err != nil {
					return nil, err
				}
				numbers[c.Name] = append(numbers[c.Name], v...)
				continue
			}
			codes, err := b.Codes(c.Name)
			if err != nil {
				return nil, err
			}
			for i := range b.Rows() {
				texts[c.Name] = append(texts[c.Name], codes.Levels[codes.Index[i]])
			}
		}
	}
	tab := data.NewTable(rows)
	for _, c := range src.Schema() {
		if c.Numeric {
			err = tab.AddNumeric(c.Name, numbers[c.Name])
		} else {
			err = tab.AddTexts(c.Name, texts[c.Name])
		}
		if err != nil {
			return nil, err
		}
	}
	return tab, nil
}

// ours is a formula on its rows.
type ours struct {
	tab    *data.Table
	model  decompose.Model
	blocks []decompose.Block
	sums   *decompose.Statistics
}

func prepare(ctx context.Context, formula string, tab *data.Table) (*ours, error) {
	f, err := basis.Parse(formula, &basis.Options{Schema: tab.Schema()})
	if err != nil {
		return nil, err
	}
	o := &ours{tab: tab}
	if o.blocks, err = decompose.Prepare(ctx, tab, f.Specs, nil); err != nil {
		return nil, err
	}
	if o.model, err = decompose.With(column.Network(f.Response), map[string][]decompose.Block{"": o.blocks}); err != nil {
		return nil, err
	}
	o.sums, err = decompose.Accumulate(ctx, o.model, tab, nil)
	return o, err
}

func (o *ours) solve(sp map[string][]float64) (*decompose.Result, error) {
	return decompose.Solve(context.Background(), o.model, o.sums, &decompose.Options{Projection: decompose.Projection{Method: decompose.PHOGAM, Terms: decompose.Fitted}, Smoothing: decompose.Smoothing{SP: sp, Selection: penalty.Options{Criterion: penalty.REML}}})
}

// turns of ours, as many as of theirs: the fastest counts.
const turns = 3

func (c *theirs) compare(w io.Writer, path string, peer timed) error {
	ctx := context.Background()
	tab, err := read(path)
	if err != nil {
		return err
	}
	if peer.setting == "" {
		return fmt.Errorf("no seconds of %s, %s", c.Name, c.Kind)
	}
	var o *ours
	var free *decompose.Result
	chosen := math.Inf(1)
	for range turns {
		start := time.Now()
		if o, err = prepare(ctx, c.Formula, tab); err != nil {
			return err
		}
		if free, err = o.solve(nil); err != nil {
			return err
		}
		chosen = math.Min(chosen, time.Since(start).Seconds())
	}

	sp := map[string][]float64{}
	for _, t := range c.Terms {
		if len(t.SP) > 0 {
			if sp[t.Name], err = o.rescaled(t.Name, t.SP, t.SScale); err != nil {
				return err
			}
		}
	}
	r, err := o.solve(sp)
	if err != nil {
		return err
	}
	p, q := &r.Predictors[0], &free.Predictors[0]
	fmt.Fprintf(w, "### %s, %s\n\n%d rows, `%s`\n\n", c.Name, c.Call, c.Rows, c.Formula)
	fmt.Fprintf(w, "mgcv %s (%s). At mgcv's smoothing parameters edf %.6f and %.6f, score %.9g and %.9g (mgcv, pho). Free choice: score %.9g and %.9g, edf %.4f and %.4f; %s after %d steps.\n\n",
		c.Version, c.Call, c.EDF, p.EDF, c.Score, *p.Score, c.ChosenScore, *q.Score, c.EDF, q.EDF, q.Status, q.Iterations)
	fmt.Fprintln(w, "| term | edf (mgcv) | edf differs | values differ | SE differ | chosen: log lambda differs | chosen: values differ |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|")
	worst, err := c.table(ctx, w, o, r, free, sp)
	if err != nil {
		return err
	}
	fmt.Printf("row\t%s (%s), %d rows\t%.3f s\t%.2f s: %s\t%.1f\t%.1e\n", c.Name, c.Call, c.Rows, chosen, peer.seconds, peer.setting, peer.seconds/chosen, worst)
	return nil
}

// table prints a row for each term. Differences of values are relative to the largest
// value of all terms at the rows At, of SE to the term's largest. It returns the
// largest difference of values at mgcv's smoothing parameters.
func (c *theirs) table(ctx context.Context, w io.Writer, o *ours, r, free *decompose.Result, sp map[string][]float64) (worst float64, err error) {
	few, err := c.rows(ctx, o.tab)
	if err != nil {
		return 0, err
	}
	at, err := r.Applier(o.model)
	if err != nil {
		return 0, err
	}
	own, err := free.Applier(o.model)
	if err != nil {
		return 0, err
	}
	size := 0.0
	for _, t := range c.Terms {
		for _, v := range t.Values {
			size = math.Max(size, math.Abs(v))
		}
	}
	for _, t := range c.Terms {
		j := slices.IndexFunc(r.Predictors[0].Terms, func(own decompose.TermResult) bool { return own.Name == t.Name })
		if j < 0 {
			return 0, fmt.Errorf("no term %q", t.Name)
		}
		e, err := at.Effect(ctx, 0, j, few)
		if err != nil {
			return 0, err
		}
		f, err := own.Effect(ctx, 0, j, few)
		if err != nil {
			return 0, err
		}
		lambda := "-"
		if len(t.SP) > 0 {
			most := 0.0
			for i, v := range free.Predictors[0].Terms[j].SP {
				most = math.Max(most, math.Abs(math.Log(v/sp[t.Name][i])))
			}
			lambda = fmt.Sprintf("%.1e", most)
		}
		differs := largest(e.After, t.Values) / size
		worst = math.Max(worst, differs)
		fmt.Fprintf(w, "| %s | %.4f | %.1e | %.1e | %.1e | %s | %.1e |\n", t.Name, t.EDF, math.Abs(r.Predictors[0].Terms[j].EDF-t.EDF),
			differs, largest(e.SE, t.SE)/largest(t.SE, nil), lambda, largest(f.After, t.Values)/size)
	}
	fmt.Fprintln(w)
	return worst, nil
}

// rows are the rows At as one batch.
func (c *theirs) rows(ctx context.Context, tab *data.Table) (*data.Batch, error) {
	few := data.NewTable(len(c.At))
	for b, err := range data.Rebatch(tab.Batches(ctx, tab.Schema().Names()), tab.Rows()) {
		if err != nil {
			return nil, err
		}
		for _, col := range tab.Schema() {
			if col.Numeric {
				v, err := b.Numeric(col.Name)
				if err != nil {
					return nil, err
				}
				some := make([]float64, len(c.At))
				for l, i := range c.At {
					some[l] = v[i]
				}
				err = few.AddNumeric(col.Name, some)
				if err != nil {
					return nil, err
				}
				continue
			}
			codes, err := b.Codes(col.Name)
			if err != nil {
				return nil, err
			}
			some := make([]string, len(c.At))
			for l, i := range c.At {
				some[l] = codes.Levels[codes.Index[i]]
			}
			if err := few.AddTexts(col.Name, some); err != nil {
				return nil, err
			}
		}
	}
	for b, err := range data.Rebatch(few.Batches(ctx, few.Schema().Names()), len(c.At)) {
		return b, err
	}
	return nil, errors.New("no rows")
}

// rescaled are mgcv's smoothing parameters on our scale. For thin plate splines of one
// column mgcv's scale depends on rounding when values are equally spaced: the product
// of smoothing parameter and penalty is what counts.
func (o *ours) rescaled(name string, sp, scale []float64) ([]float64, error) {
	sp = slices.Clone(sp)
	for _, b := range o.blocks {
		if b.Term.Name() != name || b.Term.Kind() != decompose.Smooth || b.Coordinates.Map() != nil || len(b.Base) > 0 || len(b.Penalty.S) != 1 {
			continue
		}
		norm := 0.0
		for rows, err := range o.tab.Batches(context.Background(), b.Term.Columns()) {
			if err != nil {
				return nil, err
			}
			x := mat.NewDense(rows.Rows(), b.Term.Dim(), nil)
			if err := b.Term.Eval(x, rows); err != nil {
				return nil, err
			}
			norm = math.Max(norm, mat.Norm(x, math.Inf(1)))
		}
		_, factor := penalty.Scale(b.Penalty.S[0], norm)
		sp[0] /= scale[0] * factor
	}
	return sp, nil
}

// largest is max |a - b|; b nil: zeros.
func largest(a, b []float64) float64 {
	d := 0.0
	for i, v := range a {
		if b != nil {
			v -= b[i]
		}
		d = math.Max(d, math.Abs(v))
	}
	return d
}
