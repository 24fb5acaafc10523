package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
)

// resumeMark ends the name of the directory, beside the result's, that keeps what a decomposition
// with --resume has done: a plan of one shard.
const resumeMark = ".resume"

// answersFile keeps there what a model behind an address answered, by row.
const answersFile = "answers"

// resumed makes the decomposition as a plan of one shard, whose passes are recorded as they are
// done and have checkpoints, so that the same call goes on after a kill.
func (d *decomposeFlags) resumed(ctx context.Context, s streams, log *progress, further []string) (*decompose.Result, error) {
	started := time.Now()
	defer useProcessors(d.workers)()
	o, reading, err := d.options(s)
	if err != nil {
		return nil, err
	}
	in, dir, err := d.places(s, further)
	if err != nil {
		return nil, err
	}
	defer dir.Discard()
	kept := dir.Target() + resumeMark
	if err := d.keep(ctx, kept, in, o, reading); err != nil {
		return nil, err
	}
	w, err := openPlan(ctx, s, planPlaces{dir: kept, models: in.models, data: in.paths, workers: d.workers, maxMemory: d.network.maxMemory}, false)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.request.Network.Keep(filepath.Join(kept, answersFile)); err != nil {
		return nil, err
	}
	defer func() { _ = w.request.Network.Close() }() // each answer is there once it was written
	w.request.Options.Progress = log.report
	made, err := w.all(ctx, dir, &keeper{s.unfinished(), filepath.Join(kept, "pass"+checkpointMark), d.every})
	log.end()
	if err != nil {
		return nil, inFiles(err, in.paths)
	}
	r := made.Result
	log.later(d.settled(made)...)
	log.later(bareColumns(r, made.Graph))
	if err := w.contribute(ctx, dir, kept, made, d.every); err != nil {
		return nil, inFiles(err, in.paths)
	}
	if err := d.write(ctx, dir, made); err != nil {
		return nil, err
	}
	if err := writeRun(dir, started, o.Goroutines(0), w.flags.network.kernels(), s.args); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := dir.Commit(); err != nil {
		return nil, err
	}
	return r, durable.RemoveDir(kept)
}

// keep makes the directory of what is done, or finds the one that an earlier call of the same
// decomposition left. Another decomposition's is refused.
func (d *decomposeFlags) keep(ctx context.Context, kept string, in inputFiles, o *decompose.Options, reading *files.Options) error {
	p := planFlags{decomposeFlags: *d, shards: 1}
	p.out = kept
	doc := &plan.Plan{Format: plan.Format, CreatedBy: revision.Maker, Kernel: d.network.kernels(), Request: d.given, Shards: 1}
	networks, err := d.known(ctx, in, o, reading)
	if err != nil {
		return err
	}
	if err := p.name(doc, in, networks); err != nil {
		return err
	}
	earlier, err := plan.Open(kept)
	if err == nil && slices.Equal(earlier.Data, doc.Data) { // that they changed is seen where they are read
		doc.Survey, doc.Rows = earlier.Survey, earlier.Rows
	} else {
		if err := p.survey(ctx, doc, in, reading); err != nil {
			return err
		}
	}
	if err == nil && earlier.Digest() != doc.Digest() {
		return fmt.Errorf("%q keeps what another decomposition has done (%s): call that again, or remove the directory", kept, differences(earlier, doc))
	}
	_, err = doc.Create(kept)
	return err
}

// differences say in what two plans differ.
func differences(a, b *plan.Plan) string {
	var all []string
	for name := range a.Request {
		if !slices.Equal(a.Request[name], b.Request[name]) {
			all = append(all, fmt.Sprintf("--%s %q, now %q", name, a.Request[name], b.Request[name]))
		}
	}
	for name := range b.Request {
		if a.Request[name] == nil {
			all = append(all, fmt.Sprintf("without --%s, now %q", name, b.Request[name]))
		}
	}
	slices.Sort(all)
	if !slices.EqualFunc(a.Models, b.Models, func(m, n plan.NamedFile) bool { return m.SHA256 == n.SHA256 }) {
		all = append(all, "another network")
	}
	if string(a.Survey) != string(b.Survey) && !sameJSON(a.Survey, b.Survey) {
		all = append(all, "other data")
	}
	if a.Kernel != b.Kernel {
		all = append(all, "floating-point kernels "+a.Kernel+", now "+b.Kernel)
	}
	if len(all) == 0 {
		return "made by another version"
	}
	return strings.Join(all, "; ")
}

// sameJSON tells whether two texts are the same JSON but for white space.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	v, _ := json.Marshal(x)
	w, _ := json.Marshal(y)
	return string(v) == string(w)
}

// errLooked ends a replay after a scan that was recorded.
var errLooked = errors.New("a scan was recorded")

// all makes and records all passes that are not done yet, and the result, for dir.
func (w *planned) all(ctx context.Context, dir *durable.Dir, keep *keeper) (*recipe.Made, error) {
	for {
		p := &plan.Passes{Plan: w.plan, Until: -1, Coordinates: true}
		p.More = func(ctx context.Context, at plan.Stage, chunk int, sum plan.Sum) (plan.Payload, error) {
			part, value, err := w.sum(ctx, keep, at, 0, chunk, sum)
			if err != nil {
				return nil, err
			}
			if err := w.plan.Settle(&at); err != nil {
				return nil, err
			}
			if _, err := w.plan.Record(part); err != nil {
				return nil, err
			}
			if err := keep.remove(); err != nil {
				return nil, err
			}
			if at.Pass == plan.Scan {
				return nil, errLooked
			}
			return value, nil
		}
		made, err := w.replay(ctx, p, dir)
		if !errors.Is(err, errLooked) {
			return made, err
		}
	}
}
