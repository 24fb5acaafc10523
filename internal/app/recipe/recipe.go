// Package recipe is the order of a decomposition: its steps, and their order. The command,
// plans and package pho make their results by it; what differs between them are fields of
// a Recipe.
package recipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/nam"
	"github.com/pho-go/pho/report"
)

// Recipe says what is to be decomposed, and how.
type Recipe struct {
	*wiring.Request

	PHONAM nam.Variant // how a neural additive model is projected; "": nam.Default
	Seed   uint64      // of the k-check
	NoRows bool        // the result holds no values of single rows: no examples, no samples of features
	Target string      // the directory that the result will lie in, from which it sees its network; "": absolute paths
	Words  Words       // of whoever calls

	// Fit keeps what is ready within the memory that there is. It is called before each decomposition: of the
	// network to rank pairs, if any are asked for, and of the last model; once more for each time that terms are added. nil: nothing bounds
	// the memory.
	Fit func(m decompose.Model, ready *wiring.Ready) error
	// Decompose makes the passes over the rows; nil: decompose.Decompose.
	Decompose func(ctx context.Context, m decompose.Model, rows *wiring.CachedRows, o *decompose.Options) (*decompose.Result, error)
}

// Within is a Recipe's Fit that refuses what needs more memory than bound, a fifth of it for the garbage collector.
func Within(bound int64, o *decompose.Options) func(decompose.Model, *wiring.Ready) error {
	least := *o
	least.OutputMemory = -1
	return func(m decompose.Model, ready *wiring.Ready) error {
		need, err := decompose.EstimateMemory(m, max(ready.Rows.Len(), 0), &least)
		if err != nil {
			return err
		}
		return need.Add("garbage between collections", need.Total()/5, "").Check(bound)
	}
}

// Words follow warnings: how somebody who calls a program, say, changes what they are about.
type Words struct {
	Dropped string // behind "rows were left out"
	Inputs  string // behind "name the columns in order"
}

// Made is what the steps have made.
type Made struct {
	*wiring.Ready                   // nil: not so far
	Added         []string          // terms of pairs, and smooths that grew
	Model         decompose.Model   // of Ready, its deep part projected as variant says
	Result        *decompose.Result // nil: not so far

	variant nam.Variant // "": the model is no neural additive one
}

// Make makes a decomposition, step by step. With an error there is what was made by then.
func (q *Recipe) Make(ctx context.Context) (*Made, error) {
	made, kept := new(Made), new(decompose.KeptOutputs)
	defer kept.Close()
	q.Options.Kept = kept // the network runs once, however often it is decomposed
	return made, q.each(ctx, made,
		q.terms,      // the network is bound to the rows; terms of formulas are made, and the family is found
		q.pairs,      // terms are added of the pairs of columns that the remainder depends on
		q.projection, // of a neural additive model
		q.checks,     // of what only the last model tells
		q.memory,     // of the passes
		q.passes,     // over the rows: the fit, and what its parts are worth
		q.more,       // terms that nobody named, for what the chosen ones miss: the passes once more
		q.notes,      // in the result: what it was made of
	)
}

// step makes one thing more.
type step func(ctx context.Context, made *Made) error

func (q *Recipe) each(ctx context.Context, made *Made, steps ...step) error {
	for _, s := range steps {
		if err := s(ctx, made); err != nil {
			return err
		}
	}
	return nil
}

func (q *Recipe) terms(ctx context.Context, made *Made) (err error) {
	made.Ready, err = q.Ready(ctx)
	return err
}

func (q *Recipe) pairs(ctx context.Context, made *Made) error {
	if !q.NamesPairs() {
		return nil
	}
	if err := q.fit(made.Ready.Model, made.Ready); err != nil {
		return err
	}
	ready, added, err := q.AddPairs(ctx, made.Ready)
	if err != nil {
		return err
	}
	made.Ready, made.Added = ready, added
	return nil
}

func (q *Recipe) projection(ctx context.Context, made *Made) error {
	made.Model, made.variant = made.Ready.Model, q.PHONAM
	if made.variant == "" {
		made.variant = nam.Default(made.Model, q.Options.Method)
	}
	if made.variant == "" {
		return nil
	}
	m, notes, err := nam.Prepare(ctx, made.Model, made.Rows, made.variant, &nam.Options{Decompose: q.Options, Scans: q.Scans})
	if err != nil {
		return err
	}
	made.Model, made.Notes = m, append(made.Notes, notes...)
	if q.Export {
		return made.CheckExport(m)
	}
	return nil
}

func (q *Recipe) checks(_ context.Context, made *Made) error {
	return errors.Join(made.CheckLabels(made.Model), CheckID(q.ID, made.Rows.Schema(), made.Model))
}

func (q *Recipe) memory(_ context.Context, made *Made) error { return q.fit(made.Model, made.Ready) }

func (q *Recipe) fit(m decompose.Model, ready *wiring.Ready) error {
	if q.Fit == nil {
		return nil
	}
	return q.Fit(m, ready)
}

func (q *Recipe) passes(ctx context.Context, made *Made) (err error) {
	o := *q.Options
	o.Visitors = slices.Concat(o.Visitors, q.visitors(ctx, made))
	if made.variant != "" { // which has other outputs than the network
		o.Kept = nil
	}
	if q.Decompose == nil {
		made.Result, err = decompose.Decompose(ctx, made.Model, made.Rows, &o)
		return err
	}
	made.Result, err = q.Decompose(ctx, made.Model, made.Rows, &o)
	return err
}

func (q *Recipe) more(ctx context.Context, made *Made) error {
	for {
		before, formulas := *made, q.Formulas
		added, err := q.More(made.Ready, made.Result)
		if err != nil || len(added) == 0 {
			return err
		}
		again := func(ctx context.Context, made *Made) (err error) {
			made.Added = slices.Concat(made.Added, added)
			made.Ready, err = q.Again(ctx, made.Ready, added)
			return err
		}
		err = q.each(ctx, made, again, q.projection, q.checks, q.memory)
		if large := new(decompose.MemoryError); errors.As(err, &large) { // nobody asked for these terms
			*made, q.Formulas = before, formulas
			made.Notes = append(made.Notes, fmt.Sprintf("%s would fit what is left, and need more memory than there is: %v", strings.Join(added, ", "), large))
			return nil
		}
		if err == nil {
			err = q.passes(ctx, made)
		}
		if err != nil {
			return err
		}
	}
}

// visitors are those of the last pass that every result has.
func (q *Recipe) visitors(ctx context.Context, made *Made) []decompose.Visitor {
	all := append([]decompose.Visitor{importance.New(q.Options.Family), diagnostics.NewKCheck(q.Seed).WithContext(ctx), made.LackOfFit()}, made.Ranking()...)
	if !q.NoRows {
		all = append(all, report.NewExamples(made.Model.Columns()).WithID(q.ID))
	}
	return all
}

func (q *Recipe) notes(ctx context.Context, made *Made) error { return q.Note(ctx, made, made.Result) }

// Note notes in r what it was made of. Make does it; it is for results that a plan's first passes lead to,
// whose last one is still to come.
func (q *Recipe) Note(ctx context.Context, made *Made, r *decompose.Result) error {
	made.Result = r
	if q.NoRows {
		for i := range r.Features {
			r.Features[i].Sample = nil
		}
	}
	if made.variant != "" {
		r.PHONAM = string(made.variant)
		made.Notes = append(made.Notes, nam.NearCopies(r)...)
	}
	r.CreatedBy = revision.Maker
	return made.Complete(ctx, r, q.Target, wiring.Dropped(made.Rows, q.Words.Dropped), q.Words.Inputs)
}

// CheckID refuses a column to name rows by that the data have not, or that is called like one of the
// contributions of m, before rows are read.
func CheckID(id string, schema data.Schema, m decompose.Model) error {
	if id == "" {
		return nil
	}
	err := schema.Require("the data", []string{id})
	if c, _ := schema.Lookup(id); c.Width > 0 {
		err = fmt.Errorf("column %q %s, which name no row", id, c.HoldsText())
	}
	if err == nil {
		err = report.CheckID(id, report.ContributionColumns(outline(m)))
	}
	if err != nil {
		return &wiring.OptionError{Option: "id", Err: err}
	}
	return nil
}

// outline is a result of m's predictors and terms, without anything found.
func outline(m decompose.Model) *decompose.Result {
	var r decompose.Result
	for k, name := range m.Predictors() {
		d := decompose.Predictor{Name: name}
		for _, b := range m.Blocks(k) {
			d.Terms = append(d.Terms, decompose.TermResult{Name: b.Term.Name()})
		}
		r.Predictors = append(r.Predictors, d)
	}
	return &r
}
