package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/rowhash"
)

// How many rows Examples keeps: the largest remainders, and a sample besides. Of very wide
// rows the sample is smaller, so that all have about exampleNumbers numbers.
const (
	largestRows    = 10
	sampledRows    = 50
	fewestSampled  = 10
	exampleNumbers = 12_000
	exampleColumns = 60 // whose values are kept
)

// Examples keeps rows in the last pass of a decomposition, as one of its visitors, and writes
// them into Result.Examples. The largest remainder is that of the largest sum of squares of
// the unstructured parts, each over the variance of its predictor; the sample are the rows
// whose numbers have the smallest hashes. Rows of weight 0 are not among them. So what is kept
// depends on neither batches nor workers nor on the order of shards.
type Examples struct {
	more    []string // columns that the network reads
	id      string   // column that names rows; "": none
	columns []string
	result  *decompose.Result
	scale   []float64 // 1/variance of each predictor
	sampled int       // rows of the sample
	limit   uint64    // no row of a larger hash is in the sample
	kept    *keeping  // nil: no chunk yet
	terms   []int     // of each predictor
}

// NewExamples returns a visitor for one decomposition. columns are those that the network
// reads; values are kept of those that are no tensors.
func NewExamples(columns []string) *Examples { return &Examples{more: slices.Clone(columns)} }

// WithID makes a data column, of text or numbers, the rows' names (Example.ID); "" gives none.
// It returns v.
func (v *Examples) WithID(column string) *Examples {
	v.id = column
	return v
}

// Columns is the one that names rows, if there is one: the network's and the terms' columns
// are read anyway.
func (v *Examples) Columns() []string {
	if v.id == "" {
		return nil
	}
	return []string{v.id}
}

// Begin prepares for the rows of r.
func (v *Examples) Begin(r *decompose.Result) error {
	*v = Examples{more: v.more, id: v.id, result: r}
	for _, f := range r.Features {
		v.columns = append(v.columns, f.Name)
	}
	for _, name := range v.more {
		if !slices.Contains(v.columns, name) {
			v.columns = append(v.columns, name)
		}
	}
	numbers := 2
	for k := range r.Predictors {
		d := &r.Predictors[k]
		numbers += len(d.Terms) + 2
		v.terms = append(v.terms, len(d.Terms))
		scale := 0.0
		if !constant(d) {
			scale = 1 / d.Variance.Total
		}
		v.scale = append(v.scale, scale)
	}
	numbers += min(len(v.columns), exampleColumns)
	v.sampled = min(sampledRows, max(fewestSampled, exampleNumbers/numbers-largestRows))
	v.limit = math.MaxUint64
	if often := 8 * float64(v.sampled) / float64(max(r.Rows, 1)); often < 1 { // far more pass than are kept
		v.limit = uint64(often * (1 << 63) * 2)
	}
	return nil
}

// Map looks for rows to keep in a chunk, as decompose.Sums.
func (v *Examples) Map(p *decompose.Parts) (any, error) {
	var weights []float64
	if v.result.Weights != "" {
		var err error
		if weights, err = p.Batch.Numeric(v.result.Weights); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	found := &keeping{sampled: v.sampled, columns: v.held(p.Batch), terms: v.terms}
	for _, i := range v.largest(p, weights) {
		row, err := v.row(p, i, weights, found.columns)
		if err != nil {
			return nil, err
		}
		found.largest = append(found.largest, row)
	}
	for i := range p.Batch.Rows() {
		if rowhash.Of(p.Batch.Row(i)) > v.limit || weights != nil && !(weights[i] > 0) {
			continue
		}
		row, err := v.row(p, i, weights, found.columns)
		if err != nil {
			return nil, err
		}
		if found.sample = append(found.sample, row); len(found.sample) > 4*sampledRows {
			found.prune()
		}
	}
	found.prune()
	return found, nil
}

// largest are the rows of the largest remainders of a chunk.
func (v *Examples) largest(p *decompose.Parts, weights []float64) []int {
	type sized struct {
		row  int
		size float64
	}
	var found []sized
	least := 0.0
	for i := range p.Batch.Rows() {
		size := v.size(p, i)
		if !(size > least) || weights != nil && !(weights[i] > 0) {
			continue
		}
		at := len(found) // behind rows of the same size
		for at > 0 && found[at-1].size < size {
			at--
		}
		found = slices.Insert(found, at, sized{i, size})
		if len(found) > largestRows {
			found = found[:largestRows]
		}
		if len(found) == largestRows {
			least = found[largestRows-1].size
		}
	}
	rows := make([]int, len(found))
	for j, f := range found {
		rows[j] = f.row
	}
	return rows
}

// size is the remainder of row i.
func (v *Examples) size(p *decompose.Parts, i int) float64 {
	sum := 0.0
	for k, scale := range v.scale {
		u := p.Predictors[k].Unstructured[i]
		sum += u * u * scale
	}
	return sum
}

// row copies row i of the parts.
func (v *Examples) row(p *decompose.Parts, i int, weights []float64, columns []string) (candidateRow, error) {
	at := p.Batch.Row(i)
	row := candidateRow{size: v.size(p, i), hash: rowhash.Of(at)}
	row.Row = at + 1
	if v.id != "" {
		name, err := p.Batch.Texts(v.id)
		if err != nil {
			return row, fmt.Errorf("report: %w", err)
		}
		row.ID = name(i)
	}
	if weights != nil {
		w := weights[i]
		row.Weight = &w
	}
	for _, role := range []struct {
		column string
		to     **float64
	}{{v.result.Response, &row.Response}, {v.result.Offset, &row.Offset}} {
		if role.column == "" || p.Batch.Categorical(role.column) {
			continue
		}
		x, err := p.Batch.Numeric(role.column)
		if err != nil {
			return row, fmt.Errorf("report: %w", err)
		}
		y := x[i]
		*role.to = &y
	}
	for _, name := range columns {
		value, err := valueOf(p.Batch, name, i)
		if err != nil {
			return row, err
		}
		row.Values = append(row.Values, value)
	}
	for k := range p.Predictors {
		d := &p.Predictors[k]
		parts := decompose.ExampleParts{Terms: []float64{}, Unstructured: sixDigits(d.Unstructured[i]), Eta: sixDigits(d.Eta[i])}
		for _, f := range d.Row(i) {
			parts.Terms = append(parts.Terms, sixDigits(f))
		}
		row.Parts = append(row.Parts, parts)
	}
	return row, nil
}

// held are the columns of b whose values are kept.
func (v *Examples) held(b *data.Batch) (names []string) {
	for _, name := range v.columns {
		if _, err := b.Numeric(name); err == nil || b.Categorical(name) { // else a tensor
			names = append(names, name)
		}
	}
	return names[:min(len(names), exampleColumns)]
}

// valueOf is the value of a column in row i of b.
func valueOf(b *data.Batch, name string, i int) (any, error) {
	if b.Categorical(name) {
		c, err := b.Codes(name)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		return c.Levels[c.Index[i]], nil
	}
	x, err := b.Numeric(name)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if notFinite(x[i]) {
		return nil, nil
	}
	return x[i], nil
}

// sixDigits rounds to six significant digits.
func sixDigits(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 5, 64), 64) // what was written is a number
	return r
}

// Reduce takes the rows of all chunks, or adds those of chunks that follow.
func (v *Examples) Reduce(part any) error {
	found, ok := part.(*keeping)
	if !ok {
		return fmt.Errorf("report: Reduce takes what Map returned, not %T", part)
	}
	if v.kept == nil {
		v.kept = found
		return nil
	}
	return v.kept.Add(found)
}

// End writes the rows into r: the largest remainders first, those of the sample that are not
// among these in order of the data.
func (v *Examples) End(r *decompose.Result) error {
	if v.kept == nil {
		return nil
	}
	v.kept.prune()
	e := &decompose.Examples{Columns: v.kept.columns, Largest: len(v.kept.largest)}
	taken := map[int64]bool{}
	for _, row := range v.kept.largest {
		e.Rows, taken[row.Row] = append(e.Rows, row.Example), true
	}
	for _, row := range slices.SortedFunc(slices.Values(v.kept.sample), func(a, b candidateRow) int { return cmp.Compare(a.Row, b.Row) }) {
		if !taken[row.Row] {
			e.Rows = append(e.Rows, row.Example)
		}
	}
	if len(e.Rows) > 0 {
		r.Examples = e
	}
	return nil
}
