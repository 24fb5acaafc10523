package wiring

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// knownRows are rows without those that have levels which training did not have.
type knownRows struct {
	files.Source
	known map[string]map[string]bool
	tally *data.UnseenLevels
}

// KnownRows is src without the rows whose levels no term of r knows, or the network's file does not
// list; tally counts them.
func (o *Opened) KnownRows(r *decompose.Result, src files.Source, tally *data.UnseenLevels) (files.Source, error) {
	of := termLevels(r)
	for _, m := range o.Networks {
		labels, err := m.Graph().Labels()
		if err != nil {
			return nil, err
		}
		if labels == nil {
			continue
		}
		for column, levels := range labels.Columns {
			if of[column] == nil {
				of[column] = levels
			}
			of[column] = slices.DeleteFunc(of[column], func(level string) bool { return level != data.MissingLevel && !slices.Contains(levels, level) })
			for _, level := range of[column] {
				of[column] = append(of[column], data.Truths(level)...)
			}
		}
	}
	known := map[string]map[string]bool{}
	for column, levels := range of {
		known[column] = make(map[string]bool, len(levels))
		for _, level := range levels {
			known[column][level] = true
		}
	}
	return withKnown(src, known, tally), nil
}

// withKnown leaves rows out before their texts are coded, which refuses what the network does not know.
func withKnown(src files.Source, known map[string]map[string]bool, tally *data.UnseenLevels) files.Source {
	if c, ok := src.(*codedRows); ok {
		return &codedRows{withKnown(c.Source, known, tally), c.levels}
	}
	return &knownRows{src, known, tally}
}

// Len is the number of rows, those that are left out among them; -1 if it is not known.
func (k *knownRows) Len() int64 { return Len(k.Source) }

// Estimate is about how many rows there are, 0 if nobody knows.
func (k *knownRows) Estimate() int64 { return estimate(k.Source) }

// Batches leaves the rows out.
func (k *knownRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range k.Source.Batches(ctx, columns) {
			if err == nil {
				b, err = k.of(b, columns)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// of is b without the rows.
func (k *knownRows) of(b *data.Batch, columns []string) (*data.Batch, error) {
	var out []bool // nil: no row is left out
	for _, column := range columns {
		levels := k.known[column]
		if levels == nil {
			continue
		}
		text, err := b.Texts(column)
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			if level := text(i); !levels[level] && (out == nil || !out[i]) {
				if out == nil {
					out = make([]bool, b.Rows())
				}
				out[i] = true
				k.tally.Add(column, level)
			}
		}
	}
	if out == nil {
		return b, nil
	}
	var rows []int
	for i, left := range out {
		if !left {
			rows = append(rows, i)
		}
	}
	return b.Pick(rows), nil
}

// Unseen says which levels training did not have, and what became of their rows; "": there are none.
// Of a column three levels are named, the most frequent first.
func Unseen(tally *data.UnseenLevels, policy data.UnseenPolicy, how string) string {
	var parts []string
	all := tally.Levels()
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(l data.UnseenLevel) bool { return l.Column != all[0].Column })
		if n < 0 {
			n = len(all)
		}
		own, rows, named := all[:n], int64(0), make([]string, 0, 3)
		all = all[n:]
		slices.SortStableFunc(own, func(a, b data.UnseenLevel) int { return int(min(max(b.Rows-a.Rows, -1), 1)) })
		for i, l := range own {
			rows += l.Rows
			if i < 3 {
				named = append(named, strconv.Quote(Shorten(l.Level, maxName)))
			}
		}
		if n > 3 {
			named = append(named, fmt.Sprintf("%d more", n-3))
		}
		count := strconv.FormatInt(rows, 10) + " rows have"
		if rows == 1 {
			count = "1 row has"
		}
		parts = append(parts, fmt.Sprintf("%s levels of column %q that the decomposition does not know (%s)", count, Shorten(own[0].Column, maxName), strings.Join(named, ", ")))
	}
	if len(parts) == 0 {
		return ""
	}
	done := "terms of the column add nothing there" + how + ", and what the network makes of them is unstructured"
	if policy == data.UnseenDrop {
		done = "they were left out" + how
	}
	return strings.Join(parts, "; ") + ": " + done
}
