package command

import (
	"context"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
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
	if d.long, err = d.longNumbers(ctx, in.paths, reading, o); err != nil {
		return nil, err
	}
	request, err := d.open(ctx, in, o, reading, openRows)
	if err != nil {
		return nil, err
	}
	defer request.Rows.Close()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // as they were, after fitMemory
	percent := debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	defer debug.SetGCPercent(percent)
	o.Progress = log.report
	steps := d.recipe(request, dir)
	steps.Fit = func(m decompose.Model, ready *wiring.Ready) error { return d.fitMemory(log, m, ready, in.paths, o) }
	kept := &contributions{format: d.contributions, id: d.id}
	defer func() { _ = kept.close() }() // before the directory is discarded
	steps.Decompose = func(ctx context.Context, m decompose.Model, rows *wiring.CachedRows, o *decompose.Options) (*decompose.Result, error) {
		defer log.end()
		if o.Visitors, err = kept.begin(ctx, dir, rows, o.Visitors); err != nil {
			return nil, err
		}
		r, err := decompose.Decompose(ctx, m, rows, o)
		// Nobody reads rows any more. The system takes their memory back while one processor makes the
		// report; at the process' end whoever called would wait for that.
		rows.Limit(0)
		go debug.FreeOSMemory()
		return r, err
	}
	made, err := steps.Make(ctx)
	log.end()
	if made.Ready == nil {
		return nil, err
	}
	log.later(d.settled(made)...)
	if err != nil {
		return nil, inFiles(err, in.paths)
	}
	r := made.Result
	log.later(bareColumns(r, made.Graph))
	if err := d.write(ctx, dir, made); err != nil {
		return nil, err
	}
	if err := kept.close(); err != nil {
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
func (d *decomposeFlags) open(ctx context.Context, in inputFiles, o *decompose.Options, reading *files.Options,
	rows func([]string, *files.Options, []tensorInput, *onnx.Graph) (files.Source, error)) (*wiring.Request, error) {

	labels, err := readLabels(d.labels)
	if err != nil {
		return nil, err
	}
	networks, err := d.networks(ctx, in)
	if err != nil {
		return nil, err
	}
	network := networks[0]
	reading.Workers = o.Goroutines(0)
	if reading.Texts, err = d.texts(networks, in, o); err != nil {
		return nil, err
	}
	opened, err := rows(in.paths, reading, in.tensors, network.Graph)
	if err != nil {
		return nil, err
	}
	columns, err := inputColumns(network.Graph, opened.Schema(), in.inputs)
	if err == nil {
		err = opened.Schema().Require("the data", d.data.texts)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	request := d.request(network, opened, columns, o)
	request.Others, request.From, request.Labels, request.Title, request.ID = networks[1:], in.from, labels, d.title, d.id
	return request, nil
}

// networks reads the networks that --model names, or makes models of its address or of
// --predictions.
func (d *decomposeFlags) networks(ctx context.Context, in inputFiles) ([]*wiring.Network, error) {
	if d.asks() {
		n, err := d.ask(ctx, in.models[0])
		return []*wiring.Network{n}, err
	}
	if len(d.predictions) == 0 {
		return loadNetworks(in.models, &d.network)
	}
	models, err := columnLists(d.predictions)
	if err != nil {
		return nil, err
	}
	networks, err := wiring.Predicted(models, d.link, d.network.clip)
	if err != nil {
		return nil, usageError{err}
	}
	return networks, nil
}

// ask is the model behind an address; of a plan, which says what it answers, it is asked nothing.
func (d *decomposeFlags) ask(ctx context.Context, address string) (*wiring.Network, error) {
	a := wiring.Answers{Link: d.link, Clip: d.network.clip, Outputs: d.network.predictor, Classes: d.classes}
	if d.form != nil {
		return wiring.AskAs(address, d.form, a)
	}
	return wiring.Ask(ctx, address, a)
}

// known are the networks, for a plan: how their columns are read, and what they answer, is settled.
func (d *decomposeFlags) known(ctx context.Context, in inputFiles, o *decompose.Options, reading *files.Options) ([]*wiring.Network, error) {
	networks, err := d.networks(ctx, in)
	if err != nil {
		return nil, err
	}
	if d.long, err = d.longNumbers(ctx, in.paths, reading, o); err != nil {
		return nil, err
	}
	if reading.Texts, err = d.texts(networks, in, o); err != nil {
		return nil, err
	}
	return networks, d.settle(ctx, networks, in, o, reading)
}

// settle finds out what a model behind an address answers, for a plan, which reads no rows later on.
func (d *decomposeFlags) settle(ctx context.Context, networks []*wiring.Network, in inputFiles, o *decompose.Options, reading *files.Options) error {
	if networks[0].Asked == nil {
		return nil
	}
	rows, err := openRows(in.paths, reading, in.tensors, networks[0].Graph)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := inputColumns(networks[0].Graph, rows.Schema(), in.inputs)
	if err != nil {
		return err
	}
	return networks[0].Settle(ctx, rows, columns, append(o.Columns.Names(), d.id))
}

// texts are the columns that are read to the letter, if the data have them.
func (d *decomposeFlags) texts(networks []*wiring.Network, in inputFiles, o *decompose.Options) ([]string, error) {
	g := networks[0].Graph
	bound := map[string][]string{}
	for _, flag := range in.inputs {
		if name, list, err := splitInput(g, flag); err == nil { // else it is refused elsewhere
			bound[name] = strings.Split(list, ",")
		}
	}
	texts, err := wiring.NetworkTexts(g, bound)
	texts = append(texts, networks[0].Texts()...)
	named := namedColumns(g, d.formulas, in.inputs, d.id)
	for _, n := range networks {
		if n.Predictions != nil && n.Asked == nil {
			named = append(named, n.Predictions.Columns...)
		}
	}
	id := idText(d.id, slices.Concat(named, o.Columns.Names(), d.data.factors))
	return slices.Concat(texts, d.data.texts, d.long, id), err
}

// recipe is the decomposition of what was opened, into dir (nil: into none).
func (d *decomposeFlags) recipe(request *wiring.Request, dir *durable.Dir) *recipe.Recipe {
	q := &recipe.Recipe{
		Request: request, PHONAM: nam.Variant(d.phonam), Seed: d.seed, NoRows: d.contributions == noContributions,
		Words: recipe.Words{Dropped: naDrop, Inputs: " with --input"},
	}
	if dir != nil {
		q.Target = dir.Target()
	}
	return q
}

// write writes the files of a result, but for contributions and run.json.
func (d *decomposeFlags) write(ctx context.Context, dir *durable.Dir, made *recipe.Made) error {
	if err := resultdir.Write(ctx, dir, made.Model, made.Result); err != nil || !d.export {
		return err
	}
	opened := made.Opened()
	return durable.WriteFile(dir.Path(resultdir.Exported(opened.HasFile())), func(f *os.File) error { return opened.Export(f, made.Result) })
}
