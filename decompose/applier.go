package decompose

import (
	"context"
	"errors"
	"fmt"
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
	errors [][]errorForm // nil: parts have no standard errors
	idle   *sync.Pool    // of *splitter
	unseen *data.UnseenLevels

	workers int // 0: GOMAXPROCS
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
	r = r.of(m)
	for k, d := range r.Predictors {
		if d.Name != names[k] {
			faults = append(faults, fmt.Errorf("decompose: predictor %d is %q in the decomposition, %q in the model", k+1, d.Name, names[k]))
		}
		for _, t := range d.Terms {
			if t.term == nil {
				faults = append(faults, fmt.Errorf("decompose: term %q has no basis: read the decomposition with a decoder", t.Name))
				continue
			}
			if tap, ok := t.term.(*Tap); ok && taps[tap.Tensor] != tap.Numbers() {
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
	with.errors, with.idle = a.result.errorForms(), new(sync.Pool)
	return &with
}

// WithWorkers returns an applier that takes at most so many goroutines for rows; 0:
// GOMAXPROCS, as without it. No result depends on it.
func (a *Applier) WithWorkers(n int) *Applier {
	with := *a
	with.workers = n
	return &with
}

// ZeroUnseen returns an applier that splits rows with levels that a term does not know, in place of
// returning a *data.UnseenLevelError: the term's part is 0 there, its standard error NaN, and the
// unstructured part what the other parts leave of the network's own output. tally counts these
// rows. A level that the network itself cannot take stays an error.
func (a *Applier) ZeroUnseen(tally *data.UnseenLevels) *Applier {
	with := *a
	with.unseen = tally
	return &with
}

// Workers is how many goroutines a may take.
func (a *Applier) Workers() int { return a.options().workers() }

// HasErrors reports whether the parts have standard errors.
func (a *Applier) HasErrors() bool { return a.errors != nil }

// splitter is one that nobody else uses, until it is given back.
func (a *Applier) splitter() *splitter {
	s, ok := a.idle.Get().(*splitter)
	if !ok {
		s = a.result.splitter(a.model, a.terms, a.at)
		s.errors = a.errors
	}
	s.forward.eval.unseen = nil
	if a.unseen != nil {
		s.forward.eval.unseen = newUnseenTerms(a.unseen)
	}
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
// a valid dst; two calls at the same time need two of them. Batches of some thousand rows
// are shared out to goroutines, which end before the call does.
func (a *Applier) PartsInto(ctx context.Context, dst *Parts, b *data.Batch) error {
	s := a.splitter()
	defer a.giveBack(s)
	if shares := a.shares(b.Rows()); shares > 1 {
		return a.share(ctx, s, dst, b, shares)
	}
	return s.split(ctx, dst, b, nil)
}

// shareRows is how many rows a goroutine gets at least: its start is then a hundredth of
// its work, even of small networks.
const shareRows = 4 * evalRows

// shares is into how many parts a batch of n rows is cut.
func (a *Applier) shares(n int) int {
	if n < 2*shareRows {
		return 1
	}
	return min(n/shareRows, a.options().workers())
}

// share splits the rows of b in so many goroutines, s being the splitter of one. Where
// blocks of rows begin is as in one.
func (a *Applier) share(ctx context.Context, s *splitter, dst *Parts, b *data.Batch, shares int) error {
	s.prepare(dst, b)
	blocks := (b.Rows() + evalRows - 1) / evalRows
	errs := make([]error, shares)
	var running sync.WaitGroup
	for i := range shares {
		from, to := i*blocks/shares*evalRows, min((i+1)*blocks/shares*evalRows, b.Rows())
		running.Go(func() {
			own := s
			if i > 0 {
				own = a.splitter()
				defer a.giveBack(own)
			}
			errs[i] = own.rows(ctx, dst, b, from, to, nil)
		})
	}
	running.Wait()
	for _, err := range errs { // the first of the rows, as in one goroutine
		if err != nil {
			return err
		}
	}
	return nil
}
