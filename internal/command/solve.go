package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
)

// solveFlags are the flags of pho solve.
type solveFlags struct {
	places                     planPlaces
	statistics, explain, pairs string
	out                        string
}

func newSolve(s streams) *cobra.Command {
	v := new(solveFlags)
	cmd := &cobra.Command{
		Use:   "solve --plan DIR --statistics|--explain|--pairs TOTAL --out DIR",
		Short: "Make a result of the totals of a plan's passes",
		Long: `Record the totals of passes over all shards in the plan, and write the result that they lead to.
After --statistics it has coefficients, curves and the bands of the projection. With the
totals of all further passes it is complete: the files are the bytes of one 'pho decompose',
all but run.json and the contributions of single rows, which 'pho apply --plan' writes.`,
		Example: `  pho solve --plan plan --statistics fit.pho --out result
  pho solve --plan plan --explain explain.pho --out result`,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), s) },
		Args: exactArgs(),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&v.statistics, "statistics", "", "`FILE` with the total of pass fit")
	f.StringVar(&v.explain, "explain", "", "`FILE` with the total of pass explain")
	f.StringVar(&v.pairs, "pairs", "", "`FILE` with the total of pass pairs")
	f.StringVar(&v.out, "out", "", "result `DIR`: absent, empty, or an earlier result, which is replaced")
	v.places.add(f)
	return cmd
}

func (v *solveFlags) run(ctx context.Context, s streams) error {
	started := time.Now()
	switch {
	case v.places.dir == "":
		return usagef("--plan is missing: name the directory that pho plan wrote")
	case v.statistics == "" && v.explain == "" && v.pairs == "":
		return usagef("--statistics, --explain or --pairs is missing: name the total of a pass")
	case v.out == "":
		return usagef("--out is missing: name the result directory")
	}
	defer useProcessors(v.places.workers)()
	w, err := openPlan(ctx, s, v.places, false)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.spareDir("--out", v.out); err != nil {
		return err
	}
	dir, err := durable.NewDir(s.unfinished(), resultdir.Files(), v.out)
	if err != nil {
		return err
	}
	defer dir.Discard()
	until, err := v.record(ctx, w)
	if err != nil {
		return err
	}
	made, err := w.solve(ctx, until, dir)
	if err != nil || made == nil {
		return errors.Join(err, v.say(s, w, false))
	}
	if err := w.flags.write(ctx, dir, made); err != nil {
		return err
	}
	if err := writeRun(dir, started, w.request.Options.Goroutines(0), w.flags.network.kernels(), s.args); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dir.Commit(); err != nil {
		return err
	}
	return v.say(s, w, true)
}

// record notes the totals in the plan, those of earlier passes first. until is how many passes
// there are up to the last of them.
func (v *solveFlags) record(ctx context.Context, w *planned) (until int, err error) {
	for _, t := range []struct{ flag, path, pass string }{
		{"--statistics", v.statistics, plan.Fit}, {"--explain", v.explain, plan.Explain}, {"--pairs", v.pairs, plan.Pairs},
	} {
		if t.path == "" {
			continue
		}
		at, err := w.record(ctx, t.flag, t.path, t.pass)
		if err != nil {
			return 0, err
		}
		until = at + 1
	}
	return until, nil
}

// solve makes the result, for dir, that the first so many passes lead to, complete if none is to follow;
// nil: they do not lead to a result yet.
func (w *planned) solve(ctx context.Context, until int, dir *durable.Dir) (*recipe.Made, error) {
	var solved *decompose.Result
	p := &plan.Passes{Plan: w.plan, Until: until, Coordinates: true}
	p.Solved = func(r *decompose.Result) error { solved = r; return nil }
	made, err := w.replay(ctx, p, dir)
	var needed *plan.NeededError
	if err != nil && !errors.As(err, &needed) {
		return nil, inFiles(err, w.in.paths)
	}
	if until == len(w.plan.Done) {
		var next *plan.Stage
		if needed != nil {
			next = &needed.Stage
		}
		if err := w.plan.Settle(next); err != nil {
			return nil, err
		}
	}
	switch {
	case needed == nil:
		return made, nil
	case w.plan.Done[until-1].Pass == plan.Fit && solved != nil:
		return made, w.flags.recipe(w.request, dir).Note(ctx, made, solved)
	}
	return nil, nil
}

// say says what comes next.
func (v *solveFlags) say(s streams, w *planned, written bool) error {
	if w.plan.Next != nil {
		fmt.Fprintf(s.out, "next: %s\n", *w.plan.Next)
		if !written {
			fmt.Fprintf(s.out, "%q is left as it was: the totals do not make a result yet\n", v.out)
		}
	}
	return nil
}

// spareDir refuses a result's directory that would replace an input.
func (w *planned) spareDir(flag, dir string) error {
	var in sources
	in.add("the model", w.in.models...)
	in.addData(w.in.paths, w.in.tensors, nil)
	in.add("the labels", w.flags.labels)
	if err := apart("--plan", filepath.Join(w.plan.Dir(), plan.File), flag, dir); err != nil {
		return err
	}
	return in.spareDir(flag, dir)
}
