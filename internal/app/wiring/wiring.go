// Package wiring makes the arguments of decompose.Decompose from a network, rows, formulas and a
// response, and afterwards notes in the result what it was made of. Package
// recipe says in which order. It knows neither flags nor the files of a result.
package wiring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/interaction"
	"github.com/pho-go/pho/label"
)

// Request says what is to be decomposed.
type Request struct {
	Network   *Network
	Model     decompose.Model       // in place of Network: a model that is no ONNX file
	Others    []*Network            // further networks of the same task, which are decomposed with it
	From      decompose.MembersFrom // in what several networks differ
	Rows      files.Source          // as Coded shows them
	Inputs    map[string][]string   // columns of inputs, as onnx.Bind has it
	Open      *onnx.Options         // how to read the structure of the network; Decode and Engine are set here
	Precision onnx.Precision        // what the network is computed in
	Engine    string                // Own or ONNXRuntime, for which networks are loaded with KeepFile and Precision is onnx.Single; "": Own
	// NoMatrixUnits is onnx.GoEngine's.
	NoMatrixUnits bool
	Formulas      []string // none, of a network without structure: "~ ."; "." is expanded here
	Factors       []string // numeric columns that the rows hold as categories
	Select        bool     // smoothing may remove whole terms of the formulas
	Family        string   // of the response, as family.Parse has it; "": see Ready.TrainedFor, or what the head suggests
	Class         string   // reference: predictors of classes are differences to it; "": they are centred
	Drops         bool     // the rows leave out those with missing cells
	Cache         int64    // bytes of rows that may stay in memory while the terms are made
	Export        bool     // the result will be written into the network's file: refuse what cannot be
	// Interactions is how many pairs of columns AddPairs or More adds to the formulas, those that
	// the remainder depends on most: a number, AutoInteractions, MoreInteractions or NoInteractions.
	Interactions int
	ID           string        // column that names rows, which no network reads unless it is bound to it; "": none
	Labels       *label.Labels // what people call columns, predictors and terms; nil: what the data do
	Title        string        // of the report; "": it has its own

	// Scans looks at the rows for whatever terms, response and family need to know of them; nil: Rows are
	// all there are. Ready then reads nothing of Rows but the schema. Its looks are called "choice of terms",
	// with a number behind it for each further formula with a ".", "response", "terms", "terms 2", ..., and
	// "family"; a *decompose.ScanNeeded has the rows as that look is to see them.
	Scans decompose.Scans
	// First are the rows, to read the first of them beside Scans: another engine is compared on them; nil: they are not here.
	First files.Source
	// Rank is decompose.Decompose for the ranking that AddPairs goes by, where Rows are not all there are; nil: it is that.
	Rank func(ctx context.Context, m decompose.Model, rows data.Source, o *decompose.Options) (*decompose.Result, error)
	// Terms keeps what the specs of formulas have become after the look of that name, or puts other such in their
	// place; nil: it is left.
	Terms func(look string, made []decompose.Prepared) ([]decompose.Prepared, error)

	helper        *onnxruntime.Helper // that computes; nil: it is not started, or not asked for
	chosen        [][]string          // by formula, the columns of the smooths that "." was expanded to
	extended      int                 // how often pairs were added to the formulas, or smooths grew: the looks at terms are others each time
	paired, grown bool                // More has been asked for pairs, for smooths
	unasked       bool                // the formula is "~ ." since there was none

	// Options are those of the decomposition. Ready sets Family, Shared, WithoutIntercept and DeepFeatures,
	// and ReconstructionTolerance if it is 0.
	Options *decompose.Options
}

// Ready is all that decompose.Decompose needs.
type Ready struct {
	Graph *onnx.Model     // the network, the first of several, and the structure found in it; nil: a model that is no ONNX file
	Base  decompose.Model // that model; or the network, its classes made unique (package classes)
	Model decompose.Model // with the terms of the formulas
	Rows  *CachedRows     // as the network sees them
	Notes []string        // what the reader of the result should know; "" is nothing
	// Chosen are the formulas whose "." was expanded, as they can be copied; LeftOut says
	// which columns have no term there, and why.
	Chosen, LeftOut []string
	// Stopped says, by predictor, why AutoInteractions added no more pairs; nil: nobody asked for them.
	Stopped []string
	// TrainedFor is the family that was taken because the network's file says that it was
	// trained for it, on this response; "": it says nothing, or a family was asked for.
	TrainedFor string
	// Event is the column of events that was taken because the file names it; "": none was.
	Event string

	reference Reference
	formulas  []string // of the request, "." expanded
	sample    *interaction.Sample
	unranked  bool // nobody asks which pairs the remainder depends on
	lack      *diagnostics.LackOfFit
	heads     []string          // of the predictors
	deep      []*decompose.Deep // of the predictors
	labels    *label.Labels
	title     string
	id        string
	workers   int                                            // 0: GOMAXPROCS
	network   *Network                                       // that Graph is of
	compare   func(ctx context.Context) (*comparison, error) // of the engine with ours; nil: it is ours
}

// Ready binds the network to the rows, adds the terms of the formulas and finds the
// family. It reads the rows if terms or the family need to see them. Errors of what was
// asked for are *OptionError.
func (q *Request) Ready(ctx context.Context) (*Ready, error) {
	o := q.Options
	trainedFor, event, err := q.trainedFor()
	if err != nil {
		return nil, err
	}
	o.Event = cmp.Or(o.Event, event)
	if err := q.writeRanges(); err != nil {
		return nil, err
	}
	formulas, err := q.parse()
	if err != nil {
		return nil, err
	}
	if err := q.Rows.Schema().Require("the data", present(q.ID)); err != nil {
		return nil, optionError("id", err)
	}
	s, err := q.open(ctx)
	if err != nil {
		return nil, err
	}
	chosen, leftOut, err := q.expand(ctx, s.models[0])
	if err != nil {
		return nil, err
	}
	if len(chosen) > 0 {
		if formulas, err = q.parse(); err != nil {
			return nil, err
		}
	}
	if err := q.contrast(s, trainedFor); err != nil {
		return nil, err
	}
	if err := q.checkLabels(s.models[0], &s.reference); err != nil {
		return nil, err
	}
	if o.Family, err = q.family(s, trainedFor); err != nil {
		return nil, err
	}
	thresholdsNote, err := q.ownThresholds(ctx, s.graphs)
	if err != nil {
		return nil, err
	}
	if err := q.readClasses(s); err != nil {
		return nil, err
	}
	if o.DeepFeatures, err = s.features(); err != nil {
		return nil, err
	}
	s.reference.Rounded = ownColumns(s.entered(), formulas, o)
	if o.Kept != nil { // what the rounding does to the network's own terms is in its outputs
		o.Kept.Over(strings.Join(s.reference.Rounded, "\x00"))
	}
	see := func(rows files.Source) files.Source {
		return seen(s.entered(), s.reference.Rounded, readColumns(formulas, o), o.Columns.Names(), linked(rows, q.networks()))
	}
	rows := cached(see(q.Rows), q.Cache)
	if o.ReconstructionTolerance == 0 {
		o.ReconstructionTolerance = tolerance(q.Precision)
	}
	if s.graph() != nil && q.Network.Predictions == nil { // before the rows are read
		if err := q.exports(s, s.models[0]); err != nil {
			return nil, err
		}
	}
	m, sample, notes, err := q.extend(ctx, s.models, rows, formulas)
	if err != nil {
		return nil, err
	}
	if err := q.sameRounding(s.graphs); err != nil {
		return nil, err
	}
	if s.contrasts != nil {
		notes = append(notes, q.share(s.contrasts, m)...)
	}
	if err := q.exports(s, m); err != nil {
		return nil, err
	}
	if o.Family, err = q.estimate(ctx, m, rows); err != nil {
		return nil, err
	}
	notes = append(notes, q.twice(), cmp.Or(thresholdsNote, thresholds(o.Family)))
	notes = append(notes, s.passedOver(), q.unnamed(), q.readsResponse(s.models[0]), q.explainsItself(formulas), s.reference.takenAsPredictors(o.Family))
	notes = append(notes, s.responses()...)
	d := &Ready{
		Graph: s.graph(), Base: s.models[0], Model: m, Rows: rows, Notes: notes, Chosen: chosen, LeftOut: leftOut, TrainedFor: trainedFor, Event: event,
		reference: s.reference, formulas: q.Formulas, sample: sample, unranked: q.Interactions == NoInteractions, heads: s.heads, deep: deepOf(s.graph(), s.contrasts), labels: q.Labels, title: q.Title, id: q.ID, workers: q.Options.Workers, network: q.Network,
	}
	if q.helper != nil {
		var first data.Source
		if q.Scans == nil {
			first = rows
		} else if q.First != nil {
			first = see(q.First)
		}
		d.compare = func(ctx context.Context) (*comparison, error) { return q.compareEngines(ctx, s, first) }
	}
	return d, nil
}

// notInputs are the columns that no input takes for being left over.
func (q *Request) notInputs() []string { return present(append(q.Options.Columns.Names(), q.ID)...) }

// tolerance is the largest error of a reconstruction, relative to eta's largest value,
// that is rounding.
func tolerance(p onnx.Precision) float64 {
	if p == onnx.Single {
		return 1e-4
	}
	return 1e-8
}

// trainedFor is what the network's file says of the response, the family unless one is
// asked for, the column of events unless one is named or the family knows none; "" where it
// says nothing or was trained on another column.
func (q *Request) trainedFor() (name, event string, err error) {
	o := q.Options
	if o.Response == "" || q.Network == nil {
		return "", "", nil
	}
	r, err := q.Network.Graph.Response()
	if err != nil && q.Family != "" {
		return "", "", nil
	}
	if err != nil || r == nil || r.Column != o.Response {
		return "", "", err
	}
	if f, err := family.Parse(cmp.Or(q.Family, r.Family), []string{""}); err == nil && family.Censored(f) != nil && o.Event == "" {
		event = r.Event
	}
	if q.Family == "" {
		name = r.Family
	}
	return name, event, nil
}

// family finds the family of the response; nil without a response.
func (q *Request) family(s *subject, trainedFor string) (family.Family, error) {
	if q.Options.Response == "" {
		return nil, nil
	}
	ref, heads := &s.reference, s.heads
	name, asked := cmp.Or(q.Family, trainedFor), true
	if name == "" {
		name, asked = family.Suggested(heads), false
		if s.probabilities() && len(heads) > 1 {
			name = "categorical(link=identity)"
		}
	}
	if err := s.checkProbabilities(name); err != nil {
		return nil, optionError("family "+name, err)
	}
	f, err := family.Parse(name, heads)
	columns := ref.predicted() && ref.Classes == nil
	switch {
	case !asked && len(heads) == 1 && err != nil:
		return nil, optionError("response", fmt.Errorf("no family says how %q hangs on a predictor that ends in %s: leave the response out%s", q.Options.Response, heads[0], map[bool]string{true: ", or name another link"}[columns]))
	case !asked && (err != nil || len(heads) > 1 && columns):
		return nil, optionError("response", fmt.Errorf("nothing says how %q hangs on the %d predictors of the model: name its family, leave the response out, or decompose one predictor", q.Options.Response, len(heads)))
	case err != nil && trainedFor != "":
		return nil, &OptionError{"family", fmt.Errorf("the metadata entry %q of the network's file says that it was trained for %q: %w; name another family, or write the network again", onnx.MetadataResponse, trainedFor, err)}
	case err != nil && columns:
		return nil, optionError("family "+name, ref.otherLink(name, len(heads), err))
	case err != nil:
		return nil, optionError("family "+name, err)
	}
	return ref.againstClass(f)
}

// Complete notes in r which network it is of, its path as seen from dir ("": the
// absolute one), what is to be said of it, and where rows went. dropped is what is to be
// said of rows left out (see Dropped); how follows a warning of columns that may be in
// the wrong order, which asks to name them.
func (d *Ready) Complete(ctx context.Context, r *decompose.Result, dir, dropped, how string) (err error) {
	d.reference.Units = unitsOf(d.Rows.Schema(), append(TermColumns(r), d.Base.Columns()...))
	if r.Model, err = d.reference.In(dir); err != nil {
		return err
	}
	r.Formulas, r.ID, r.Title = d.formulas, d.id, d.title
	if !d.labels.IsEmpty() {
		r.Labels = d.labels
	}
	r.SetHeads(d.heads)
	for k := range d.deep {
		r.Predictors[k].Deep = d.deep[k]
	}
	notes := slices.Clone(d.Notes)
	if d.compare != nil {
		c, err := d.compare(ctx)
		if err != nil {
			return err
		}
		own, err := c.judged(r)
		if err != nil {
			return err
		}
		notes = append(notes, own...)
	}
	notes = append(notes, d.reference.guessed()...)
	for _, warning := range d.reference.disorder() {
		notes = append(notes, warning+how)
	}
	notes = append(append(append(notes, d.reference.units()...), levelWarnings(r)...), dropped)
	r.Warnings = slices.Concat(present(worseThanMean(r, &d.reference)), r.Warnings, present(notes...))
	if r.Diagnostics == nil {
		r.Diagnostics, err = rowDiagnostics(d.Rows, r.Rows)
	}
	return err
}

// Opened is what was decomposed, as ReopenAll opens it again.
func (d *Ready) Opened() *Opened {
	o := &Opened{Model: d.Base, Reference: &d.reference}
	if d.Graph != nil {
		o.Networks, o.Files = []*onnx.Model{d.Graph}, []*Network{d.network}
	}
	return o
}
