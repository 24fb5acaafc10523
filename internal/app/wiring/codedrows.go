package wiring

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// codedRows shows columns of text as the numbers that a network was trained to read
// for them, next to their texts: terms keep the levels' names. A column whose cells
// happen to be numbers in these rows is text all the same.
type codedRows struct {
	files.Source
	levels map[string][]string
}

// Coded is src, its texts coded as the network's file says; src itself if the file says
// nothing of its columns.
func Coded(src files.Source, g *onnx.Graph) (files.Source, error) {
	labels, err := g.Labels()
	if err != nil {
		return nil, err
	}
	return CodedBy(src, labels), nil
}

// CodedBy is src, its texts coded as labels say; src itself if they say nothing of its
// columns, or are nil.
func CodedBy(src files.Source, labels *onnx.Labels) files.Source {
	if labels == nil {
		return src
	}
	levels := map[string][]string{}
	for _, c := range src.Schema() {
		if known := labels.Columns[c.Name]; known != nil && c.Width == 0 && !c.Refused {
			levels[c.Name] = known
		}
		if c.Name == labels.Response && !c.Numeric && !c.Refused { // numbers are classes that are coded
			levels[c.Name] = labels.Classes
		}
	}
	if len(levels) == 0 {
		return src
	}
	return &codedRows{src, levels}
}

// Len is the number of rows, -1 if it is not known.
func (l *codedRows) Len() int64 { return Len(l.Source) }

// Schema has the coded columns as numbers, for the network, and as text, for formulas.
func (l *codedRows) Schema() data.Schema {
	s := slices.Clone(l.Source.Schema())
	for i, c := range s {
		if l.levels[c.Name] != nil {
			s[i].Numeric, s[i].Categorical = true, true
			s[i].Text = cmp.Or(c.Text, "the network was trained on its texts")
		}
	}
	return s
}

// Batches adds the numbers to the texts.
func (l *codedRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range l.Source.Batches(ctx, columns) {
			if err == nil {
				b, err = onnx.CodeTexts(b, columns, l.levels)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}
