// Package dyadic adds up values of consecutive chunks of rows so that neither the order in
// which they come nor how they were grouped before shows in the last digit.
//
// The chunks are the leaves of a binary tree over chunk numbers: node (start, level) covers the
// chunks start to start + 2^level - 1, start being a multiple of 2^level, and is the sum of its
// two halves, the earlier first. So the grouping of a sum depends on chunk numbers alone.
package dyadic

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Node is the sum of the 2^Level chunks from Start on.
type Node[T any] struct {
	Start, Level int
	Value        T
}

// end is the chunk behind the node's last.
func (n Node[T]) end() int { return n.Start + 1<<n.Level }

// Check reports a node that is none of the tree: one that a damaged file holds, say.
func (n Node[T]) Check() error {
	if n.Start < 0 || n.Level < 0 || n.Level > 61 || n.Start&(1<<n.Level-1) != 0 || n.Start > math.MaxInt-1<<n.Level {
		return fmt.Errorf("dyadic: chunks from %d on are no node of level %d", n.Start, n.Level)
	}
	return nil
}

// Sum adds the values of two neighbours, a of earlier chunks than b. It may take the memory of
// both for the sum.
type Sum[T any] func(a, b T) (T, error)

// Forest holds the chunks that were added, in any order and with gaps, as the fewest nodes.
// The zero value holds none.
type Forest[T any] struct{ nodes []Node[T] }

// Nodes are the nodes in order of chunks. They are the forest's own.
func (f *Forest[T]) Nodes() []Node[T] { return f.nodes }

// Runs are the runs [first, next) of chunks that are there, in order, with gaps between them.
func (f *Forest[T]) Runs() [][2]int {
	var runs [][2]int
	for _, n := range f.nodes {
		if last := len(runs) - 1; last >= 0 && runs[last][1] == n.Start {
			runs[last][1] = n.end()
			continue
		}
		runs = append(runs, [2]int{n.Start, n.end()})
	}
	return runs
}

// OverlapError says that chunks were added twice.
type OverlapError struct{ First, Next int } // the chunks [First, Next) that are already there

// Error names the chunks.
func (e *OverlapError) Error() string {
	if e.Next-e.First == 1 {
		return fmt.Sprintf("chunk %d is there already", e.First)
	}
	return fmt.Sprintf("chunks %d to %d are there already", e.First, e.Next-1)
}

// Add adds a node. Chunks that are there already are an *OverlapError, which leaves f as it was;
// after an error of sum f is undefined.
func (f *Forest[T]) Add(n Node[T], sum Sum[T]) error {
	if err := n.Check(); err != nil {
		return err
	}
	at, _ := slices.BinarySearchFunc(f.nodes, n.Start, func(m Node[T], start int) int { return m.Start - start })
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(f.nodes) {
			if m := f.nodes[i]; m.Start < n.end() && n.Start < m.end() {
				return &OverlapError{max(m.Start, n.Start), min(m.end(), n.end())}
			}
		}
	}
	for { // n is to stand at place at; meanwhile it takes in its siblings there
		left := n.Start>>n.Level&1 == 0
		i := at - 1
		if left {
			i = at
		}
		if i < 0 || i >= len(f.nodes) || f.nodes[i].Level != n.Level || f.nodes[i].Start != n.Start^1<<n.Level {
			break
		}
		a, b := n, f.nodes[i]
		if !left {
			a, b = b, a
			at = i
		}
		v, err := sum(a.Value, b.Value)
		if err != nil {
			return err
		}
		n = Node[T]{a.Start, n.Level + 1, v}
		f.nodes = slices.Delete(f.nodes, i, i+1)
	}
	f.nodes = slices.Insert(f.nodes, at, n)
	return nil
}

// Total is the sum of all nodes, from the last to the first; false if there are none. It is the
// sum of all chunks if Runs is a single one from 0 on. sum must not change its operands'
// memory if f is used further.
func (f *Forest[T]) Total(sum Sum[T]) (total T, ok bool, err error) {
	for i := len(f.nodes) - 1; i >= 0; i-- {
		if !ok {
			total, ok = f.nodes[i].Value, true
			continue
		}
		if total, err = sum(f.nodes[i].Value, total); err != nil {
			return total, false, err
		}
	}
	return total, ok, nil
}

// Cover calls f with the fewest nodes that cover the chunks [first, next), in order.
func Cover(first, next int, f func(start, level int)) {
	for first < next {
		level := bits.Len(uint(next-first)) - 1
		if first > 0 {
			level = min(level, bits.TrailingZeros(uint(first)))
		}
		f(first, level)
		first += 1 << level
	}
}
