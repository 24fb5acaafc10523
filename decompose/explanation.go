package decompose

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/decompose/internal/moments"
	"github.com/pho-go/pho/internal/base/dyadic"
)

// Explanation is what the last pass adds up over rows: mergeable, the same bytes
// for any batch size and worker count, in any order and grouping of shards.
// A process needs the solved result as its files have it; who completes the result solves the
// statistics again, since files lack what verdicts need.
type Explanation struct {
	of     string               // of which result
	chunks dyadic.Sparse[int64] // rows
	rows   *rowSums
	bands  bandSums              // empty: none
	visits []dyadic.Sparse[Sums] // by visitor
}

// bandSums is what robust bands add up.
type bandSums struct {
	sums     []*dyadic.Sparse[*moments.Scatter] // by predictor; nil: it has none, or there are clusters
	shapes   []moments.Shape                    // of those sums
	pinned   [][]int64                          // rows of high leverage, by predictor and term
	clusters *dyadic.Sparse[*clusterSums]
	column   string // of the clusters
	widths   []int  // see clusterSums
}

// nothing is what no rows add.
func (e *Explaining) nothing() *Explanation {
	return &Explanation{
		of:     e.of,
		rows:   newRowSums(e.result, e.shape.areas, e.shape.below),
		bands:  e.bands.nothing(),
		visits: make([]dyadic.Sparse[Sums], len(e.opts.Visitors)),
	}
}

// fingerprint tells results apart: by what they split rows into, and how bands are drawn.
func (r *Result) fingerprint() string {
	h := sha256.New()
	put := json.NewEncoder(h)
	_ = put.Encode([]any{r.Rows, r.Method, r.Route, r.Weights, r.Bands, r.Cluster, r.Features})
	for k := range r.Predictors {
		d := &r.Predictors[k]
		_ = put.Encode([]any{d.Name, d.Intercept, d.InterceptBefore, d.InterceptMoved, d.Scale, d.EDF})
		for j := range d.Terms {
			t := &d.Terms[j]
			_ = put.Encode([]any{t.Name, t.Kind, t.Spec, t.Beta, t.Alpha, t.Center, t.Before, t.After, t.Moved, t.Margins})
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Runs are the runs [first, next) of chunks that s holds, in order, with gaps between them.
func (s *Explanation) Runs() [][2]int { return s.chunks.Runs() }

// Rows is the number of rows.
func (s *Explanation) Rows() (rows int64) {
	s.chunks.Each(func(n dyadic.Node[int64], _ bool) { rows += n.Value })
	return rows
}

func addRows(a, b int64) (int64, error) { return a + b, nil }

// add adds a chunk. Chunks come in order.
func (s *Explanation) add(chunk, rows int, c *chunkSums, other func(visitor int, part any) error) error {
	if runs := s.Runs(); len(runs) > 0 {
		if err := s.skip(runs[len(runs)-1][1], chunk); err != nil {
			return err
		}
	}
	if err := s.chunks.Add(dyadic.Node[int64]{Start: chunk, Value: int64(rows)}, addRows); err != nil {
		return err
	}
	s.rows.merge(c.rows)
	if err := s.bands.add(chunk, c.bands); err != nil {
		return err
	}
	for i, part := range c.visits {
		sums, ok := part.(Sums)
		if !ok {
			if err := other(i, part); err != nil {
				return err
			}
			continue
		}
		if err := s.visits[i].Add(dyadic.Node[Sums]{Start: chunk, Value: sums}, addSums); err != nil {
			return err
		}
	}
	return nil
}

// skip notes that chunks have no rows.
func (s *Explanation) skip(first, next int) error {
	err := errors.Join(s.chunks.Skip(first, next, addRows), s.bands.skip(first, next))
	for i := range s.visits {
		err = errors.Join(err, s.visits[i].Skip(first, next, addSums))
	}
	return err
}

// fill notes that the other chunks of a shard have no rows.
func (s *Explanation) fill(o *Options) error {
	runs := s.Runs()
	first, next := o.chunkRange(runs)
	if len(runs) == 0 {
		return s.skip(first, next)
	}
	if err := s.skip(first, runs[0][0]); err != nil {
		return err
	}
	return s.skip(runs[len(runs)-1][1], next)
}

// Merge adds the sums of other rows, in any order and grouping: there may be gaps until Take.
// Sums of another result, and chunks that both hold, are refused: both are as they were.
// Otherwise next is used up, and after another error s is too.
func (s *Explanation) Merge(next *Explanation) error {
	if err := s.like(next); err != nil {
		return fmt.Errorf("decompose: sums of the last pass do not merge: %w", err)
	}
	if err := s.chunks.Apart(&next.chunks); err != nil {
		return fmt.Errorf("decompose: sums of the last pass do not merge: %w: the same rows came twice, or shards begin at the same chunk", err)
	}
	if err := s.chunks.Merge(&next.chunks, addRows); err != nil {
		return err
	}
	s.rows.merge(next.rows)
	if err := s.bands.merge(&next.bands); err != nil {
		return err
	}
	for i := range s.visits {
		if err := s.visits[i].Merge(&next.visits[i], addSums); err != nil {
			return fmt.Errorf("decompose: sums of the last pass: %w", err)
		}
	}
	return nil
}

// like refuses sums that are of something else.
func (s *Explanation) like(next *Explanation) error {
	switch {
	case next == nil:
		return errors.New("there are none")
	case s == next:
		return errors.New("these are the same ones, whose rows would count twice")
	case s.of != next.of:
		return errors.New("they are of another fit: all shards go on with the result of one solution")
	case len(s.visits) != len(next.visits):
		return fmt.Errorf("they are of %d and %d visitors: all shards have the same", len(s.visits), len(next.visits))
	case !s.rows.like(next.rows) || !s.bands.like(&next.bands):
		return errors.New("they are of other predictors, features or bands")
	}
	for i := range s.visits {
		if a, b := kindOf(&s.visits[i]), kindOf(&next.visits[i]); a != "" && b != "" && a != b {
			return fmt.Errorf("visitor %d has sums of kind %q in one and %q in the other", i+1, a, b)
		}
	}
	return nil
}

// kindOf is that of a visitor's sums; "": there are none.
func kindOf(s *dyadic.Sparse[Sums]) (kind string) {
	s.Each(func(n dyadic.Node[Sums], ok bool) {
		if ok && kind == "" {
			kind = n.Value.Kind()
		}
	})
	return kind
}

// like tells whether s and o are of the same predictors, features and areas.
func (s *rowSums) like(o *rowSums) bool {
	return len(s.largest) == len(o.largest) && s.below == o.below &&
		slices.EqualFunc(s.counts, o.counts, sameLength) &&
		slices.EqualFunc(s.support, o.support, func(a, b supportSums) bool {
			return len(a.rows) == len(b.rows) && slices.EqualFunc(a.min, b.min, sameLength) && slices.EqualFunc(a.cells, b.cells, sameLength)
		})
}

func sameLength[E any](a, b []E) bool { return len(a) == len(b) }
