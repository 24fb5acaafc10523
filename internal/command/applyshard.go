package command

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/wiring"
)

// applyShard says of which shard of a plan contributions are.
type applyShard struct {
	dir    string // "": of no plan
	shard  int
	header bool

	plan    *plan.Plan
	options *decompose.Options // as asked for
	rows    plan.Range
}

func (a *applyShard) add(f *pflag.FlagSet) {
	f.StringVar(&a.dir, "plan", "", "`DIR` of a plan, for the rows of one of its shards in place of --data; with --data FILE or - for rows that the caller brings")
	f.IntVar(&a.shard, "shard", -1, "`NUMBER` of the plan's shard, from 0")
	f.BoolVar(&a.header, "header", false, "a header in the CSV of every shard, not of shard 0 alone")
}

// use reads the plan and takes over how it reads rows.
func (a *applyShard) use(to *applyFlags, s streams) error {
	switch {
	case a.dir == "" && a.shard < 0:
		return nil
	case a.dir == "" || a.shard < 0:
		return usagef("--plan and --shard go together: the rows are those of one shard of a plan")
	}
	var err error
	if a.plan, err = plan.Open(a.dir); err != nil {
		return err
	}
	if a.rows, err = a.plan.Range(a.shard, plan.ScanChunk); err != nil {
		return usagef("--shard: %w", err)
	}
	if a.plan.Counts != nil { // no other shard's rows are told apart from them
		a.rows = plan.Range{Next: a.plan.Counts[a.shard]}
	}
	d, err := restored(a.plan.Request)
	if err != nil {
		return fmt.Errorf("plan %q: %w", a.dir, err)
	}
	d.filesOf(a.plan, nil, to.data.paths)
	d.out = a.dir
	if a.options, _, err = d.options(s); err != nil {
		return err
	}
	to.data, to.id = d.data, cmp.Or(to.id, d.id)
	return nil
}

// lines are the first row of the shard, whether it has a header, and a function of the row
// behind its last: total tells how many rows were read.
func (a *applyShard) lines(total func() int64) (first int64, header bool, end func() int64) {
	if a.plan == nil {
		return 0, true, total
	}
	return a.rows.First, a.header || a.shard == 0, func() int64 { return a.rows.First + total() }
}

// openData opens the rows to apply to: those of the shard, or of all files.
func (a *applyFlags) openData(r *decompose.Result, paths []string, o *files.Options, tensors []tensorInput, g *onnx.Graph) (files.Source, error) {
	if a.shard.plan == nil {
		return openRows(paths, o, tensors, g)
	}
	if err := a.shard.belongs(r); err != nil {
		return nil, err
	}
	labels, err := g.Labels()
	if err != nil {
		return nil, err
	}
	rows, err := openPlanRows(a.shard.plan, paths, o, a.shard.plan.Counts != nil)
	if err != nil {
		return nil, err
	}
	rows.rows = &a.shard.rows
	return &alsoRead{wiring.CodedBy(rows, labels), rolesOf(r, a.shard.options)}, nil
}

// rolesOf are the columns with a role in the decomposition r that was asked for with o: those that its passes
// read besides the columns of network and terms.
func rolesOf(r *decompose.Result, o *decompose.Options) []string {
	own := decompose.Columns{Weights: r.Weights, Response: r.Response, Event: r.Event, Offset: r.Offset, Cluster: r.Cluster}
	return append(own.Names(), o.Columns.Names()...)
}

// belongs refuses a decomposition of another network than the plan's.
func (a *applyShard) belongs(r *decompose.Result) error {
	ref := wiring.ReferenceOf(r)
	own := []string{ref.SHA256}
	if len(ref.Members) > 0 || ref.Kind == wiring.Columns {
		own = nil
		for _, m := range ref.Members {
			if m.SHA256 != "" {
				own = append(own, m.SHA256)
			}
		}
	}
	predicted, err := columnLists(a.plan.Request["predictions"])
	if err != nil {
		return err
	}
	if !slices.EqualFunc(ref.Predicted(), predicted, slices.Equal) || !slices.EqualFunc(own, a.plan.Models, func(sha string, f plan.NamedFile) bool { return sha == f.SHA256 }) {
		return fmt.Errorf("the decomposition is of another network than plan %q: give the result that pho solve made of that plan", a.dir)
	}
	return nil
}

// alsoRead are rows of which further columns are read, so that those with missing cells there are left
// out as in the passes of the decomposition.
type alsoRead struct {
	files.Source
	columns []string
}

// Batches reads the columns and the further ones.
func (a *alsoRead) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	return a.Source.Batches(ctx, sortedNames(slices.Concat(columns, a.columns)))
}
