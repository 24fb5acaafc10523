package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/kernel"
	"github.com/pho-go/pho/internal/wiring"
	"github.com/pho-go/pho/plan"
)

// planned is a plan that is worked on: its network and rows are opened.
type planned struct {
	plan    *plan.Plan
	flags   *decomposeFlags
	in      inputFiles
	request *wiring.Request
	rows    *planRows
	passes  *plan.Passes
	made    *prepared // once terms are known
}

// planPlaces say where the plan and its files are.
type planPlaces struct {
	dir          string
	models, data []string // "" and nil: where they were
	workers      int
	maxMemory    string
	anyKernel    bool
}

// openPlan opens the plan's network and rows. brought: the data are one shard's rows, which whoever
// calls brings.
func openPlan(s streams, at planPlaces, brought bool) (*planned, error) {
	p, err := plan.Open(at.dir)
	if err != nil {
		return nil, err
	}
	if family := kernel.Family(); family != p.Kernel && !at.anyKernel {
		return nil, fmt.Errorf("plan %q is made with the floating-point kernels %q, this machine has %q: its results would differ in their last digits; work on a machine like the first, or go on with --any-kernel (results then agree to 1e-11, of --precision float32 to 1e-6)", at.dir, p.Kernel, family)
	}
	d, err := restored(p.Request)
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", at.dir, err)
	}
	d.filesOf(p, at.models, at.data)
	d.out, d.workers, d.network.maxMemory = at.dir, at.workers, at.maxMemory
	w := &planned{plan: p, flags: d, passes: &plan.Passes{Plan: p, Until: -1}}
	return w, w.open(s, brought)
}

func (w *planned) open(s streams, brought bool) error {
	o, reading, err := w.flags.options(s)
	if err != nil {
		return err
	}
	if w.in, err = w.flags.inputFiles(nil); err != nil {
		return err
	}
	w.request, err = w.flags.open(w.in, o, reading, func(paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
		src, err := openRows(paths, o, tensors, g)
		if err != nil {
			return nil, err
		}
		w.rows = &planRows{Source: src, brought: brought}
		return w.rows, nil
	})
	if err != nil {
		return err
	}
	if found := networkDigests(w.request); !slices.EqualFunc(found, w.plan.Models, func(sha string, f plan.NamedFile) bool { return sha == f.SHA256 }) {
		w.close()
		return fmt.Errorf("model %q is not the network of plan %q: its sha256 is not the one that the plan recorded; give the plan's network, or make a new plan", w.in.models, w.plan.Dir())
	}
	w.request.Cache = 0 // other rows in every pass
	return nil
}

func (w *planned) close() { w.request.Rows.Close() }

// networkDigests are the SHA-256 of the request's networks.
func networkDigests(q *wiring.Request) []string {
	out := []string{q.Network.SHA256}
	for _, n := range q.Others {
		out = append(out, n.SHA256)
	}
	return out
}

// replay goes through the passes up to the first that has no total, which is an error
// (*plan.NeededError, or the passes' More's). solved is called with what the fit gives.
func (w *planned) replay(ctx context.Context, solved func(*decompose.Result) error) (*decompose.Result, error) {
	var err error
	if w.made, err = w.flags.prepare(ctx, w.request, func(decompose.Model, *wiring.Ready) error { return nil }); err != nil {
		return nil, err
	}
	r, err := w.passes.Fit(ctx, w.made.model, w.made.Rows, w.request.Options)
	if err != nil {
		return nil, err
	}
	w.rows.total, w.rows.dropped = w.passes.Rows, w.passes.Dropped
	if solved != nil {
		if err := solved(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// settle finds out which pass comes next and notes it in the plan.
func (w *planned) settle(ctx context.Context) error {
	_, err := w.replay(ctx, nil)
	var needed *plan.NeededError
	switch {
	case err == nil:
		return w.plan.Settle(nil)
	case errors.As(err, &needed):
		return w.plan.Settle(&needed.Stage)
	}
	return inFiles(err, w.in.paths)
}
