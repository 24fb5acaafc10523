// Command benchmark repeats the benchmark of Rügamer (2023, table "Benchmark") on
// the authors' own folds, in two arms: with the published settings, and with
// everything chosen by cross-validation within the training rows.
//
//	go run ./examples/paper/benchmark [-quick]
//
// A run that is interrupted shows the folds that are done, and goes on with the
// others when it is started again. docs/paper.md says what came out.
package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

func main() {
	experiment.Main("benchmark", "RMSE on the ten folds of the paper's benchmark: its own settings, and ours chosen within the training rows.", run)
}

// The arms.
const (
	publishedArm = "published"
	oursArm      = "ours"
)

// scope is what a run does.
type scope struct {
	sets   []set
	folds  int
	narrow bool // of the architectures c alone
	epochs int  // at most, of the published arm
	ours   effort
}

func run(ctx context.Context, e *experiment.Experiment) error {
	s := scope{sets: benchmarkSets(), folds: 10, epochs: 1000, ours: effort{inner: 3, members: 3, epochs: 150}}
	if e.Quick {
		s = scope{folds: 2, narrow: true, epochs: 200, ours: effort{inner: 3, members: 2, epochs: 50}}
		for _, b := range benchmarkSets() {
			if b.name == "diabetes" || b.name == "yacht" {
				s.sets = append(s.sets, b)
			}
		}
	}
	return s.run(ctx, e)
}

func (s scope) run(ctx context.Context, e *experiment.Experiment) error {
	e.Set("folds", s.folds)
	e.Set("published_epochs", s.epochs)
	e.Set("ours_inner_folds", s.ours.inner)
	e.Set("ours_members", s.ours.members)
	e.Set("ours_epochs", s.ours.epochs)
	if err := os.MkdirAll(e.Out, 0o777); err != nil {
		return err
	}
	path := filepath.Join(e.Out, "benchmark.unfinished.csv")
	j, err := openJournal(path)
	if err != nil {
		return err
	}
	for i := range s.sets {
		if err = s.fitSet(ctx, e, j, &s.sets[i]); err != nil {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	// What there is after an interruption is shown too: the tables count the folds.
	if failed := errors.Join(err, s.write(e, j)); failed != nil {
		return failed
	}
	return os.Remove(path)
}

// job is a task and how to do it.
type job struct {
	task
	do func(ctx context.Context) ([]measure, error)
}

// fitSet does the tasks of one data set that the journal does not have, e.Workers
// at a time.
func (s scope) fitSet(ctx context.Context, e *experiment.Experiment, j *journal, b *set) error {
	path, err := e.DataFile("paper_folds", b.name+".csv")
	if err != nil {
		return err
	}
	all, fold, err := b.read(ctx, path)
	if err != nil {
		return err
	}
	var jobs []job
	for k := 1; k <= s.folds; k++ {
		train, test := all.split(fold, k)
		seed := e.Seed*1000 + uint64(k)
		for _, t := range s.tasks(b, k) {
			do := func(ctx context.Context) ([]measure, error) {
				if t.arm == oursArm {
					return ours(ctx, train, test, s.ours, seed)
				}
				return published(ctx, t.model, hidden(t.arch), train, test, s.epochs, seed)
			}
			if j.of(t) == nil {
				jobs = append(jobs, job{t, do})
			}
		}
	}
	next, errs := make(chan job), make([]error, max(1, e.Workers))
	var wg sync.WaitGroup
	caller := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range errs {
		wg.Go(func() {
			for w := range next {
				if errs[i] != nil || ctx.Err() != nil {
					continue
				}
				start := time.Now()
				m, err := w.do(ctx)
				if err == nil {
					err = j.add(w.task, m, time.Since(start).Seconds())
				}
				if err != nil {
					errs[i] = err
					cancel()
					continue
				}
				e.Printf("%s: rmse %.4g", w.task, m[0].value)
			}
		})
	}
	for _, w := range jobs {
		next <- w
	}
	close(next)
	wg.Wait()
	if caller.Err() != nil {
		return caller.Err()
	}
	return errors.Join(errs...)
}

// tasks of one fold. Online orthogonalization has the smallest network only: of 200
// units it takes three times as long as the rest of training.
func (s scope) tasks(b *set, k int) []task {
	out := []task{{oursArm, b.name, k, "", "blend"}}
	if b.archs == "" {
		return out
	}
	out = append(out, task{publishedArm, b.name, k, "", "GAM"})
	for _, a := range architectures {
		if !strings.Contains(b.archs, a.name) || s.narrow && a.name != "c" {
			continue
		}
		for _, method := range methods[1:] {
			if method != "ONO" || a.name == "c" {
				out = append(out, task{publishedArm, b.name, k, a.name, method})
			}
		}
	}
	return out
}

// hidden are the layers of an architecture; nil if it has none.
func hidden(name string) []int {
	for _, a := range architectures {
		if a.name == name {
			return a.hidden
		}
	}
	return nil
}
