package basis

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/decomposetest"
)

// productSpecs makes specs of every sort of product, cyclic and penalised basis.
func productSpecs() []decompose.Spec {
	tensor := func(o *TensorOptions, margins ...Margin) decompose.Spec {
		return Tensor(margins, o)
	}
	on := func(column string, u Univariate) Margin { return Margin{Columns: []string{column}, Basis: u} }
	g, h, z := Variable{Column: "g", Factor: true}, Variable{Column: "h", Factor: true}, Variable{Column: "z"}
	coded := Variable{Column: "g", Factor: true, Contrast: true}
	return []decompose.Spec{
		Smooth("x", CC{K: 6}, nil), Smooth("x", CC{Period: []float64{-20, 20}}, &SmoothOptions{By: "g"}),
		Smooth("x", CP{K: 7}, nil), Smooth("z", CP{K: 5, M: []int{0, 1}}, &SmoothOptions{By: "z"}),
		Smooth("x", CR{K: 6, Shrink: true}, nil), Smooth("x", BS{K: 9, M: []int{3, 2, 0}}, &SmoothOptions{SP: []float64{1, -1}}),
		Smooth("x", BS{K: 6, M: []int{1}}, &SmoothOptions{Point: []float64{0.5}, Link: "a"}),
		Smooth("x", CR{K: 5}, &SmoothOptions{By: "g", ByFactor: true, ByOrdered: true}),
		OneHot([]string{"g_low", "g_mid", "g_high"}, nil),
		OneHot([]string{"g_mid", "g_high"}, &FactorOptions{SumToZero: true}),
		Interaction("", g, h),
		Interaction("", coded, z),
		Interaction("", z, Variable{Column: "x"}),
		RandomEffect(nil, g),
		RandomEffect(&SmoothOptions{By: "x"}, g, h, z),
		FactorSmooth("x", "g", CR{K: 5}, nil),
		FactorSmooth("x", "g", TP{K: 6}, nil),
		FactorSmooth("x", "h", PS{K: 6}, nil),
		tensor(nil, on("x", CR{K: 4}), on("z", CR{K: 3})),
		tensor(nil, on("x", PS{K: 9}), on("z", PS{K: 8})),
		tensor(&TensorOptions{SmoothOptions: SmoothOptions{By: "g"}}, on("x", CP{K: 9}), on("z", PS{K: 8})),
		tensor(&TensorOptions{Interaction: true}, on("x", PS{K: 5}), on("z", TP{K: 4})),
		tensor(&TensorOptions{Interaction: true, SmoothOptions: SmoothOptions{By: "z"}}, on("x", CC{K: 5}), on("z", CR{K: 3})),
		tensor(nil, on("x", CR{K: 4}), Margin{Columns: []string{"g"}}),
		tensor(nil, Margin{Columns: []string{"x", "z"}, Surface: TP{K: 8}}, on("h", CR{K: 3})),
		tensor(&TensorOptions{Raw: true}, on("x", PS{K: 4}), on("z", CR{K: 3}), on("h", CR{K: 3})),
	}
}

func TestProductSpecsConform(t *testing.T) {
	b := sample(t, 120, 11)
	for _, s := range productSpecs() {
		if err := decomposetest.Spec(s, Decode, b); err != nil {
			t.Error(err)
		}
	}
}

// TestCyclic: value, slope and curvature agree at the two ends, and the function
// repeats.
func TestCyclic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lo := rapid.Float64Range(-100, 100).Draw(rt, "lo")
		width := rapid.Float64Range(0.5, 50).Draw(rt, "width")
		k := rapid.IntRange(5, 15).Draw(rt, "k")
		at := rapid.Float64Range(-2, 3).Draw(rt, "at")
		x := make([]float64, 40)
		for i := range x {
			x[i] = lo + width*math.Pow(float64(i)/39, 1.5)
		}
		x[39] = lo + width
		for _, u := range []Univariate{CC{K: k}, CP{K: k}} {
			term := mustBuild(t, Smooth("x", u, nil), numbers(t, "x", x))[0].Term
			point := lo + at*width
			h := width * 1e-4
			got := evaluate(t, term, numbers(t, "x", []float64{point, point + width, lo - h, lo, lo + h}))
			for j := range term.Dim() {
				if d := got.At(0, j) - got.At(1, j); math.Abs(d) > 1e-7 {
					rt.Fatalf("%s: column %d changes by %g over a period", u.label(), j, d)
				}
				// The second difference across the seam is small of second order.
				if d := got.At(2, j) - 2*got.At(3, j) + got.At(4, j); math.Abs(d) > 1e-4 {
					rt.Fatalf("%s: column %d has a kink of %g at the seam", u.label(), j, d)
				}
			}
		}
	})
}

// TestPointConstraint: with pc the function is 0 there whatever the data say.
func TestPointConstraint(t *testing.T) {
	g, tab := readTerms(t)
	_ = g
	r, _ := fitTerms(t, tab, `y ~ s(x, bs="cr", pc=3)`, false, map[string][]float64{"s(x)": {0.3}})
	term := &r.Predictors[0].Terms[0]
	row := evaluate(t, term.Term(), numbers(t, "x", []float64{3, 7})).RawRowView(0)
	at := func(row []float64) float64 {
		return mat.Dot(mat.NewVecDense(len(row), row), mat.NewVecDense(len(row), term.Alpha))
	}
	if v := at(row); math.Abs(v) > 1e-12 {
		t.Errorf("the function is %g at pc", v)
	}
	if v := at(evaluate(t, term.Term(), numbers(t, "x", []float64{7})).RawRowView(0)); v == 0 {
		t.Error("and everywhere")
	}
}

// TestNaturalParametrisation: the columns of a factor smooth have mean square 1 over
// the rows of the scan, together for the range and for the null space; the last is
// constant and the one before uncorrelated with it.
func TestNaturalParametrisation(t *testing.T) {
	fit := sample(t, 200, 12)
	s := FactorSmooth("x", "g", CR{K: 6}, nil)
	term := mustBuild(t, s, fit)[0].Term
	x := evaluate(t, term, fit)
	var mean [6]float64
	for i := range fit.Rows() {
		for j := range term.Dim() {
			mean[j%6] += x.At(i, j) * x.At(i, j) / 200
		}
	}
	if r := (mean[0] + mean[1] + mean[2] + mean[3]) / 4; math.Abs(r-1) > 1e-9 {
		t.Errorf("mean square of the range %v", r)
	}
	if math.Abs(mean[4]-1) > 1e-9 || math.Abs(mean[5]-1) > 1e-9 {
		t.Errorf("mean squares of the null space %v", mean[4:])
	}
	cross, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for i := range fit.Rows() {
		slope, constant := 0.0, 0.0
		for j := 0; j < term.Dim(); j += 6 {
			slope, constant = slope+x.At(i, j+4), constant+x.At(i, j+5)
		}
		cross, least, most = cross+slope*constant/200, min(least, constant), max(most, constant)
	}
	if math.Abs(cross) > 1e-9 || most-least > 1e-9 {
		t.Errorf("slope and constant have product %g, the constant runs from %v to %v", cross, least, most)
	}
}

// TestCombinations: R's rule of contrasts, the order of columns, what is unseen.
func TestCombinations(t *testing.T) {
	b := data.NewBatch(5, 0)
	must(t, b.SetCodes("a", encode([]string{"q", "p", "q", "p", "r"})))
	must(t, b.SetCodes("b", encode([]string{"2", "10", "10", "10", "2"})))
	must(t, b.SetNumeric("x", []float64{1, 2, 3, 4, 5}))
	schema := data.Schema{{Name: "a", Categorical: true}, {Name: "b", Categorical: true}, {Name: "x", Numeric: true}}
	for _, c := range []struct {
		formula, term string
		kind          decompose.Kind
		levels, free  []string // of the columns, and of those that take part in the fit
	}{
		{"~ a:b", "a:b", decompose.Factor, []string{"q:2", "r:2", "p:10", "q:10"}, nil},
		{"~ a + a:b", "a:b", decompose.Factor, []string{"q:2", "r:2", "p:10", "q:10"}, []string{"p:10", "q:10"}},
		{"~ a + b + a:b", "a:b", decompose.Factor, []string{"q:2", "r:2", "p:10", "q:10"}, []string{"q:10"}},
		{"~ a + b + b:a", "b:a", decompose.Factor, []string{"10:p", "2:q", "10:q", "2:r"}, []string{"10:q"}},
		{"~ a:x", "a:x", decompose.Linear, []string{"p", "q", "r"}, nil},
		{"~ x + a:x", "a:x", decompose.Linear, []string{"p", "q", "r"}, []string{"q", "r"}},
		{"~ factor(b):x", "factor(b):x", decompose.Linear, []string{"2", "10"}, nil},
		{`~ s(a, b, bs="re")`, "s(a,b)", decompose.Random, []string{"q:2", "r:2", "p:10", "q:10"}, nil},
	} {
		f, err := Parse(c.formula, &Options{Schema: schema})
		must(t, err)
		block := mustBuild(t, f.Specs[len(f.Specs)-1], b)[0]
		term := block.Term.(*CellsTerm)
		if term.Name() != c.term || term.Kind() != c.kind || !slices.Equal(term.Levels(), c.levels) {
			t.Errorf("%s: %s %s %q, want %s %s %q", c.formula, term.Name(), term.Kind(), term.Levels(), c.term, c.kind, c.levels)
		}
		var free []string
		if m := block.Coordinates.Map(); m != nil {
			_, n := m.Dims()
			for l := range n {
				for j, level := range c.levels {
					if m.At(j, l) != 0 {
						free = append(free, level)
					}
				}
			}
		}
		if !slices.Equal(free, c.free) {
			t.Errorf("%s: free are %q, want %q", c.formula, free, c.free)
		}
	}
	unseen := data.NewBatch(1, 7)
	must(t, unseen.SetCodes("a", encode([]string{"r"})))
	must(t, unseen.SetCodes("b", encode([]string{"10"})))
	f, err := Parse(`~ a:b + s(a, b, bs="re")`, &Options{Schema: schema})
	must(t, err)
	for _, spec := range f.Specs {
		if m := evaluate(t, mustBuild(t, spec, b)[0].Term, unseen); mat.Norm(m, 1) != 0 {
			t.Errorf("an unseen combination has the row %v", m)
		}
	}
	must(t, unseen.SetCodes("a", encode([]string{"s"})))
	term := mustBuild(t, Interaction("", Variable{Column: "a", Factor: true}, Variable{Column: "x"}), b)[0].Term
	if err := term.Eval(mat.NewDense(1, term.Dim(), nil), unseen); err == nil || !strings.Contains(err.Error(), `data row 8: level "s" of column "a" did not occur`) {
		t.Errorf("unseen level: %v", err)
	}
}

// TestSumContrast: the coefficients of factor(g, contr = "sum") sum to 0, and the
// fit is that of treatment contrasts.
func TestSumContrast(t *testing.T) {
	_, tab := readTerms(t)
	sum, a := fitTerms(t, tab, `y ~ factor(g, contr="sum") + x`, false, nil)
	_, b := fitTerms(t, tab, `y ~ factor(g) + x`, false, nil)
	if !mat.EqualApprox(a, b, 1e-10) {
		t.Error("the contrasts change the fit")
	}
	total := 0.0
	for _, v := range sum.Predictors[0].Terms[0].Alpha {
		total += v
	}
	if math.Abs(total) > 1e-12 {
		t.Errorf("the coefficients sum to %g", total)
	}
}

// TestNestedIsNoted: who loses columns, and that it is said.
func TestNestedIsNoted(t *testing.T) {
	_, tab := readTerms(t)
	f, err := Parse(`~ s(x, bs="cr", k=5) + s(z, bs="cr", k=5) + te(x, z)`, &Options{Schema: tab.Schema()})
	must(t, err)
	ctx := context.Background()
	blocks, err := decompose.Prepare(ctx, tab, f.Specs, nil)
	must(t, err)
	m, err := decompose.With(response{}, map[string][]decompose.Block{"": blocks})
	must(t, err)
	r, err := decompose.Decompose(ctx, m, tab, nil)
	must(t, err)
	want := "8 of 24 columns of te(x,z) are combinations of others, of the constant, and of the columns of s(x), s(z): they are left out, so that the split is identified"
	if !strings.Contains(fmt.Sprint(r.Warnings), want) {
		t.Errorf("warnings %q", r.Warnings)
	}
	for _, term := range r.Predictors[0].Terms {
		if !term.Identified {
			t.Errorf("%s is not identified", term.Name)
		}
	}
	twice, err := decompose.With(response{}, map[string][]decompose.Block{"": append(blocks[:1:1], nested(t, tab)...)})
	must(t, err)
	if _, err := decompose.Decompose(ctx, twice, tab, nil); err == nil || !strings.Contains(err.Error(), `all its columns are combinations of those of s(x): leave it out`) {
		t.Errorf("a smooth within another: %v", err)
	}
}

// nested is the main effect of ti on the basis of s(x).
func nested(t *testing.T, tab *data.Table) []decompose.Block {
	f, err := Parse(`~ ti(x, k=5)`, &Options{Schema: tab.Schema()})
	must(t, err)
	blocks, err := decompose.Prepare(context.Background(), tab, f.Specs[:1], nil)
	must(t, err)
	return blocks
}

// TestLinkedSmooths: with id= the levels of by have one smoothing parameter.
func TestLinkedSmooths(t *testing.T) {
	_, tab := readTerms(t)
	r, _ := fitTerms(t, tab, `y ~ s(x, bs="cr", k=6, by=g, id="a")`, false, nil)
	for _, term := range r.Predictors[0].Terms[1:] {
		if first := r.Predictors[0].Terms[0].SP[0]; term.SP[0] != first {
			t.Errorf("%s has lambda %v, the first %v", term.Name, term.SP[0], first)
		}
	}
}

// TestBadProducts: what no data can save, and data that cannot carry a term.
func TestBadProducts(t *testing.T) {
	x := func(n, distinct int) *data.Batch {
		v, w, one := make([]float64, n), make([]float64, n), make([]float64, n)
		g := make([]string, n)
		for i := range v {
			v[i], w[i], one[i] = float64(i%distinct), float64((i*i)%7), 3
			g[i] = string(rune('a' + i%2))
		}
		b := data.NewBatch(n, 0)
		must(t, b.SetNumeric("x", v))
		must(t, b.SetNumeric("z", w))
		must(t, b.SetNumeric("one", one))
		must(t, b.SetCodes("g", encode(g)))
		must(t, b.SetCodes("same", encode(make([]string, n))))
		return b
	}
	schema := data.Schema{{Name: "x", Numeric: true}, {Name: "z", Numeric: true}, {Name: "one", Numeric: true}, {Name: "g", Categorical: true}, {Name: "same", Categorical: true}}
	for _, c := range []struct{ formula, want string }{
		{`~ s(x, bs="cc", period=c(0,5))`, `term s(x): column "x" runs from 0 to 19, beyond 0 to 5: widen period=`},
		{`~ s(x, bs="cp", period=c(2,50))`, `term s(x): column "x" runs from 0 to 19, beyond 2 to 50: widen period=`},
		{`~ s(x, bs="cc", knots=c(1,5,9,19))`, `term s(x): column "x" runs from 0 to 19, beyond 1 to 19: widen knots=`},
		{`~ s(x, bs="bs", knots=c(3,10))`, `term s(x): column "x" runs from 0 to 19, beyond the knots, which carry splines from 2.993 to 10.007: widen knots=`},
		{`~ s(one, bs="cc")`, `term s(one): column "one" has 1 distinct value, 3, where k = 10 needs 10: leave the term out`},
		{`~ s(x, bs="cp", k=30)`, `term s(x): column "x" has 20 distinct values, fewer than k = 30: set k = 20 or less`},
		{`~ te(x, z)`, `term te(x,z): column "z" has 4 distinct values, fewer than k = 5: set k = 4 or less`},
		{`~ ti(x, one)`, `term ti(x,one): column "one" has 1 distinct value, 3, where k = 5 needs 5: leave the term out`},
		{`~ g:same`, `term g:same: column "same" has one level only, "": leave it out`},
		{`~ same`, `term same: column "same" has one level only, "": leave the term out`},
		{`~ s(x, same, bs="fs")`, `term s(x,same): column "same" has one level only: use s(x)`},
		{`~ s(x, by=ordered(same), bs="cr")`, `term s(x):same: column "same" has one level only, "", and as an ordered by the first level has no smooth: leave the term out`},
		{`~ s(x, by=g, id=1, sp=c(1,2), bs="bs", m=c(3,2,1,0))`, ``},
		{`~ ti(x, z, k=c(100,100))`, `term ti(x,z): column "x" has 20 distinct values, fewer than k = 100: set k = 20 or less`},
	} {
		f, err := Parse(c.formula, &Options{Schema: schema})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s is no error", c.formula)
			}
			continue
		}
		must(t, err)
		b := x(60, 20)
		spec := f.Specs[0].Scanner()
		must(t, spec.Scan(b))
		got := ""
		if r, ok := spec.(decompose.Rescanner); ok {
			if _, err := r.Again(); err != nil {
				got = err.Error()
			} else {
				must(t, spec.Scan(b))
			}
		}
		if got == "" {
			if _, err := spec.Build(); err != nil {
				got = err.Error()
			}
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.formula, got, c.want)
		}
	}
}
