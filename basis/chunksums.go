package basis

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/internal/base/dyadic"
	"github.com/pho-go/pho/internal/base/wire"
)

// sumRows is how many row numbers a chunk of a sum has. It divides those of a decomposition's chunks, at
// which shards are cut.
const sumRows = 4096

// chunkSums adds up vectors of the rows: those of a chunk in order of rows, and the chunks in a tree over their
// numbers, so that the digits do not depend on batches and shards.
type chunkSums struct {
	width  int
	rows   int64
	done   dyadic.Forest[[]float64]
	chunk  int       // that is under way
	open   []float64 // its sum; nil: none is
	strays []float64 // rows of a chunk that was over: their numbers do not increase, and no shard can be told; nil: none
}

func newChunkSums(width int) *chunkSums { return &chunkSums{width: width} }

// of is the sum to which the vector of the row is to be added at once.
func (s *chunkSums) of(row int64) []float64 {
	s.rows++
	chunk := int(row / sumRows)
	if s.open != nil && chunk == s.chunk {
		return s.open
	}
	s.end()
	over := 0
	if runs := s.done.Runs(); len(runs) > 0 {
		over = runs[len(runs)-1][1]
	}
	if row < 0 || chunk < over {
		if s.strays == nil {
			s.strays = make([]float64, s.width)
		}
		return s.strays
	}
	s.chunk, s.open = chunk, make([]float64, s.width)
	return s.open
}

// end adds the chunk that is under way to those that are over.
func (s *chunkSums) end() {
	if s.open == nil {
		return
	}
	_ = s.done.Add(dyadic.Node[[]float64]{Start: s.chunk, Value: s.open}, addTo) // of sees to it that it is behind all others
	s.open = nil
}

func addTo(a, b []float64) ([]float64, error) {
	floats.Add(a, b)
	return a, nil
}

// total is the sum over all rows, nil if there are none.
func (s *chunkSums) total() []float64 {
	s.end()
	sum, ok, _ := s.done.Total(func(a, b []float64) ([]float64, error) {
		return floats.AddTo(make([]float64, len(a)), a, b), nil
	})
	switch {
	case s.strays == nil:
		return sum
	case !ok:
		return s.strays
	}
	return floats.AddTo(make([]float64, s.width), sum, s.strays)
}

// complete ends the scan of a shard.
func (s *chunkSums) complete() error {
	s.end()
	if s.strays != nil {
		return errors.New("the rows' numbers do not increase, so that what shards have seen cannot be added up in their order")
	}
	return nil
}

func (s *chunkSums) tag() partTag { return chunksTag }

func (s *chunkSums) add(next part) error {
	n := next.(*chunkSums)
	if s.width != n.width {
		return fmt.Errorf("sums of %d and %d basis functions do not add up", s.width, n.width)
	}
	if err := errors.Join(s.complete(), n.complete()); err != nil {
		return err
	}
	for _, node := range n.done.Nodes() {
		if err := s.done.Add(node, addTo); err != nil {
			var twice *dyadic.OverlapError
			if errors.As(err, &twice) {
				return fmt.Errorf("the rows %d to %d, or some of them, were seen twice: shards begin at multiples of %d rows and do not overlap",
					twice.First*sumRows+1, twice.Next*sumRows, sumRows)
			}
			return err
		}
	}
	s.rows += n.rows
	return nil
}

func (s *chunkSums) write(b []byte) []byte {
	nodes := s.done.Nodes()
	b = wire.AppendInt(wire.AppendInt(wire.AppendInt(b, s.width), s.rows), len(nodes))
	for _, n := range nodes {
		b = wire.AppendInt(wire.AppendInt(b, n.Start), n.Level)
		b = wire.AppendNumbers(b, n.Value)
	}
	return b
}

func readChunks(r *wire.Reader) *chunkSums {
	s := newChunkSums(r.NonNegative())
	s.rows = int64(r.NonNegative())
	if s.width > maxSumWidth {
		r.Fail("sums of %d basis functions", s.width)
		return s
	}
	for range r.Count(8 * (2 + s.width)) {
		n := dyadic.Node[[]float64]{Start: r.NonNegative(), Level: r.NonNegative(), Value: make([]float64, s.width)}
		r.Numbers(n.Value)
		if r.Err() != nil {
			return s
		}
		if err := s.done.Add(n, addTo); err != nil {
			r.Fail("%w", err)
			return s
		}
	}
	return s
}

// maxSumWidth bounds the basis functions and products of sums that are read.
const maxSumWidth = maxK + maxK*(maxK+1)/2
