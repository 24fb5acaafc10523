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
// Rows are any data.Source: files (OpenRows), a data.Table in memory, one of your own.
// The package holds no logic. What it puts together can be had one by one: adapters/onnx
// opens networks, basis reads formulas, decompose splits any model and writes the
// artifact, report makes tables and pages of it, nam and adapters/native train and
// analyse networks. Errors are those of these packages and say which file, column, row
// or term they are about; those that a program may react to have types, such as
// data.MissingColumnError and onnx.UnsupportedOperatorError.
package pho

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/label"
	"github.com/pho-go/pho/nam"
	"github.com/pho-go/pho/report"
)

// Options say what to decompose a network into. The zero value, and nil, take the
// structure that the network itself has.
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

	// Orders asks for the shares of main effects and interactions (decompose.Options.Orders).
	Orders bool
	// Interactions is how many pairs of columns come to the formula, those that the
	// remainder depends on most: the network is then decomposed twice. A number,
	// AutoInteractions or NoInteractions.
	Interactions int

	// ExportONNX makes Write write adapted.onnx too (see WriteONNX), and Decompose refuse,
	// before it reads the rows, what cannot be written there.
	ExportONNX bool

	// Decompose is everything else: smoothing, workers, progress, visitors. What is set
	// above goes before what is set there. nil: the defaults.
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

// Decomposition is a network split over rows. It is safe for concurrent use.
type Decomposition struct {
	// Result holds what was found: terms and their coefficients, variances, importance,
	// warnings. It is not to be changed.
	Result *decompose.Result
	// Network is the network that Result is of.
	Network *onnx.Model
	// Model has the predictors of Result: it is Network, or that with the predictors of
	// classes made unique. What takes a model besides a result takes this.
	Model decompose.Model

	rounded []string // columns that terms see as the network does
	export  bool     // Options.ExportONNX
}

// Decompose splits the predictor of the network in an ONNX file over rows, which are
// read a few times and must not change meanwhile.
func Decompose(ctx context.Context, network string, rows data.Source, o *Options) (*Decomposition, error) {
	if o == nil {
		o = &Options{}
	}
	settings, formulas := o.settings(), o.formulas()
	if err := wiring.CheckFormulas(formulas, settings); err != nil {
		return nil, err
	}
	n, err := wiring.Load(network, 0)
	if err != nil {
		return nil, err
	}
	coded, err := wiring.Coded(wiring.FilesOf(rows), n.Graph)
	if err != nil {
		return nil, err
	}
	request := wiring.Request{
		Network: n, Rows: coded, Inputs: o.Inputs, Open: &onnx.Options{}, Formulas: formulas, Family: o.Family, Class: o.Reference,
		Drops: true, // perhaps: a source does not say
		Cache: wiring.MaxCached, Export: o.ExportONNX, Options: settings, Interactions: o.Interactions,
		Labels: o.Labels,
	}
	ready, err := request.Ready(ctx)
	if err != nil {
		return nil, err
	}
	if ready, _, err = request.AddPairs(ctx, ready); err != nil {
		return nil, err
	}
	model, variant := ready.Model, nam.Default(ready.Model, settings.Method)
	if variant != "" {
		if model, _, err = nam.Prepare(ctx, model, ready.Rows, variant, &nam.Options{Decompose: settings}); err != nil {
			return nil, err
		}
	}
	if err := ready.CheckLabels(model); err != nil {
		return nil, err
	}
	settings.Visitors = append(slices.Clone(settings.Visitors), importance.New(settings.Family), diagnostics.NewKCheck(0).WithContext(ctx), report.NewExamples(model.Columns()))
	settings.Visitors = append(settings.Visitors, ready.Ranking()...)
	r, err := decompose.Decompose(ctx, model, ready.Rows, settings)
	if err != nil {
		return nil, err
	}
	if variant != "" {
		r.PHONAM, ready.Notes = string(variant), append(ready.Notes, nam.NearCopies(r)...)
	}
	r.CreatedBy = revision.Maker
	if err := ready.Complete(r, "", wiring.Dropped(ready.Rows, ""), ""); err != nil {
		return nil, err
	}
	return &Decomposition{r, ready.Graph, ready.Base, ready.Rounded(), o.ExportONNX}, nil
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

// formulas are all that are given.
func (o *Options) formulas() []string {
	if o.Formula == "" {
		return o.Formulas
	}
	return append([]string{o.Formula}, o.Formulas...)
}

// Write writes the decomposition to the directory dir, which is absent, empty or an
// earlier result and is replaced whole: decomposition.json and moments.bin, which Read
// and the commands `pho apply` and `pho verify` take, effects.csv and report.html, and
// adapted.onnx if Options.ExportONNX asked for it. The contributions of the rows are not
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
		if err := durable.WriteFile(to.Path(resultdir.Adapted), func(f *os.File) error { return d.WriteONNX(f) }); err != nil {
			return err
		}
	}
	return to.Commit()
}

// WriteONNX writes the network's file with an output for every term, the intercept, the
// unstructured part and eta of every predictor: any ONNX runtime computes predictions and
// contributions in one run. The network's graph and outputs stay as they are; see
// adapters/onnx/export. The file that was decomposed must still be where it was.
func (d *Decomposition) WriteONNX(w io.Writer) error {
	ref := wiring.ReferenceOf(d.Result)
	return wiring.Export(w, ref.Path, ref.SHA256, d.Network, d.Result)
}

// Read reads a decomposition that Write or `pho decompose` wrote to dir, and opens its
// network: the file at the recorded place, or one of the same name beside dir. Another
// file than the one that was decomposed is an error, as is a damaged result
// (decompose.ErrDigest).
func Read(dir string) (*Decomposition, error) {
	r, err := resultdir.Read(dir)
	if err != nil {
		return nil, err
	}
	network, ref, err := wiring.Reopen(r, dir, "", 0, "")
	if err != nil {
		return nil, err
	}
	model, err := ref.Contrasted(network)
	if err != nil {
		return nil, err
	}
	ref.Path = ref.File
	if r.Model, err = ref.In(""); err != nil {
		return nil, err
	}
	return &Decomposition{r, network, model, ref.Rounded, false}, nil
}

// Parts yields the parts of every row of rows in order, in chunks of at most 4096 rows:
// intercept, terms, unstructured part and the network's own output, which they sum to.
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
		coded, err := wiring.Coded(wiring.FilesOf(rows), d.Network.Graph())
		if err != nil {
			yield(nil, err)
			return
		}
		for p, err := range applier.All(ctx, wiring.Seen(d.Network, d.rounded, wiring.TermColumns(d.Result), coded)) {
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}
