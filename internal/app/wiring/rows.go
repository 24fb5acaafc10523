package wiring

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/kernel"
)

// MaxCached is how many bytes of decoded rows stay in memory between the passes unless
// somebody asks for less.
const MaxCached = 256 << 20

// FilesOf shows rows from anywhere as those of files: Rows and Close are the source's
// own if it has them.
func FilesOf(src data.Source) files.Source {
	if f, ok := src.(files.Source); ok {
		return f
	}
	return anyRows{src}
}

// anyRows are rows that no file holds.
type anyRows struct{ data.Source }

// Rows is the source's, or 0 for one that does not count.
func (a anyRows) Rows() (total, dropped int64) {
	if c, ok := a.Source.(interface{ Rows() (total, dropped int64) }); ok {
		return c.Rows()
	}
	return 0, 0
}

// Close closes nothing: the rows are the caller's.
func (a anyRows) Close() error { return nil }

// Len is the number of rows, -1 if it is not known.
func (a anyRows) Len() int64 { return Len(a.Source) }

// Estimate is about how many rows there are, 0 if nobody knows.
func (a anyRows) Estimate() int64 { return estimate(a.Source) }

// estimate is the number of rows of src, if need be about, 0 if nobody knows.
func estimate(src data.Source) int64 {
	if n := Len(src); n >= 0 {
		return n
	}
	if s, ok := src.(interface{ Estimate() int64 }); ok {
		return s.Estimate()
	}
	return 0
}

// Len is the number of rows of src if it tells them before they are read (by a method
// Len, or as a data.Table), else -1.
func Len(src data.Source) int64 {
	switch s := src.(type) {
	case interface{ Len() int64 }:
		return s.Len()
	case *data.Table:
		return int64(s.Rows())
	}
	return -1
}

// seenRows are files some of whose numbers are rounded to the types of the network's
// inputs.
type seenRows struct {
	files.Source
	rounded data.Source
	fault   error    // why they cannot be read; nil: they can
	network []string // columns whose missing values are the network's affair: it refuses those that it has no value for
	roles   []string // the response, weights and the like
}

// rounding is a model that rounds numbers where they enter, as *onnx.Model does.
type rounding interface {
	// Rounded are the columns.
	Rounded() []string
	// Rows is src with the columns as the model sees them.
	Rows(src data.Source, columns []string) data.Source
}

// seen is src with the columns as the model sees them, if it rounds numbers (onnx.Model.Rows).
// Of columns that others than the model read, missing numbers are errors; so are missing categories of roles, which
// to terms are a level.
func seen(m decompose.Model, columns, others, roles []string, src files.Source) *seenRows {
	network := slices.DeleteFunc(slices.Clone(m.Columns()), func(c string) bool { return slices.Contains(others, c) || slices.Contains(roles, c) })
	rows := &seenRows{src, src, nil, network, roles}
	if r, ok := m.(rounding); ok {
		rows.rounded = r.Rows(src, columns)
	}
	return rows
}

// Batches reads the files and rounds.
func (s *seenRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	guarded := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(s.network, c) })
	var texts []string // roles whose categories may be missing
	for _, c := range s.Schema() {
		if c.Missing && slices.Contains(columns, c.Name) && slices.Contains(s.roles, c.Name) {
			texts = append(texts, c.Name)
		}
	}
	return func(yield func(*data.Batch, error) bool) {
		if s.fault != nil {
			yield(nil, s.fault)
			return
		}
		for b, err := range s.rounded.Batches(ctx, columns) {
			if err == nil {
				err = whole(b, guarded)
			}
			if err == nil {
				err = levelled(b, texts)
			}
			if err != nil {
				b = nil
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// whole refuses missing numbers of the columns.
func whole(b *data.Batch, columns []string) error {
	for _, name := range columns {
		if b.Categorical(name) {
			continue // a factor's text may have no number
		}
		x, err := b.Numeric(name)
		if err != nil {
			continue // its reader says so
		}
		if _, _, finite := kernel.Bounds(x); finite {
			continue
		}
		for i, v := range x {
			if v != v {
				return fmt.Errorf("column %q, data row %d: %w, and others than the model read the column; fill it in, or leave such rows out", name, b.Row(i)+1, data.ErrMissingValue)
			}
		}
	}
	return nil
}

// levelled refuses missing categories of the columns.
func levelled(b *data.Batch, columns []string) error {
	for _, name := range columns {
		c, err := b.Codes(name)
		if err != nil {
			return err
		}
		missing := int32(slices.Index(c.Levels, data.MissingLevel))
		if missing < 0 {
			continue
		}
		if i := slices.Index(c.Index, missing); i >= 0 {
			return fmt.Errorf("column %q, data row %d: %w, which is allowed in columns of the model and of terms alone; fill it in, or leave such rows out", name, b.Row(i)+1, data.ErrMissingValue)
		}
	}
	return nil
}

// TermColumns are those that terms other than the network's learned ones read.
func TermColumns(r *decompose.Result) []string {
	var names []string
	for _, p := range r.Predictors {
		for _, t := range p.Terms {
			if t.Kind != decompose.Learned {
				names = append(names, t.Features...)
			}
		}
	}
	return names
}

// Len is the number of rows, -1 if it is not known.
func (s *seenRows) Len() int64 { return Len(s.Source) }

// Estimate is about how many rows there are, 0 if nobody knows.
func (s *seenRows) Estimate() int64 { return estimate(s.Source) }

// CachedRows are files whose rows stay in memory between the passes if they fit.
type CachedRows struct {
	files.Source
	cache *data.Cache
	limit int64 // of the cache, as long as nothing is read
}

// cached keeps up to limit bytes of src's rows.
func cached(src files.Source, limit int64) *CachedRows {
	return &CachedRows{src, data.NewCache(src, limit), limit}
}

// Limit changes how many bytes of rows may be kept.
func (c *CachedRows) Limit(bytes int64) { c.cache.Limit(bytes) }

// Batches reads the files, or what is kept of them.
func (c *CachedRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return c.cache.Batches(ctx, columns)
}

// Len is the number of rows, -1 if it is not known.
func (c *CachedRows) Len() int64 { return Len(c.Source) }

// fits tells whether the columns, read once, stay in memory: it is known how many rows
// there are, about at least, and they are few enough. If there are more after all, they are
// read again.
func (c *CachedRows) fits(columns []string) bool {
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	n := estimate(c.Source)
	return n > 0 && n*RowSize(c.Schema(), columns) <= c.limit
}

// RowColumns are the data columns that the passes over the rows read.
func RowColumns(m decompose.Model, o *decompose.Options) []string {
	names := append(slices.Clone(m.Columns()), o.Columns.Names()...)
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			names = append(names, b.Term.Columns()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// RowSize is how many bytes a row of the columns takes in memory: numbers, codes, its number.
func RowSize(schema data.Schema, columns []string) int64 {
	size := int64(8)
	for _, name := range columns {
		c, _ := schema.Lookup(name)
		size += 8 * int64(max(c.Width, 1))
		if c.Numeric && c.Categorical {
			size += 4
		}
	}
	return size
}
