package decompose

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/penalty"
)

// Method is how the deep predictor is projected on the structured columns.
type Method string

const (
	// PHO is the orthogonal projection (paper, algorithm 2).
	PHO Method = "pho"
	// PHOGAM is the penalised projection (paper, equation adjpho).
	PHOGAM Method = "phogam"
)

// Route is what is accumulated of the rows.
type Route string

const (
	// Gram accumulates the products X'WX, in which condition numbers are squared:
	// ranks are decided for tolerances from 1e-6.
	Gram Route = "gram"
	// QR accumulates the triangular factor of [X, zeta] (TSQR): ranks are decided for
	// tolerances from 1e-13, and designs of condition 1e8 keep eight digits. It fills
	// up sparse columns, n rows costing 2 n p^2 operations for the p columns of all
	// predictors together: two to four times as long as the products of 200 dense or
	// spline columns, far longer than those of factors with many levels. Each worker
	// holds p^2 + 256 p numbers, and so does each of the merged blocks.
	QR Route = "qr"
)

// Options of a decomposition. The zero value, and nil, are sensible: PHO
// without penalised terms, PHOGAM with REML with them, no weights.
type Options struct {
	Method    Method          // "": PHOGAM if any term is penalised, else PHO
	Smoothing penalty.Options // zero: REML with estimated scale
	// RefitTotal penalises the whole structured predictor beta + alpha instead of
	// what moves: the additive model of eta. Another estimator than the paper's
	// PHOGAM, though the same without penalties.
	RefitTotal bool
	// SP fixes smoothing parameters by term name, on the reported scale.
	SP map[string][]float64

	// DF asks for effective degrees of freedom of terms by name, in place of a
	// choice by the criterion.
	DF map[string]float64
	// Groups names a column of groups of rows (text or numbers). Smoothing
	// parameters are then chosen by leaving out one group after the other, not by
	// Smoothing.Criterion: for a deep predictor that is no noise REML grows with the
	// rows, and prediction to new groups may be what matters.
	Groups string

	// RankTolerance: directions of the standardised columns whose singular value
	// is at most RankTolerance times the largest are left out. 0: 1e-4 if any
	// basis is learned (float32 weights), else 1e-6. At least 1e-6 with products,
	// which hold no more digits, and 1e-13 with the factor.
	RankTolerance float64
	// Route of the statistics. "": Gram, but QR for a RankTolerance below 1e-6; and
	// Decompose, if the products turn out to have lost digits (a direction whose
	// eigenvalue is below 1e-10 of the largest decides), reads the rows again by QR.
	// Solve warns then. Result.Route says what was used.
	Route Route
	// WithoutIntercept names predictors whose projection has no intercept column
	// (`- 1`). The contribution named intercept remains.
	WithoutIntercept []string

	Weights  string        // weights column; "": ones
	Response string        // response column, needed for importance
	Offset   string        // offset column, enters the likelihood only
	Family   family.Family // nil: no likelihood

	// Workers is how many goroutines take blocks of rows in the passes. 0: GOMAXPROCS.
	// No more than there are blocks begin, and no more than four for each processor (or
	// 16). The matrix products of Solve and of visitors are spread over GOMAXPROCS
	// processors. No result depends on either.
	Workers    int
	FirstBlock int // number of the merge block that the source's first row begins: for shards
	// Keep is how many bytes of the network's outputs (2K + taps float64 a row) stay in
	// memory between the passes; for the rows beyond them the network runs again. 0:
	// 256 MiB; negative: none. The answer does not depend on it.
	Keep int64
	// ZetaCache names a file for the outputs beyond Keep, so that the network runs once
	// for every row. It must not exist; it is removed in any case. "": none.
	ZetaCache string
	// ReconstructionTolerance: parts that miss the network's own output by more,
	// relative to its largest value, are an error. 0: 1e-4 (float32 networks).
	ReconstructionTolerance float64

	Progress func(Progress) // nil: silent; called from one goroutine
	Visitors []Visitor      // see every row's parts in the last pass
}

// Progress reports rows done in a pass.
type Progress struct {
	Pass string // "moments" or "contributions"
	Rows int64
}

// Visitor receives the parts of all rows in the last pass.
type Visitor interface {
	// Begin is called once with the solved result, before any rows.
	Begin(r *Result) error
	// Columns names further data columns that Map reads.
	Columns() []string
	// Map turns a block of rows into something to be added up; blocks run
	// concurrently. The numbers of p are valid until Map returns, when their memory
	// takes other rows: what is needed later must be copied (Parts.Clone). p.Batch may be kept.
	Map(p *Parts) (any, error)
	// Reduce takes the outcomes of Map in row order, one at a time.
	Reduce(part any) error
	// End is called once after the last row; it may write into the result.
	End(r *Result) error
}

const (
	minGramTolerance   = 1e-6
	minFactorTolerance = 1e-13
	// digitsLost: a fit that hangs on an eigenvalue of the standardised products
	// this small, relative to the largest, is good to four or five digits: its error
	// is about 1e-15 over the eigenvalue.
	digitsLost = 1e-10
)

// factor tells whether the statistics are to hold the triangular factor.
func (o *Options) factor() bool {
	return o.Route == QR || o.Route == "" && o.RankTolerance > 0 && o.RankTolerance < minGramTolerance
}

func (o *Options) orDefault() *Options {
	if o == nil {
		return &Options{}
	}
	return o
}

func (o *Options) workers() int {
	processors := runtime.GOMAXPROCS(0)
	if o.Workers > 0 {
		return min(o.Workers, max(16, 4*processors))
	}
	return processors
}

// Goroutines is how many goroutines take blocks of rows in a pass over that many
// blocks (0: not known).
func (o *Options) Goroutines(blocks int64) int {
	workers := o.orDefault().workers()
	if blocks > 0 {
		return int(min(int64(workers), blocks))
	}
	return workers
}

func (o *Options) withoutIntercept(predictor string) bool {
	for _, p := range o.WithoutIntercept {
		if p == predictor {
			return true
		}
	}
	return false
}

// validate reports all faults of the options against the model at once.
func (o *Options) validate(m Model) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("decompose: "+format, args...)) }

	switch o.Method {
	case "", PHO, PHOGAM:
	default:
		fault("unknown method %q: it is pho or phogam", o.Method)
	}
	switch o.Route {
	case "", Gram, QR:
	default:
		fault("unknown route %q: it is gram or qr", o.Route)
	}
	switch t := o.RankTolerance; {
	case t == 0 || t >= minGramTolerance && t < 1:
	case !(t >= minFactorTolerance && t < 1):
		fault("rank tolerance %g: it is from %g up to 1, by route qr, or from %g by route gram", t, minFactorTolerance, minGramTolerance)
	case o.Route == Gram:
		fault("rank tolerance %g: products in float64 decide ranks for tolerances from %g; route qr does from %g", t, minGramTolerance, minFactorTolerance)
	}
	if o.Workers < 0 {
		fault("%d workers", o.Workers)
	}
	if o.FirstBlock < 0 {
		fault("first block %d is negative", o.FirstBlock)
	}
	if t := o.ReconstructionTolerance; t < 0 || math.IsNaN(t) {
		fault("reconstruction tolerance %g", t)
	}
	names := m.Predictors()
	for _, p := range o.WithoutIntercept {
		if !contains(names, p) {
			fault("no predictor %q: the model has %q", p, names)
		}
	}
	if o.Family != nil {
		if o.Response == "" {
			fault("family %s needs a response column", o.Family.Name())
		}
		if k := o.Family.Predictors(); k != len(names) {
			fault("family %s has %d predictors, the model has %d: %q", o.Family.Name(), k, len(names), names)
		}
	}
	known, selected := map[string]int{}, map[string]bool{}
	for k := range names {
		for _, b := range m.Blocks(k) {
			known[b.Term.Name()], selected[b.Term.Name()] = len(b.Penalty.S), b.Select
		}
	}
	for _, name := range sortedKeys(o.DF) {
		if n, ok := known[name]; !ok {
			fault("degrees of freedom for term %q, which the model does not have", name)
		} else if n == 0 {
			fault("degrees of freedom for term %q, which is not penalised", name)
		}
		if v := o.DF[name]; !(v > 0) || math.IsInf(v, 0) {
			fault("%g degrees of freedom for term %q: they must be positive", v, name)
		}
	}
	for _, name := range sortedKeys(o.SP) {
		want, ok := known[name]
		switch {
		case !ok:
			fault("smoothing parameter for term %q, which the model does not have", name)
		case want != len(o.SP[name]) && !(selected[name] && len(o.SP[name]) == want+1):
			fault("%d smoothing parameters for term %q, which has %d penalties", len(o.SP[name]), name, want)
		}
		for _, v := range o.SP[name] {
			if !(v >= 0) || math.IsInf(v, 0) {
				fault("smoothing parameter %g for term %q: it must be finite and not negative", v, name)
			}
		}
	}
	return errors.Join(faults...)
}
