package serve

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// Rows are rows in memory, of named columns that hold numbers, texts or arrays of numbers.
type Rows struct {
	n       int
	columns []rowColumn
}

// rowColumn holds numbers, or codes of levels.
type rowColumn struct {
	name    string
	shape   []int // of a row, if that is an array; nil: it is one value
	numbers []float64
	codes   []int32
	levels  []string
}

// NewRows are n rows without columns.
func NewRows(n int) *Rows { return &Rows{n: n} }

// Reset makes them n rows without columns, and keeps their memory for columns to come.
func (r *Rows) Reset(n int) {
	clear(r.columns)
	r.n, r.columns = n, r.columns[:0]
}

// Len is the number of rows.
func (r *Rows) Len() int { return r.n }

// AddNumeric adds a column of numbers, NaN where a value is missing; v is kept, not copied.
// Errors: a name that is empty or taken, a wrong length.
func (r *Rows) AddNumeric(name string, v []float64) error {
	if v == nil {
		v = []float64{}
	}
	return r.add(rowColumn{name: name, numbers: v}, len(v))
}

// AddTensor adds a column whose rows are arrays of the given shape, pictures say: v has the numbers of one row
// after the other, each row-major. v is kept, not copied. Errors: as of AddNumeric.
func (r *Rows) AddTensor(name string, shape []int, v []float64) error {
	c := rowColumn{name: name, shape: shape, numbers: v}
	if width := c.width(); len(v) != r.n*width {
		return fmt.Errorf("column %q has %d numbers, %d rows of shape %v have %d", name, len(v), r.n, shape, r.n*width)
	}
	return r.add(c, r.n)
}

// width is how many numbers a row has, 1 of texts.
func (c *rowColumn) width() int { return Column{Shape: c.shape}.Width() }

// row are the numbers of row i.
func (c *rowColumn) row(i int) []float64 {
	width := c.width()
	return c.numbers[i*width : (i+1)*width]
}

// AddCodes adds a column of texts: row i has the level of its code, and a negative code is a
// missing value. c is kept, not copied. Errors: as of AddNumeric, and a code without a level.
func (r *Rows) AddCodes(name string, c data.Codes) error {
	for i, code := range c.Index {
		if int(code) >= len(c.Levels) {
			return fmt.Errorf("column %q, row %d: code %d is none of %d levels", name, i+1, code, len(c.Levels))
		}
	}
	if c.Index == nil {
		c.Index = []int32{}
	}
	return r.add(rowColumn{name: name, codes: c.Index, levels: c.Levels}, len(c.Index))
}

func (r *Rows) add(c rowColumn, n int) error {
	switch {
	case c.name == "":
		return fmt.Errorf("column %d has no name", len(r.columns)+1)
	case n != r.n:
		return fmt.Errorf("column %q has %d values, there are %d rows", c.name, n, r.n)
	case slices.ContainsFunc(r.columns, func(other rowColumn) bool { return other.name == c.name }):
		return fmt.Errorf("there are two columns %q", c.name)
	}
	r.columns = append(r.columns, c)
	return nil
}

// batch holds the columns that are needed, at the rows that the policy does not leave out,
// and tells how many it leaves out. Numbers of the columns in factors are categories as well, and
// numbers of those in texts are their texts.
func (r *Rows) batch(needed []Column, factors, texts []string, na data.NAPolicy) (*data.Batch, int, error) {
	columns, err := r.inOrder(needed)
	if err != nil {
		return nil, 0, err
	}
	out, dropped, err := r.leftOut(columns, na)
	if err != nil {
		return nil, 0, err
	}
	b, err := batch(columns, factors, texts, out, r.n, dropped)
	return b, dropped, err
}

// inOrder are the columns that are needed. Errors: one is not there, or has no arrays where they are needed, or
// others.
func (r *Rows) inOrder(needed []Column) ([]rowColumn, error) {
	columns := r.columns
	if !slices.EqualFunc(columns, needed, func(c rowColumn, n Column) bool { return c.name == n.Name }) {
		columns = make([]rowColumn, 0, len(needed))
		for _, n := range needed {
			at := slices.IndexFunc(r.columns, func(c rowColumn) bool { return c.name == n.Name })
			if at < 0 {
				return nil, &data.MissingColumnError{Column: n.Name, Where: "the rows", Columns: r.names()}
			}
			columns = append(columns, r.columns[at])
		}
	}
	for i := range columns {
		if err := needed[i].fits(columns[i].shape); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// leftOut tells which rows are left out, nil: none, and how many.
func (r *Rows) leftOut(columns []rowColumn, na data.NAPolicy) (out []bool, dropped int, err error) {
	if !slices.ContainsFunc(columns, rowColumn.incomplete) {
		return nil, 0, nil
	}
	out = make([]bool, r.n)
	for i := range r.n { // the first row at fault is told, whatever the order of columns
		for _, c := range columns {
			leave, err := c.check(i, na)
			if err != nil {
				return nil, 0, err
			}
			if leave && !out[i] {
				out[i] = true
				dropped++
			}
		}
	}
	if dropped == 0 {
		out = nil
	}
	return out, dropped, nil
}

// incomplete tells whether a value is missing or no number to compute with.
func (c rowColumn) incomplete() bool {
	if c.numbers == nil {
		return slices.ContainsFunc(c.codes, func(code int32) bool { return code < 0 })
	}
	for _, v := range c.numbers {
		if v-v != 0 { // NaN, or infinite
			return true
		}
	}
	return false
}

func (r *Rows) names() []string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.name
	}
	return names
}

// check tells whether row i is to be left out for its cell of the column.
func (c *rowColumn) check(i int, na data.NAPolicy) (leave bool, err error) {
	missing := c.numbers == nil && c.codes[i] < 0
	if c.numbers != nil {
		for _, v := range c.row(i) {
			if math.IsInf(v, 0) {
				return false, fmt.Errorf("column %q, data row %d: the value is %v, which is no number to compute with; leave such rows out", c.name, i+1, v)
			}
			missing = missing || math.IsNaN(v)
		}
	}
	switch {
	case !missing:
		return false, nil
	case na == data.NADrop:
		return true, nil
	case na == data.NAKeep && len(c.shape) == 0:
		return false, nil
	}
	or := ""
	if len(c.shape) == 0 {
		or = `let a model that can fill it in (na "keep"), `
	}
	return false, fmt.Errorf("column %q, data row %d: %w; fill it in, %sor leave such rows out", c.name, i+1, data.ErrMissingValue, or)
}

// batch holds the columns at the rows that are not left out (nil: at all n).
func batch(columns []rowColumn, factors, texts []string, out []bool, n, dropped int) (*data.Batch, error) {
	b := data.NewBatch(n-dropped, 0)
	if out != nil {
		var rows []int64
		for i := range n {
			if !out[i] {
				rows = append(rows, int64(i))
			}
		}
		if err := b.SetRows(rows); err != nil {
			return nil, err
		}
	}
	for i := range columns {
		c := &columns[i]
		if c.numbers == nil {
			if err := b.SetCodes(c.name, complete(kept(c.codes, 1, out), c.levels)); err != nil {
				return nil, err
			}
			continue
		}
		v := kept(c.numbers, c.width(), out)
		if len(c.shape) > 0 {
			tensor := new(mat.Dense) // which has no rows
			if b.Rows() > 0 {
				tensor = mat.NewDense(b.Rows(), c.width(), v)
			}
			if err := b.SetTensor(c.name, tensor); err != nil {
				return nil, err
			}
			continue
		}
		if slices.Contains(texts, c.name) {
			if err := setTexts(b, c.name, v); err != nil {
				return nil, err
			}
			continue
		}
		if slices.Contains(factors, c.name) {
			if err := b.SetCodes(c.name, coded(v, data.LevelText)); err != nil {
				return nil, err
			}
		}
		if err := b.SetNumeric(c.name, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// complete are codes of levels, of which what is missing is one.
func complete(codes []int32, levels []string) data.Codes {
	if !slices.ContainsFunc(codes, func(code int32) bool { return code < 0 }) {
		return data.Codes{Index: codes, Levels: levels}
	}
	missing := slices.Index(levels, data.MissingLevel)
	if missing < 0 {
		missing, levels = len(levels), append(slices.Clip(levels), data.MissingLevel)
	}
	codes = slices.Clone(codes)
	for i, code := range codes {
		if code < 0 {
			codes[i] = int32(missing)
		}
	}
	return data.Codes{Index: codes, Levels: levels}
}

// schemaOf describes the columns of a batch.
func schemaOf(b *data.Batch, names []string) (schema data.Schema) {
	for _, name := range names {
		_, noNumbers := b.Numeric(name)
		_, noCodes := b.Codes(name)
		c := data.Column{Name: name, Numeric: noNumbers == nil, Categorical: noCodes == nil}
		if tensor, err := b.Tensor(name); err == nil {
			_, c.Width = tensor.Dims()
		}
		schema = append(schema, c)
	}
	return schema
}

// kept are the values, width a row, of the rows that are not left out.
func kept[T any](v []T, width int, out []bool) []T {
	if out == nil {
		return v
	}
	var some []T
	for i, left := range out {
		if !left {
			some = append(some, v[i*width:(i+1)*width]...)
		}
	}
	return some
}

// setTexts adds a column of text whose cells came as numbers: 7 is "7". Error: a whole number from
// 2^53 on, which may be another one rounded.
func setTexts(b *data.Batch, name string, v []float64) error {
	for i, x := range v {
		if math.Abs(x) >= 1<<53 && x == math.Trunc(x) {
			return fmt.Errorf("column %q, data row %d: about %v came as a number, which rounds whole numbers from 2^53 on, and the column is text: send it as text", name, b.Row(i)+1, x)
		}
	}
	return b.SetCodes(name, coded(v, func(x float64) string {
		if x == math.Trunc(x) {
			return strconv.FormatInt(int64(x), 10)
		}
		return data.LevelText(x)
	}))
}

// coded are numbers as categories, by what each is called; NaN is missing.
func coded(v []float64, level func(float64) string) data.Codes {
	c := data.Codes{Index: make([]int32, len(v))}
	place := map[float64]int32{}
	for i, x := range v {
		if math.IsNaN(x) {
			c.Index[i] = -1
			continue
		}
		code, known := place[x]
		if !known {
			code = int32(len(c.Levels))
			place[x] = code
			c.Levels = append(c.Levels, level(x))
		}
		c.Index[i] = code
	}
	return complete(c.Index, c.Levels)
}

// single is a source of one batch.
type single struct {
	batch  *data.Batch
	schema data.Schema
}

// Schema lists the columns.
func (s *single) Schema() data.Schema { return s.schema }

// Batches yields the batch, if it has rows.
func (s *single) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		if err := s.schema.Require("the rows", columns); err != nil {
			yield(nil, err)
			return
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		if s.batch.Rows() > 0 {
			yield(s.batch, nil)
		}
	}
}

// columnsOf are n columns of so many rows: without values (NaN), if some rows will have none.
func columnsOf(n, rows int, missing bool) [][]float64 {
	all := make([]float64, n*rows)
	for i := range all {
		if !missing {
			break
		}
		all[i] = math.NaN()
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = all[i*rows : (i+1)*rows : (i+1)*rows]
	}
	return out
}

// Join are the rows of all, one after the other, with the columns that rows need. Error: a
// column that some do not have, or have as numbers where others have texts, or as other arrays.
func (e *Explainer) Join(all []*Rows) (*Rows, error) {
	out := new(Rows)
	for _, r := range all {
		out.n += r.n
	}
	for _, c := range e.columns {
		joined := rowColumn{name: c.Name, shape: c.Shape}
		place := map[string]int32{}
		for _, r := range all {
			at := slices.IndexFunc(r.columns, func(o rowColumn) bool { return o.name == c.Name })
			if at < 0 {
				return nil, &data.MissingColumnError{Column: c.Name, Where: "the rows", Columns: r.names()}
			}
			if err := c.fits(r.columns[at].shape); err != nil {
				return nil, err
			}
			joined.append(&r.columns[at], place)
		}
		if joined.numbers != nil && joined.codes != nil {
			return nil, fmt.Errorf("column %q has numbers and texts", c.Name)
		}
		out.columns = append(out.columns, joined)
	}
	return out, nil
}

// append appends the values of another column; place is where levels are.
func (c *rowColumn) append(o *rowColumn, place map[string]int32) {
	if o.numbers != nil {
		c.numbers = append(c.numbers, o.numbers...)
		return
	}
	for _, code := range o.codes {
		if code >= 0 {
			level := o.levels[code]
			at, known := place[level]
			if !known {
				at = int32(len(c.levels))
				place[level] = at
				c.levels = append(c.levels, level)
			}
			code = at
		}
		c.codes = append(c.codes, code)
	}
}

// Text is the value of a column in row i as people read it, numbers with six digits; "": it
// is missing, or an array, or there is no such column.
func (r *Rows) Text(column string, i int) string {
	at := slices.IndexFunc(r.columns, func(c rowColumn) bool { return c.name == column })
	switch {
	case at < 0 || len(r.columns[at].shape) > 0:
		return ""
	case r.columns[at].numbers == nil:
		if code := r.columns[at].codes[i]; code >= 0 {
			return r.columns[at].levels[code]
		}
		return ""
	case math.IsNaN(r.columns[at].numbers[i]):
		return ""
	}
	return strconv.FormatFloat(r.columns[at].numbers[i], 'g', 6, 64)
}
