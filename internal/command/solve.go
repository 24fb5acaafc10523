package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
	"github.com/pho-go/pho/internal/resultdir"
	"github.com/pho-go/pho/internal/wiring"
	"github.com/pho-go/pho/plan"
)

// solveFlags are the flags of pho solve.
type solveFlags struct {
	places     planPlaces
	statistics string
	out        string
}

func newSolve(s streams) *cobra.Command {
	v := new(solveFlags)
	cmd := &cobra.Command{
		Use:   "solve --plan DIR --statistics TOTAL --out DIR",
		Short: "Make a result of the totals of a plan's passes",
		Long: `Record the total of a pass over all shards in the plan, and write the result that it leads to.
After --statistics it has coefficients, curves and the bands of the projection.`,
		Example: `  pho solve --plan plan --statistics total.pho --out result`,
		RunE:    func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), s) },
		Args:    exactArgs(),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&v.statistics, "statistics", "", "`FILE` with the total of pass fit")
	f.StringVar(&v.out, "out", "", "result `DIR`: absent, empty, or an earlier result, which is replaced")
	v.places.add(f)
	return cmd
}

func (v *solveFlags) run(ctx context.Context, s streams) error {
	started := time.Now()
	switch {
	case v.places.dir == "":
		return usagef("--plan is missing: name the directory that pho plan wrote")
	case v.statistics == "":
		return usagef("--statistics is missing: name the total of a pass")
	case v.out == "":
		return usagef("--out is missing: name the result directory")
	}
	defer useProcessors(v.places.workers)()
	w, err := openPlan(s, v.places, false)
	if err != nil {
		return err
	}
	defer w.close()
	dir, err := durable.NewDir(s.unfinished(), resultdir.Files(), v.out)
	if err != nil {
		return err
	}
	defer dir.Discard()
	if err := w.record(ctx, "--statistics", v.statistics, plan.Fit); err != nil {
		return err
	}
	var r *decompose.Result
	_, err = w.replay(ctx, func(solved *decompose.Result) error { r = solved; return nil })
	var needed *plan.NeededError
	if err != nil && !errors.As(err, &needed) {
		return inFiles(err, w.in.paths)
	}
	if needed != nil {
		err = w.plan.Settle(&needed.Stage)
	} else {
		err = w.plan.Settle(nil)
	}
	if err != nil {
		return err
	}
	if err := w.flags.complete(w.made, r, dir.Target(), wiring.Dropped(w.rows, " (--na drop)")); err != nil {
		return err
	}
	if err := w.flags.write(ctx, dir, w.request, w.made, r); err != nil {
		return err
	}
	if err := writeRun(dir, started, w.request.Options.Goroutines(0), s.args); err != nil {
		return err
	}
	if err := dir.Commit(); err != nil {
		return err
	}
	if needed != nil {
		fmt.Fprintf(s.out, "next: %s\n", needed.Stage)
	}
	return nil
}
