package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/kernel"
)

// planned is a plan that is worked on: its networks are read.
type planned struct {
	plan    *plan.Plan
	flags   *decomposeFlags
	in      inputFiles
	request *wiring.Request
	rows    *planRows
	first   files.Source // all rows of the plan's files; nil: whoever accumulates brings them
	brought bool         // somebody brings one shard's rows
}

// planPlaces say where the plan and its files are, and with what they are worked on.
type planPlaces struct {
	dir          string
	models, data []string // none: where they were
	workers      int
	maxMemory    string
	anyKernel    bool
}

// openPlan opens the plan's networks, and its rows, of which nothing is read yet. brought: the data
// are one shard's rows, which whoever calls brings.
func openPlan(ctx context.Context, s streams, at planPlaces, brought bool) (*planned, error) {
	p, err := plan.Open(at.dir)
	if err != nil {
		return nil, err
	}
	d, err := restored(p.Request)
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", at.dir, err)
	}
	d.network.vectors = p.Kernel == kernel.Family(false)
	if family := d.network.kernels(); family != p.Kernel && !at.anyKernel {
		return nil, fmt.Errorf("plan %q was made with the floating-point kernels %q, and this machine has %q: its results would differ in their last digits; work on a machine like the first, or go on with --any-kernel (results then agree to 1e-11, with --precision float32 to 1e-6)", at.dir, p.Kernel, family)
	}
	d.filesOf(p, at.models, at.data)
	d.out, d.workers, d.network.maxMemory = at.dir, at.workers, at.maxMemory
	w := &planned{plan: p, flags: d, brought: brought}
	return w, w.open(ctx, s)
}

func (w *planned) open(ctx context.Context, s streams) error {
	o, reading, err := w.flags.options(s)
	if err != nil {
		return err
	}
	if w.in, err = w.flags.inputFiles(nil); err != nil {
		return err
	}
	if err := w.sameLabels(); err != nil {
		return err
	}
	w.request, err = w.flags.open(ctx, w.in, o, reading, w.openRows)
	if err != nil {
		return err
	}
	if found := networkDigests(w.request); !slices.EqualFunc(found, w.plan.Models, func(sha string, f plan.NamedFile) bool { return sha == f.SHA256 }) {
		w.close()
		return fmt.Errorf("model %q is not the network of plan %q, which recorded another sha256: give the plan's network, or make a new plan", w.in.models, w.plan.Dir())
	}
	w.request.Cache = 0 // other rows are read in every pass
	return nil
}

// sameLabels refuses labels that changed.
func (w *planned) sameLabels() error {
	if w.plan.Labels == nil {
		return nil
	}
	raw, err := os.ReadFile(w.flags.labels)
	if err != nil {
		return fmt.Errorf("the labels %q: %w", w.flags.labels, durable.Reason(err))
	}
	if fmt.Sprintf("%x", sha256.Sum256(raw)) != w.plan.Labels.SHA256 {
		return fmt.Errorf("the labels %q are not those of plan %q: they changed since", w.flags.labels, w.plan.Dir())
	}
	return nil
}

// openRows opens the plan's rows as the network sees them.
func (w *planned) openRows(paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
	labels, err := g.Labels()
	if err != nil {
		return nil, err
	}
	if w.rows, err = openPlanRows(w.plan, paths, o, w.brought); err != nil {
		return nil, err
	}
	if w.plan.Counts == nil {
		w.first = wiring.CodedBy(&planRows{survey: w.rows.survey, options: o, rows: &plan.Range{Next: w.plan.Rows}}, labels)
	}
	return wiring.CodedBy(w.rows, labels), nil
}

func (w *planned) close() { w.request.Rows.Close() }

// networkDigests are the SHA-256 of the request's networks.
func networkDigests(q *wiring.Request) []string {
	if q.Network.Predictions != nil && q.Network.Asked == nil { // the request has them
		return nil
	}
	out := []string{q.Network.SHA256}
	for _, n := range q.Others {
		out = append(out, n.SHA256)
	}
	return out
}

// replay goes through the passes of the plan up to the first that has no total: that one is
// a *plan.NeededError, or what p.More makes of it. dir is where a result will lie; nil: nowhere.
func (w *planned) replay(ctx context.Context, p *plan.Passes, dir *durable.Dir) (*recipe.Made, error) {
	request := *w.request
	options := *w.request.Options
	request.Options, request.Scans, request.First, request.Rank, request.Terms = &options, p, w.first, p.Rank, p.Terms
	p.OtherKernel = w.flags.network.kernels() != w.plan.Kernel
	w.rows.passes = p
	steps := w.flags.recipe(&request, dir)
	steps.Decompose = func(ctx context.Context, m decompose.Model, rows *wiring.CachedRows, o *decompose.Options) (*decompose.Result, error) {
		w.rows.digest = sortedNames(append(slices.Clone(m.Columns()), o.Columns.Names()...))
		return p.Decompose(ctx, m, rows, o)
	}
	made, err := steps.Make(ctx)
	var scan *decompose.ScanNeeded
	if errors.As(err, &scan) {
		return made, p.Look(ctx, scan)
	}
	return made, err
}

// settle finds out which pass comes next and notes it in the plan.
func (w *planned) settle(ctx context.Context) error {
	_, err := w.replay(ctx, &plan.Passes{Plan: w.plan, Until: -1, Coordinates: true}, nil)
	var needed *plan.NeededError
	switch {
	case err == nil:
		return w.plan.Settle(nil)
	case errors.As(err, &needed):
		return w.plan.Settle(&needed.Stage)
	}
	return inFiles(err, w.in.paths)
}
