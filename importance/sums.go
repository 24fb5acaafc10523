package importance

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// fit is how well some predictors fit the response, summed over rows.
type fit struct{ loglik, deviance float64 }

// add adds a row of the full model.
func (f *fit) add(v *Visitor, of family.Family, y, w float64, eta []float64) {
	f.loglik += of.LogLik(y, w, eta, v.phi)
	if v.deviance {
		f.deviance += of.Deviance(y, w, eta)
	}
}

// addOne adds a row's deviance or its log-likelihood, whichever takes less time: for
// the other see complete. A family.Held may have to search for a saturated model.
func (f *fit) addOne(v *Visitor, of family.Family, y, w float64, eta []float64) {
	if v.byDeviance {
		f.deviance += of.Deviance(y, w, eta)
	} else {
		f.loglik += of.LogLik(y, w, eta, v.phi)
	}
}

// complete fills in what addOne left out. The deviance of one predictor is twice the
// dispersion times what the log-likelihood l falls short of the saturated model's
// (McCullagh and Nelder 1989, 2.3), so that for any two predictors of the same rows
//
//	D - D' = 2 phi (l' - l)
func (f fit) complete(v *Visitor, full fit) fit {
	if v.byDeviance {
		f.loglik = full.loglik - (f.deviance-full.deviance)/(2*v.phi)
	} else {
		f.deviance = full.deviance + 2*v.phi*(full.loglik-f.loglik)
	}
	return f
}

// lost is l - l' of the fit without a drop: by the deviances where they were added up, since small
// weights would be lost in the log-likelihoods, which hold the logarithms of all.
func (v *Visitor) lost(full, without fit) float64 {
	if v.byDeviance && v.total.refit == nil {
		return (without.deviance - full.deviance) / (2 * v.phi)
	}
	return full.loglik - without.loglik
}

// sums add up over rows: what Visitor.Map returns.
type sums struct {
	w       float64
	shares  []shares // by predictor
	full    fit
	without []fit // by drop: what addOne adds

	prediction prediction
	classes    classes
	constant   *constant // nil: nobody needs it
	timed      timed     // of responses with events
	// refit is, of families with a baseline, what finds it for each predictor: all terms,
	// none, and those without each drop. They take the place of full and without.
	refit []*family.Exposure
}

// addPrediction adds a row to what says how well the network predicts.
func (s *sums) addPrediction(v *Visitor, y, w, offset float64, eta []float64) {
	if c, ok := v.family.(family.Classifier); ok {
		s.classes.add(c, y, w, eta)
		return
	}
	s.prediction.add(v, y, w, offset, eta)
}

// The first of sums.refit; drops follow.
const (
	whole = iota
	null
	dropped
)

// shares add up what the variance shares of a predictor's terms need. They are
// linear in the terms: those of a drop are the sum of its terms'. With d the
// predictor relative to its intercept, so that a large constant costs no digits of
// the variance:
type shares struct {
	d, dd float64   // sum w d, sum w d^2
	f, fd []float64 // by term: sum w f, sum w f d
}

func (v *Visitor) newSums() *sums {
	s := &sums{shares: make([]shares, len(v.result.Predictors)), without: make([]fit, len(v.drops))}
	for k, d := range v.result.Predictors {
		s.shares[k] = shares{f: make([]float64, len(d.Terms)), fd: make([]float64, len(d.Terms))}
	}
	if f, ok := v.family.(interface{ Exposure() *family.Exposure }); ok {
		for range dropped + len(v.drops) {
			s.refit = append(s.refit, f.Exposure())
		}
	}
	if c, ok := v.family.(family.Classifier); ok {
		s.classes.of = make([]float64, c.Classes())
	}
	s.constant = s.newConstant(v)
	return s
}

// refitted fills in the log-likelihoods with a baseline for each set of terms. Their
// saturated models differ, so there are no deviances.
func (s *sums) refitted() {
	if s.refit == nil {
		return
	}
	s.full = fit{s.refit[whole].LogLik(), math.NaN()}
	for j := range s.without {
		s.without[j] = fit{s.refit[dropped+j].LogLik(), math.NaN()}
	}
}

// add adds rows of weights w to sums that hold none yet.
func (s *shares) add(p *decompose.PredictorParts, w []float64) {
	wd := make([]float64, len(w))
	for i, eta := range p.Eta {
		d := eta - p.Intercept
		wd[i] = w[i] * d
		s.d += wd[i]
		s.dd += wd[i] * d
	}
	if p.Terms.IsEmpty() {
		return
	}
	mat.NewVecDense(len(s.f), s.f).MulVec(p.Terms.T(), mat.NewVecDense(len(w), w))
	mat.NewVecDense(len(s.fd), s.fd).MulVec(p.Terms.T(), mat.NewVecDense(len(w), wd))
}

func (f *fit) merge(o fit) {
	f.loglik += o.loglik
	f.deviance += o.deviance
}

func (s *shares) merge(o *shares) {
	s.d += o.d
	s.dd += o.dd
	floats.Add(s.f, o.f)
	floats.Add(s.fd, o.fd)
}

// share is Cov(f, eta_k)/Var(eta_k), f the sum of the given terms; 0 if eta_k does
// not vary.
func (s *sums) share(k int, terms []int) float64 {
	p := &s.shares[k]
	mean := p.d / s.w
	variance := p.dd/s.w - mean*mean
	if !(variance > 0) {
		return 0
	}
	return (sumOf(p.fd, terms)/s.w - sumOf(p.f, terms)/s.w*mean) / variance
}

// sumOf is the sum of v's elements at the given places.
func sumOf(v []float64, at []int) float64 {
	sum := 0.0
	for _, i := range at {
		sum += v[i]
	}
	return sum
}

// rowData are the columns that say how rows are judged; nil where not needed.
type rowData struct{ y, event, w, offset []float64 }

// seen reports whether the response of row i is that of an event.
func (d *rowData) seen(i int) bool { return d.event == nil || d.event[i] != 0 }

func (v *Visitor) read(p *decompose.Parts) (rowData, error) {
	var d rowData
	r := v.result
	for _, c := range []struct {
		what, name string
		need       bool
		into       *[]float64
	}{
		{"response", r.Response, v.family != nil, &d.y},
		{"events", r.Event, v.family != nil, &d.event},
		{"offset", r.Offset, v.family != nil, &d.offset},
		{"weights", r.Weights, true, &d.w},
	} {
		if !c.need || c.name == "" {
			continue
		}
		x, err := p.Batch.Numeric(c.name)
		if err != nil {
			return d, fmt.Errorf("importance: %s: %w", c.what, err)
		}
		*c.into = x
	}
	return d, nil
}

// weights are those of the n rows, ones if there are none.
func (d rowData) weights(n int) []float64 {
	if d.w != nil {
		return d.w
	}
	return slices.Repeat([]float64{1}, n)
}

func (d rowData) offsetAt(i int) float64 {
	if d.offset == nil {
		return 0
	}
	return d.offset[i]
}
