// Command benchmark repeats the benchmark of Rügamer (2023, table "Benchmark") on
// the authors' own folds, in two arms: with the published settings, and with
// everything chosen by cross-validation within the training rows.
//
//	go run -C examples/paper ./benchmark -quick
//	make paper-benchmark FOR=2h
//
// The whole benchmark takes hours. It belongs to one clean commit, the program's own,
// and can be made in sittings: its journal, in the directory of the results, has the
// tasks that are done, and the program goes on with the others when it is started
// again, however it ended. docs/paper.md says what came out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
	"github.com/pho-go/pho/internal/base/revision"
)

func main() {
	var limit time.Duration
	experiment.Main("benchmark", "RMSE on the ten folds of the paper's benchmark: its own settings, and ours chosen within the training rows.",
		func(ctx context.Context, e *experiment.Experiment) error { return run(ctx, e, limit) },
		func(f *flag.FlagSet) {
			f.DurationVar(&limit, "for", 0, "begin no task after so long, as in 2h, and go on when started again; 0: until all are done")
		})
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

func run(ctx context.Context, e *experiment.Experiment, limit time.Duration) error {
	if e.Draw {
		return errors.New("-draw: this program's figure is drawn with its results")
	}
	if e.Quick {
		s := scope{folds: 2, narrow: true, epochs: 200, ours: effort{inner: 3, members: 2, epochs: 50}}
		for _, b := range benchmarkSets() {
			if b.name == "diabetes" || b.name == "yacht" {
				s.sets = append(s.sets, b)
			}
		}
		return s.run(ctx, e, "", limit)
	}
	info, _ := debug.ReadBuildInfo()
	commit, err := revision.Clean(info)
	if err != nil {
		return fmt.Errorf("only a clean commit is measured in full (`make paper-benchmark` builds one, -quick needs none): %w", err)
	}
	s := scope{sets: benchmarkSets(), folds: 10, epochs: 1000, ours: effort{inner: 3, members: 3, epochs: 150}}
	return s.run(ctx, e, commit, limit)
}

// unfinished is the journal's file, in the directory of the results.
const unfinished = "benchmark.unfinished.jsonl"

// run does the tasks that the journal does not have, and writes the results when none
// is left.
func (s scope) run(ctx context.Context, e *experiment.Experiment, commit string, limit time.Duration) error {
	e.Set("folds", s.folds)
	e.Set("published_epochs", s.epochs)
	e.Set("ours_inner_folds", s.ours.inner)
	e.Set("ours_members", s.ours.members)
	e.Set("ours_epochs", s.ours.epochs)
	from := origin{
		Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Settings: fmt.Sprintf("seed %d, %d sets, %d folds, narrow %t, epochs %d, ours %+v", e.Seed, len(s.sets), s.folds, s.narrow, s.epochs, s.ours),
	}
	path := filepath.Join(e.Out, unfinished)
	j, err := openJournal(path, from, sitting{Started: time.Now().UTC(), Machine: experiment.Machine(), Workers: max(1, e.Workers)})
	if err != nil {
		return err
	}
	jobs, all, err := s.jobs(ctx, e, j)
	if err != nil {
		return err
	}
	if len(jobs) < all {
		e.Printf("%d of %d tasks are done: the others follow", all-len(jobs), all)
	}
	if err := work(ctx, e, j, jobs, limit); err != nil {
		return err
	}
	if left := all - len(j.done); left > 0 {
		return fmt.Errorf("the time is over and %d of %d tasks are left: start it again; %s has the others", left, all, path)
	}
	if err := s.write(e, j); err != nil {
		return err
	}
	return os.Remove(path)
}

// job is a task and how to do it.
type job struct {
	task
	do func(ctx context.Context) ([]measure, error)
}

// jobs are the tasks that the journal does not have, of all that there are.
func (s scope) jobs(ctx context.Context, e *experiment.Experiment, j *journal) (jobs []job, all int, err error) {
	for i := range s.sets {
		b := &s.sets[i]
		path, err := e.DataFile("paper_folds", b.name+".csv")
		if err != nil {
			return nil, 0, err
		}
		r, fold, err := b.read(ctx, path)
		if err != nil {
			return nil, 0, err
		}
		for k := 1; k <= s.folds; k++ {
			train, test := r.split(fold, k)
			seed := e.Seed*1000 + uint64(k)
			for _, t := range s.tasks(b, k) {
				all++
				if j.of(t) != nil {
					continue
				}
				jobs = append(jobs, job{t, func(ctx context.Context) ([]measure, error) {
					if t.arm == oursArm {
						return ours(ctx, train, test, s.ours, seed)
					}
					return published(ctx, t.model, hidden(t.arch), train, test, s.epochs, seed)
				}})
			}
		}
	}
	return jobs, all, nil
}

// work does the jobs, e.Workers at a time, and begins none after the limit (0: none).
func work(ctx context.Context, e *experiment.Experiment, j *journal, jobs []job, limit time.Duration) error {
	started := time.Now()
	next, errs := make(chan job), make([]error, max(1, e.Workers))
	var wg sync.WaitGroup
	caller := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range errs {
		wg.Go(func() {
			for w := range next {
				if errs[i] != nil || ctx.Err() != nil || limit > 0 && time.Since(started) > limit {
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
