package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/resultdir"
	"github.com/pho-go/pho/internal/wiring"
	"github.com/pho-go/pho/report"
)

// storedRows reads the named rows from the contributions in dir.
func storedRows(ctx context.Context, r *decompose.Result, dir string, rows []int64) ([]explained, error) {
	path := filepath.Join(dir, resultdir.Contributions)
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join(dir, resultdir.Parquet)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%q holds no contributions of rows: name rows by --data FILE, which applies the decomposition to them", dir)
	}
	src, err := files.Open([]string{path}, &files.Options{NA: data.NAKeep})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	columns := report.ContributionColumns(r)
	if err := src.Schema().Require(fmt.Sprintf("contributions %q", path), columns); err != nil {
		return nil, fmt.Errorf("%w; they are of another decomposition", err)
	}
	found := make([]explained, len(rows))
	missing := len(slices.Compact(slices.Sorted(slices.Values(rows))))
	total := int64(0)
	for b, err := range src.Batches(ctx, columns) {
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			at := row - 1 - b.Row(0)
			if at < 0 || at >= int64(b.Rows()) || found[i].row != 0 {
				continue
			}
			if found[i], err = storedRow(r, b, int(at), columns); err != nil {
				return nil, err
			}
			found[i].row = row
			if !slices.Contains(rows[:i], row) {
				missing--
			}
		}
		if total = b.Row(b.Rows()-1) + 1; missing == 0 {
			return found, nil
		}
	}
	for i, row := range rows {
		if found[i].row == 0 {
			return nil, fmt.Errorf("--row %d: the contributions in %q are of rows 1 to %d", row, dir, total)
		}
	}
	return found, nil
}

// storedRow is row i of a batch of contributions.
func storedRow(r *decompose.Result, b *data.Batch, i int, columns []string) (explained, error) {
	var out explained
	next := func() (float64, error) {
		v, err := b.Numeric(columns[0])
		columns = columns[1:]
		if err != nil {
			return 0, err
		}
		return v[i], nil
	}
	for k := range r.Predictors {
		p := &r.Predictors[k]
		own := make([]float64, len(p.Terms)+3) // intercept, terms, unstructured, eta
		for j := range own {
			v, err := next()
			if err != nil {
				return out, err
			}
			if math.IsNaN(v) {
				return out, fmt.Errorf("data row %d has missing cells: it was left out, and has no contributions", b.Row(i)+1)
			}
			own[j] = v
		}
		parts := partsOf(p, own[1:len(own)-2])
		out.predictors = append(out.predictors, explainedPredictor{p.Name, own[0], own[len(own)-2], own[len(own)-1], parts})
	}
	out.response = responseValues(r, out.predictors)
	return out, nil
}

// partsOf are the terms' contributions, sums of those that are only identified together in
// one.
func partsOf(p *decompose.Predictor, adds []float64) []part {
	at := map[string]float64{}
	for j := range p.Terms {
		at[p.Terms[j].Name] = adds[j]
	}
	var out []part
	for _, l := range termLines(p) {
		own := part{names: l.names, se: math.NaN()}
		for _, name := range l.names {
			own.add += at[name]
		}
		out = append(out, own)
	}
	return out
}

// apply splits the rows of --data: the named ones, or the first few, with their values and
// standard errors. rest is how many more there are of which nobody asked.
func (e *explainFlags) apply(ctx context.Context, s streams, r *decompose.Result, dir string, further []string) (_ []explained, rest int64, err error) {
	o, err := e.data.options(s)
	if err != nil {
		return nil, 0, err
	}
	paths, err := e.data.files(further)
	if err != nil {
		return nil, 0, err
	}
	opened, err := reopen(r, dir, e.model, e.maxMemory, e.precision)
	if err != nil {
		return nil, 0, err
	}
	applier, err := r.Applier(opened.Model)
	if err != nil {
		return nil, 0, err
	}
	m, ref := opened.Networks[0], opened.Reference
	o.Factors = ref.Factors
	src, err := openRows(paths, o, nil, m.Graph())
	if err != nil {
		return nil, 0, err
	}
	defer src.Close()
	seen := wiring.Seen(m, ref.Rounded, wiring.TermColumns(r), src)
	out := make([]explained, len(e.rows))
	total, missing := int64(0), len(e.rows)
	for b, err := range data.Rebatch(seen.Batches(ctx, applier.Columns()), 4096) {
		if err != nil {
			return nil, 0, inFiles(err, paths)
		}
		for i := range b.Rows() {
			row := b.Row(i) + 1
			total = row
			asked := slices.Index(e.rows, row)
			if len(e.rows) == 0 && len(out) < mostRows || asked >= 0 {
				x, err := explainRow(ctx, r, applier, b.Slice(i, i+1))
				if err != nil {
					return nil, 0, inFiles(err, paths)
				}
				x.row = row
				if asked < 0 {
					out = append(out, x)
					continue
				}
				for j, other := range e.rows {
					if other == row {
						out[j] = x
						missing--
					}
				}
			}
		}
		if len(e.rows) > 0 && missing == 0 {
			return out, 0, nil
		}
	}
	for i, row := range e.rows {
		switch {
		case out[i].row != 0:
		case row > total:
			return nil, 0, fmt.Errorf("--row %d: the data have rows 1 to %d", row, total)
		default:
			return nil, 0, fmt.Errorf("--row %d has missing cells, so it has no prediction", row)
		}
	}
	if len(e.rows) == 0 {
		if total == 0 {
			return nil, 0, errors.New("the data have no rows")
		}
		rest = total - int64(len(out))
	}
	return out, rest, nil
}

// explainRow splits the one row of b.
func explainRow(ctx context.Context, r *decompose.Result, a *decompose.Applier, b *data.Batch) (explained, error) {
	var out explained
	split, err := a.Parts(ctx, b)
	if err != nil {
		return out, err
	}
	for k := range r.Predictors {
		p, own := &r.Predictors[k], &split.Predictors[k]
		parts := partsOf(p, own.Row(0))
		for i := range parts {
			var terms []int
			for j := range p.Terms {
				if slices.Contains(parts[i].names, p.Terms[j].Name) {
					terms = append(terms, j)
				}
			}
			effect, err := a.SumEffect(ctx, k, terms, b)
			if err != nil {
				return out, err
			}
			parts[i].se = effect.SE[0]
			if n := effect.Networks; n != nil {
				parts[i].se = math.Hypot(effect.SE[0], n.SD[0])
			}
			parts[i].values = valuesOf(p, terms, b)
		}
		out.predictors = append(out.predictors, explainedPredictor{p.Name, own.Intercept, own.Unstructured[0], own.Eta[0], parts})
	}
	out.response = responseValues(r, out.predictors)
	return out, nil
}

// valuesOf are those of the terms' features in the one row of b.
func valuesOf(p *decompose.Predictor, terms []int, b *data.Batch) []value {
	var out []value
	for _, j := range terms {
		for _, name := range p.Terms[j].Features {
			v := value{name: name}
			if c, err := b.Codes(name); err == nil && b.Categorical(name) {
				v.text = c.Levels[c.Index[0]]
			} else if x, err := b.Numeric(name); err == nil {
				v.text = strconv.FormatFloat(x[0], 'g', 6, 64)
			}
			if v.text != "" && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}
