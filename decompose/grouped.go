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
// validation: a group not seen in a chunk has an empty one there, so that
// shards merge as they do in all.
type groupSums struct {
	layout moments.Layout
	first  int
	chunks int
	sums   map[string]*moments.Sum
}

func newGroupSums(l moments.Layout, first int) *groupSums {
	l.Factor = false
	return &groupSums{layout: l, first: first, sums: map[string]*moments.Sum{}}
}

// append adds the groups of the next chunk.
func (g *groupSums) append(chunk map[string]*moments.Moments) error {
	for _, name := range slices.Sorted(maps.Keys(chunk)) {
		if err := g.open(name); err != nil {
			return err
		}
	}
	for name, sum := range g.sums {
		m := chunk[name]
		if m == nil {
			m = moments.New(g.layout)
		}
		if err := sum.Append(m); err != nil {
			return err
		}
	}
	g.chunks++
	return nil
}

// open begins a group, with empty moments for the chunks so far.
func (g *groupSums) open(name string) error {
	if g.sums[name] != nil {
		return nil
	}
	if len(g.sums) == maxGroups {
		return fmt.Errorf("decompose: more than %d groups for cross validation: choose a coarser column", maxGroups)
	}
	sum := moments.NewSum(g.layout, g.first)
	for range g.chunks {
		if err := sum.Append(moments.New(g.layout)); err != nil {
			return err
		}
	}
	g.sums[name] = sum
	return nil
}

// merge appends the groups of the rows that follow.
func (g *groupSums) merge(next *groupSums) error {
	for _, name := range slices.Sorted(maps.Keys(next.sums)) {
		if err := g.open(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.sums)) {
		if err := next.open(name); err != nil {
			return err
		}
		if err := g.sums[name].Merge(next.sums[name]); err != nil {
			return err
		}
	}
	g.chunks += next.chunks
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
