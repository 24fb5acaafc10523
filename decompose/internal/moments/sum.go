package moments

import (
	"fmt"
	"math"
	"math/bits"
)

// Sum is a run of consecutive chunks [first, next), held as the fewest
// aligned dyadic intervals [i 2^l, (i+1) 2^l): the nodes of a binary tree over
// chunk numbers whose every node is merged from its two halves. What is merged
// with what depends on chunk numbers alone, so adding the chunks in order, or
// merging any shards that meet at chunk boundaries, gives the same bytes.
type Sum struct {
	layout      Layout
	first, next int
	nodes       []node     // in chunk order
	spare       []*Moments // that were merged into others
}

// maxSpare is how many moments a sum keeps for reuse.
const maxSpare = 2

// node covers the 2^level chunks from chunk start on.
type node struct {
	start int
	level int
	m     *Moments
}

// NewSum returns the sum of no chunks, the next of which is chunk first (>= 0).
// A faulty layout is reported by Append.
func NewSum(l Layout, first int) *Sum {
	first = max(first, 0)
	return &Sum{layout: l.clone(), first: first, next: first}
}

// Layout returns the layout of the summed moments.
func (s *Sum) Layout() Layout { return s.layout.clone() }

// Chunks returns the run of chunks [first, next) that s holds.
func (s *Sum) Chunks() (first, next int) { return s.first, s.next }

// Append adds m as chunk number next. m belongs to s from then on. Sums beyond
// the range of float64 are an error that names the basis or response.
func (s *Sum) Append(m *Moments) error {
	if err := s.layout.Check(); err != nil {
		return err
	}
	if m == nil || !m.Layout.Equal(s.layout) {
		return fmt.Errorf("moments: chunk %d has another layout than the sum it is added to", s.next)
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("%w (chunk %d)", err, s.next)
	}
	if s.next == math.MaxInt {
		return fmt.Errorf("moments: chunk numbers are used up")
	}
	if err := s.push(node{s.next, 0, m}); err != nil {
		return err
	}
	s.next++
	return nil
}

// Spare returns moments that Append was given and s does not need any more, to be
// overwritten (Chunk.MomentsInto); nil if there are none.
func (s *Sum) Spare() *Moments {
	n := len(s.spare)
	if n == 0 {
		return nil
	}
	m := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return m
}

// push adds the node that follows the last and merges halves while there are
// any: the carry of binary addition.
func (s *Sum) push(n node) error {
	for len(s.nodes) > 0 {
		last := s.nodes[len(s.nodes)-1]
		if last.level != n.level || last.start>>last.level&1 == 1 {
			break
		}
		if err := last.m.Merge(n.m); err != nil {
			return err
		}
		s.nodes = s.nodes[:len(s.nodes)-1]
		if len(s.spare) < maxSpare {
			s.spare = append(s.spare, n.m)
		}
		n = node{last.start, last.level + 1, last.m}
	}
	s.nodes = append(s.nodes, n)
	return nil
}

// Merge adds the chunks of other, which must begin where s ends or end where s
// begins. other is not changed. After an error s is undefined, except that a
// gap, an overlap or another layout leaves it as it was.
func (s *Sum) Merge(other *Sum) error {
	if other == nil || !other.layout.Equal(s.layout) {
		return fmt.Errorf("moments: merge of sums with different layouts; shards of one decomposition share their terms and responses")
	}
	left, right := s, other
	switch {
	case other.first == s.next:
	case other.next == s.first:
		left, right = other, s
	default:
		return fmt.Errorf("moments: merge of chunks [%d, %d) with chunks [%d, %d): the runs must adjoin; merge shards in the order of their rows", s.first, s.next, other.first, other.next)
	}
	t := &Sum{layout: s.layout, first: left.first, next: right.next}
	for _, side := range []*Sum{left, right} {
		for _, n := range side.nodes {
			if side == other {
				n.m = n.m.Clone()
			}
			if err := t.push(n); err != nil {
				return err
			}
		}
	}
	*s = *t
	return nil
}

// Weight is the sum of weights over all chunks.
func (s *Sum) Weight() float64 {
	w := 0.0
	for i := len(s.nodes) - 1; i >= 0; i-- { // as Total adds
		w += s.nodes[i].m.SumW
	}
	return w
}

// Total returns the moments of all chunks: nodes are merged from the last to
// the first. s is not changed. Sums may have left the range of float64:
// Moments.Check tells.
func (s *Sum) Total() *Moments {
	if len(s.nodes) == 0 {
		return New(s.layout)
	}
	total := s.nodes[len(s.nodes)-1].m.Clone()
	for i := len(s.nodes) - 2; i >= 0; i-- {
		m := s.nodes[i].m.Clone()
		m.merge(total)
		total = m
	}
	return total
}

// dyadic calls f with the canonical intervals of [first, next).
func dyadic(first, next int, f func(start, level int)) {
	for first < next {
		level := bits.Len(uint(next-first)) - 1
		if first > 0 {
			level = min(level, bits.TrailingZeros(uint(first)))
		}
		f(first, level)
		first += 1 << level
	}
}
