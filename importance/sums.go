package importance

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
)

// fit is how well some predictors fit the response, summed over rows.
type fit struct{ loglik, deviance float64 }

func (f *fit) add(v *Visitor, y, w float64, eta []float64) {
	f.loglik += v.family.LogLik(y, w, eta, v.phi)
	if len(eta) == 1 {
		f.deviance += v.family.Deviance(y, w, eta)
	}
}

// sums add up over rows. Predictors are taken relative to their intercept, so
// that a large constant costs no digits of the variance.
type sums struct {
	rows        int64 // of positive weight
	w           float64
	eta, etaEta []float64   // sum w eta_k, sum w eta_k^2
	f, fEta     [][]float64 // by drop and predictor: sum w f, sum w f eta_k
	full        fit
	without     []fit // by drop
}

func (v *Visitor) newSums() *sums {
	k := len(v.result.Predictors)
	s := &sums{eta: make([]float64, k), etaEta: make([]float64, k), without: make([]fit, len(v.drops))}
	for range v.drops {
		s.f = append(s.f, make([]float64, k))
		s.fEta = append(s.fEta, make([]float64, k))
	}
	return s
}

func (s *sums) merge(o *sums) {
	s.rows += o.rows
	s.w += o.w
	addTo(s.eta, o.eta)
	addTo(s.etaEta, o.etaEta)
	s.full.loglik += o.full.loglik
	s.full.deviance += o.full.deviance
	for j := range s.without {
		addTo(s.f[j], o.f[j])
		addTo(s.fEta[j], o.fEta[j])
		s.without[j].loglik += o.without[j].loglik
		s.without[j].deviance += o.without[j].deviance
	}
}

func addTo(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

// share is Cov(f_j, eta_k)/Var(eta_k); 0 if eta_k does not vary.
func (s *sums) share(j, k int) float64 {
	mean := s.eta[k] / s.w
	variance := s.etaEta[k]/s.w - mean*mean
	if !(variance > 0) {
		return 0
	}
	return (s.fEta[j][k]/s.w - s.f[j][k]/s.w*mean) / variance
}

// rowData are the columns that say how rows are judged; nil where not needed.
type rowData struct{ y, w, offset []float64 }

func (v *Visitor) read(p *decompose.Parts) (rowData, error) {
	var d rowData
	r := v.result
	for _, c := range []struct {
		what, name string
		need       bool
		into       *[]float64
	}{
		{"response", r.Response, v.family != nil, &d.y},
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

func (d rowData) weight(i int) float64 {
	if d.w == nil {
		return 1
	}
	return d.w[i]
}

func (d rowData) offsetAt(i int) float64 {
	if d.offset == nil {
		return 0
	}
	return d.offset[i]
}
