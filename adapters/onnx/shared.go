package onnx

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/pho-go/pho/adapters/onnx/internal/engine"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// Shared is an Evaluator that shares the rows of a call among goroutines, where they take long
// enough. Between calls the goroutines look for work for 0.1 to 0.4 ms before they sleep, since
// to wake one takes as long as some hundred rows of a small network. Rows do not
// depend on each other, so they have the bits of the Evaluator's own. Of one row they compute parts
// of each large layer, if such calls follow each other closely: GoEngine's weights are then in the
// second caches of several processors.
//
// It is for one caller with a thousand rows at a time; concurrent calls take turns. Who has many
// blocks of rows runs the Evaluator itself in as many goroutines.
type Shared struct {
	of      Evaluator
	workers int
	turn    sync.Mutex
	pool    *taskpool.Pool
	took    time.Duration // that timedRows take one goroutine at most, as far as is known
	row     rowEvaluator  // of, if a row is worth several goroutines
	last    time.Time     // that a row was computed
}

// rowEvaluator is an Evaluator that can have parts of one row computed by others.
type rowEvaluator interface {
	RunRow(dst, inputs [][]float64, crew operator.Crew) error
}

const (
	sharedRows = 256 // of a block: they stay in cache
	timedRows  = 1024
	worthwhile = 6 * time.Microsecond   // a block that takes so long is worth another goroutine
	closely    = 100 * time.Microsecond // after so long who looks for work may sleep, and to wake it takes longer than a row
)

// NewShared shares rows among so many goroutines, the caller's among them; 0: GOMAXPROCS. Close
// ends them.
func NewShared(e Evaluator, n int) *Shared {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	s := &Shared{of: e, workers: n, pool: taskpool.New(n), took: math.MaxInt64}
	if r, ours := e.(*engine.Runner); ours && r.WorthCrew && n > 1 {
		s.row = r
	}
	return s
}

// Close ends the goroutines. A Run after it uses its caller's alone.
func (s *Shared) Close() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.pool.Close()
	s.pool, s.workers = nil, 1
}

// Run is Evaluator's.
func (s *Shared) Run(dst, inputs [][]float64, rows int) error {
	if rows <= 1 { // nothing to cut, and no memory to take for it
		return s.runRow(dst, inputs, rows)
	}
	return s.run(dst, inputs, nil, rows, func(dst, inputs [][]float64, _ [][]string, rows int) error {
		return s.of.Run(dst, inputs, rows)
	})
}

func (s *Shared) runRow(dst, inputs [][]float64, rows int) error {
	if s.row == nil || rows < 1 || !s.turn.TryLock() {
		return s.of.Run(dst, inputs, rows)
	}
	defer s.turn.Unlock()
	var crew operator.Crew
	if s.pool != nil && time.Since(s.last) < closely {
		crew = s.pool
	}
	err := s.row.RunRow(dst, inputs, crew)
	s.last = time.Now()
	return err
}

// RunTexts is TextEvaluator's; an error if the Evaluator is none.
func (s *Shared) RunTexts(dst, inputs [][]float64, texts [][]string, rows int) error {
	e, takes := s.of.(TextEvaluator)
	if !takes {
		return errors.New("onnx: this evaluator takes no inputs of text")
	}
	return s.run(dst, inputs, texts, rows, e.RunTexts)
}

// run cuts rows into blocks. Arguments that cannot be cut are left to one call, which says why.
func (s *Shared) run(dst, inputs [][]float64, texts [][]string, rows int, call func(dst, inputs [][]float64, texts [][]string, rows int) error) error {
	if rows < 1 || !cuttable(dst, rows) || !cuttable(inputs, rows) || !cuttable(texts, rows) {
		return call(dst, inputs, texts, rows)
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	blocks, pool, at := (rows+sharedRows-1)/sharedRows, s.pool, s.worth(rows)
	if at > 1 {
		blocks = max(blocks, min(at, rows))
	} else {
		pool = nil
	}
	errs := make([]error, blocks)
	began := time.Now()
	pool.Each(blocks, func(i int) {
		from, to := i*rows/blocks, (i+1)*rows/blocks
		errs[i] = call(part(dst, from, to, rows), part(inputs, from, to, rows), part(texts, from, to, rows), to-from)
	})
	s.took = max(1, min(s.took, time.Since(began)*time.Duration(at)*timedRows/time.Duration(rows)))
	for _, err := range errs { // that of the first rows: the others' may say the same
		if err != nil {
			return err
		}
	}
	return nil
}

// worth is how many goroutines the rows are worth: until it is known how long they take, one for
// each whole block.
func (s *Shared) worth(rows int) int {
	if s.took == math.MaxInt64 {
		return max(1, min(s.workers, rows/sharedRows))
	}
	return max(1, min(s.workers, int(float64(s.took)*float64(rows)/timedRows/float64(worthwhile))))
}

// cuttable tells whether all hold the same for each row.
func cuttable[T any](all [][]T, rows int) bool {
	for _, x := range all {
		if len(x)%rows != 0 {
			return false
		}
	}
	return true
}

// part is rows from first to next of each.
func part[T any](all [][]T, first, next, rows int) [][]T {
	out := make([][]T, len(all))
	for i, x := range all {
		if x != nil {
			width := len(x) / rows
			out[i] = x[first*width : next*width]
		}
	}
	return out
}
