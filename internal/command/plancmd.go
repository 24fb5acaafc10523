package command

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
)

// planFlags are the flags of pho plan.
type planFlags struct {
	decomposeFlags
	dir    string
	shards int
	counts []string
	scan   string
	json   bool
}

func newPlan(s streams) *cobra.Command {
	p := new(planFlags)
	cmd := &cobra.Command{
		Use:   "plan --model MODEL.onnx --data FILE... [--formula F]... --shards N --out DIR",
		Short: "Cut a decomposition into shards that many machines compute, or say what comes next",
		Long: `Write to DIR what is to be decomposed and how the rows are cut into shards. Any number of
machines then run 'pho accumulate' on the shards, 'pho merge' adds up what they write, and
'pho solve' makes the result: the bytes of one 'pho decompose', all files but run.json
(docs/shards.md). Options are those of decompose.

With --plan DIR it says which pass over the rows comes next; with --scan TOTAL, too, it
records the total of a scan, which fixes levels, ranges and knots.`,
		Example: `  pho plan --model ssn.onnx --data rows.csv --response y --shards 8 --out plan
  pho plan --plan plan
  pho plan --plan plan --scan total.pho`,
	}
	f := cmd.Flags()
	f.SortFlags = false
	p.addPlanned(f)
	f.IntVar(&p.shards, "shards", 0, "`NUMBER` of shards of about equally many rows")
	f.StringSliceVar(&p.counts, "counts", nil, "`ROWS` of each shard (comma separated), if whoever accumulates brings the rows; --data then names a file with their columns")
	f.StringVar(&p.out, "out", "", "the plan's `DIR`: absent, empty, or the same plan")
	f.StringVar(&p.dir, "plan", "", "`DIR` of a plan that is there: say what comes next")
	f.StringVar(&p.scan, "scan", "", "`FILE` with the total of a scan, to be recorded in the plan")
	f.BoolVar(&p.json, "json", false, "say what comes next as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if p.dir != "" {
			return p.next(cmd.Context(), s, recorded(f), args)
		}
		return p.make(cmd.Context(), s, recorded(f), args)
	}
	return cmd
}

// next says what comes next, after a total was recorded.
func (p *planFlags) next(ctx context.Context, s streams, given map[string][]string, further []string) error {
	if len(given) > 0 || p.out != "" || p.shards != 0 || p.counts != nil {
		return usagef("--plan %q is there already, and has its options: give --scan TOTAL, or nothing more", p.dir)
	}
	doc, err := plan.Open(p.dir)
	if err != nil {
		return err
	}
	if p.scan == "" && (doc.Next != nil || doc.Complete) {
		return p.say(s, doc)
	}
	w, err := openPlan(ctx, s, planPlaces{dir: p.dir, models: p.models, data: append(p.data.paths, further...)}, false)
	if err != nil {
		return err
	}
	defer w.close()
	if p.scan != "" {
		if _, err := w.record(ctx, "--scan", p.scan, plan.Scan); err != nil {
			return err
		}
	}
	if w.plan.Next == nil && !w.plan.Complete {
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	return p.say(s, w.plan)
}

// record notes a total in the plan. at is its place among those recorded.
func (w *planned) record(ctx context.Context, flag, path, pass string) (at int, err error) {
	total, err := plan.ReadPart(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", flag, err)
	}
	if total.Pass != pass {
		return 0, fmt.Errorf("%s %q is the total of pass %s, not of %s", flag, path, total.Pass, pass)
	}
	if w.plan.Next == nil && !w.plan.Complete {
		if err := w.settle(ctx); err != nil {
			return 0, err
		}
	}
	if at, err = w.plan.Record(total); err != nil {
		return 0, fmt.Errorf("%s %q: %w", flag, path, err)
	}
	return at, nil
}

func (p *planFlags) make(ctx context.Context, s streams, given map[string][]string, further []string) error {
	if p.out == "" {
		return usagef("--out is missing: name the plan's directory")
	}
	counts, err := p.rowCounts()
	if err != nil {
		return err
	}
	o, reading, err := p.options(s)
	if err != nil {
		return err
	}
	in, err := p.inputFiles(further)
	if err != nil {
		return err
	}
	networks, err := p.known(ctx, in, o, reading)
	if err != nil {
		return err
	}
	doc := &plan.Plan{CreatedBy: revision.Maker, Kernel: p.network.kernels(), Request: given, Shards: p.shards, Counts: counts}
	if err := p.survey(ctx, doc, in, reading); err != nil {
		return err
	}
	if err := p.name(doc, in, networks); err != nil {
		return err
	}
	there, err := doc.Create(p.out)
	if err != nil {
		return fmt.Errorf("--out %w", err)
	}
	if there {
		fmt.Fprintf(s.out, "the plan is there already\n")
	}
	w, err := openPlan(ctx, s, planPlaces{dir: p.out}, false)
	if err != nil {
		return err
	}
	defer w.close()
	if !there {
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	return p.say(s, w.plan)
}

func (p *planFlags) rowCounts() ([]int64, error) {
	switch {
	case p.shards < 0 || p.shards == 0 && len(p.counts) == 0:
		return nil, usagef("--shards is missing: a number of shards, 1 or more")
	case p.shards > 0 && len(p.counts) > 0:
		return nil, usagef("--shards and --counts: give one of them")
	}
	var counts []int64
	for _, text := range p.counts {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || n < 0 || n > 1<<48 {
			return nil, usagef("--counts: %q is no number of rows", text)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// name notes the files of the plan as seen from its directory.
func (p *planFlags) name(doc *plan.Plan, in inputFiles, networks []*wiring.Network) (err error) {
	for i, path := range in.models {
		f := plan.NamedFile{SHA256: networks[i].SHA256, Form: networks[i].Form()}
		if f.Path, err = seenFrom(p.out, path); err != nil {
			return err
		}
		doc.Models = append(doc.Models, f)
	}
	if p.labels != "" {
		raw, err := os.ReadFile(p.labels)
		if err != nil {
			return fmt.Errorf("--labels %q: %w", p.labels, durable.Reason(err))
		}
		f := plan.NamedFile{SHA256: fmt.Sprintf("%x", sha256.Sum256(raw))}
		if f.Path, err = seenFrom(p.out, p.labels); err != nil {
			return err
		}
		doc.Labels = &f
	}
	for _, path := range in.paths {
		place, err := seenFrom(p.out, path)
		if err != nil {
			return err
		}
		doc.Data = append(doc.Data, place)
	}
	return nil
}

// survey notes what is known of the data files, and how many rows there are.
func (p *planFlags) survey(ctx context.Context, doc *plan.Plan, in inputFiles, reading *files.Options) error {
	if len(in.tensors) > 0 {
		return usagef("--input %s=@%s: the rows of a plan are those of data files; put the array into one, as columns", in.tensors[0].name, in.tensors[0].path)
	}
	if slices.Contains(in.paths, "-") {
		return usagef("--data -: the rows of a plan are read again and again: name a file")
	}
	found, err := files.Look(ctx, in.paths, reading, 0)
	if err != nil {
		return err
	}
	doc.Rows = found.Rows
	if doc.Counts != nil {
		doc.Shards, doc.Rows = len(doc.Counts), 0
		for _, n := range doc.Counts {
			doc.Rows += n
		}
	}
	for i := range found.Files {
		found.Files[i].Path = "" // the plan has them
	}
	doc.Survey, err = json.Marshal(found)
	return err
}

// say says what comes next.
func (p *planFlags) say(s streams, doc *plan.Plan) error {
	if p.json {
		e := json.NewEncoder(s.data)
		return e.Encode(map[string]any{"format": plan.Format, "rows": doc.Rows, "shards": doc.Shards, "next": doc.Next, "complete": doc.Complete, "done": doc.Done})
	}
	fmt.Fprintf(s.out, "%d rows in %d shards\n", doc.Rows, doc.Shards)
	if doc.Next == nil {
		fmt.Fprintln(s.out, "all passes are done")
		return nil
	}
	fmt.Fprintf(s.out, "next: %s\n", doc.Next)
	return nil
}
