package decompose_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// slowSandwich is the covariance of predictor k row by row from dense columns: the judge of
// the kernels. Result and model have made the projection on the rows of tab.
func slowSandwich(t *testing.T, r *decompose.Result, m decompose.Model, tab *data.Table, k int, o *decompose.Options) (v *mat.SymDense, cross []float64, variance float64) {
	t.Helper()
	d := &r.Predictors[k]
	cov, _, _, _ := r.Covariances(k)
	p := cov.SymmetricDim()
	c := mat.NewDense(p, p, nil)
	c.Scale(1/d.Scale, cov)
	x, rest, w := rowsOfParts(t, r, m, tab, k, o.Weights)
	n := len(rest)
	sumW := 0.0
	for _, v := range w {
		sumW += v
	}
	intercept := len(o.WithoutIntercept) == 0
	shares := sharesOfLevels(d, x, w)
	middle, h, cross := mat.NewDense(p, p, nil), mat.NewDense(p, p, nil), make([]float64, p)
	for i := range n {
		row := mat.NewVecDense(p, x.RawRowView(i))
		if intercept {
			row.SubVec(row, mat.NewVecDense(p, r.Means(k)))
		}
		lev := mat.Inner(row, c, row)
		if intercept {
			lev += 1 / sumW
		}
		lev *= w[i]
		s := math.Pow(w[i]*rest[i]/(1-lev), 2)
		if 1-lev < 1e-9 {
			s = 0
		}
		if lev > 0.99 {
			s = max(s, w[i]*d.Scale)
		} else {
			s += w[i] * d.Scale * min(max(3*(min(lev, shares[i])-1.0/6), 0), 1)
		}
		var outer mat.Dense
		outer.Outer(s, row, row)
		middle.Add(middle, &outer)
		outer.Outer(w[i], row, row)
		h.Add(h, &outer)
		for j := range p {
			cross[j] += s * row.AtVec(j) / sumW
		}
		variance += s / sumW / sumW
	}
	var cm, sum, ch, chc mat.Dense
	cm.Mul(c, middle)
	sum.Mul(&cm, c)
	ch.Mul(c, h)
	chc.Mul(&ch, c)
	chc.Sub(c, &chc)
	chc.Scale(d.Scale, &chc)
	sum.Add(&sum, &chc)
	v = mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			v.SetSym(i, j, (sum.At(i, j)+sum.At(j, i))/2)
		}
	}
	out := mat.NewVecDense(p, nil)
	out.MulVec(c, mat.NewVecDense(p, cross))
	cross = out.RawVector().Data
	if !intercept {
		out.MulVec(v, mat.NewVecDense(p, r.Means(k)))
		variance = mat.Dot(out, mat.NewVecDense(p, r.Means(k)))
	}
	return v, cross, variance
}

// rowsOfParts are the raw columns of predictor k's terms, what is left of zeta, and the
// weights.
func rowsOfParts(t *testing.T, r *decompose.Result, m decompose.Model, tab *data.Table, k int, weights string) (x *mat.Dense, rest, w []float64) {
	t.Helper()
	a, err := r.Applier(m)
	must(t, err)
	b := all(t, tab, tab.Rows())
	parts, err := a.Parts(context.Background(), b)
	must(t, err)
	rest = parts.Predictors[k].Unstructured
	w = make([]float64, len(rest))
	for i := range w {
		w[i] = 1
	}
	if weights != "" {
		w, err = b.Numeric(weights)
		must(t, err)
	}
	out := &decompose.Outputs{Zeta: mat.NewDense(len(rest), len(r.Predictors), nil), Eta: mat.NewDense(len(rest), len(r.Predictors), nil), Taps: map[string]*mat.Dense{}}
	for name, width := range m.Taps() {
		out.Taps[name] = mat.NewDense(len(rest), width, nil)
	}
	must(t, m.Forward(context.Background(), out, b))
	rows := b.Slice(0, b.Rows())
	for name, v := range out.Taps {
		must(t, rows.SetTensor(name, v))
	}
	var terms []decompose.Term
	for _, term := range r.Predictors[k].Terms {
		terms = append(terms, term.Term())
	}
	full := designMatrix(t, terms, rows)
	_, p := full.Dims()
	return mat.DenseCopyOf(full.Slice(0, len(rest), 1, p)), rest, w
}

// sameSym compares matrices relative to the larger diagonal.
func sameSym(t *testing.T, what string, got, want *mat.SymDense, tolerance float64) {
	t.Helper()
	n, largest, worst := want.SymmetricDim(), 0.0, 0.0
	for i := range n {
		largest = math.Max(largest, want.At(i, i))
	}
	for i := range n {
		for j := range n {
			worst = math.Max(worst, math.Abs(got.At(i, j)-want.At(i, j)))
		}
	}
	if !(worst <= tolerance*largest) {
		t.Errorf("%s differs by %g of its largest variance", what, worst/largest)
	}
}

// sharesOfLevels are the rows' shares in the weight of their level: the largest among factors.
func sharesOfLevels(d *decompose.Predictor, x *mat.Dense, w []float64) []float64 {
	shares, at := make([]float64, len(w)), 0
	for _, t := range d.Terms {
		if t.Kind == decompose.Factor || t.Kind == decompose.Random && len(t.Features) == 1 {
			total := map[string]float64{}
			level := func(i int) string { return fmt.Sprint(x.RawRowView(i)[at : at+len(t.Alpha)]) }
			for i := range w {
				total[level(i)] += w[i]
			}
			for i := range w {
				if w[i] > 0 {
					shares[i] = max(shares[i], w[i]/total[level(i)])
				}
			}
		}
		at += len(t.Alpha)
	}
	return shares
}

// sandwichTable has columns for terms of every kind.
func sandwichTable(t *testing.T, n int) *data.Table {
	tab := table(t, n, 5)
	text := make([]string, n)
	r := rand.New(rand.NewPCG(3, 1))
	for i := range text {
		text[i] = fmt.Sprintf("g%d", min(int(r.ExpFloat64()*5), 11))
	}
	text[0] = "once" // a level of one row
	must(t, tab.AddTexts("g", text))
	many := make([]string, n) // levels enough to be eliminated first
	for i := range many {
		many[i] = fmt.Sprintf("h%02d", r.IntN(80))
	}
	must(t, tab.AddTexts("h", many))
	eight := make([]string, n)
	for i := range eight {
		eight[i] = fmt.Sprintf("e%d", r.IntN(8))
	}
	must(t, tab.AddTexts("e", eight))
	return tab
}

// TestSandwich compares the last pass with sums row by row, for terms of all kinds, both
// routes, weights with zeros, several predictors, learned bases, and without an intercept. Of the eight
// combinations of route, weights and intercept it takes the four in which every two settings meet, with PHO_LONG=1 all.
func TestSandwich(t *testing.T) {
	if testing.Short() {
		t.Skip("sums row by row, of many decompositions: half a minute")
	}
	const n = 900
	tab := sandwichTable(t, n)
	for _, c := range []struct {
		name, formula string
		k             int
		tap           bool
		o             decompose.Options
		tolerance     float64
	}{
		{"own terms", "", 1, false, decompose.Options{}, 1e-10},
		{"learned", "", 2, true, decompose.Options{}, 1e-8},
		{"three predictors", `~ s(x0,bs="ps",k=12) + day`, 3, false, decompose.Options{}, 1e-9},
		{"bands", `~ s(x0,bs="ps",k=30) + s(x1,bs="cr",k=8) + s(x2,bs="cc",k=9) + g`, 1, false, decompose.Options{}, 1e-8},
		{"dense", `~ s(x0) + s(x1,k=20) + te(x1,x2,k=4) + s(x0,by=day,k=5)`, 1, false, decompose.Options{}, 1e-8},
		{"tensor of bands", `~ te(x1,x2,bs="ps",k=7) + s(g,bs="re")`, 1, false, decompose.Options{}, 1e-8},
		{"many levels", `~ g + s(x0,bs="ps",k=6) + s(h,bs="re")`, 1, false, decompose.Options{}, 1e-7},
		{"crossed random effects", `~ s(g,bs="re") + s(e,bs="re") + x0`, 1, false, decompose.Options{}, 1e-8},
		{"contrasts of many levels", `~ h + s(x0,bs="ps",k=12) + s(x1)`, 1, false, decompose.Options{}, 1e-8},
		{"smooths of many levels", `~ s(x1) + s(x0,h,bs="fs",xt="ps",k=4)`, 1, false, decompose.Options{}, 1e-8},
		{"smooths by levels", `~ s(x0,by=e,k=22) + s(x1,bs="ps")`, 1, false, decompose.Options{}, 1e-8},
		{"tensors by levels", `~ te(x1,x2,by=e,bs="ps",k=5) + s(x0)`, 1, false, decompose.Options{}, 1e-8},
		{"intercepts and slopes", `~ s(h,bs="re") + s(h,x0,bs="re") + s(x1)`, 1, false, decompose.Options{}, 1e-7},
		{"PHO", `~ s(x0,bs="ps",k=9) + g + year`, 1, false, decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}}, 1e-7},
		{"one inverse of three", `~ s(x0,bs="ps",k=9) + day + s(x1,x2,k=12)`, 3, false, decompose.Options{Projection: decompose.Projection{Method: decompose.PHO}}, 1e-7},
		{"refit", `~ s(x0,bs="ps",k=9) + g`, 1, false, decompose.Options{Projection: decompose.Projection{RefitTotal: true}}, 1e-8},
	} {
		for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
			for _, weights := range []string{"", "w"} {
				for _, without := range [][]string{nil, {"eta"}} {
					half := (route == decompose.QR) != (weights != "") != (without != nil)
					if without != nil && c.k > 1 || half && os.Getenv("PHO_LONG") == "" {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%v", c.name, route, weights, without == nil), func(t *testing.T) {
						m := decompose.Model(newFake(c.k))
						if c.tap {
							m = newFake(c.k).withTap()
						}
						if c.formula != "" {
							f := newFake(c.k)
							f.beta = nil
							f.offset = 0
							var err error
							m, err = decompose.With(f, map[string][]decompose.Block{"": builtBlocks(t, c.formula, tab)})
							must(t, err)
						}
						o := c.o
						o.Selection.WithoutVc = true // see TestUncertainSmoothing
						tolerance := c.tolerance
						if without != nil && slices.Contains([]string{"dense", "smooths by levels", "tensors by levels"}, c.name) { // A^-1 is as large as 1e10 where bases span a constant
							tolerance = 2e-4
						}
						o.Weights, o.Route, o.WithoutIntercept = weights, route, without
						r, err := decompose.Decompose(context.Background(), m, tab, &o)
						must(t, err)
						for k := range r.Predictors {
							_, got, gotCross, gotVariance := r.Covariances(k)
							if got == nil {
								t.Fatal("no robust covariance")
							}
							want, cross, variance := slowSandwich(t, r, m, tab, k, &o)
							sameSym(t, "covariance", got, want, tolerance)
							near(t, "variance of the intercept", gotVariance, variance, math.Max(1e-8, tolerance)*variance)
							for j, v := range cross {
								near(t, "covariance with the intercept", gotCross[j], v, tolerance*math.Sqrt(variance*(want.At(j, j)+variance)))
							}
						}
					})
				}
			}
		}
	}
}

// TestUncertainSmoothing: where smoothing parameters are chosen, robust variances grow by
// Vc - Vp. The trace of that against X'WX is at least EDF2 - EDF, since EDF2 is cut off at
// EDF1.
func TestUncertainSmoothing(t *testing.T) {
	tab := sandwichTable(t, 9000)
	first := 0.0
	for _, route := range []decompose.Route{decompose.Gram, decompose.QR} {
		m := formulaModel(t, `~ s(x0,bs="ps",k=8) + x1`, tab, 1)
		o := decompose.Options{Projection: decompose.Projection{Route: route}, Columns: decompose.Columns{Weights: "w"}}
		with := decomposed(t, m, tab, &o)
		o.Selection.WithoutVc = true
		without := decomposed(t, m, tab, &o)
		_, v, _, _ := with.Covariances(0)
		_, less, _, _ := without.Covariances(0)
		x, _, w := rowsOfParts(t, with, m, tab, 0, "w")
		n, p := x.Dims()
		gained, edf := 0.0, 0.0
		diff := mat.NewSymDense(p, nil)
		for i := range p {
			for j := i; j < p; j++ {
				diff.SetSym(i, j, v.At(i, j)-less.At(i, j))
			}
		}
		for i := range n {
			row := mat.NewVecDense(p, nil)
			row.SubVec(x.RowView(i), mat.NewVecDense(p, with.Means(0)))
			gained += w[i] * mat.Inner(row, diff, row) / with.Predictors[0].Scale
		}
		for _, term := range with.Predictors[0].Terms {
			edf += *term.EDF2 - term.EDF
		}
		if !(gained >= edf && edf > 0.01 && gained < 1) {
			t.Errorf("route %s: smoothing parameters that are chosen add %g degrees of freedom, EDF2 has %g more", route, gained, edf)
		}
		if first == 0 {
			first = gained
		}
		near(t, "degrees of freedom gained by the other route", gained, first, 1e-6)
	}
}

// TestLeadersLead: a predictor takes leverages from one that computes them itself, also if inverses drift apart by rounding: the
// second equals the first, and the third only the second.
func TestLeadersLead(t *testing.T) {
	tab := table(t, 300, 5)
	r := decomposed(t, formulaModel(t, `~ x0 + s(x1,k=6)`, tab, 3), tab, nil)
	for k := range r.Predictors {
		cov, _, _, _ := r.Covariances(k)
		first, _, _, _ := r.Covariances(0)
		cov.CopySym(first)
		r.Predictors[k].Scale = r.Predictors[0].Scale
		cov.ScaleSym(1+0.7e-13*float64(k), cov)
	}
	leaders, err := r.Leaders(&decompose.Options{})
	must(t, err)
	if leaders[0] != 0 || leaders[1] != 0 || leaders[2] != 2 {
		t.Errorf("leverages are found by %v", leaders)
	}
}
