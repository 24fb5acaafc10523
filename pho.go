// Package pho opens a trained network and splits its predictor, over the rows of a
// table, into structured terms and a deep remainder that is orthogonal to them
// (post-hoc orthogonalization). Predictions stay as they are:
//
//	eta = intercept + sum_j term_j + unstructured     in every row
//
// Three lines do it, write it, and apply it to new rows:
//
//	d, err := pho.Decompose(ctx, "net.onnx", rows, &pho.Options{Formula: "y ~ s(x1) + x2"})
//	err = d.Write(ctx, "result")
//	for parts, err := range d.Parts(ctx, more) { ... }
//
// What is decomposed is a network by its file, a network that somebody reads from elsewhere,
// or any model. Two functions for each, one that begins with rows and one that begins with
// a result:
//
//	Decompose       Read        the network's file
//	DecomposeONNX   ReadONNX    its bytes, from an io.Reader
//	DecomposeModel  ReadModel   a decompose.Model
//
// Rows are any data.Source: files (OpenRows), a data.Table in memory, one of your own.
// The package holds no logic. What it puts together can be had one by one: adapters/onnx
// opens networks, basis reads formulas, decompose splits any model and writes the
// artifact, report makes tables and pages of it, nam and adapters/native train and
// analyse networks. Errors are those of these packages and say which file, column, row
// or term they are about; those that a program may react to have types, such as
// data.MissingColumnError and onnx.UnsupportedOperatorError.
package pho

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/served"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/machine"
	"github.com/pho-go/pho/label"
)

// Options say what to decompose a network, or another model, into. The zero value, and nil,
// take the structure that the model itself has.
type Options struct {
	// Formula adds terms to those of the network, as `y ~ x1 + s(x2, bs="ps", k=20)` or,
	// without a response, `~ x1`: see package basis. A term that the network has too is
	// the same term. "": none.
	Formula string
	// Formulas are further ones, for single predictors of the network: `sigma = ~ x1`.
	Formulas []string

	Response string // column of the response, for importance; "": the one that a formula names, or none
	Family   string // distribution of the response as in family.Parse; "": what the network suggests
	Event    string // column that says of a response that is a time: 1 the event was seen then, 0 not until then; "": always
	Weights  string // column of row weights; "": ones
	// Reference is the class that predictors of classes, those of a softmax, are differences
	// to. "": they are centred over the classes of every row (package classes). Of two
	// classes the predictor is the log odds of the second, or of the one that is not it.
	Reference string
	Offset    string // column added to the first predictor in the likelihood; "": none

	// Inputs are the columns of the network's inputs, in order, by name of the input.
	// Those that are left out bind to columns of their names or, if it is a single one,
	// to the numeric columns that are left, if they are exactly as many as it takes.
	Inputs map[string][]string

	// Labels are what people call columns, levels, terms and predictors: reports use them,
	// while names in results stay as they are (docs/labels.md). nil: no others.
	Labels *label.Labels
	// Title is the report's heading; "": the predicted quantity and the model.
	Title string

	// Orders asks for the shares of main effects and interactions (decompose.Options.Orders).
	Orders bool
	// Interactions is how many pairs of columns come to the formula, those that the
	// remainder depends on most: the network is then decomposed twice. A number,
	// AutoInteractions or NoInteractions. 0: AutoInteractions if the terms are chosen for want of a Formula, else none.
	Interactions int

	// Link is the function of what a model behind an address answers that is decomposed: identity, log, logit, cloglog,
	// softplus, softmax. "": identity. Of any other model it is an error.
	Link string

	// ExportONNX makes Write write adapted.onnx or surrogate.onnx too (see WriteONNX), and Decompose refuse,
	// before it reads the rows, what cannot be written there.
	ExportONNX bool

	// MaxMemory is how many bytes a decomposition may need, by decompose.EstimateMemory, rather than not begin; 0: as
	// many as the machine has, negative: any number.
	MaxMemory int64

	// Decompose is everything else: smoothing, workers, progress, visitors. Fields above go before
	// fields there. nil: the defaults.
	Decompose *decompose.Options
}

// What Options.Interactions may be besides a number of pairs. In any case but the last
// Predictor.Remainder of the result says what is left.
const (
	AutoInteractions = wiring.AutoInteractions // those that take at least 0.5 % of the variance from the remainder
	NoInteractions   = wiring.NoInteractions   // none, and the remainder is not looked into
)

// OpenRows opens data files of one format, CSV (also gzipped), Parquet, Arrow IPC or
// NumPy, as one table, in the order of paths. Patterns (part-*.csv) stand for all files
// that match. Columns of text are categories. files.Open has options. Close the source
// after the last use.
func OpenRows(paths ...string) (files.Source, error) {
	paths, err := data.Expand(paths)
	if err != nil {
		return nil, err
	}
	return files.Open(paths, &files.Options{Workers: runtime.GOMAXPROCS(0)})
}

// Decomposition is a model split over rows. It is safe for concurrent use.
type Decomposition struct {
	// Result holds what was found: terms and their coefficients, variances, importance,
	// warnings. It is not to be changed.
	Result *decompose.Result
	// Network is the network that Result is of; nil: that is no ONNX file.
	Network *onnx.Model
	// Model has the predictors of Result: it is Network, or that with the predictors of
	// classes made unique, or the model that was given. What takes a model besides a
	// result takes this.
	Model decompose.Model

	of     *wiring.Opened
	export bool // Options.ExportONNX
}

// of is the decomposition r of what was opened.
func of(r *decompose.Result, what *wiring.Opened, export bool) *Decomposition {
	d := &Decomposition{Result: r, Model: what.Model, of: what, export: export}
	if len(what.Networks) > 0 {
		d.Network = what.Networks[0]
	}
	return d
}

// Decompose splits the predictor of the network in an ONNX file over rows, which are
// read a few times and must not change meanwhile. In place of a file network may be the address of a model that is
// served, http://HOST/v2/models/NAME or http://HOST/invocations, which is asked there (package adapters/served).
func Decompose(ctx context.Context, network string, rows data.Source, o *Options) (*Decomposition, error) {
	n, err := o.open(ctx, network)
	if err != nil {
		return nil, err
	}
	return o.decompose(ctx, n, nil, rows)
}

// open reads the network's file, or asks the model's server what it takes.
func (o *Options) open(ctx context.Context, model string) (*wiring.Network, error) {
	if !served.IsAddress(model) {
		return wiring.Load(model, 0)
	}
	var a wiring.Answers
	if o != nil {
		a.Link = o.Link
	}
	return wiring.Ask(ctx, model, a)
}

// DecomposeONNX is Decompose for a network that is no file: network is read to its end, and
// the bytes are kept. The result has their digest in place of a path: see ReadONNX. A
// network whose tensors lie in further files is an error.
func DecomposeONNX(ctx context.Context, network io.Reader, rows data.Source, o *Options) (*Decomposition, error) {
	n, err := wiring.LoadFrom(network, 0)
	if err != nil {
		return nil, err
	}
	return o.decompose(ctx, n, nil, rows)
}

// DecomposeModel is Decompose for a model that is no ONNX file: Go code, a model behind a
// connection. Columns are bound to it by its own names for them. Without terms of its own
// (Blocks), and without a formula, terms of its columns are chosen, as of any black box.
// Options.Inputs and Options.Reference are for networks: errors. The
// result says that it is of a function: see ReadModel.
func DecomposeModel(ctx context.Context, m decompose.Model, rows data.Source, o *Options) (*Decomposition, error) {
	if m == nil {
		return nil, errors.New("pho: the model is nil: give one, or a network to Decompose")
	}
	return o.decompose(ctx, nil, m, rows)
}

// decompose decomposes a network or, if that is nil, m.
func (o *Options) decompose(ctx context.Context, n *wiring.Network, m decompose.Model, rows data.Source) (*Decomposition, error) {
	if o == nil {
		o = &Options{}
	}
	if o.Link != "" && (n == nil || n.Asked == nil) {
		return nil, errors.New("pho: Options.Link is for a model behind an address: the predictor of any other is its own")
	}
	settings, formulas := o.settings(), o.formulas()
	if err := wiring.CheckFormulas(formulas, settings); err != nil {
		return nil, err
	}
	seen := wiring.FilesOf(rows)
	if n != nil {
		var err error
		if seen, err = wiring.Coded(seen, n.Graph); err != nil {
			return nil, err
		}
	}
	steps := recipe.Recipe{Request: &wiring.Request{
		Network: n, Model: m, Rows: seen, Inputs: o.Inputs, Open: &onnx.Options{}, Formulas: formulas, Family: o.Family, Class: o.Reference,
		Drops: true, // perhaps: a source does not say
		Cache: wiring.MaxCached, Export: o.ExportONNX, Options: settings, Interactions: cmp.Or(o.Interactions, wiring.MoreInteractions),
		Labels: o.Labels, Title: o.Title,
	}}
	if bound := cmp.Or(o.MaxMemory, machine.Memory()); bound > 0 {
		steps.Fit = recipe.Within(bound, settings)
	}
	made, err := steps.Make(ctx)
	if err != nil {
		return nil, err
	}
	return of(made.Result, made.Opened(), o.ExportONNX), nil
}

// settings are the options of package decompose.
func (o *Options) settings() *decompose.Options {
	settings := new(decompose.Options)
	if o.Decompose != nil {
		*settings = *o.Decompose
	}
	for _, s := range []struct {
		to   *string
		from string
	}{{&settings.Response, o.Response}, {&settings.Event, o.Event}, {&settings.Weights, o.Weights}, {&settings.Offset, o.Offset}} {
		if s.from != "" {
			*s.to = s.from
		}
	}
	settings.Orders = settings.Orders || o.Orders
	return settings
}

func (o *Options) formulas() []string {
	if o.Formula == "" {
		return o.Formulas
	}
	return append([]string{o.Formula}, o.Formulas...)
}

// Write writes the decomposition to the directory dir, which is absent, empty or an
// earlier result and is replaced whole: decomposition.json and moments.bin, which Read
// and the commands `pho apply` and `pho verify` take, effects.csv and report.html, and
// adapted.onnx if Options.ExportONNX asked for it (of a model that is no file surrogate.onnx). The contributions of the rows are not
// among them: see Parts.
func (d *Decomposition) Write(ctx context.Context, dir string) error {
	to, err := durable.NewDir(nil, resultdir.Files(), dir)
	if err != nil {
		return fmt.Errorf("pho: the result directory %w", err)
	}
	defer to.Discard()
	r := *d.Result
	ref := wiring.ReferenceOf(&r)
	if r.Model, err = ref.In(to.Target()); err != nil {
		return err
	}
	if err := resultdir.Write(ctx, to, d.Model, &r); err != nil {
		return err
	}
	if d.export {
		if err := durable.WriteFile(to.Path(resultdir.Exported(d.of.HasFile())), func(f *os.File) error { return d.WriteONNX(f) }); err != nil {
			return err
		}
	}
	return to.Commit()
}

// WriteONNX writes the network's file with an output for every term, the intercept, the
// unstructured part and eta of every predictor: any ONNX runtime computes predictions and
// contributions in one run. The network's graph and outputs stay as they are; see
// adapters/onnx/export. A booster's file is written as ONNX (boosters.ONNX). A file that was decomposed must still be where it was. Of a model
// that is no file it writes a surrogate: the structured part alone, with the size of the remainder in its metadata.
func (d *Decomposition) WriteONNX(w io.Writer) error { return d.of.Export(w, d.Result) }

// Read reads a decomposition that Write or `pho decompose` wrote to dir, and opens its
// network: the file at the recorded place, or one of the same name beside dir. Another
// file than the one that was decomposed is an error, as is a damaged result
// (decompose.ErrDigest), and one whose model no file holds: see ReadONNX, ReadModel.
func Read(dir string) (*Decomposition, error) {
	r, err := resultdir.Read(dir)
	if err != nil {
		return nil, err
	}
	opened, err := wiring.Reopen(r, dir, "", 0, wiring.Computing{})
	return reopened(dir, r, opened, err)
}

// ReadONNX is Read with the network, wherever it was when it was decomposed: network is
// read to its end. Another one than the one that was decomposed is an error.
func ReadONNX(dir string, network io.Reader) (*Decomposition, error) {
	r, err := resultdir.Read(dir)
	if err != nil {
		return nil, err
	}
	n, err := wiring.LoadFrom(network, 0)
	if err != nil {
		return nil, err
	}
	opened, err := wiring.ReopenNetwork(r, n)
	return reopened(dir, r, opened, err)
}

// ReadModel is Read for a decomposition by DecomposeModel. m is the model that was
// decomposed; a result knows no more of it than its columns, predictors and taps, and one
// that differs in these is an error.
func ReadModel(dir string, m decompose.Model) (*Decomposition, error) {
	r, err := resultdir.Read(dir)
	if err != nil {
		return nil, err
	}
	opened, err := wiring.ReopenModel(r, m)
	return reopened(dir, r, opened, err)
}

// reopened is the decomposition r, read from dir, of what was opened again.
func reopened(dir string, r *decompose.Result, opened *wiring.Opened, err error) (*Decomposition, error) {
	if err == nil {
		r.Model, err = opened.In("") // from dir, its path was another one
	}
	if err != nil {
		return nil, fmt.Errorf("decomposition %q: %w", dir, err)
	}
	return of(r, opened, false), nil
}

// Parts yields the parts of every row of rows in order, in chunks of at most 4096 rows:
// intercept, terms, unstructured part and the model's own output, which they sum to.
// The rows may be those that were decomposed or others; coefficients and centring are
// those of the decomposition. Columns that were categories then must be so now. An error
// ends the sequence; one for a level that was not there is a *data.UnseenLevelError.
func (d *Decomposition) Parts(ctx context.Context, rows data.Source) iter.Seq2[*decompose.Parts, error] {
	return func(yield func(*decompose.Parts, error) bool) {
		applier, err := d.Result.Applier(d.Model)
		if err != nil {
			yield(nil, err)
			return
		}
		seen, err := wiring.FilesOf(rows), error(nil)
		if d.Network != nil {
			seen, err = wiring.Coded(seen, d.Network.Graph())
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for p, err := range applier.All(ctx, d.of.Seen(d.Result, seen)) {
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}
