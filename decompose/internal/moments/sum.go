package moments

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/internal/base/dyadic"
)

// Sum holds moments by chunks of rows, added in a binary tree over chunk numbers
// (internal/base/dyadic): neither the order in which chunks and shards come nor their grouping
// changes a byte. There may be gaps until the sum is used.
type Sum struct {
	layout Layout
	next   int // of Append
	chunks dyadic.Sparse[*Moments]
	spare  []*Moments // that were merged into others
}

// maxSpare is how many moments a sum keeps for reuse: as many as one chunk may make free, since
// the chunks that follow take them one by one.
const maxSpare = 16

// NewSum returns the sum of no chunks, to which Append adds chunk first (>= 0) first.
// A faulty layout is reported by Append.
func NewSum(l Layout, first int) *Sum {
	return &Sum{layout: l.clone(), next: max(first, 0)}
}

// Layout returns the layout of the summed moments.
func (s *Sum) Layout() Layout { return s.layout.clone() }

// Runs are the runs [first, next) of chunks that s holds, in order, with gaps between them.
func (s *Sum) Runs() [][2]int { return s.chunks.Runs() }

// Append adds m as the chunk behind the one that was added last.
func (s *Sum) Append(m *Moments) error { return s.Add(s.next, m) }

// Add adds m as a chunk. m belongs to s from then on. Chunks that are there already are an
// error, and so are sums beyond the range of float64, which names the basis or response.
func (s *Sum) Add(chunk int, m *Moments) error {
	if err := s.layout.Check(); err != nil {
		return err
	}
	if m == nil || !m.Layout.Equal(s.layout) {
		return fmt.Errorf("moments: chunk %d has another layout than the sum it is added to", chunk)
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("%w (chunk %d)", err, chunk)
	}
	if chunk < 0 || chunk == math.MaxInt {
		return fmt.Errorf("moments: chunk numbers are used up")
	}
	var err error
	if m.Rows == 0 {
		err = s.chunks.AddNone(chunk, 0, s.merge)
	} else {
		err = s.chunks.Add(dyadic.Node[*Moments]{Start: chunk, Value: m}, s.merge)
	}
	if err != nil {
		return inTerms(err)
	}
	s.next = chunk + 1
	return nil
}

// Skip adds the chunks [first, next), which have no rows.
func (s *Sum) Skip(first, next int) error { return inTerms(s.chunks.Skip(first, next, s.merge)) }

// AddNone adds the chunks that t holds as chunks without rows, in t's nodes.
func (s *Sum) AddNone(t *Sum) error {
	var err error
	t.chunks.Each(func(n dyadic.Node[*Moments], _ bool) {
		if err == nil {
			err = s.chunks.AddNone(n.Start, n.Level, s.merge)
		}
	})
	for _, run := range t.chunks.Behind() {
		if err == nil {
			err = s.Skip(run[0], run[1])
		}
	}
	return inTerms(err)
}

// merge adds b to a, which are s's own.
func (s *Sum) merge(a, b *Moments) (*Moments, error) {
	if err := a.mergePacked(b); err != nil {
		return nil, err
	}
	if len(s.spare) < maxSpare {
		s.spare = append(s.spare, b)
	}
	return a, nil
}

// Spare is memory of moments that sums do not need any more, for chunks to come
// (Chunk.MomentsInto). It may be used by several goroutines.
type Spare struct{ free chan *Moments }

// NewSpare is one without any.
func NewSpare() *Spare { return &Spare{make(chan *Moments, maxSpare)} }

// Take takes what Add made free in s.
func (f *Spare) Take(s *Sum) {
	for _, m := range s.spare {
		select {
		case f.free <- m:
		default:
		}
	}
	clear(s.spare)
	s.spare = s.spare[:0]
}

// Get is moments to be overwritten; nil: there are none.
func (f *Spare) Get() *Moments {
	select {
	case m := <-f.free:
		return m
	default:
		return nil
	}
}

// Merge adds the chunks of other, which may lie anywhere. other is not changed. Chunks that
// both hold, or another layout, are an error that leaves s as it was; after another error s is
// undefined.
func (s *Sum) Merge(other *Sum) error {
	if err := s.Apart(other); err != nil {
		return err
	}
	theirs := map[*Moments]bool{}
	other.chunks.Each(func(n dyadic.Node[*Moments], ok bool) { theirs[n.Value] = ok })
	err := s.chunks.Merge(&other.chunks, func(a, b *Moments) (*Moments, error) {
		if theirs[a] {
			a = a.Clone()
		}
		return a, a.mergePacked(b)
	})
	if err != nil {
		return inTerms(err)
	}
	s.chunks.Replace(func(m *Moments) *Moments {
		if theirs[m] {
			return m.Clone()
		}
		return m
	})
	s.next = max(s.next, other.next)
	return nil
}

// Apart reports what Merge would refuse.
func (s *Sum) Apart(other *Sum) error {
	if other == nil || !other.layout.Equal(s.layout) {
		return fmt.Errorf("moments: merge of sums with different layouts; shards of one decomposition share their terms and responses")
	}
	return inTerms(s.chunks.Apart(&other.chunks))
}

// inTerms says what chunks that came twice or not at all mean.
func inTerms(err error) error {
	var twice *dyadic.OverlapError
	var gap *dyadic.GapError
	switch {
	case errors.As(err, &twice):
		return fmt.Errorf("moments: %w: the same rows came twice, or shards begin at the same chunk", err)
	case errors.As(err, &gap):
		return fmt.Errorf("moments: %w: their rows are to be added first", err)
	}
	return err
}

// Whole reports chunks before the last that nobody has added.
func (s *Sum) Whole() error { return inTerms(s.chunks.Whole()) }

// Compact is s without the chunks without rows behind the last with some: what the rows
// alone make. Its moments are s's.
func (s *Sum) Compact() *Sum {
	return &Sum{layout: s.layout, next: s.next, chunks: s.chunks.Without()}
}

// Rows is the number of rows of all chunks.
func (s *Sum) Rows() (rows int64) {
	s.chunks.Each(func(n dyadic.Node[*Moments], ok bool) {
		if ok {
			rows += n.Value.Rows
		}
	})
	return rows
}

// Weight is the sum of weights over all chunks.
func (s *Sum) Weight() float64 {
	var weights []float64
	s.chunks.Each(func(n dyadic.Node[*Moments], ok bool) {
		if ok {
			weights = append(weights, n.Value.SumW)
		}
	})
	w := 0.0
	for i := len(weights) - 1; i >= 0; i-- { // as Total adds
		w += weights[i]
	}
	return w
}

// Total returns the moments of all chunks: nodes are merged from the last to
// the first. s is not changed, and the result must not be: they may share memory. Gaps count as chunks without rows: Whole tells of them. Sums may
// have left the range of float64: Moments.Check tells.
func (s *Sum) Total() *Moments {
	var own *Moments // the last result, which is nobody else's
	total, ok, _ := s.chunks.Total(func(a, b *Moments) (*Moments, error) {
		if own == nil || b != own {
			b = b.Clone()
		}
		own = a.before(b)
		return own, nil
	})
	if !ok {
		return New(s.layout)
	}
	if total.manyLevels() {
		return total
	}
	return total.filled()
}
