package decompose

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/design"
)

// maxGroups bounds the groups of cross validation: each has moments of its own.
const maxGroups = 100

// groupSums holds the moments of each group of rows, for grouped cross
// validation: a group has the chunks that all rows have, empty ones where it was not seen, so
// that shards merge as they do in all.
type groupSums struct {
	layout moments.Layout
	sums   map[string]*moments.Sum
}

func newGroupSums(l moments.Layout) *groupSums {
	l.Factor = false
	return &groupSums{layout: l, sums: map[string]*moments.Sum{}}
}

// add adds the groups of a chunk to those of the chunks so far, which all holds.
func (g *groupSums) add(chunk int, groups map[string]*moments.Moments, all *moments.Sum) error {
	if err := g.open(slices.Sorted(maps.Keys(groups)), all); err != nil {
		return err
	}
	for name, sum := range g.sums {
		m := groups[name]
		if m == nil {
			m = moments.New(g.layout)
		}
		if err := sum.Add(chunk, m); err != nil {
			return err
		}
	}
	return nil
}

// skip notes that chunks have no rows.
func (g *groupSums) skip(first, next int) error {
	for _, sum := range g.sums {
		if err := sum.Skip(first, next); err != nil {
			return err
		}
	}
	return nil
}

// open begins the groups that are not there, with no rows in the chunks so far.
func (g *groupSums) open(names []string, all *moments.Sum) error {
	for _, name := range names {
		if g.sums[name] != nil {
			continue
		}
		if len(g.sums) == maxGroups {
			return fmt.Errorf("decompose: more than %d groups for cross validation: choose a coarser column", maxGroups)
		}
		sum := moments.NewSum(g.layout, 0)
		if err := sum.AddNone(all); err != nil {
			return err
		}
		g.sums[name] = sum
	}
	return nil
}

// merge adds the groups of other rows; all and theirs are the sums over all groups. other is
// as it was.
func (g *groupSums) merge(other *groupSums, all, theirs *moments.Sum) error {
	if err := g.open(slices.Sorted(maps.Keys(other.sums)), all); err != nil {
		return err
	}
	for name, sum := range g.sums {
		next := other.sums[name]
		if next == nil {
			next = moments.NewSum(g.layout, 0)
			if err := next.AddNone(theirs); err != nil {
				return err
			}
		}
		if err := sum.Merge(next); err != nil {
			return err
		}
	}
	return nil
}

// groupChunks accumulates one chunk of rows by group, for one worker.
type groupChunks struct {
	column string
	layout moments.Layout
	chunks map[string]*moments.Chunk
	w      []float64
}

func newGroupChunks(column string, l moments.Layout) *groupChunks {
	l.Factor = false
	return &groupChunks{column: column, layout: l, chunks: map[string]*moments.Chunk{}}
}

func (g *groupChunks) reset() { g.chunks = map[string]*moments.Chunk{} }

// add adds rows to their groups: to each with the weights of the others' rows 0.
func (g *groupChunks) add(b *data.Batch, x []design.Columns, w []float64, zeta *mat.Dense) error {
	names, err := groupNames(b, g.column)
	if err != nil {
		return err
	}
	g.w = slices.Grow(g.w[:0], len(names))[:len(names)]
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		for i, n := range names {
			g.w[i] = 0
			if n == name {
				g.w[i] = weight(w, i)
			}
		}
		if g.chunks[name] == nil {
			if len(g.chunks) == maxGroups {
				return fmt.Errorf("groups %q: more than %d groups for cross validation: choose a coarser column", g.column, maxGroups)
			}
			g.chunks[name] = moments.NewChunk(g.layout)
		}
		if err := g.chunks[name].Add(x, g.w, zeta); err != nil {
			return atRow(b, err)
		}
	}
	return nil
}

func (g *groupChunks) moments() map[string]*moments.Moments {
	out := map[string]*moments.Moments{}
	for name, b := range g.chunks {
		out[name] = b.Moments()
	}
	return out
}

// groupNames names the group of each row: a level, or a number as a level.
func groupNames(b *data.Batch, column string) ([]string, error) {
	names := make([]string, b.Rows())
	if b.Categorical(column) {
		c, err := b.Codes(column)
		if err != nil {
			return nil, err
		}
		for i, l := range c.Index {
			names[i] = c.Levels[l]
		}
		return names, nil
	}
	v, err := b.Numeric(column)
	if err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	for i := range v {
		names[i] = data.LevelText(v[i])
	}
	return names, nil
}

// totals are the moments of each group, in the order of their names; nil without groups.
func (g *groupSums) totals() []*moments.Moments {
	if g == nil {
		return nil
	}
	all := []*moments.Moments{}
	for _, name := range slices.Sorted(maps.Keys(g.sums)) {
		all = append(all, g.sums[name].Total())
	}
	return all
}
