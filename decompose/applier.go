package decompose

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/pho-go/pho/data"
)

// Applier splits new rows with the training rows' alpha and centring (paper,
// appendix "Out-of-sample contributions"); nothing is fitted again. It is
// immutable and safe for concurrent use.
type Applier struct {
	result *Result
	model  Model
	terms  *plan
	at     [][]int
	errors [][]*uncertainty // nil: parts have no standard errors
	idle   *sync.Pool       // of *splitter
}

// Applier prepares r for rows of new data seen through m, the network that r
// was made of. Extra blocks of m are ignored: r brings its own terms.
func (r *Result) Applier(m Model) (*Applier, error) {
	if err := r.errLabelled(); err != nil {
		return nil, err
	}
	var faults []error
	names := m.Predictors()
	if len(names) != len(r.Predictors) {
		return nil, fmt.Errorf("decompose: the decomposition has %d predictors, the model %d: %q", len(r.Predictors), len(names), names)
	}
	taps := m.Taps()
	for k, d := range r.Predictors {
		if d.Name != names[k] {
			faults = append(faults, fmt.Errorf("decompose: predictor %d is %q in the decomposition, %q in the model", k+1, d.Name, names[k]))
		}
		for _, t := range d.Terms {
			if t.term == nil {
				faults = append(faults, fmt.Errorf("decompose: term %q has no basis: read the decomposition with a decoder", t.Name))
				continue
			}
			if tap, ok := t.term.(*Tap); ok && taps[tap.Tensor] != tap.Width {
				faults = append(faults, fmt.Errorf("decompose: term %q reads tensor %q, %d wide, which the model does not have", t.Name, tap.Tensor, tap.Width))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	a := &Applier{result: r, model: m, idle: new(sync.Pool)}
	a.terms, a.at = r.layout()
	return a, nil
}

// WithErrors returns an applier whose parts have standard errors, NaN where a
// term is not identified or the result has no covariance.
func (a *Applier) WithErrors() *Applier {
	with := *a
	with.errors, with.idle = a.result.uncertainties(), new(sync.Pool)
	return &with
}

// HasErrors reports whether the parts have standard errors.
func (a *Applier) HasErrors() bool { return a.errors != nil }

// splitter is one that nobody else uses, until it is given back.
func (a *Applier) splitter() *splitter {
	if s, ok := a.idle.Get().(*splitter); ok {
		return s
	}
	s := a.result.splitter(a.model, a.terms, a.at)
	s.errors = a.errors
	return s
}

func (a *Applier) giveBack(s *splitter) {
	s.forward.forget()
	a.idle.Put(s)
}

// Columns names the data columns that All needs.
func (a *Applier) Columns() []string {
	return union(append([]string(nil), a.model.Columns()...), a.terms.columns())
}

// All yields the parts of every row of src in order, in chunks of at most 4096
// rows, with the columns of Columns and extra. An error ends the sequence.
func (a *Applier) All(ctx context.Context, src data.Source, extra ...string) iter.Seq2[*Parts, error] {
	return func(yield func(*Parts, error) bool) {
		s := a.splitter()
		defer a.giveBack(s)
		for b, err := range data.Rebatch(src.Batches(ctx, union(a.Columns(), extra)), 4096) {
			if err != nil {
				yield(nil, err)
				return
			}
			parts := new(Parts)
			if err := s.split(ctx, parts, b, nil); err != nil {
				yield(nil, err)
				return
			}
			if !yield(parts, nil) {
				return
			}
		}
	}
}

// Parts splits the rows of one batch. It allocates the result and nothing else.
func (a *Applier) Parts(ctx context.Context, b *data.Batch) (*Parts, error) {
	parts := new(Parts)
	if err := a.PartsInto(ctx, parts, b); err != nil {
		return nil, err
	}
	return parts, nil
}

// PartsInto is Parts into dst, whose slices and matrices are overwritten, or
// replaced where the batch before had fewer rows: a service that keeps a Parts for
// each goroutine allocates nothing. What was read from dst before must have been
// copied; dst keeps b. After an error dst holds nothing of use. The zero Parts is
// a valid dst; two calls at the same time need two of them.
func (a *Applier) PartsInto(ctx context.Context, dst *Parts, b *data.Batch) error {
	s := a.splitter()
	defer a.giveBack(s)
	return s.split(ctx, dst, b, nil)
}
