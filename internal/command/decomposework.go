package command

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/nam"
)

func (d *decomposeFlags) work(ctx context.Context, s streams, log *progress, further []string) (*decompose.Result, error) {
	started := time.Now()
	o, reading, err := d.options(s)
	if err != nil {
		return nil, err
	}
	defer useProcessors(d.workers)()
	in, dir, err := d.places(s, further)
	if err != nil {
		return nil, err
	}
	defer dir.Discard()
	request, err := d.open(in, o, reading, openRows)
	if err != nil {
		return nil, err
	}
	defer request.Rows.Close()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // as it was, after fitMemory
	o.Progress = log.report
	fit := func(m decompose.Model, ready *wiring.Ready) error { return d.fitMemory(log, m, ready, in.paths, o) }
	made, err := d.prepare(ctx, request, fit)
	if made == nil {
		return nil, err
	}
	log.later(settled(made.Ready, made.added, len(d.formulas) > 0)...)
	log.end()
	if err != nil {
		return nil, inFiles(err, in.paths)
	}
	o.Visitors = summing(ctx, made, o, d)
	r, onDisk, err := decomposeInto(ctx, dir, made.model, made.Rows, o, d.contributions, d.id)
	log.end()
	if err != nil {
		return nil, inFiles(err, in.paths)
	}
	defer func() { _ = onDisk() }() // before the directory is discarded
	// Nobody reads rows any more. The system takes their memory back while one processor makes the
	// report; at the process' end whoever called would wait for that.
	made.Rows.Limit(0)
	go debug.FreeOSMemory()
	if err := d.complete(made, r, dir.Target(), droppedNote(made.Rows)); err != nil {
		return nil, err
	}
	log.later(bareColumns(r, made.Graph.Columns()))
	if err := d.write(ctx, dir, request, made, r); err != nil {
		return nil, err
	}
	if err := onDisk(); err != nil {
		return nil, err
	}
	if err := writeRun(dir, started, o.Goroutines(0), d.network.kernels(), s.args); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, dir.Commit()
}

// inputFiles are the files that a decomposition reads.
type inputFiles struct {
	models  []string
	from    decompose.MembersFrom
	paths   []string
	tensors []tensorInput
	inputs  []string // of the network, by columns
}

// inputFiles expands what flags, and the arguments after them, name. Call it after options,
// which sets the store whose objects the data's URLs name.
func (d *decomposeFlags) inputFiles(further []string) (in inputFiles, err error) {
	if in.paths, err = d.data.files(further); err != nil {
		return in, err
	}
	if in.models, in.from, err = networkFiles(d.models, d.membersFrom); err != nil {
		return in, err
	}
	in.tensors, in.inputs = tensorInputs(d.inputs)
	return in, d.oneNetwork(in.models)
}

// places are the files that are read, and the result's directory, begun: whoever calls commits
// or discards it. Call it after options, like inputFiles.
func (d *decomposeFlags) places(s streams, further []string) (inputFiles, *durable.Dir, error) {
	in, err := d.inputFiles(further)
	if err != nil {
		return in, nil, err
	}
	if err := d.spare(in.models, in.paths, in.tensors); err != nil {
		return in, nil, err
	}
	dir, err := durable.NewDir(s.unfinished(), resultdir.Files(), d.out)
	return in, dir, err
}

// open reads labels and networks and opens the rows, which rows does, and says what is to be made of them.
func (d *decomposeFlags) open(in inputFiles, o *decompose.Options, reading *files.Options,
	rows func([]string, *files.Options, []tensorInput, *onnx.Graph) (files.Source, error)) (*wiring.Request, error) {

	labels, err := readLabels(d.labels)
	if err != nil {
		return nil, err
	}
	networks, err := loadNetworks(in.models, &d.network)
	if err != nil {
		return nil, err
	}
	network := networks[0]
	reading.Workers = o.Goroutines(0)
	reading.Texts = d.texts(network.Graph, in, o)
	opened, err := rows(in.paths, reading, in.tensors, network.Graph)
	if err != nil {
		return nil, err
	}
	columns, err := inputColumns(network.Graph, opened.Schema(), in.inputs)
	if err != nil {
		opened.Close()
		return nil, err
	}
	request := d.request(network, opened, columns, o)
	request.Others, request.From, request.Labels, request.ID = networks[1:], in.from, labels, d.id
	return request, nil
}

// texts are the columns that are read to the letter.
func (d *decomposeFlags) texts(g *onnx.Graph, in inputFiles, o *decompose.Options) []string {
	return idText(d.id, slices.Concat(namedColumns(g, d.formulas, in.inputs, d.id), o.Columns.Names(), d.data.factors))
}

// prepared is what is decomposed.
type prepared struct {
	*wiring.Ready
	added   []string        // terms of pairs
	model   decompose.Model // of Ready, its deep part projected as --phonam says
	variant nam.Variant
}

// prepare makes everything ready: terms, pairs and the projection of a neural additive
// model. fit, which is called before rows are gone through and again for the last model, keeps the run within
// its memory. With an error there may be what was ready by then.
func (d *decomposeFlags) prepare(ctx context.Context, request *wiring.Request, fit func(decompose.Model, *wiring.Ready) error) (*prepared, error) {
	o := request.Options
	ready, err := request.Ready(ctx)
	if err != nil {
		return nil, err
	}
	p := &prepared{Ready: ready, variant: nam.Variant(d.phonam)}
	if request.Interactions != 0 && request.Interactions != wiring.NoInteractions {
		if err := fit(ready.Model, ready); err != nil {
			return p, err
		}
		extended, added, err := request.AddPairs(ctx, ready)
		if err != nil {
			return p, err
		}
		p.Ready, p.added = extended, added
	}
	p.model = p.Model
	if p.variant == "" {
		p.variant = nam.Default(p.model, o.Method)
	}
	if p.variant != "" {
		var said []string
		if p.model, said, err = nam.Prepare(ctx, p.model, p.Rows, p.variant, &nam.Options{Decompose: o, Scans: request.Scans}); err != nil {
			return p, err
		}
		p.Notes = append(p.Notes, said...)
		if d.export {
			if err := p.CheckExport(p.model); err != nil {
				return p, err
			}
		}
	}
	if err := errors.Join(p.CheckLabels(p.model), checkID(d.id, p.Rows.Schema(), p.model)); err != nil {
		return p, err
	}
	return p, fit(p.model, p.Ready)
}

// complete notes in r what it was made of. target is where it will lie, dropped what is to be
// said of rows left out.
func (d *decomposeFlags) complete(made *prepared, r *decompose.Result, target, dropped string) error {
	if made.variant != "" {
		r.PHONAM = string(made.variant)
		made.Notes = append(made.Notes, nam.NearCopies(r)...)
	}
	if err := made.Complete(r, target, dropped, " with --input"); err != nil {
		return err
	}
	r.CreatedBy = revision.Maker
	return nil
}

// write writes the files of a result, but for contributions and run.json.
func (d *decomposeFlags) write(ctx context.Context, dir *durable.Dir, request *wiring.Request, made *prepared, r *decompose.Result) error {
	if err := resultdir.Write(ctx, dir, made.model, r); err != nil || !d.export {
		return err
	}
	return durable.WriteFile(dir.Path(resultdir.Adapted), func(f *os.File) error {
		return wiring.Export(f, request.Network.Path, request.Network.SHA256, made.Graph, r)
	})
}
