package decompose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Coefficient is a number of the parametric part of a predictor, as summaries of
// regressions list them.
type Coefficient struct {
	Term  string // its name; "" for the intercept
	Level string // of a factor or of a product with one; "" for others
	// Column is that of the slope, where the term has one for each of its columns; else "".
	Column string
	// Estimate is the coefficient after the projection and Before the network's own: of a
	// number its slope, of a factor the difference of a level to the first one, of the
	// intercept the predictor where all Parametric terms are 0 or at their first level and
	// the others at their mean.
	Estimate, Before float64
	// SE is the standard error of Estimate given the network (Result.Bands says of which
	// kind); of several networks what is added by their differences is in it. NaN without one.
	SE float64
}

// leveled terms have a column for each level, sloped ones are data columns, a slope for each.
type (
	leveled interface{ Levels() []string }
	sloped  interface{ Slopes() []string }
)

// Coefficients are those of predictor k: the intercept, then the slopes of linear terms and
// the differences of factors of one column to their first level, by term in order. Terms
// that are not identified one by one are left out, and so are other kinds. Terms must have
// their basis, as those of a result that was made or decoded have.
func (r *Result) Coefficients(k int) ([]Coefficient, error) {
	d := &r.Predictors[k]
	intercept, err := d.interceptAtReference()
	if err != nil {
		return nil, err
	}
	out := []Coefficient{intercept}
	for j := range d.Terms {
		if !d.Parametric(j) {
			continue
		}
		own, err := d.coefficients(j)
		if err != nil {
			return nil, err
		}
		for i := range own {
			if r.labelled && own[i].Level != "" {
				own[i].Level = r.Labels.LevelOf(d.Terms[j].term.Columns(), own[i].Level)
			}
			if r.labelled && own[i].Column != "" {
				own[i].Column = r.Labels.Feature(own[i].Column)
			}
		}
		out = append(out, own...)
	}
	return out, nil
}

// Parametric tells whether term j is among Coefficients.
func (d *Predictor) Parametric(j int) bool {
	t := &d.Terms[j]
	if t.term == nil || !d.identified([]int{j}) {
		return false
	}
	switch t.Kind {
	case Linear:
		return len(t.Alpha) == 1 || levels(t) != nil || slopes(t) != nil
	case Factor:
		return len(t.Features) == 1 && levels(t) != nil
	}
	return false
}

// levels names the columns of t by levels; nil: it has none, or not one for each.
func levels(t *TermResult) []string {
	l, ok := t.term.(leveled)
	if !ok {
		return nil
	}
	if names := l.Levels(); len(names) == len(t.Alpha) {
		return names
	}
	return nil
}

// slopes are the data columns that t has a slope of each; nil: it is no such term.
func slopes(t *TermResult) []string {
	if s, ok := t.term.(sloped); ok {
		return s.Slopes()
	}
	return nil
}

// functional is a linear function of the raw coefficients of some terms' own columns, plus
// the intercept of centred terms if that is 1.
type functional struct {
	terms     []int
	weights   [][]float64 // by term
	intercept float64
}

// coefficients are those of term j.
func (d *Predictor) coefficients(j int) ([]Coefficient, error) {
	t := &d.Terms[j]
	names, columns, n := levels(t), slopes(t), len(t.Alpha)
	var out []Coefficient
	for c := range n {
		l := make([]float64, n)
		l[c] = 1
		if t.Kind == Factor {
			reference := d.reference(j)
			if c == reference || d.mean[d.first(j)+c] == 0 {
				continue // or no row has the level
			}
			l[reference] = -1
		}
		v, err := d.value(functional{terms: []int{j}, weights: [][]float64{l}})
		if err != nil {
			return nil, err
		}
		v.Term = t.Name
		if names != nil {
			v.Level = names[c]
		}
		if columns != nil {
			v.Column = columns[c]
		}
		out = append(out, v)
	}
	return out, nil
}

// reference is the first level of factor j that has rows.
func (d *Predictor) reference(j int) int {
	lo := d.first(j)
	return max(0, slices.IndexFunc(d.mean[lo:lo+len(d.Terms[j].Alpha)], func(n float64) bool { return n > 0 }))
}

// interceptAtReference is the intercept of uncentred parametric terms. Products from which
// margins were taken stay centred: at 0 they are not 0.
func (d *Predictor) interceptAtReference() (Coefficient, error) {
	f := functional{intercept: 1}
	for j := range d.Terms {
		t := &d.Terms[j]
		if !d.Parametric(j) || len(t.Margins) > 0 {
			continue
		}
		l := make([]float64, len(t.Alpha))
		if t.Kind == Factor {
			l[d.reference(j)] = 1
		}
		lo := d.first(j)
		floats.Sub(l, d.mean[lo:lo+len(l)])
		f.terms, f.weights = append(f.terms, j), append(f.weights, l)
	}
	return d.value(f)
}

// value is what f is of the network's coefficients and of those after the projection, with
// its standard error.
func (d *Predictor) value(f functional) (Coefficient, error) {
	out := Coefficient{Before: f.intercept * d.InterceptBefore, Estimate: f.intercept * d.Intercept}
	for i, p := range d.pieces(f.terms)[:len(f.terms)] {
		before := floats.Dot(f.weights[i], p.before)
		out.Before += before
		out.Estimate += before + floats.Dot(f.weights[i], p.moved)
	}
	within, err := d.variance(f)
	if err != nil {
		return out, err
	}
	out.SE = math.Sqrt(within + d.variancesBetween(f))
	return out, nil
}

// variance is that of f given the network; NaN without a covariance.
func (d *Predictor) variance(f functional) (float64, error) {
	c := d.covariance()
	if c == nil {
		return math.NaN(), nil
	}
	if len(f.terms) == 0 {
		return f.intercept * f.intercept * c.variance, nil
	}
	u, err := d.uncertainty(f.terms...)
	if err != nil || u.cov == nil {
		return math.NaN(), err
	}
	l := mat.NewVecDense(len(u.mean), nil) // columns of margins that are other terms' count 0
	at := 0
	for _, w := range f.weights {
		copy(l.RawVector().Data[at:], w)
		at += len(w)
	}
	v := mat.Inner(l, u.cov, l) + f.intercept*f.intercept*u.variance
	v += 2 * f.intercept * mat.Dot(l, mat.NewVecDense(len(u.intercept), u.intercept))
	return math.Max(v, 0), nil
}

// variancesBetween is the variance of f between networks; 0 for one.
func (d *Predictor) variancesBetween(f functional) float64 {
	if len(d.Members) < 2 {
		return 0
	}
	values := make([]float64, len(d.Members))
	for m := range d.Members {
		own := d.network(m)
		values[m] = f.intercept * d.Members[m].Intercept
		for i, p := range own.pieces(f.terms)[:len(f.terms)] {
			values[m] += floats.Dot(f.weights[i], p.before) + floats.Dot(f.weights[i], p.moved)
		}
	}
	sd := make([]float64, 1)
	columns := make([][]float64, len(values))
	for m, v := range values {
		columns[m] = []float64{v}
	}
	between(sd, columns)
	return sd[0] * sd[0]
}
