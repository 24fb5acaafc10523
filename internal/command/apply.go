package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

// applyFlags are the flags of pho apply.
type applyFlags struct {
	dir, out, model, maxMemory string
	computing                  computing
	member                     string
	workers                    int
	errors                     bool
	id                         string
	inputs                     []string
	data                       dataFlags
	shard                      applyShard
}

func newApply(s streams) *cobra.Command {
	var a applyFlags
	cmd := &cobra.Command{
		Use:   "apply --decomposition DIR --data FILE... --out FILE|-",
		Short: "Contributions on new rows, with the training rows' coefficients and centring",
		Long: `Contributions of every term to the network's predictor on new rows. Coefficients
and centring are those of the decomposition; nothing is fitted again. The columns
are those of contributions.csv. With --plan and --shard the rows are those of one shard of a
plan's data (see 'pho plan'), and what is written of all shards, one behind the other, is
contributions.csv.`,
		Example: `  pho apply --decomposition result --data new.csv --out new-contributions.csv
  zcat new.csv.gz | pho apply --decomposition result --data - --out -`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&a.dir, "decomposition", "", "`DIR` that decompose wrote")
	f.StringVar(&a.out, "out", "", "`FILE` to write: Parquet if its name ends in .parquet, else CSV; - for CSV on standard output")
	a.data.add(f)
	a.data.addUnseen(f)
	a.shard.add(f)
	addArrays(f, &a.inputs)
	addID(f, &a.id)
	f.BoolVar(&a.errors, "se", false, "a column TERM.se after each term: its standard error given the network, of the decomposition's kind (--bands)")
	f.StringVar(&a.member, "member", "", "`NAME` of one of several networks, for its contributions in place of the mean's")
	f.StringVar(&a.model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	a.computing.add(f, again)
	f.IntVar(&a.workers, "workers", 0, "goroutines (default: one per processor; results do not depend on it)")
	f.StringVar(&a.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

func (a *applyFlags) run(ctx context.Context, s streams, further []string) error {
	switch {
	case a.dir == "":
		return usagef("--decomposition is missing: name the directory that decompose wrote")
	case a.out == "":
		return usagef("--out is missing: name a CSV file, or - for standard output")
	}
	if err := a.computing.check(); err != nil {
		return err
	}
	if err := a.shard.use(a, s); err != nil {
		return err
	}
	defer useProcessors(a.workers)()
	tensors, err := a.data.arrays(a.inputs)
	if err != nil {
		return err
	}
	o, err := a.data.options(s)
	if err != nil {
		return err
	}
	rows := &newRows{}
	if rows.policy, err = unseenPolicy(a.data.unseen); err != nil {
		return err
	}
	paths, err := a.data.files(further)
	if err != nil {
		return err
	}
	r, err := resultdir.ReadBands(a.dir)
	if err != nil {
		return err
	}
	opened, err := reopen(r, a.dir, a.model, a.maxMemory, a.computing)
	if err != nil {
		return err
	}
	writeNotes(s, opened)
	if err := a.spare(s, paths, tensors, opened); err != nil {
		return err
	}
	r, model, err := a.one(r, opened.Model)
	if err != nil {
		return err
	}
	applier, err := r.Applier(model)
	if err != nil {
		return err
	}
	applier = applier.WithWorkers(a.workers)
	m := opened.Networks[0]
	if a.errors {
		applier = applier.WithErrors()
	}
	o.Texts = idText(a.id, columnsRead(r, opened.Reference))
	if err := opened.Reading(r, o); err != nil {
		return err
	}
	bindArrays(tensors, opened)
	src, err := a.openData(r, paths, o, tensors, m.Graph())
	if err != nil {
		return err
	}
	defer src.Close()
	if err := recipe.CheckID(a.id, src.Schema(), model); err != nil {
		return err
	}
	if src, applier, err = rows.of(r, opened, src, applier); err != nil {
		return err
	}
	src = opened.Seen(r, src)
	write := func(w io.Writer) error {
		first, header, end := a.shard.lines(totalRows(src))
		if strings.HasSuffix(strings.ToLower(a.out), ".parquet") {
			return writeParquet(ctx, w, applier, src, first, end, a.id)
		}
		return report.NewContributions(w, end).From(first, header).WithID(a.id).Apply(ctx, applier, src)
	}
	if a.out == "-" {
		err = write(s.data)
	} else {
		err = s.unfinished().WriteFile(a.out, func(f *os.File) error { return write(f) })
	}
	if err != nil {
		return inFiles(err, paths)
	}
	if note := wiring.Dropped(src, naDrop); note != "" {
		fmt.Fprintf(s.err, "warning: %s\n", note)
	}
	rows.warn(s)
	return nil
}

// one is the result and the model of the network that --member names; what was read, if it
// names none.
func (a *applyFlags) one(r *decompose.Result, m decompose.Model) (*decompose.Result, decompose.Model, error) {
	if a.member == "" {
		return r, m, nil
	}
	members, ok := m.(*decompose.Members)
	if !ok {
		return nil, nil, usagef("--member %q: the decomposition is of one network", a.member)
	}
	var names []string
	for i, member := range members.Networks() {
		if member.Name == a.member {
			own, err := r.Network(members, i)
			return own, member.Model, err
		}
		names = append(names, member.Name)
	}
	return nil, nil, usagef("--member %q: the networks of the decomposition are %s", a.member, quotedNames(names))
}

// spare refuses to write over the data or the network, or into the decomposition.
func (a *applyFlags) spare(s streams, paths []string, tensors []tensorInput, opened *wiring.Opened) error {
	var in sources
	in.addNetworks(opened)
	in.addData(paths, tensors, s.in)
	in.addResult(a.dir)
	if a.out == "-" {
		return in.spareStream("standard output", rawOf(s.data))
	}
	if within(a.out, a.dir) {
		return fmt.Errorf("--out %q lies in the decomposition, which holds the training rows' contributions: name a file elsewhere", a.out)
	}
	return in.spareFile("--out", a.out)
}
