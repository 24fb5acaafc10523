package dyadic

import (
	"fmt"
	"slices"
	"strings"
)

// Sparse is a Forest of chunks some of which have no value, as those of which no row is left.
// Such a chunk adds nothing to a sum. Those behind the last value stay apart from the tree, so that
// a sum does not depend on whether anybody knows of them. The zero value holds no chunks.
type Sparse[T any] struct {
	forest Forest[entry[T]]
	behind [][2]int // runs of chunks without values behind the forest's last, in order
}

// entry is a node's value, if it has one.
type entry[T any] struct {
	value T
	ok    bool
}

// of is sum for nodes that may have no value.
func of[T any](sum Sum[T]) Sum[entry[T]] {
	return func(a, b entry[T]) (entry[T], error) {
		switch {
		case !a.ok:
			return b, nil
		case !b.ok:
			return a, nil
		}
		v, err := sum(a.value, b.value)
		return entry[T]{v, true}, err
	}
}

// Add is Forest.Add.
func (s *Sparse[T]) Add(n Node[T], sum Sum[T]) error {
	return s.add(Node[entry[T]]{n.Start, n.Level, entry[T]{n.Value, true}}, sum)
}

// AddNone adds a node without a value as if it had one: it is no longer apart.
func (s *Sparse[T]) AddNone(start, level int, sum Sum[T]) error {
	return s.add(Node[entry[T]]{Start: start, Level: level}, sum)
}

func (s *Sparse[T]) add(n Node[entry[T]], sum Sum[T]) error {
	if err := n.Check(); err != nil {
		return err
	}
	if err := overlap(s.Runs(), [][2]int{{n.Start, n.end()}}); err != nil {
		return err
	}
	for len(s.behind) > 0 && s.behind[0][0] < n.Start {
		run := s.behind[0]
		s.behind = s.behind[1:]
		if err := s.none(run[0], run[1], sum); err != nil {
			return err
		}
	}
	return s.forest.Add(n, of(sum))
}

// none adds chunks without values to the forest.
func (s *Sparse[T]) none(first, next int, sum Sum[T]) (err error) {
	Cover(first, next, func(start, level int) {
		if err == nil {
			err = s.forest.Add(Node[entry[T]]{Start: start, Level: level}, of(sum))
		}
	})
	return err
}

// Skip adds the chunks [first, next), none of which has a value.
func (s *Sparse[T]) Skip(first, next int, sum Sum[T]) error {
	if first < 0 || first >= next {
		return nil
	}
	if err := overlap(s.Runs(), [][2]int{{first, next}}); err != nil {
		return err
	}
	if n := len(s.forest.nodes); n > 0 && first < s.forest.nodes[n-1].end() {
		return s.none(first, next, sum)
	}
	s.behind = joined(append(s.behind, [2]int{first, next}))
	return nil
}

// Merge adds the chunks of o, whose values are s's from then on. Chunks that are there already
// are an *OverlapError, which leaves both as they were; after an error of sum both are undefined.
func (s *Sparse[T]) Merge(o *Sparse[T], sum Sum[T]) error {
	if err := s.Apart(o); err != nil {
		return err
	}
	for _, n := range o.forest.nodes {
		if err := s.add(n, sum); err != nil {
			return err
		}
	}
	for _, run := range o.behind {
		if err := s.Skip(run[0], run[1], sum); err != nil {
			return err
		}
	}
	return nil
}

// Apart reports chunks that both hold as an *OverlapError.
func (s *Sparse[T]) Apart(o *Sparse[T]) error { return overlap(s.Runs(), o.Runs()) }

// Runs are the runs [first, next) of chunks that are there, with or without values.
func (s *Sparse[T]) Runs() [][2]int {
	runs := s.forest.Runs()
	if len(s.behind) == 0 {
		return runs
	}
	return joined(append(runs, s.behind...))
}

// Behind are the runs of chunks without values behind the last node. They are s's own.
func (s *Sparse[T]) Behind() [][2]int { return s.behind }

// Each calls f with the nodes in order of chunks; ok tells whether a node has a value.
func (s *Sparse[T]) Each(f func(n Node[T], ok bool)) {
	for _, n := range s.forest.nodes {
		f(Node[T]{n.Start, n.Level, n.Value.value}, n.Value.ok)
	}
}

// Replace puts f(value) in the place of each value.
func (s *Sparse[T]) Replace(f func(T) T) {
	for i := range s.forest.nodes {
		if e := &s.forest.nodes[i].Value; e.ok {
			e.value = f(e.value)
		}
	}
}

// Without is s without the chunks behind the last value. Nodes are shared.
func (s *Sparse[T]) Without() Sparse[T] {
	return Sparse[T]{forest: Forest[entry[T]]{slices.Clone(s.forest.nodes)}}
}

// Total is Forest.Total; false if no chunk has a value.
func (s *Sparse[T]) Total(sum Sum[T]) (T, bool, error) {
	e, _, err := s.forest.Total(of(sum))
	return e.value, e.ok, err
}

// GapError says which chunks before the last are missing: nobody added them.
type GapError struct{ Missing [][2]int } // runs [first, next)

// Error names the chunks.
func (e *GapError) Error() string {
	var texts []string
	for i, run := range e.Missing {
		if i == 8 {
			texts = append(texts, fmt.Sprintf("%d runs more", len(e.Missing)-i))
			break
		}
		texts = append(texts, runText(run))
	}
	return "missing are " + strings.Join(texts, ", ")
}

func runText(run [2]int) string {
	if run[1]-run[0] == 1 {
		return fmt.Sprintf("chunk %d", run[0])
	}
	return fmt.Sprintf("chunks %d to %d", run[0], run[1]-1)
}

// Whole reports gaps before the last of the chunks as a *GapError.
func (s *Sparse[T]) Whole() error {
	var missing [][2]int
	at := 0
	for _, run := range s.Runs() {
		if run[0] > at {
			missing = append(missing, [2]int{at, run[0]})
		}
		at = run[1]
	}
	if missing != nil {
		return &GapError{missing}
	}
	return nil
}

// overlap reports the first chunks that are in both lists of runs.
func overlap(a, b [][2]int) error {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if first, next := max(a[i][0], b[j][0]), min(a[i][1], b[j][1]); first < next {
			return &OverlapError{first, next}
		}
		if a[i][1] <= b[j][1] {
			i++
		} else {
			j++
		}
	}
	return nil
}

// joined sorts runs that do not overlap, and joins those that meet.
func joined(runs [][2]int) [][2]int {
	slices.SortFunc(runs, func(a, b [2]int) int { return a[0] - b[0] })
	out := runs[:0]
	for _, run := range runs {
		if last := len(out) - 1; last >= 0 && out[last][1] == run[0] {
			out[last][1] = run[1]
			continue
		}
		out = append(out, run)
	}
	return out
}
