package basis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// maxPlateKnots bounds the distinct points a thin plate spline is made from, as
// in mgcv; of more, that many are chosen by hash. Time and memory of the
// construction grow with its square.
const maxPlateKnots = 2000

// TP is the thin plate regression spline basis of 1 to 3 columns (Wood 2003;
// Wood 2017, 5.5.1): the functions of the full thin plate spline on the distinct
// points, its radial part truncated to the leading eigenvectors, next to the
// polynomials that the penalty does not see. It is isotropic: for columns of
// different units te is meant. Beyond the points it goes on as the spline does; in
// one dimension that is a polynomial of degree M - 1, by default a straight line.
type TP struct {
	K int // basis dimension; 0: the polynomials and 8, 27 or 100 in 1, 2 or 3 dimensions
	// M is the order of the derivatives in the penalty, 2M > d; 0: the least with
	// 2M > d + 1, which is 2, 2 or 3.
	M int
	// Shrink penalises the polynomials too, by a tenth of what the smoothest other
	// function has (mgcv's bs = "ts"): the whole term can go to 0.
	Shrink bool
	// Knots are at least K distinct points to use in place of the data's, row by
	// row (d numbers each); nil: the data's, at most 2000.
	Knots []float64
}

func (s TP) label() string {
	if s.Shrink {
		return "ts"
	}
	return "tp"
}

func (s TP) check() error {
	_, err := s.settings(1)
	return err
}

func (s TP) values(column string) values {
	return values{column: column, limit: maxPlateKnots, tally: newPoints(1, maxPlateKnots)}
}

func (s TP) build(v *values) (spline, *mat.SymDense, error) {
	b, penalty, err := s.checked([]string{v.column}, v.tally)
	if err != nil {
		return nil, nil, err
	}
	return b, penalty, nil
}

// plateSettings are a TP's choices for d columns, defaults filled in.
type plateSettings struct {
	d, m, k int
	null    int // M, the number of polynomials
}

func (s TP) settings(d int) (p plateSettings, err error) {
	name := s.label()
	if d < 1 || d > 3 {
		return p, fmt.Errorf("%s takes 1 to 3 columns, not %d: use te() of fewer, or bs = \"rbf\"", name, d)
	}
	p.d, p.m = d, s.M
	if p.m == 0 {
		for p.m = 1; 2*p.m < d+2; p.m++ {
		}
	}
	const most = 6
	if p.m < 1 || 2*p.m <= d || p.m > most {
		return p, fmt.Errorf("m = %d: %s of %s takes m from %d to %d (the functions are continuous only if 2m is greater than the number of columns)", s.M, name, columns(d), d/2+1, most)
	}
	p.null = choose(p.m+d-1, d)
	p.k = s.K
	if p.k == 0 {
		p.k = p.null + []int{8, 27, 100}[d-1]
	}
	if p.k <= p.null || p.k > maxK {
		return p, fmt.Errorf("k = %d: %s of %s with m = %d takes k from %d (%d polynomials and one function more) to %d", p.k, name, columns(d), p.m, p.null+1, p.null, maxK)
	}
	if n := len(s.Knots); n > 0 && (n%d != 0 || n/d < p.k || n/d > maxPlateKnots) {
		return p, fmt.Errorf("knots has %d numbers: %s of %s takes %d to %d knots of %d each", n, name, columns(d), p.k, maxPlateKnots, d)
	}
	for i, v := range s.Knots {
		if !finite(v) {
			return p, fmt.Errorf("number %d of knots is %v", i+1, v)
		}
	}
	return p, nil
}

func columns(d int) string {
	if d == 1 {
		return "1 column"
	}
	return fmt.Sprintf("%d columns", d)
}

// choose is the binomial coefficient.
func choose(n, k int) int {
	c := 1
	for i := range k {
		c = c * (n - i) / (i + 1)
	}
	return c
}

// construct makes the basis of the columns named from their points, and its
// penalty. The order of eigenvectors and the rotation that removes the
// polynomials follow mgcv, because the scale on which smoothing parameters are
// reported depends on them.
func (s TP) construct(names []string, data *points) (*plate, *mat.SymDense, error) {
	p, err := s.settings(len(names))
	if err != nil {
		return nil, nil, err
	}
	data.sort()
	if err := manyPoints(data, names, p); err != nil {
		return nil, nil, err
	}
	at, shift := centred(data)
	b := newPlate(p)
	b.shift, b.points = shift, at
	if len(s.Knots) > 0 {
		if b.points, err = knotPoints(s.Knots, shift); err != nil {
			return nil, nil, err
		}
	}
	t := b.polynomials()
	if err := fullRank(t, names, p); err != nil {
		return nil, nil, err
	}
	if !finite(b.eta(b.extent())) {
		return nil, nil, fmt.Errorf("columns %q have too wide a range for 64-bit numbers: rescale them", names)
	}
	e := b.radial()
	var z *mat.Dense // knots x (k - M), with t'z = 0
	var roughness mat.Dense
	if n, _ := t.Dims(); n == p.k { // nothing to truncate
		z = nullOf(t)
		ez := mat.NewDense(n, n-p.null, nil)
		e.times(ez.RawMatrix().Data, z.RawMatrix().Data, n-p.null)
		roughness.Mul(z.T(), ez)
	} else {
		d, u, err := leading(e, p.k)
		if err != nil {
			return nil, nil, err
		}
		var ut mat.Dense
		ut.Mul(u.T(), t)
		rotation := nullOf(&ut)
		roughness.Product(rotation.T(), d, rotation)
		z = new(mat.Dense)
		z.Mul(u, rotation)
	}
	b.weights = z.RawMatrix().Data
	size, err := b.standardise(data)
	if err != nil {
		return nil, nil, fmt.Errorf("columns %q: %w", names, err)
	}
	return b, s.penalty(p, &roughness, size), nil
}

// penalty is the radial part's, scaled as the columns are; with Shrink on the
// polynomials too.
func (s TP) penalty(p plateSettings, roughness *mat.Dense, size []float64) *mat.SymDense {
	free := p.k - p.null
	radial := mat.NewSymDense(free, nil)
	out := mat.NewSymDense(p.k, nil)
	for i := range free {
		for j := i; j < free; j++ {
			v := (roughness.At(i, j) + roughness.At(j, i)) / 2 / (size[i] * size[j])
			radial.SetSym(i, j, v)
			out.SetSym(i, j, v)
		}
	}
	if s.Shrink {
		const shrinkage = 0.1 // mgcv's
		var d mat.EigenSym
		if d.Factorize(radial, false) {
			least := d.Values(nil)[0]
			for i := free; i < p.k; i++ {
				out.SetSym(i, i, shrinkage*least)
			}
		}
	}
	return out
}

// centred gives the points less their mean over rows, and the mean.
func centred(p *points) (at, shift []float64) {
	shift = make([]float64, p.d)
	rows := 0.0
	for i, c := range p.count {
		rows += float64(c)
		for j := range shift {
			shift[j] += float64(c) * p.x[i*p.d+j]
		}
	}
	floats.Scale(1/rows, shift)
	at = make([]float64, len(p.x))
	for i, v := range p.x {
		at[i] = v - shift[i%p.d]
	}
	return at, shift
}

// manyPoints refuses data with fewer distinct points than the basis needs.
func manyPoints(data *points, names []string, p plateSettings) error {
	if data.rows == 0 {
		return fmt.Errorf("no rows of %s were scanned", quoted(names))
	}
	n := data.n()
	for j, name := range names {
		least, most := math.Inf(1), math.Inf(-1)
		for i := range n {
			least, most = min(least, data.x[i*p.d+j]), max(most, data.x[i*p.d+j])
		}
		if least == most {
			advice := "leave it out of the term"
			if p.d == 1 {
				advice = "leave the term out"
			}
			return fmt.Errorf("column %q has 1 distinct value, %v: %s", name, least, advice)
		}
	}
	what := "distinct values"
	if p.d > 1 {
		what = "distinct points"
	}
	switch {
	case n >= p.k:
		return nil
	case n > p.null:
		return fmt.Errorf("%s has %d %s, fewer than k = %d: set k = %d or less", quoted(names), n, what, p.k, n)
	case p.d == 1:
		return fmt.Errorf("%s has %d %s, fewer than k = %d (and this basis needs %d at least): use the column itself or factor(%s)", quoted(names), n, what, p.k, p.null+1, names[0])
	}
	return fmt.Errorf("%s have %d %s, fewer than k = %d (and this basis needs %d at least): use the columns themselves", quoted(names), n, what, p.k, p.null+1)
}

func quoted(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("column %q", names[0])
	}
	return fmt.Sprintf("columns %q", names)
}

// knotPoints shifts given knots and puts them in order.
func knotPoints(x, shift []float64) ([]float64, error) {
	d := len(shift)
	p := newPoints(d, len(x)/d)
	at := make([]float64, d)
	for i := 0; i < len(x); i += d {
		for j := range at {
			at[j] = x[i+j] - shift[j]
		}
		before := p.n()
		if p.add(at...); p.n() == before {
			return nil, fmt.Errorf("knot %d is there twice", i/d+1)
		}
	}
	p.sort()
	return p.x, nil
}

// fullRank refuses points on which a polynomial that the penalty does not see
// vanishes.
func fullRank(t *mat.Dense, names []string, p plateSettings) error {
	scaled := mat.DenseCopyOf(t)
	n, c := scaled.Dims()
	for j := range c {
		column := mat.Col(nil, j, t)
		if norm := floats.Norm(column, 2); norm > 0 {
			floats.Scale(1/norm, column)
		}
		scaled.SetCol(j, column)
	}
	var d mat.SVD
	if n < c || !d.Factorize(scaled, mat.SVDNone) {
		return fmt.Errorf("%d points: %d polynomials need as many at least", n, c)
	}
	values := d.Values(nil)
	if values[len(values)-1] > 1e-10*values[0] {
		return nil
	}
	if p.m == 2 && p.d > 1 {
		what := "a line"
		if p.d == 3 {
			what = "a plane"
		}
		return fmt.Errorf("the points of %s lie on %s, so one column follows from the others: use a smooth of fewer columns", quoted(names), what)
	}
	return fmt.Errorf("the points of %s are too special: a polynomial of degree less than m = %d is 0 on all of them: set a smaller m or use a smooth of fewer columns", quoted(names), p.m)
}

// nullOf is an orthonormal basis (n x (n - c)) of the vectors that are orthogonal
// to the columns of a (n x c, of full rank): Householder reflections take the
// columns, the first one first, to the last axes, the last axis first. a is left
// as it was.
func nullOf(a *mat.Dense) *mat.Dense {
	n, c := a.Dims()
	rest := mat.DenseCopyOf(a)
	us := make([][]float64, c)
	for s := range c {
		last := n - 1 - s
		u := mat.Col(nil, s, rest)[:last+1]
		norm := floats.Norm(u, 2)
		// On symmetric points, such as equally spaced values, the last coordinate is
		// 0 but for rounding, which must not decide.
		if u[last] < -1e-10*norm {
			norm = -norm
		}
		u[last] += norm
		if length := floats.Norm(u, 2); length > 0 {
			floats.Scale(1/length, u)
		}
		us[s] = u
		for j := s; j < c; j++ {
			column := mat.Col(nil, j, rest)
			floats.AddScaled(column[:last+1], -2*floats.Dot(column[:last+1], u), u)
			rest.SetCol(j, column)
		}
	}
	// The product of the reflections, less its last c columns.
	z := mat.NewDense(n, n-c, nil)
	for j := range n - c {
		column := make([]float64, n)
		column[j] = 1
		for s := c - 1; s >= 0; s-- {
			u := us[s]
			floats.AddScaled(column[:len(u)], -2*floats.Dot(column[:len(u)], u), u)
		}
		z.SetCol(j, column)
	}
	return z
}
