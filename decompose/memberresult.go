package decompose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose/internal/projection"
	"github.com/pho-go/pho/internal/base/linalg"
)

// Networks says which networks a decomposition is of, and in what they differ.
type Networks struct {
	From  MembersFrom `json:"from"`
	Names []string    `json:"names"`
}

// described are the networks as a result names them.
func (m *Members) described() *Networks {
	n := &Networks{From: m.from}
	for _, o := range m.members {
		n.Names = append(n.Names, o.Name)
	}
	return n
}

// MemberResult is the decomposition of a predictor of one network, as Predictor's fields
// of these names say.
type MemberResult struct {
	Intercept       float64  `json:"intercept"`
	InterceptBefore float64  `json:"intercept_before"`
	InterceptMoved  float64  `json:"intercept_moved"`
	Scale           float64  `json:"scale"`
	Variance        Variance `json:"variance"`
	VarianceBefore  Variance `json:"variance_before"`
}

// MemberTerm is a term of one network.
type MemberTerm struct {
	// Beta and Alpha are in the raw coordinates of the network's columns: all of the term's
	// or, where networks have columns of their own, those from At on.
	At     int       `json:"at,omitempty"`
	Beta   []float64 `json:"beta"`
	Alpha  []float64 `json:"alpha"`
	Before Moment    `json:"before"`
	After  Moment    `json:"after"`
	Moved  Moment    `json:"moved"`
	// Margins is what the network's term gives to others (TermResult.Margins).
	Margins []Margin `json:"margins,omitempty"`
}

// BetweenSD is how far the centred curves f_m of M networks lie apart,
//
//	sqrt( mean over rows of sum_m (f_m(x) - mean_m f_m(x))^2 / (M-1) ),
//
// weighted over the training rows, on the link scale: of the networks' own terms, and of
// what they are after the projection.
type BetweenSD struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// unstable is the between-network sd of a term, relative to its own, from which on it is
// not stable: a quarter of its variance differs from network to network.
const unstable = 0.5

// Stable tells whether networks agree on the term: its curves' sd between networks is at
// most half the sd of their mean. A term of one network is.
func (t *TermResult) Stable() bool {
	return t.BetweenSD == nil || t.BetweenSD.After <= unstable*math.Sqrt(t.After.Variance)
}

// projectTogether is the penalised projection of the mean of several networks, with the
// smoothing parameters that suit their deep parts, not the mean's: that is smoother than
// any of them.
func (s *solver) projectTogether(ctx context.Context, mean *projection.Problem) (*projection.Fit, error) {
	set := projection.Shared{Problems: []*projection.Problem{mean}}
	for i := range s.plan.joined.members {
		set.By = append(set.By, mean.Response(s.network(i)))
	}
	if s.o.Smoothing.Selection.Scale == 0 {
		set.Independent = 1 // networks of one task are alike: they do not know lambda better than one
	}
	fits, err := set.Penalised(ctx, s.groups, s.o.Smoothing.Selection)
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// network are the columns with the deep part and the coefficients of network i.
func (s *solver) network(i int) *projection.Constrained {
	if s.networks == nil {
		for i := range s.plan.joined.members {
			s.networks = append(s.networks, s.columns.Response(s.moments, s.response(i), s.ownBeta(i)))
		}
	}
	return s.networks[i]
}

// response is where the deep part of network i stands among the responses.
func (s *solver) response(i int) int { return (1+i)*len(s.plan.predictors) + s.k }

// ownBeta are the raw coefficients that network i itself has.
func (s *solver) ownBeta(i int) []float64 {
	beta := make([]float64, len(s.columns.Beta()))
	for j, b := range s.d.blocks {
		lo, _ := s.columns.Raw(j)
		copy(beta[lo:], s.plan.joined.own(i, s.k, b.Term.Name()).Coef)
	}
	return beta
}

// members projects the deep part of every network as the mean was: its columns, rank and
// smoothing parameters are theirs.
func (s *solver) members(ctx context.Context) error {
	joined := s.plan.joined
	if joined == nil {
		return nil
	}
	for i := range joined.members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.member(ctx, i); err != nil {
			return fmt.Errorf("network %q: %w", joined.members[i].Name, err)
		}
	}
	s.betweenNetworks()
	s.meanCovariance()
	return nil
}

// member notes what network i comes to.
func (s *solver) member(ctx context.Context, i int) error {
	joined := s.plan.joined
	beta := s.ownBeta(i)
	fit, err := s.fit.Response(ctx, s.network(i), s.o.Smoothing.Selection.Scale)
	if err != nil {
		return err
	}
	if s.hierarchy != nil && len(s.folded()) > 0 {
		s.foldInto(beta, fit.Alpha)
	}
	after, mean := make([]float64, len(beta)), s.columns.Mean()
	floats.AddTo(after, beta, fit.Alpha)
	out := MemberResult{Scale: fit.Scale, Variance: Variance(fit.Columns.Variance(after, fit.Alpha)),
		VarianceBefore: Variance(fit.Columns.Variance(beta, make([]float64, len(beta))))}
	moved := floats.Dot(mean, fit.Alpha)
	out.InterceptBefore = joined.members[i].Model.Intercept(s.k) + floats.Dot(mean, beta)
	out.Intercept = out.InterceptBefore + moved
	if s.intercept() {
		out.InterceptMoved = fit.Columns.MeanZeta() - moved
		out.Intercept = out.InterceptBefore + fit.Columns.MeanZeta()
	}
	s.out.Members = append(s.out.Members, out)
	var own splits
	if s.hierarchy != nil {
		own = s.splitOf(beta, after)
		s.networkSplits = append(s.networkSplits, own)
	}
	for j := range s.out.Terms {
		lo, hi := s.columns.Raw(j)
		t := MemberTerm{Beta: beta[lo:hi:hi], Alpha: fit.Alpha[lo:hi:hi]}
		if s.involved(j) {
			t.Before, t.After, t.Moved = s.momentsIn(own, j)
			t.Margins = s.marginsIn(own, j)
		} else {
			t.Before, t.After, t.Moved = s.moment(j, t.Beta), s.moment(j, after[lo:hi]), s.moment(j, t.Alpha)
		}
		s.out.Terms[j].Members = append(s.out.Terms[j].Members, t)
	}
	return nil
}

// own is the block of a term in network i.
func (m *Members) own(i, k int, name string) Block {
	for _, b := range m.terms[i][k] {
		if b.Term.Name() == name {
			return b
		}
	}
	return Block{}
}

// betweenNetworks measures how far the terms differ between networks.
func (s *solver) betweenNetworks() {
	for j := range s.out.Terms {
		t := &s.out.Terms[j]
		var before, after float64
		for i := range t.Members {
			b, a := s.apart(j, i)
			before += b
			after += a
		}
		n := float64(len(t.Members) - 1)
		t.BetweenSD = &BetweenSD{math.Sqrt(before / n), math.Sqrt(after / n)}
	}
}

// apart are the mean squared distances, before and after, of term j of network i from the
// mean of all networks.
func (s *solver) apart(j, i int) (before, after float64) {
	if s.involved(j) {
		own, h := s.networkSplits[i], s.hierarchy
		return h.Variance(difference(h.Coefficients(own.before, j), h.Coefficients(s.splits.before, j))),
			h.Variance(difference(h.Coefficients(own.after, j), h.Coefficients(s.splits.after, j)))
	}
	t := &s.out.Terms[j]
	own := difference(t.Members[i].Beta, t.Beta)
	before = s.moment(j, own).Variance
	floats.Add(own, difference(t.Members[i].Alpha, t.Alpha))
	return before, s.moment(j, own).Variance
}

// difference is a - b.
func difference(a, b []float64) []float64 {
	d := make([]float64, len(a))
	floats.SubTo(d, a, b)
	return d
}

// meanCovariance makes the residual variance and the covariance of the mean's coefficients
// the means of the networks': what a band of the projection says of any of them. They
// differ in the residual variance alone.
func (s *solver) meanCovariance() {
	var scale float64
	for _, m := range s.out.Members {
		scale += m.Scale / float64(len(s.out.Members))
	}
	if s.out.Scale > 0 {
		if s.out.cov != nil {
			s.out.cov = linalg.Scale(scale/s.out.Scale, s.out.cov)
		}
		s.out.fit.bias.By *= scale / s.out.Scale
	}
	s.out.Scale = scale
}

// Network is the decomposition of network i alone, to be applied with its own model: terms
// and variances are its own, what was measured of the mean (importance, checks, standard
// errors) is left out. m is the model that r was made of, or the same networks read again.
func (r *Result) Network(m *Members, i int) (*Result, error) {
	if r.Networks == nil || len(r.Networks.Names) != len(m.members) || i < 0 || i >= len(m.members) {
		return nil, fmt.Errorf("decompose: no network %d among those of the decomposition and the %d of the model", i, len(m.members))
	}
	out := &Result{Format: r.Format, CreatedBy: r.CreatedBy, Rows: r.Rows, Method: r.Method, Smoothing: r.Smoothing, Features: r.Features, Warnings: []string{}}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		if i >= len(d.Members) {
			return nil, fmt.Errorf("decompose: predictor %q is of %d networks, not of %d", d.Name, len(d.Members), len(m.members))
		}
		own := d.Members[i]
		p := Predictor{Name: d.Name, Uniqueness: d.Uniqueness, Intercept: own.Intercept, InterceptBefore: own.InterceptBefore, InterceptMoved: own.InterceptMoved,
			Scale: own.Scale, Variance: own.Variance, VarianceBefore: own.VarianceBefore}
		for j := range d.Terms {
			t, mine := d.Terms[j], d.Terms[j].Members[i]
			if len(mine.Alpha) != len(t.Alpha) {
				b := m.own(i, k, t.Name)
				if b.Term == nil || b.Term.Dim() != len(mine.Alpha) {
					return nil, fmt.Errorf("decompose: network %q has no term %q of %d columns, which the decomposition has", m.members[i].Name, t.Name, len(mine.Alpha))
				}
				t.term, t.Kind, t.Spec = b.Term, b.Term.Kind(), nil
			}
			t.Beta, t.Alpha, t.Before, t.After, t.Moved, t.Center = mine.Beta, mine.Alpha, mine.Before, mine.After, mine.Moved, mine.After.Mean
			t.Margins = mine.Margins
			t.Members, t.BetweenSD = nil, nil
			p.Terms = append(p.Terms, t)
		}
		out.Predictors = append(out.Predictors, p)
	}
	return out, nil
}

// network is d with the terms of network i, in the columns of their mean.
func (d *Predictor) network(i int) *Predictor {
	out := &Predictor{Name: d.Name, Terms: slices.Clone(d.Terms)}
	for j := range out.Terms {
		t, own := &out.Terms[j], &d.Terms[j].Members[i]
		t.Beta, t.Alpha = placed(own.Beta, own.At, len(t.Alpha)), placed(own.Alpha, own.At, len(t.Alpha))
		t.Before, t.After, t.Moved, t.Center, t.Margins = own.Before, own.After, own.Moved, own.After.Mean, own.Margins
	}
	return out
}

// networks are all of them with their own results, or d itself where there is one.
func (d *Predictor) networks() (all []*Predictor) {
	if len(d.Members) == 0 {
		return []*Predictor{d}
	}
	for i := range d.Members {
		all = append(all, d.network(i))
	}
	return all
}

// placed is v from place at on among n numbers, zeros elsewhere.
func placed(v []float64, at, n int) []float64 {
	out := make([]float64, n)
	copy(out[at:], v)
	return out
}

// checkMembers refuses an artifact whose networks are not all in every predictor and term.
func (r *Result) checkMembers() error {
	want := 0
	if r.Networks != nil {
		if want = len(r.Networks.Names); want < 2 {
			return fmt.Errorf("decompose: the decomposition says it is of %d networks", want)
		}
	}
	for _, d := range r.Predictors {
		if len(d.Members) != want {
			return fmt.Errorf("decompose: predictor %q has results of %d networks, the decomposition is of %d", d.Name, len(d.Members), want)
		}
		faults := []error{}
		for _, t := range d.Terms {
			if len(t.Members) != want {
				return fmt.Errorf("decompose: term %q has coefficients of %d networks, the decomposition is of %d", t.Name, len(t.Members), want)
			}
			for i, m := range t.Members {
				if n := len(m.Alpha); len(m.Beta) != n || m.At < 0 || m.At > len(t.Alpha)-n {
					return fmt.Errorf("decompose: term %q, network %d: %d and %d coefficients from column %d on do not fit its %d columns", t.Name, i+1, len(m.Beta), n, m.At, len(t.Alpha))
				}
			}
		}
		for i := range want {
			faults = append(faults, d.network(i).checkMargins()...)
		}
		if err := errors.Join(faults...); err != nil {
			return err
		}
	}
	return nil
}
