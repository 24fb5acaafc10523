package wiring

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// classRows show the response as numbers of classes: texts by the classes' names, and
// numbers too where those are numbers. Where they are not, numbers are the classes'.
type classRows struct {
	files.Source
	column  string
	classes []string
	also    []string // further names of the classes: of each in turn, then others of each
}

// classNumbers shows the response as the numbers of these classes, which may have further names, also: of each in turn, then others of each.
// Rows that do so already, since everything is made ready a second time, are themselves.
func classNumbers(src files.Source, column string, classes []string, also ...string) files.Source {
	if c, ok := src.(*classRows); ok && c.column == column {
		return c
	}
	return &classRows{src, column, classes, also}
}

// Len is the number of rows, -1 if it is not known.
func (c *classRows) Len() int64 { return Len(c.Source) }

// Schema has the response as numbers.
func (c *classRows) Schema() data.Schema {
	s := slices.Clone(c.Source.Schema())
	for i := range s {
		if s[i].Name == c.column {
			s[i].Numeric = true
		}
	}
	return s
}

// Batches adds the numbers to the response.
func (c *classRows) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range c.Source.Batches(ctx, columns) {
			if err == nil && slices.Contains(columns, c.column) {
				b, err = c.code(b)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func (c *classRows) code(b *data.Batch) (*data.Batch, error) {
	out := b.Slice(0, b.Rows())
	text, err := b.Texts(c.column)
	if err != nil {
		return nil, err
	}
	place := c.places(b.Categorical(c.column))
	x := make([]float64, b.Rows())
	for i := range x {
		k, known := place[text(i)]
		if !known {
			return nil, &data.UnseenLevelError{Column: c.column, Level: text(i), Row: b.Row(i), Known: c.classes, Reason: fmt.Sprintf(
				"is none of the model's classes, which are %.120q: leave such rows out, or write the response as the classes are called, or as their numbers from 0", c.classes)}
		}
		x[i] = float64(k)
	}
	return out, out.SetNumeric(c.column, x)
}

// places are the classes by how the response writes them.
func (c *classRows) places(text bool) map[string]int {
	place := map[string]int{}
	for k, name := range c.also {
		place[name] = k % len(c.classes)
	}
	numbers := true
	for k, name := range c.classes {
		place[name] = k
		v, err := strconv.ParseFloat(name, 64)
		if numbers = numbers && err == nil && !math.IsNaN(v); numbers && !text {
			place[data.LevelText(v)] = k
		}
	}
	if !numbers && !text {
		for k := range c.classes {
			place[strconv.Itoa(k)] = k
		}
	}
	return place
}
