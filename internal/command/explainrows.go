package command

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
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/label"
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
	if _, err := resultdir.CheckContributions(dir); err != nil {
		return nil, err
	}
	reading := &files.Options{NA: data.NAKeep, Texts: idText(r.ID, nil)}
	src, err := files.Open([]string{path}, reading)
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
	for b, err := range src.Batches(ctx, append(slices.Clip(columns), idText(r.ID, nil)...)) {
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
			if err := found[i].name(r, b, int(at)); err != nil {
				return nil, err
			}
			found[i].addStored(r)
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
	out.response = responseValues(r, out.predictors, nil)
	return out, nil
}

// name reads what row i of b is called.
func (x *explained) name(r *decompose.Result, b *data.Batch, i int) error {
	if r.ID == "" {
		return nil
	}
	name, err := b.Texts(r.ID)
	if err == nil {
		x.id = name(i)
	}
	return err
}

// addStored adds the values and the offset of a row that is stored with r.
func (x *explained) addStored(r *decompose.Result) {
	if r.Examples == nil {
		return
	}
	at := slices.IndexFunc(r.Examples.Rows, func(e decompose.Example) bool { return e.Row == x.row })
	if at < 0 || len(r.Examples.Rows[at].Values) != len(r.Examples.Columns) {
		return
	}
	stored := &r.Examples.Rows[at]
	for k := range x.predictors {
		for i := range x.predictors[k].parts {
			part := &x.predictors[k].parts[i]
			for j := range r.Predictors[k].Terms {
				t := &r.Predictors[k].Terms[j]
				if slices.Contains(part.names, t.Name) {
					part.addValues(t.Features, func(name string) string { return storedText(r.Examples.Columns, stored.Values, name) })
				}
			}
		}
	}
	if stored.Offset != nil {
		x.offset = stored.Offset
		x.response = responseValues(r, x.predictors, x.offset)
	}
}

// storedText is the value of a column in a stored row; "": it is not stored.
func storedText(columns []string, values []any, name string) string {
	at := slices.Index(columns, name)
	if at < 0 {
		return ""
	}
	switch v := values[at].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	return ""
}

// addValues adds those of features, "" of one that is not known, each once.
func (p *part) addValues(features []string, text func(name string) string) {
	for _, name := range features {
		if v := (value{name, text(name)}); v.text != "" && !slices.Contains(p.values, v) {
			p.values = append(p.values, v)
		}
	}
}

// labelledExplained are rows in the words and numbers of r's labels.
func labelledExplained(r *decompose.Result, rows []explained) []explained {
	if r.Labels.IsEmpty() {
		return rows
	}
	l, read := r.Labels, r.Labelled()
	out := slices.Clone(rows)
	for i := range out {
		x := &out[i]
		x.predictors = slices.Clone(x.predictors)
		for k := range x.predictors {
			p := &x.predictors[k]
			p.name, p.parts = read.Predictors[k].Name, slices.Clone(p.parts)
			for j := range p.parts {
				p.parts[j] = p.parts[j].labelled(l, &r.Predictors[k])
			}
		}
		x.response = responseValues(read, x.predictors, x.offset)
	}
	return out
}

func (p part) labelled(l *label.Labels, d *decompose.Predictor) part {
	p.names, p.values = slices.Clone(p.names), slices.Clone(p.values)
	for i, name := range p.names {
		at := slices.IndexFunc(d.Terms, func(t decompose.TermResult) bool { return t.Name == name })
		p.names[i] = l.Term(d.Terms[at].LabelTerm())
	}
	for i, v := range p.values {
		p.values[i] = value{l.Feature(v.name), l.ValueText(v.name, v.text)}
	}
	return p
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
	tensors, err := e.data.arrays(e.inputs)
	if err != nil {
		return nil, 0, err
	}
	o, err := e.data.options(s)
	if err != nil {
		return nil, 0, err
	}
	paths, err := e.data.files(further)
	if err != nil {
		return nil, 0, err
	}
	opened, err := reopen(r, dir, e.model, e.maxMemory, e.computing)
	if err != nil {
		return nil, 0, err
	}
	writeNotes(s, opened)
	applier, err := r.Applier(opened.Model)
	if err != nil {
		return nil, 0, err
	}
	if err := opened.Reading(r, o); err != nil {
		return nil, 0, err
	}
	bindArrays(tensors, opened)
	src, err := openRows(paths, o, tensors, opened.Networks[0].Graph())
	if err != nil {
		return nil, 0, err
	}
	defer src.Close()
	seen := opened.Seen(r, src)
	out := make([]explained, len(e.rows))
	total, missing := int64(0), len(e.rows)
	for b, err := range data.Rebatch(seen.Batches(ctx, applier.Columns()), decompose.BatchRows(opened.Model, 4096)) {
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
			for _, j := range terms {
				parts[i].addValues(p.Terms[j].Features, func(name string) string { return cellText(b, name) })
			}
		}
		out.predictors = append(out.predictors, explainedPredictor{p.Name, own.Intercept, own.Unstructured[0], own.Eta[0], parts})
	}
	out.response = responseValues(r, out.predictors, nil)
	return out, nil
}

// cellText is the value of a column in the one row of b; "": it is no number and no text.
func cellText(b *data.Batch, name string) string {
	if c, err := b.Codes(name); err == nil && b.Categorical(name) {
		return c.Levels[c.Index[0]]
	}
	if x, err := b.Numeric(name); err == nil {
		return strconv.FormatFloat(x[0], 'g', 6, 64)
	}
	return ""
}
