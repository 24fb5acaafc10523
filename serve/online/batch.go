package online

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pho-go/pho/serve"
)

// errBusy is a queue that is full.
var errBusy = errors.New("too many requests wait: try again later")

// mostTogether is how many rows of several requests are computed together. Larger requests
// are computed alone.
const mostTogether = 1024

// job is the rows of one request.
type job struct {
	g        *generation
	rows     *serve.Rows
	how      serve.How
	deadline time.Time

	split serve.Split
	err   error

	turn  chan bool // true: it computes batch; false: it is done
	batch []*job
}

// scheduler lets so many goroutines compute at a time. A request that finds one of these
// places free is computed at once: waiting for company would cost it time. Those that come
// while all places are taken wait, and the first of them takes along the others that fit
// when a place becomes free: so requests are computed together only when there are many.
type scheduler struct {
	workers, most int // that compute, and that may wait

	mu      sync.Mutex
	running int
	waiting []*job

	together atomic.Int64 // jobs that were computed with others
}

// do computes the rows of a job. Errors: errBusy, context.DeadlineExceeded, what is wrong
// with the rows.
func (s *scheduler) do(j *job) error {
	s.mu.Lock()
	switch {
	case s.running < s.workers:
		s.running++
		s.mu.Unlock()
		j.batch = append(j.batch[:0], j)
		s.lead(j)
		return j.err
	case len(s.waiting) >= s.most:
		s.mu.Unlock()
		return errBusy
	}
	s.waiting = append(s.waiting, j)
	s.mu.Unlock()
	late := time.NewTimer(time.Until(j.deadline))
	defer late.Stop()
	var leads bool
	select {
	case leads = <-j.turn:
	case <-late.C:
		if s.leave(j) {
			return context.DeadlineExceeded
		}
		leads = <-j.turn // it is being computed
	}
	if leads {
		s.lead(j)
	}
	return j.err
}

// leave takes a job out of those that wait; false if it does not.
func (s *scheduler) leave(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.waiting, j)
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	return at >= 0
}

// lead computes a job's batch, and hands its place on.
func (s *scheduler) lead(j *job) {
	if compute(j.batch); len(j.batch) > 1 {
		s.together.Add(int64(len(j.batch)))
	}
	for i, other := range j.batch {
		if other != j {
			other.turn <- false
		}
		j.batch[i] = nil
	}
	s.mu.Lock()
	if len(s.waiting) == 0 {
		s.running--
		s.mu.Unlock()
		return
	}
	next := s.choose()
	s.mu.Unlock()
	next.turn <- true
}

// choose takes the first job out of those that wait, and others that go with it.
func (s *scheduler) choose() *job {
	first := s.waiting[0]
	first.batch = append(first.batch[:0], first)
	rows := first.rows.Len()
	rest := s.waiting[:0]
	for _, other := range s.waiting[1:] {
		if first.goesWith(other) && rows+other.rows.Len() <= mostTogether {
			first.batch = append(first.batch, other)
			rows += other.rows.Len()
			continue
		}
		rest = append(rest, other)
	}
	clear(s.waiting[len(rest):])
	s.waiting = rest
	return first
}

// goesWith tells whether two jobs can be computed as one. Those with arrays would be copied for little: they take long.
func (j *job) goesWith(o *job) bool {
	return j.g == o.g && !j.g.shape.arrays && j.how == o.how && j.how == serve.How{SE: j.how.SE}
}

// count is how many jobs wait.
func (s *scheduler) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// compute computes jobs that go together: as one, and if that fails each alone, so that
// each has its own error in its own rows' numbers.
func compute(batch []*job) {
	if len(batch) > 1 && together(batch) {
		return
	}
	for _, j := range batch {
		j.alone()
	}
}

// small requests are computed without a look at the clock.
func (j *job) alone() {
	ctx := context.Background()
	if j.rows.Len() > mostTogether {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, j.deadline)
		defer cancel()
	}
	j.split, j.err = j.g.explain(ctx, j.rows, j.how)
}

// together computes jobs as one; false if that is not possible.
func together(batch []*job) bool {
	rows := make([]*serve.Rows, len(batch))
	for i, j := range batch {
		rows[i] = j.rows
	}
	joined, err := batch[0].g.Join(rows)
	if err != nil {
		return false
	}
	all, err := batch[0].g.explain(context.Background(), joined, batch[0].how)
	if err != nil {
		return false
	}
	at := 0
	for _, j := range batch {
		n := j.rows.Len()
		j.split.Parts = make([][]float64, len(all.Parts))
		for k, part := range all.Parts {
			j.split.Parts[k] = part[at : at+n : at+n]
		}
		at += n
	}
	return true
}

// explain is Explainer.Split, a panic being an error.
func (g *generation) explain(ctx context.Context, rows *serve.Rows, how serve.How) (split serve.Split, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked{r}
		}
	}()
	own, err := g.Split(ctx, rows, how)
	if err != nil {
		return split, err
	}
	return *own, nil
}
