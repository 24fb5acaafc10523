package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// labelledRows shows columns of text as the numbers that a network was trained to read
// for them, next to their texts: terms keep the levels' names.
type labelledRows struct {
	files.Source
	levels map[string][]string
}

// labelRows is src, its texts coded as the network's file says; src itself if the file
// says nothing of its columns.
func labelRows(src files.Source, labels *onnx.Labels) files.Source {
	if labels == nil {
		return src
	}
	levels := map[string][]string{}
	for _, c := range src.Schema() {
		known := labels.Columns[c.Name]
		if c.Name == labels.Response {
			known = labels.Classes
		}
		if known != nil && c.Categorical && !c.Numeric {
			levels[c.Name] = known
		}
	}
	if len(levels) == 0 {
		return src
	}
	return &labelledRows{src, levels}
}

// Len is the number of rows, -1 if it is not known.
func (l *labelledRows) Len() int64 { return lenOf(l.Source) }

// Schema has the coded columns as numbers, which are categories.
func (l *labelledRows) Schema() data.Schema {
	s := slices.Clone(l.Source.Schema())
	for i, c := range s {
		s[i].Numeric = c.Numeric || l.levels[c.Name] != nil
	}
	return s
}

// Batches adds the numbers to the texts.
func (l *labelledRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range l.Source.Batches(ctx, columns) {
			if err == nil {
				b, err = l.code(b, columns)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func (l *labelledRows) code(b *data.Batch, columns []string) (*data.Batch, error) {
	out := b.Slice(0, b.Rows())
	for _, name := range columns {
		levels := l.levels[name]
		if levels == nil {
			continue
		}
		c, err := b.Codes(name)
		if err != nil {
			return nil, err
		}
		own := make([]int, len(c.Levels))
		for i, level := range c.Levels {
			own[i] = slices.Index(levels, level)
		}
		x := make([]float64, b.Rows())
		for i, code := range c.Index {
			if own[code] < 0 {
				return nil, fmt.Errorf("column %q, data row %d: the network was trained on the texts %.80q, and %q is none of them: leave such rows out, or train again with them",
					name, b.Row(i)+1, levels, c.Levels[code])
			}
			x[i] = float64(own[code])
		}
		if err := out.SetNumeric(name, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// writeLabels says which texts the numbers of a network stand for, if it was trained on
// text.
func writeLabels(w io.Writer, g *onnx.Graph) error {
	l, err := g.Labels()
	if err != nil || l == nil {
		return err
	}
	var text strings.Builder
	line := func(what, column string, levels []string) {
		fmt.Fprintf(&text, "%s %q is text:", what, column)
		for i, level := range levels {
			if i == 20 {
				fmt.Fprintf(&text, " ... %d in all", len(levels))
				break
			}
			fmt.Fprintf(&text, " %d = %q", i, level)
		}
		text.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(l.Columns)) {
		line("input", name, l.Columns[name])
	}
	if l.Response != "" {
		line("response", l.Response, l.Classes)
	}
	_, err = io.WriteString(w, text.String())
	return err
}
