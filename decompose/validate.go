package decompose

import (
	"errors"
	"fmt"
	"math"

	"github.com/pho-go/pho/family"
)

// faults are what is wrong with the options, to be told at once.
type faults []error

func (f *faults) add(format string, args ...any) {
	*f = append(*f, fmt.Errorf("decompose: "+format, args...))
}

// validate reports all faults of the options against the model.
func (o *Options) validate(m Model) error {
	var f faults
	f.projection(o.Projection)
	f.bands(o)
	if o.Cluster != "" && !o.bands().Robust() {
		f.add("clusters %q are for robust bands, and bands are %s", o.Cluster, o.Bands)
	}
	if o.Workers < 0 {
		f.add("%d workers", o.Workers)
	}
	if o.FirstChunk < 0 {
		f.add("first chunk %d is negative", o.FirstChunk)
	}
	if o.FirstRow < 0 || o.Chunks < 0 || o.Chunks > math.MaxInt-1-max(o.FirstChunk, 0) {
		f.add("a shard of %d chunks from row %d on", o.Chunks, o.FirstRow)
	}
	if t := o.ReconstructionTolerance; t < 0 || math.IsNaN(t) {
		f.add("reconstruction tolerance %g", t)
	}
	names := m.Predictors()
	for _, p := range o.WithoutIntercept {
		if !contains(names, p) {
			f.add("no predictor %q: the model has %q", p, names)
		}
	}
	if err := o.checkFamily(m); err != nil {
		f = append(f, err)
	}
	f.smoothing(o.Smoothing, m)
	if o.Orders {
		f.orders(m)
	}
	f.sharing(o, names)
	return errors.Join(f...)
}

func (f *faults) projection(p Projection) {
	switch p.Method {
	case "", PHO, PHOGAM:
	default:
		f.add("unknown method %q: it is pho or phogam", p.Method)
	}
	switch p.Route {
	case "", Gram, QR:
	default:
		f.add("unknown route %q: it is gram or qr", p.Route)
	}
	switch p.Terms {
	case "", Hierarchical, Fitted:
	default:
		f.add("terms %q: they are hierarchical or fitted", p.Terms)
	}
	switch t := p.RankTolerance; {
	case t == 0 || t >= minGramTolerance && t < 1:
	case !(t >= minFactorTolerance && t < 1):
		f.add("rank tolerance %g: it is from %g up to 1, by route qr, or from %g by route gram", t, minFactorTolerance, minGramTolerance)
	case p.Route == Gram:
		f.add("rank tolerance %g: products in float64 decide ranks for tolerances from %g; route qr does from %g", t, minGramTolerance, minFactorTolerance)
	}
}

// smoothing looks for what is given of terms that the model does not have, or not so.
func (f *faults) smoothing(s Smoothing, m Model) {
	terms := map[string]Block{}
	for k := range m.Predictors() {
		for _, b := range m.Blocks(k) {
			terms[b.Term.Name()] = b
		}
	}
	for _, name := range sortedKeys(s.DF) {
		f.degreesOfFreedom(name, s.DF[name], terms)
	}
	for _, name := range sortedKeys(s.SP) {
		f.smoothingParameters(name, s.SP[name], terms)
	}
}

func (f *faults) degreesOfFreedom(name string, df float64, terms map[string]Block) {
	if b, ok := terms[name]; !ok {
		f.add("degrees of freedom for term %q, which the model does not have", name)
	} else if len(b.Penalty.S) == 0 {
		f.add("degrees of freedom for term %q, which is not penalised", name)
	}
	if !(df > 0) || math.IsInf(df, 0) {
		f.add("%g degrees of freedom for term %q: they must be positive", df, name)
	}
}

func (f *faults) smoothingParameters(name string, sp []float64, terms map[string]Block) {
	b, ok := terms[name]
	switch n := len(b.Penalty.S); {
	case !ok:
		f.add("smoothing parameter for term %q, which the model does not have", name)
	case len(sp) != n && !(b.Select && len(sp) == n+1):
		f.add("%d smoothing parameters for term %q, which has %d penalties", len(sp), name, n)
	}
	for _, v := range sp {
		if !(v >= 0) || math.IsInf(v, 0) {
			f.add("smoothing parameter %g for term %q: it must be finite and not negative", v, name)
		}
	}
}

// checkFamily reports a family that is not one for the model or has no response.
func (o *Options) checkFamily(m Model) error {
	if o.Family == nil {
		if o.Event != "" {
			return fmt.Errorf("decompose: events %q need a family of times, as family.AFT or family.Cox", o.Event)
		}
		return nil
	}
	var faults []error
	if o.Event != "" && family.Censored(o.Family) == nil {
		faults = append(faults, fmt.Errorf("decompose: events %q: %w", o.Event, family.NoTimes(o.Family)))
	}
	if o.Event != "" && o.Event == o.Response {
		faults = append(faults, fmt.Errorf("decompose: column %q holds the events and is the response too", o.Event))
	}
	if o.Response == "" {
		faults = append(faults, fmt.Errorf("decompose: family %s needs a response column", o.Family.Name()))
	}
	if names := m.Predictors(); o.Family.Predictors() != len(names) {
		faults = append(faults, fmt.Errorf("decompose: family %s has %d predictors, the model has %d: %q", o.Family.Name(), o.Family.Predictors(), len(names), names))
	}
	return errors.Join(faults...)
}
