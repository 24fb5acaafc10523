package decompose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/pho-go/pho/internal/base/linalg"
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
	out, of := d.coefficients()
	for i, f := range of {
		c := &out[i]
		if err := d.value(f, c); err != nil {
			return nil, err
		}
		if d.kept != nil && d.kept.coefficients != nil {
			c.SE = math.Sqrt(math.Max(d.kept.coefficients.At(i, i), 0))
		}
		if r.labelled && c.Level != "" {
			c.Level = r.Labels.LevelOf(d.Terms[f.terms[0]].term.Columns(), c.Level)
		}
		if r.labelled && c.Column != "" {
			c.Column = r.Labels.Feature(c.Column)
		}
	}
	return out, nil
}

// CoefficientCovariance is the m x m covariance of the m Coefficients of predictor k, in their order; the squares of their
// SE are its diagonal. nil: there are no standard errors. Errors as of Coefficients.
func (r *Result) CoefficientCovariance(k int) ([][]float64, error) {
	d := &r.Predictors[k]
	_, of := d.coefficients()
	out, directions := make([][]float64, len(of)), make([]direction, len(of))
	c := d.covariance()
	switch {
	case d.kept != nil && d.kept.coefficients != nil:
		for i := range out {
			out[i] = mat.Row(nil, i, d.kept.coefficients)
		}
		return out, nil
	case c == nil:
		return nil, nil
	}
	for i, f := range of {
		var err error
		if directions[i], err = d.direction(f); err != nil {
			return nil, err
		}
		out[i] = make([]float64, len(of))
		for j := range i + 1 {
			v := c.of(directions[i], directions[j]) + d.covarianceBetween(f, of[j])
			out[i][j], out[j][i] = v, v
		}
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
	weights   []sparse // by term
	intercept float64

	constant, constantBefore float64 // added to it, after the projection and before; nothing varies them
}

// sparse is a vector with values at some places, increasing, and 0 elsewhere.
type sparse struct {
	at     []int
	values []float64
}

// everywhere is v.
func everywhere(v []float64) sparse {
	s := sparse{values: v}
	for i := range v {
		s.at = append(s.at, i)
	}
	return s
}

// dot is the product with v.
func (s sparse) dot(v []float64) (sum float64) {
	for l, i := range s.at {
		sum += s.values[l] * v[i]
	}
	return sum
}

// addTo adds the values to v from lo on.
func (s sparse) addTo(v []float64, lo int) {
	for l, i := range s.at {
		v[lo+i] += s.values[l]
	}
}

// coefficients are the names of d's coefficients, without their values, and the functional that
// each is.
func (d *Predictor) coefficients() (names []Coefficient, of []functional) {
	names, of = []Coefficient{{}}, []functional{d.interceptAtReference()}
	for j := range d.Terms {
		if !d.Parametric(j) {
			continue
		}
		t := &d.Terms[j]
		levels, columns, first, reference := levels(t), slopes(t), d.first(j), 0
		if t.Kind == Factor {
			reference = d.reference(j)
		}
		for c := range t.Alpha {
			l := sparse{[]int{c}, []float64{1}}
			if t.Kind == Factor {
				if c == reference || d.mean != nil && d.mean[first+c] == 0 {
					continue // or no row has the level
				}
				l = sparse{[]int{c, reference}, []float64{1, -1}}
				if reference < c {
					l = sparse{[]int{reference, c}, []float64{-1, 1}}
				}
			}
			own := Coefficient{Term: t.Name}
			if levels != nil {
				own.Level = levels[c]
			}
			if columns != nil {
				own.Column = columns[c]
			}
			names, of = append(names, own), append(of, functional{terms: []int{j}, weights: []sparse{l}})
		}
	}
	return names, of
}

// reference is the first level of factor j that has rows.
func (d *Predictor) reference(j int) int {
	if d.mean == nil {
		return 0
	}
	lo := d.first(j)
	return max(0, slices.IndexFunc(d.mean[lo:lo+len(d.Terms[j].Alpha)], func(n float64) bool { return n > 0 }))
}

// interceptAtReference is the intercept of uncentred parametric terms. Products from which
// margins were taken stay centred: at 0 they are not 0.
func (d *Predictor) interceptAtReference() functional {
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
		if d.mean == nil { // of a result without bands that was read: the terms' means are all that is known
			f.constant -= t.Center
			f.constantBefore -= t.Before.Mean
		} else {
			lo := d.first(j)
			floats.Sub(l, d.mean[lo:lo+len(l)])
		}
		f.terms, f.weights = append(f.terms, j), append(f.weights, everywhere(l))
	}
	return f
}

// value sets c to the values of f before and after the projection, with the standard error of the
// latter.
func (d *Predictor) value(f functional, c *Coefficient) error {
	c.Before, c.Estimate = f.constantBefore+f.intercept*d.InterceptBefore, f.constant+f.intercept*d.Intercept
	for i, p := range d.pieces(f.terms)[:len(f.terms)] {
		before := f.weights[i].dot(p.before)
		c.Before += before
		c.Estimate += before + f.weights[i].dot(p.moved)
	}
	covariance := d.covariance()
	if covariance == nil {
		c.SE = math.NaN()
		return nil
	}
	x, err := d.direction(f)
	if err != nil {
		return err
	}
	c.SE = math.Sqrt(math.Max(covariance.of(x, x), 0) + d.covarianceBetween(f, f))
	return nil
}

// direction is a functional as a linear function of what the covariance is of: the raw coefficients of all terms, what
// their splits give to margins, and the intercept.
type direction struct {
	coefficients sparse
	splits       []float64 // nil: none
	intercept    float64
}

// direction is that of f.
func (d *Predictor) direction(f functional) (direction, error) {
	out := direction{intercept: f.intercept}
	if len(f.terms) == 0 || d.split == nil || !d.exchanging(f.terms) {
		for i, j := range f.terms {
			lo := d.first(j)
			for l, a := range f.weights[i].at {
				out.coefficients.at = append(out.coefficients.at, lo+a)
				out.coefficients.values = append(out.coefficients.values, f.weights[i].values[l])
			}
		}
		return out, nil
	}
	split, err := d.split.get()
	if err != nil {
		return out, err
	}
	of := split.m
	if d.covariance().splits == nil {
		of = split.own
	}
	var at []int // the pieces' columns among the raw ones
	for _, p := range d.pieces(f.terms) {
		lo := d.first(p.term)
		for c := range d.Terms[p.term].Alpha {
			at = append(at, lo+c)
		}
	}
	w := mat.NewVecDense(len(at), nil) // columns of margins that are other terms' count 0
	n := 0
	for i, own := range f.weights {
		own.addTo(w.RawVector().Data, n)
		n += len(d.Terms[f.terms[i]].Alpha)
	}
	coefficients := mat.NewVecDense(len(d.mean), nil)
	coefficients.MulVec(d.splitMap(split, of, f.terms, at).T(), w)
	out.coefficients = everywhere(coefficients.RawVector().Data)
	if k := d.givenMap(split, f.terms, at); k != nil {
		_, columns := k.Dims()
		out.splits = make([]float64, columns)
		mat.NewVecDense(columns, out.splits).MulVec(k.T(), w)
	}
	return out, nil
}

// of is the covariance of x and y given the network.
func (c *robustCovariance) of(x, y direction) float64 {
	v := c.between(x.coefficients, y.coefficients) + x.intercept*y.intercept*c.variance
	v += x.intercept*y.coefficients.dot(c.intercept) + y.intercept*x.coefficients.dot(c.intercept)
	if c.splits == nil {
		return v
	}
	a, b := mat.NewVecDense(len(c.intercept), nil), mat.NewVecDense(len(c.intercept), nil)
	x.coefficients.addTo(a.RawVector().Data, 0)
	y.coefficients.addTo(b.RawVector().Data, 0)
	if x.splits != nil {
		s := mat.NewVecDense(len(x.splits), x.splits)
		v += mat.Inner(b, c.splits.with, s) + y.intercept*floats.Dot(c.splits.intercept, x.splits)
		if y.splits != nil {
			v += mat.Inner(s, c.splits.own, mat.NewVecDense(len(y.splits), y.splits))
		}
	}
	if y.splits != nil {
		v += mat.Inner(a, c.splits.with, mat.NewVecDense(len(y.splits), y.splits)) + x.intercept*floats.Dot(c.splits.intercept, y.splits)
	}
	return v
}

// between is x'Vy, V being that of the raw coefficients.
func (c *robustCovariance) between(x, y sparse) (sum float64) {
	if p := len(c.intercept); len(x.at)*len(y.at) > p {
		a, b := make([]float64, p), make([]float64, p)
		x.addTo(a, 0)
		y.addTo(b, 0)
		return linalg.Bilinear(c.cov, a, b)
	}
	for l, i := range x.at {
		for m, j := range y.at {
			sum += x.values[l] * y.values[m] * c.cov.At(i, j)
		}
	}
	return sum
}

// covarianceBetween is that of f and g between networks; 0 for one.
func (d *Predictor) covarianceBetween(f, g functional) float64 {
	if len(d.Members) < 2 {
		return 0
	}
	return stat.Covariance(d.byNetwork(f), d.byNetwork(g), nil)
}

// byNetwork is what f is after the projection of each network.
func (d *Predictor) byNetwork(f functional) []float64 {
	values := make([]float64, len(d.Members))
	for m := range d.Members {
		own := d.network(m)
		values[m] = f.intercept * d.Members[m].Intercept
		for i, p := range own.pieces(f.terms)[:len(f.terms)] {
			values[m] += f.weights[i].dot(p.before) + f.weights[i].dot(p.moved)
		}
	}
	return values
}
