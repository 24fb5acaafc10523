package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/pho-go/pho/decompose"
)

// means splits the change of the predictor's mean. rows are those of d's terms, which come
// first.
func (p *Predictor) means(d, e *decompose.Predictor, rows, same []float64) {
	p.Mean.Change = change(mean(d), mean(e))
	for j, v := range rows {
		if math.IsNaN(v) {
			continue
		}
		p.Terms[j].SameBasis, p.Terms[j].Rows = !math.IsNaN(same[j]), &rows[j]
		p.Mean.Known++
		p.Mean.Rows += v
	}
	p.Mean.Rest = p.Mean.Change.Change - p.Mean.Rows
}

// mean is that of the predictor over its rows: terms are centred over them, and so is the
// remainder where the projection has an intercept.
func mean(d *decompose.Predictor) float64 { return d.Intercept }

// variances splits the change of the predictor's variance by Cov(f, eta), which over the
// terms and the remainder add up to it.
func (p *Predictor) variances(d, e *decompose.Predictor) {
	a, restA, okA := covariances(d)
	b, restB, okB := covariances(e)
	if !okA || !okB {
		return
	}
	for j := range p.Terms {
		t := &p.Terms[j]
		v := change(a[t.Name], b[cmp.Or(t.NameB, t.Name)]) // 0 where it is not
		t.Variance = &v
	}
	rest := change(restA, restB)
	p.Unstructured = &rest
}

// covariances of each term with the predictor, and that of the remainder, which is the rest; false
// if some term's is not known.
func covariances(d *decompose.Predictor) (by map[string]float64, rest float64, ok bool) {
	by, rest = map[string]float64{}, d.Variance.Total
	for _, t := range d.Terms {
		i := slices.IndexFunc(d.Importance, func(e decompose.Importance) bool { return slices.Equal(e.Terms, []string{t.Name}) })
		if i < 0 {
			return nil, 0, false
		}
		by[t.Name] = d.Importance[i].VarianceShare * d.Variance.Total
		rest -= by[t.Name]
	}
	return by, rest, true
}

func root(v float64) float64 { return math.Sqrt(math.Max(v, 0)) }
