package main

import (
	"context"
	"iter"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// mostKept is how many bytes of decoded rows stay in memory between the passes
// unless --max-memory leaves less room.
const mostKept = 256 << 20

// seenRows are files some of whose numbers are rounded to the types of the network's
// inputs.
type seenRows struct {
	files.Source
	rounded data.Source
}

// seenBy is src with the columns as the network sees them (onnx.Model.Rows).
func seenBy(m *onnx.Model, columns []string, src files.Source) files.Source {
	return &seenRows{src, m.Rows(src, columns)}
}

// Batches reads the files and rounds.
func (s *seenRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return s.rounded.Batches(ctx, columns)
}

// Len is the number of rows, -1 if it is not known.
func (s *seenRows) Len() int64 { return lenOf(s.Source) }

// keptRows are files whose rows stay in memory between the passes if they fit.
type keptRows struct {
	files.Source
	kept  *data.Kept
	limit int64 // of kept, as long as nothing is read
}

func keepRows(src files.Source, limit int64) *keptRows {
	return &keptRows{src, data.Keep(src, limit), limit}
}

// Batches reads the files, or what is kept of them.
func (k *keptRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return k.kept.Batches(ctx, columns)
}

// Len is the number of rows, -1 if it is not known.
func (k *keptRows) Len() int64 { return lenOf(k.Source) }

// fits tells whether the columns, read once, stay in memory: it is known how many rows
// there are, and they are few enough.
func (k *keptRows) fits(columns []string) bool {
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	n := k.Len()
	return n > 0 && n*rowSize(k.Schema(), columns) <= k.limit
}

// keptBeforehand bounds the rows kept by what is read before it is known what else
// the run holds.
func (d *decomposeFlags) keptBeforehand() int64 {
	limit, err := parseSize(d.network.maxMemory)
	if d.network.maxMemory == "" || err != nil { // fit says so
		return mostKept
	}
	return min(mostKept, limit/8)
}

// rowColumns are the data columns that the passes over the rows read.
func rowColumns(m decompose.Model, o *decompose.Options) []string {
	names := append(slices.Clone(m.Columns()), present(o.Weights, o.Response, o.Offset, o.Groups)...)
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			names = append(names, b.Term.Columns()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// rowSize is what a row of the columns takes in memory: numbers, codes, its number.
func rowSize(schema data.Schema, columns []string) int64 {
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
