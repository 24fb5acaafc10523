package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/native"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/durable"
)

// Files of a directory that train writes.
const (
	fileTraining = "training.json"
	fileNetwork  = "model.onnx"
)

// trainFlags are the flags of pho train.
type trainFlags struct {
	out, log        string
	formulas        []string
	kind, family    string
	deep            []string
	networks        neuralFlags
	response, event string
	weights, offset string
	orthogonalize   string
	epochs, batch   int
	patience        int
	validation      float64
	checkpoint      string
	resume, single  bool
	members         int
	resample        bool
	workers         int
	seed            uint64
	data            dataFlags
}

func newTrain(s streams) *cobra.Command {
	var d trainFlags
	cmd := &cobra.Command{
		Use:   "train --data FILE... --formula 'y ~ ...' --deep col,col,... --out DIR",
		Short: "Train a semi-structured network, a neural additive model or an additive model",
		Long: `Train a network on the rows of the data and write it to DIR as model.onnx, next to
training.json, which tells how training went. The formula's terms are its structured
part, the columns of --deep enter a multilayer perceptron beside it, those of
--features a network each. 'pho decompose --model DIR/model.onnx' opens it.

Epoch 0 is the additive model of the formula's terms, from which training begins: what
is saved is never worse than it on the rows held out.

Columns of text are categories, in formulas and networks; a response of two texts is
binomial, the second in alphabetical order being 1 (--family binomial); --family categorical
has a class for each value of the response, text or number. ONNX networks
take numbers: the file's metadata say which, and decompose takes the texts as they are.

--members N trains N networks into folders of their own, which 'pho decompose --model DIR'
takes together: how far their curves differ is how far they can be relied on. With --resample
each sees a bootstrap resample of the rows, and bands hold what other rows would change.

The file declares the terms of the formula: decompose takes them, with their penalties,
from there. '~ .' is a term for each column without another role, chosen by what it holds;
the formula that was chosen is printed.`,
		Example: `  pho train --data rows.csv --formula 'y ~ x1 + s(x2, bs="ps")' --deep x1,x2,x3 --out trained
  pho train --data rows.csv --kind nam --response y --features x1,x2,x3 --out trained
  pho train --data rows.csv --kind gam --formula 'y ~ s(x1) + s(x2)' --out trained
  pho train --data rows.csv --formula 'y ~ s(x1) + x2' --deep x1,x2,x3 --members 20 --resample --out networks
  pho train --data rows.csv --formula 'mu = y ~ x1' --formula 'sigma = ~ x2' --deep x1,x2 --out trained`,
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd, s, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	d.data.addFiles(f)
	f.StringVar(&d.out, "out", "", "`DIR` to write: absent, empty, or of an earlier training, which is replaced")
	f.StringArrayVar(&d.formulas, "formula", nil, "structured `TERMS`, as 'y ~ x1 + s(x2, bs=\"ps\")'; 'sigma = ~ x1' is for one predictor (repeatable)")
	f.StringSliceVar(&d.deep, "deep", nil, "`COLUMNS` of the deep part")
	f.StringVar(&d.kind, "kind", "ssn", "ssn, nam, gam or mlp")
	f.StringVar(&d.family, "family", "gaussian", "distribution of the response: "+familyHelp())
	f.StringVar(&d.response, "response", "", "`COLUMN` of the response, if no formula names it")
	f.StringVar(&d.event, "event", "", eventHelp)
	f.StringVar(&d.weights, "weights", "", "`COLUMN` of row weights")
	f.StringVar(&d.offset, "offset", "", "`COLUMN` added to the first predictor")
	d.data.addFactors(f)
	d.networks.addNetworks(f)
	f.StringVar(&d.orthogonalize, "orthogonalize", "", "online: project the deep part in every batch, for comparison; the file holds the projection over the training rows (docs/training.md)")
	f.IntVar(&d.epochs, "epochs", 500, "most passes over the rows")
	f.IntVar(&d.batch, "batch-size", 256, "`ROWS` of a step")
	d.networks.addOptimizer(f)
	f.Float64Var(&d.validation, "validation", 0.2, "share of the rows that decide when to stop; 0 for none")
	f.IntVar(&d.patience, "patience", 25, "`EPOCHS` without improvement after which training stops")
	f.Uint64Var(&d.seed, "seed", 0, "seed of the start, the order of rows and the split")
	f.IntVar(&d.members, "members", 0, "train `N` networks of other seeds into folders below DIR, for pho decompose --model DIR; those that are there are kept")
	f.BoolVar(&d.resample, "resample", false, "with --members: train each on a bootstrap resample of the rows that are not held out")
	f.BoolVar(&d.single, "single", false, "train in float32")
	f.StringVar(&d.checkpoint, "checkpoint", "", "`FILE` to save the state of training to every 10 epochs")
	f.BoolVar(&d.resume, "resume", false, "go on from the checkpoint, if there is one")
	f.IntVar(&d.workers, "workers", 0, "goroutines (default: one per processor; results do not depend on it); steps of fewer than 4 million multiplications (3 x rows of a batch x weights) have one")
	f.StringVar(&d.log, "log", "", "json: progress and errors as lines of JSON")
	return cmd
}

func (d *trainFlags) run(cmd *cobra.Command, s streams, further []string) error {
	ctx := cmd.Context()
	log, err := newProgress(s, d.log)
	if err != nil {
		return err
	}
	if err := d.work(ctx, s, log, cmd.Flags(), further); err != nil {
		return log.fail(err, status(ctx, err))
	}
	return nil
}

func (d *trainFlags) work(ctx context.Context, s streams, log *progress, given *pflag.FlagSet, further []string) error {
	if d.out == "" {
		return usagef("--out is missing: name the directory to write")
	}
	cfg, err := d.config()
	if err != nil {
		return err
	}
	if err := d.networks.idle(given, &cfg); err != nil {
		return err
	}
	reading, err := d.data.options(s)
	if err != nil {
		return err
	}
	defer useProcessors(d.workers)()
	paths, err := d.data.files(further)
	if err != nil {
		return err
	}
	if err := d.checkMembers(paths); err != nil {
		return err
	}
	if err := d.spare(paths); err != nil {
		return err
	}
	if d.members > 0 {
		src, err := files.Open(paths, reading)
		if err != nil {
			return err
		}
		defer src.Close()
		return d.trainMembers(ctx, s, log, cfg, src, paths)
	}
	dir, err := durable.NewDir(s.unfinished(), durable.Files{fileTraining, fileNetwork}, d.out)
	if err != nil {
		return err
	}
	defer dir.Discard()
	src, err := files.Open(paths, reading)
	if err != nil {
		return err
	}
	defer src.Close()
	cfg.Training.Progress = log.epoch
	m, fit, err := native.Train(ctx, cfg, src)
	log.end()
	if err != nil {
		return inFiles(trainingError{err}, paths)
	}
	saved := &trained{Model: m, Fit: fit, online: cfg.Deep.Orthogonalize, censored: m.Censored(), offset: cfg.Offset}
	if err := saved.write(ctx, dir.Path(fileNetwork), src); err != nil {
		return err
	}
	if err := durable.WriteFile(dir.Path(fileTraining), func(f *os.File) error { return writeTraining(f, saved) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dir.Commit(); err != nil {
		return err
	}
	log.trained(saved, filepath.Join(d.out, fileNetwork))
	return nil
}

// spare refuses to write over the data, or to lose the checkpoint.
func (d *trainFlags) spare(paths []string) error {
	var in sources
	in.addData(paths, nil, nil)
	if err := in.spareDir("--out", d.out); err != nil {
		return err
	}
	if err := in.spareFile("--checkpoint", d.checkpoint); err != nil {
		return err
	}
	return apart("--checkpoint", d.checkpoint, "--out", d.out)
}

// config turns flags into the configuration and reports wrong usage.
func (d *trainFlags) config() (native.Config, error) {
	c := native.Config{
		Architecture: native.Architecture(d.kind), Response: d.response, Event: d.event, Weights: d.weights, Offset: d.offset,
		Missing:    d.data.na == "keep",
		Structured: native.Structured{Formulas: d.formulas, Factors: d.data.factors},
		Deep:       native.Deep{Columns: d.deep},
		Training: native.Training{
			Epochs: d.epochs, BatchSize: d.batch, ValidationShare: d.validation, Patience: d.patience,
			Seed: d.seed, Single: d.single, Workers: d.workers, Checkpoint: d.checkpoint, Resume: d.resume,
		},
		Export: &native.ExportOptions{}, // what cannot be saved is not trained
	}
	if err := d.networks.into(&c); err != nil {
		return c, err
	}
	var named []string
	for _, text := range d.formulas {
		f, err := basis.Parse(text, nil)
		if err != nil {
			return c, usageError{fmt.Errorf("--formula: %w", err)}
		}
		if f.Predictor != "" {
			named = append(named, f.Predictor)
		}
	}
	var err error
	if c.Family, err = d.trainable(named); err != nil {
		return c, err
	}
	if _, err := among("kind", d.kind, []native.Architecture{native.SSN, native.NAM, native.GAM, native.MLP}); err != nil {
		return c, err
	}
	if c.Architecture == native.NAM && len(c.FeatureNetworks.Columns)+len(c.FeatureNetworks.Pairs) == 0 {
		c.FeatureNetworks.Columns, c.Deep.Columns = c.Deep.Columns, nil // one network each is what a nam is
	}
	for _, name := range d.data.factors {
		if slices.Contains(c.Deep.Columns, name) {
			c.Deep.Factors = append(c.Deep.Factors, name)
		}
		if slices.Contains(c.FeatureNetworks.Columns, name) || slices.ContainsFunc(c.FeatureNetworks.Pairs, func(p [2]string) bool { return p[0] == name || p[1] == name }) {
			c.FeatureNetworks.Factors = append(c.FeatureNetworks.Factors, name)
		}
	}
	switch d.orthogonalize {
	case "":
	case "online":
		c.Deep.Orthogonalize, c.Deep.Separate = true, c.Deep.Separate || c.Family.Predictors() != 1
	default:
		return c, usagef("--orthogonalize %q: it is online or left out; what is done after training is pho decompose", d.orthogonalize)
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"epochs", d.epochs}, {"batch-size", d.batch}, {"patience", d.patience}} {
		if n.value < 1 {
			return c, usagef("--%s %d: it is a whole number from 1", n.flag, n.value)
		}
	}
	if d.workers < 0 {
		return c, usagef("--workers %d is negative", d.workers)
	}
	switch {
	case !(d.validation >= 0 && d.validation < 1):
		return c, usagef("--validation %g: it is a share from 0 to less than 1", d.validation)
	case d.validation == 0:
		c.Training.ValidationShare = -1
	}
	if d.resume && d.checkpoint == "" {
		return c, usagef("--resume needs --checkpoint FILE, where to go on from")
	}
	return c, nil
}

// trainable is the family with as few predictors as the formulas name.
func (d *trainFlags) trainable(named []string) (family.Differentiable, error) {
	if d.family == (family.Categorical{}).Name() { // its classes are those of the response
		return family.Categorical{}, nil
	}
	var least family.Differentiable
	for k := 1; k <= 3; k++ {
		parsed, err := family.Parse(d.family, make([]string, k))
		if err != nil {
			if least == nil {
				return nil, usagef("--family: %w", err)
			}
			break
		}
		f, ok := parsed.(family.Differentiable)
		if !ok {
			return nil, usagef("--family %s: no network is trained for it", d.family)
		}
		if least == nil {
			least = f
		}
		p, ok := f.(interface{ Parameters() []string })
		if len(named) == 0 || ok && k > 1 && !slices.ContainsFunc(named, func(n string) bool { return !slices.Contains(p.Parameters(), n) }) {
			return f, nil
		}
	}
	return least, nil // Train says which predictors there are
}
