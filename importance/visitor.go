package importance

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/family"
)

// Visitor measures importance in the last pass of a decomposition and writes it
// into Result.Predictors[k].Importance, and into Result.Prediction how well the
// network predicts the response as it is: for every feature one entry in each
// predictor that has it, in order of first appearance, then one entry for every
// term that is not some feature's only one (those have no Feature and one name
// in Terms).
//
// The likelihood's figures of a feature are joint: the feature is dropped from
// all predictors at once, and each of them lists the same figures. Terms and
// VarianceShare are the predictor's own. With l the log-likelihood and D the
// deviance of all rows at eta plus offset, and eta_-j the predictors without j,
//
//	McFadden          = 1 - l(eta)/l(eta_-j)
//	DeltaLogLikPerRow = (l(eta) - l(eta_-j))/sum of w
//	DevianceR2        = 1 - D(eta)/D(eta_-j), for families of one predictor and of classes
//	VarianceShare     = Cov(f_j, eta)/Var(eta), weighted, without the offset
//
// A weight stands for so many rows: with weights of 2 the figures are those of the
// data written twice, and another scale of the weights of a family with a dispersion
// changes none of them but McFadden's.
//
// The dispersion is the full model's and held fixed, and so are the numbers of a
// family.Held. The baseline of a family.Cox is none of the network's: it is fitted again to
// every set of terms, so that DeltaLogLikPerRow is that of partial likelihoods, and there
// is no deviance. McFadden is reported as it
// is; McFaddenValid says whether it can be read as an R2: the family has
// probability masses and both log-likelihoods are negative. With densities it
// depends on the units of the response. Figures that are not finite are nil.
type Visitor struct {
	family family.Family
	of     [2]family.Family // for censored rows, and for others
	traits family.Traits    // Affine only with one predictor

	result *decompose.Result
	drops  []drop
	phi    float64
	total  *sums

	byDeviance bool // what is added up of drops: see fit.addOne
	deviance   bool // the family has one
}

// New returns a visitor for one decomposition; it goes into
// decompose.Options.Visitors. Response, weights and offset are the columns that
// the options name; fam is the options' family, nil for variance shares alone.
func New(fam family.Family) *Visitor { return &Visitor{family: fam, of: family.ByEvent(fam)} }

// Columns is empty: decompose reads the response, weights and offset anyway.
func (v *Visitor) Columns() []string { return nil }

// Begin prepares for the rows of r. A family that is not the one r was made
// with is an error.
func (v *Visitor) Begin(r *decompose.Result) error {
	v.result, v.drops, v.phi = r, drops(r), 1
	if fam := v.family; fam != nil {
		switch {
		case fam.Name() != r.Family:
			return fmt.Errorf("importance: the family is %q here and %q in the decomposition: set the same in decompose.Options", fam.Name(), r.Family)
		case r.Response == "":
			return fmt.Errorf("importance: family %q needs a response: name its column in decompose.Options", fam.Name())
		case fam.Predictors() != len(r.Predictors):
			return fmt.Errorf("importance: family %q has %d predictors, the decomposition %d", fam.Name(), fam.Predictors(), len(r.Predictors))
		case family.Unknown(fam) != nil:
			return fmt.Errorf("importance: %s of family %q is not known: give a number, or have decompose.EstimateFamily find it", strings.Join(family.Unknown(fam), " and "), fam.Name())
		case r.Event != "" && v.of[0] == nil:
			return fmt.Errorf("importance: %w", family.NoTimes(fam))
		case fam.HasDispersion() && r.Dispersion == nil:
			return fmt.Errorf("importance: family %q needs a dispersion, which the decomposition does not have", fam.Name())
		case fam.HasDispersion():
			v.phi = *r.Dispersion
		}
		_, held := fam.(family.Held)
		v.traits = family.TraitsOf(fam)
		v.traits.Affine = v.traits.Affine && fam.Predictors() == 1
		v.byDeviance = fam.Predictors() == 1 && !held
		v.deviance = hasDeviance(fam)
	}
	v.total = v.newSums()
	return nil
}

// hasDeviance: a family of one predictor, or of classes.
func hasDeviance(fam family.Family) bool {
	_, classes := fam.(family.Classifier)
	return fam.Predictors() == 1 || classes
}

// Map adds up a chunk of rows, as decompose.Sums.
func (v *Visitor) Map(p *decompose.Parts) (any, error) {
	s := v.newSums()
	rows, err := v.read(p)
	if err != nil {
		return nil, err
	}
	w := rows.weights(p.Batch.Rows())
	s.w = floats.Sum(w)
	for k := range p.Predictors {
		s.shares[k].add(&p.Predictors[k], w)
	}
	if v.family == nil {
		return s, nil
	}
	return s, v.addFits(s, p, rows, w)
}

// addFits adds up how well the predictors fit, all of them and without each drop.
func (v *Visitor) addFits(s *sums, p *decompose.Parts, rows rowData, w []float64) error {
	n := len(p.Predictors)
	eta, without, parts := make([]float64, n), make([]float64, n), make([][]float64, n)
	for i, weight := range w {
		if weight == 0 {
			continue
		}
		y := rows.y[i]
		if err := v.family.Check(y); err != nil {
			return fmt.Errorf("importance: response %q, data row %d: %w", v.result.Response, p.Batch.Row(i)+1, err)
		}
		of := v.of[1]
		if rows.event != nil {
			if err := family.CheckEvent(rows.event[i]); err != nil {
				return fmt.Errorf("importance: events %q, data row %d: %w", v.result.Event, p.Batch.Row(i)+1, err)
			}
			of = v.of[int(rows.event[i])]
		}
		for k := range eta {
			eta[k], parts[k] = p.Predictors[k].Eta[i], p.Predictors[k].Row(i)
		}
		eta[0] += rows.offsetAt(i)
		s.addPrediction(v, y, weight, rows.offsetAt(i), eta)
		s.constant.add(v, of, y, weight, rows.offsetAt(i))
		if rows.event != nil {
			s.timed = append(s.timed, timedRow{p.Batch.Row(i), y, riskOf(v.family, eta[0]), weight, rows.seen(i)})
		}
		if s.refit == nil {
			s.full.add(v, of, y, weight, eta)
		} else {
			s.refit[whole].Add(y, weight, eta[0], rows.seen(i))
			s.refit[null].Add(y, weight, rows.offsetAt(i), rows.seen(i))
		}
		for j := range v.drops {
			for k, terms := range v.drops[j].terms {
				without[k] = eta[k] - sumOf(parts[k], terms)
			}
			if s.refit == nil {
				s.without[j].addOne(v, of, y, weight, without)
			} else {
				s.refit[dropped+j].Add(y, weight, without[0], rows.seen(i))
			}
		}
	}
	return nil
}

// Reduce takes the sums of all rows, or adds those of rows that follow. Those of another
// decomposition are an error.
func (v *Visitor) Reduce(part any) error {
	s, ok := part.(*sums)
	if !ok {
		return fmt.Errorf("importance: Reduce takes what Map returned, not %T", part)
	}
	return v.total.Add(s)
}

// End writes the entries, and with a response Result.Prediction, into r.
func (v *Visitor) End(r *decompose.Result) error {
	if v.total == nil || len(r.Predictors) != len(v.result.Predictors) {
		return errors.New("importance: End for a decomposition that Begin has not seen")
	}
	v.total.refitted()
	if v.family != nil && v.total.w > 0 {
		r.Prediction = v.prediction()
	}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		d.Importance = []decompose.Importance{}
		for j, set := range v.drops {
			if len(set.terms[k]) == 0 {
				continue
			}
			e := decompose.Importance{Feature: set.feature, Terms: []string{}, VarianceShare: v.total.share(k, set.terms[k])}
			if v, ok := d.VarianceOf(set.terms[k]...); ok && d.Variance.Total > 0 {
				v /= d.Variance.Total
				e.OwnVariance = &v
			}
			for _, t := range set.terms[k] {
				e.Terms = append(e.Terms, d.Terms[t].Name)
			}
			if v.family != nil {
				without := v.total.without[j]
				if v.total.refit == nil {
					without = without.complete(v, v.total.full)
				}
				v.compare(&e, v.total.full, without)
			}
			d.Importance = append(d.Importance, e)
		}
	}
	return nil
}

// compare fills in the figures of the likelihood.
func (v *Visitor) compare(e *decompose.Importance, full, without fit) {
	e.McFadden = finite(1 - full.loglik/without.loglik)
	e.McFaddenValid = e.McFadden != nil && v.family.Mass() && full.loglik < 0 && without.loglik < 0
	e.DeltaLogLikPerRow = finite(v.lost(full, without) / v.total.w)
	if v.deviance {
		e.DevianceR2 = finite(1 - full.deviance/without.deviance)
	}
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
