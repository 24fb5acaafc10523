// Package analysis is what the two applications of the paper share: rows of a file in
// memory, curves of a decomposition, and its variances and importance as tables.
package analysis

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/importance"
)

// Read holds every step-th row of a CSV file in memory: numbers, and as categories too
// those columns that factors names. Rows with a level of fewer than least rows are left
// out: a random validation set must not have levels that training never saw.
func Read(ctx context.Context, path string, columns, factors []string, step, least int) (*data.Table, error) {
	src, err := data.OpenCSV([]string{path}, &data.CSVOptions{Factors: factors})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	values := make([][]float64, len(columns))
	for b, err := range src.Batches(ctx, columns) {
		if err != nil {
			return nil, err
		}
		for j, name := range columns {
			v, err := b.Numeric(name)
			if err != nil {
				return nil, err
			}
			for i, x := range v {
				if b.Row(i)%int64(step) == 0 {
					values[j] = append(values[j], x)
				}
			}
		}
	}
	for j, name := range columns {
		if slices.Contains(factors, name) {
			keep(values, frequent(values[j], least))
		}
	}
	t := data.NewTable(len(values[0]))
	for j, name := range columns {
		add := t.AddNumeric
		if slices.Contains(factors, name) {
			add = t.AddFactor
		}
		if err := add(name, values[j]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// frequent tells which rows have a value that at least so many rows have.
func frequent(v []float64, least int) []bool {
	count := map[float64]int{}
	for _, x := range v {
		count[x]++
	}
	rows := make([]bool, len(v))
	for i, x := range v {
		rows[i] = count[x] >= least
	}
	return rows
}

// keep leaves out the other rows of all columns.
func keep(columns [][]float64, rows []bool) {
	for j, v := range columns {
		n := 0
		for i, x := range v {
			if rows[i] {
				v[n] = x
				n++
			}
		}
		columns[j] = v[:n]
	}
}

// Options of a decomposition of a gaussian response, with importance.
func Options(response string, method decompose.Method) *decompose.Options {
	fam := family.Gaussian{}
	return &decompose.Options{Projection: decompose.Projection{Method: method}, Columns: decompose.Columns{Response: response}, Family: fam, Visitors: []decompose.Visitor{importance.New(fam)}}
}

// Seconds says how long f took, to a hundredth.
func Seconds(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return math.Round(time.Since(start).Seconds()*100) / 100, err
}

// Curve is the sum of all terms of predictor k on exactly the given features, at
// points of the first, the others held at their training means; before and after.
func Curve(ctx context.Context, r *decompose.Result, m decompose.Model, k int, features []string, at map[string][]float64) (*decompose.Effect, error) {
	a, err := r.Applier(m)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, v := range at {
		n = len(v)
	}
	b := data.NewBatch(n, 0)
	for _, name := range a.Columns() {
		v, given := at[name]
		if !given {
			v = make([]float64, n)
			if f, ok := feature(r, name); ok && f.Levels == nil {
				floats.AddConst(f.Mean, v)
			} else if ok {
				if err := b.SetCodes(name, data.Codes{Index: make([]int32, n), Levels: f.Levels}); err != nil {
					return nil, err
				}
				if _, err := fmt.Sscan(f.Levels[0], &v[0]); err != nil {
					return nil, fmt.Errorf("level %q of %q is no number", f.Levels[0], name)
				}
				floats.AddConst(v[0], v[1:])
			}
		}
		if err := b.SetNumeric(name, v); err != nil {
			return nil, err
		}
	}
	var terms []int
	for j, t := range r.Predictors[k].Terms {
		if subset(t.Features, features) {
			terms = append(terms, j)
		}
	}
	if len(terms) == 0 {
		return nil, fmt.Errorf("no term on %q", features)
	}
	return a.SumEffect(ctx, k, terms, b)
}

func feature(r *decompose.Result, name string) (decompose.Feature, bool) {
	i := slices.IndexFunc(r.Features, func(f decompose.Feature) bool { return f.Name == name })
	if i < 0 {
		return decompose.Feature{}, false
	}
	return r.Features[i], true
}

func subset(a, b []string) bool {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

// Range is the range of a numeric feature in the training rows.
func Range(r *decompose.Result, name string) (lo, hi float64, err error) {
	f, ok := feature(r, name)
	if !ok || f.Levels != nil {
		return 0, 0, fmt.Errorf("no numeric feature %q", name)
	}
	return f.Min, f.Max, nil
}

// Variances has a row for each decomposition: shares of Var(eta) before and after.
func Variances() *experiment.Table {
	return experiment.NewTable("model", "structured before", "deep before", "structured", "deep", "twice covariance", "edf", "columns")
}

// AddVariances adds predictor k of r.
func AddVariances(t *experiment.Table, model string, r *decompose.Result, k int) {
	d := r.Predictors[k]
	before, after := importance.ExplainedVariance(d.VarianceBefore), importance.ExplainedVariance(d.Variance)
	t.Add(model, before.Structured, before.Unstructured, after.Structured, after.Unstructured, after.TwiceCovariance, d.EDF, d.Columns)
}

// Importances has a row for each feature of each decomposition.
func Importances() *experiment.Table {
	return experiment.NewTable("model", "feature", "terms", "variance share", "McFadden", "McFadden is an R2", "log-likelihood per row", "deviance R2")
}

// AddImportances adds the features of predictor k of r.
func AddImportances(t *experiment.Table, model string, r *decompose.Result, k int) {
	for _, i := range r.Predictors[k].Importance {
		if i.Feature == "" {
			continue
		}
		t.Add(model, i.Feature, strings.Join(i.Terms, " + "), i.VarianceShare, known(i.McFadden), i.McFaddenValid, known(i.DeltaLogLikPerRow), known(i.DevianceR2))
	}
}

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
