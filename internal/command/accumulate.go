package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/internal/app/plan"
)

// accumulateFlags are the flags of pho accumulate.
type accumulateFlags struct {
	places planPlaces
	pass   string
	shard  int
	out    string
	every  time.Duration
}

func passNames() []string { return []string{plan.Scan, plan.Fit, plan.Explain, plan.Pairs} }

// add defines the flags of whoever works on a plan.
func (at *planPlaces) add(f *pflag.FlagSet) {
	f.StringVar(&at.dir, "plan", "", "the plan's `DIR`")
	f.StringArrayVar(&at.models, "model", nil, "the network's `FILE`, if it is not where the plan was made")
	f.StringArrayVar(&at.data, "data", nil, "data `FILE` in place of the plan's, in their order (repeatable)")
	f.IntVar(&at.workers, "workers", 0, "goroutines (default: one per processor; results do not depend on it)")
	f.StringVar(&at.maxMemory, "max-memory", "", "bound on a network's tensors, as 500MB or 2GiB (default 4GiB)")
	f.BoolVar(&at.anyKernel, "any-kernel", false, "go on where the processor lacks the plan's kernels: results agree to 1e-11, of float32 to 1e-6, and are not the same bytes")
}

func newAccumulate(s streams) *cobra.Command {
	a := new(accumulateFlags)
	cmd := &cobra.Command{
		Use:   "accumulate --plan DIR --pass scan|fit|pairs|explain --shard I --out FILE",
		Short: "Make one pass of a plan over the rows of one shard",
		Long: `Make one pass of the plan in DIR over the rows of shard I, counted from 0, and write what
they add up to. 'pho plan --plan DIR' says which pass comes next. A part that is there
already is left as it is. A pass that was killed goes on from its last checkpoint, beside
the part's file, when it is started again.`,
		Example: `  pho accumulate --plan plan --pass fit --shard 0 --out part-0.pho`,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&a.pass, "pass", "", "`PASS`: scan, fit, pairs or explain")
	f.IntVar(&a.shard, "shard", -1, "`NUMBER` of the shard, from 0")
	f.StringVar(&a.out, "out", "", "`FILE` of the part")
	f.DurationVar(&a.every, "checkpoint", defaultCheckpoint, "keep what was added up so far beside --out, about once in this `TIME`, to go on from it after a kill; 0: never")
	a.places.add(f)
	_ = cmd.RegisterFlagCompletionFunc("pass", cobra.FixedCompletions(passNames(), cobra.ShellCompDirectiveNoFileComp)) // it has the flag
	return cmd
}

func (a *accumulateFlags) run(ctx context.Context, s streams, further []string) error {
	switch {
	case a.places.dir == "":
		return usagef("--plan is missing: name the directory that pho plan wrote")
	case !slices.Contains(passNames(), a.pass):
		return usagef("--pass %q: it is %s", a.pass, strings.Join(passNames(), ", "))
	case a.shard < 0:
		return usagef("--shard is missing: a number from 0")
	case a.out == "":
		return usagef("--out is missing: name the part's file")
	}
	a.places.data = append(a.places.data, further...)
	defer useProcessors(a.places.workers)()
	doc, err := plan.Open(a.places.dir)
	if err != nil {
		return err
	}
	stage, before, err := doc.Target(a.pass)
	if err != nil {
		return fmt.Errorf("plan %q: %w", a.places.dir, err)
	}
	if _, err := doc.Range(a.shard, plan.ScanChunk); err != nil {
		return usagef("--shard: %w", err)
	}
	brought := doc.Counts != nil && doc.Counts[a.shard] > 0 // of no rows nothing need be brought
	if doc.Counts != nil && !brought {
		a.places.data = nil
	}
	if brought && len(a.places.data) == 0 {
		return usagef("--data is missing: whoever accumulates a shard of this plan brings its rows; name their file, or - for standard input")
	}
	if !brought && a.isThere(doc, stage) {
		fmt.Fprintf(s.out, "%q holds shard %d of %s already\n", a.out, a.shard, stage)
		return nil
	}
	w, err := openPlan(ctx, s, a.places, brought)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.spareFile("--out", a.out); err != nil {
		return err
	}
	keep := &keeper{u: s.unfinished(), path: a.out + checkpointMark, every: a.every}
	part, err := w.accumulate(ctx, keep, stage, before, a.shard)
	if err != nil {
		return inFiles(err, w.in.paths)
	}
	if err := part.WriteFile(s.unfinished(), a.out); err != nil {
		return err
	}
	return keep.remove()
}

// isThere reports whether the file holds the part already.
func (a *accumulateFlags) isThere(doc *plan.Plan, stage plan.Stage) bool {
	h, err := plan.ReadHeader(a.out)
	if err != nil || h.Stage != stage.Digest || len(h.Shards) != 1 || h.Shards[0].Shard != a.shard || h.Kernel != doc.Kernel {
		return false
	}
	_, err = plan.ReadPart(a.out)
	return err == nil
}

// spareFile refuses an output that is one of the plan's inputs.
func (w *planned) spareFile(flag, path string) error {
	var in sources
	in.add("the model", w.in.models...)
	in.addData(w.in.paths, w.in.tensors, nil)
	in.add("the labels", w.flags.labels)
	if within(path, w.plan.Dir()) {
		return fmt.Errorf("%s %q lies in the plan: name a file elsewhere", flag, path)
	}
	return in.spareFile(flag, path)
}

// errOver ends a replay where it was to end.
var errOver = errors.New("the pass is made")

// accumulate makes the stage, before which there are so many passes, over the rows of a shard.
func (w *planned) accumulate(ctx context.Context, keep *keeper, stage plan.Stage, before, shard int) (part *plan.Part, err error) {
	p := &plan.Passes{Plan: w.plan, Until: before}
	p.More = func(ctx context.Context, at plan.Stage, chunk int, sum plan.Sum) (plan.Payload, error) {
		if at.Digest != stage.Digest {
			return nil, fmt.Errorf("%s comes next here, not %s: is the plan of another version of the program?", at, stage)
		}
		if part, _, err = w.sum(ctx, keep, at, shard, chunk, sum); err != nil {
			return nil, err
		}
		return nil, errOver
	}
	if _, err = w.replay(ctx, p, nil); part != nil && errors.Is(err, errOver) {
		return part, nil
	}
	if err == nil {
		err = fmt.Errorf("%s does not come in the plan", stage)
	}
	return nil, err
}

// header is that of a part of one shard, as far as its rows have been read.
func (w *planned) header(at plan.Stage, shard int) plan.Header {
	own := plan.Shard{Shard: shard}
	if seen := w.rows.seen; seen != nil {
		own.Rows, own.Dropped = seen.total, seen.dropped
		if seen.digest != nil {
			own.Digest = seen.digest.String()
		}
	}
	return plan.Header{
		Plan: w.plan.Digest(), Stage: at.Digest, Pass: at.Pass, Round: at.Round, Kernel: w.flags.network.kernels(), Networks: networkDigests(w.request),
		Shards: []plan.Shard{own}, Of: w.plan.Shards,
	}
}
