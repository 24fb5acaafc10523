package files

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/pho-go/pho/data"
)

// orderedRows are rows whose categories have orders that the files do not declare.
type orderedRows struct {
	Source
	orders map[string][]string // by column
}

// ordered is src with the orders of o.Levels, which count in place of those that files declare.
// Errors: no column of text is called so.
func (o *Options) ordered(src Source, err error) (Source, error) {
	if err != nil || len(o.Levels) == 0 {
		return src, err
	}
	for name := range o.Levels {
		if c, ok := src.Schema().Lookup(name); !ok || !c.Categorical {
			src.Close()
			if !ok {
				return nil, &data.MissingColumnError{Column: name, Where: "the data", Columns: src.Schema().Names()}
			}
			return nil, fmt.Errorf("data: column %q has levels in an order, and holds no text", name)
		}
	}
	return &orderedRows{src, o.Levels}, nil
}

// texts are the columns that are read as text: levels are.
func (o *Options) texts() []string {
	texts := slices.Clone(o.Texts)
	for name := range o.Levels {
		if !slices.Contains(texts, name) {
			texts = append(texts, name)
		}
	}
	slices.Sort(texts)
	return texts
}

// Len is the number of rows, -1 if it is not known.
func (s *orderedRows) Len() int64 {
	if l, ok := s.Source.(interface{ Len() int64 }); ok {
		return l.Len()
	}
	return -1
}

// Batches declares the orders. Error: a cell that is none of the levels.
func (s *orderedRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range s.Source.Batches(ctx, columns) {
			if err == nil {
				b, err = s.declare(b, columns)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func (s *orderedRows) declare(b *data.Batch, columns []string) (*data.Batch, error) {
	out := b.Slice(0, b.Rows())
	for _, name := range columns {
		order := s.orders[name]
		if order == nil {
			continue
		}
		c, err := b.Codes(name)
		if err != nil {
			return nil, err
		}
		for k, level := range c.Levels {
			if level == data.MissingLevel || slices.Contains(order, level) {
				continue
			}
			if i := slices.Index(c.Index, int32(k)); i >= 0 {
				return nil, &data.UnseenLevelError{Column: name, Level: level, Row: b.Row(i), Known: order, Reason: fmt.Sprintf(
					"is none of the levels that were named, %.80q: name it too, or leave such rows out", order)}
			}
		}
		c.Declared = [][]string{order}
		if err := out.SetCodes(name, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}
