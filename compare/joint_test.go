package compare_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/report"
)

// Two networks on the same rows and the same columns: the difference of their projections is the
// projection of the difference, so its standard error is the sandwich of the residuals'
// difference (White 1980), computed here from the rows. It is far from what independent
// errors would give.
func TestJointErrorsAreThoseOfTheDifference(t *testing.T) {
	tab := drawn{n: 400, seed: 11, names: three}.table(t)
	one := &box{func(x0, x1, g float64) float64 { return x0 + x0*x1 + g }}
	two := &box{func(x0, x1, g float64) float64 { return 2*x0 + 1.1*x0*x1 + 0.1*x1*x1 }}
	blocks := terms(t, one, tab, "~ x0 + x1")
	a, applierA := side(t, "A", one, tab, blocks, "w")
	b, applierB := side(t, "B", two, tab, blocks, "w")
	j, err := decompose.NewJoint(t.Context(), applierA, applierB, [2]data.Source{tab, tab}, "w")
	if err != nil {
		t.Fatal(err)
	}
	errors, err := report.DifferenceErrors(t.Context(), a.Result, b.Result, applierA, applierB, j)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.New(a, b, compare.Rows{Joint: errors})
	if err != nil {
		t.Fatal(err)
	}

	// The sandwich, from the rows.
	const n, p = 400, 3
	x, w, r := mat.NewDense(n, p, nil), make([]float64, n), make([]float64, n)
	row := 0
	for batch := range tab.Batches(t.Context(), []string{"x0", "x1", "w"}) {
		x0, _ := batch.Numeric("x0")
		x1, _ := batch.Numeric("x1")
		weight, _ := batch.Numeric("w")
		for i := range x0 {
			x.SetRow(row, []float64{1, x0[i], x1[i]})
			w[row] = weight[i]
			row++
		}
	}
	row = 0
	for parts, err := range applierA.All(t.Context(), tab) {
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range parts.Predictors[0].Unstructured {
			r[row+i] -= v
		}
		row += len(parts.Predictors[0].Unstructured)
	}
	row = 0
	for parts := range applierB.All(t.Context(), tab) {
		for i, v := range parts.Predictors[0].Unstructured {
			r[row+i] += v
		}
		row += len(parts.Predictors[0].Unstructured)
	}
	bread, meat := mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	var sumW, meanX0 float64
	for i := range n {
		bread.SymRankOne(bread, w[i], x.RowView(i))
		meat.SymRankOne(meat, w[i]*w[i]*r[i]*r[i], x.RowView(i))
		sumW, meanX0 = sumW+w[i], meanX0+w[i]*x.At(i, 1)
	}
	meanX0 /= sumW
	var inverse, half, cov mat.Dense
	if err := inverse.Inverse(bread); err != nil {
		t.Fatal(err)
	}
	half.Mul(&inverse, meat)
	cov.Mul(&half, &inverse)
	slope := math.Sqrt(cov.At(1, 1) * float64(n) / float64(n-p))
	x0 := term(t, c, "x0")
	if x0.Curve.Ratio == nil || !*x0.Curve.Beyond || !strings.Contains(c.Uncertainty, "joint") {
		t.Fatalf("%+v, %s", x0.Curve, c.Uncertainty)
	}
	for i, v := range x0.Curve.Grid[0].Value {
		if want := slope * math.Abs(v-meanX0); math.Abs(x0.Curve.SE[i]-want) > 1e-8*slope {
			t.Fatalf("at %g the standard error is %.12g, from the rows %.12g", v, x0.Curve.SE[i], want)
		}
	}
	independent := 0.0
	for _, s := range []compare.Side{a, b} {
		for i, text := range s.Curves[0].X {
			if i == 0 && text != "" {
				independent = math.Hypot(independent, s.Curves[0].SE[0])
			}
		}
	}
	if !(x0.Curve.SE[0] < 0.7*independent) {
		t.Errorf("the joint error is %g, independent ones would give %g: this test says nothing", x0.Curve.SE[0], independent)
	}

	// Rows that are not those of both.
	other := drawn{n: 400, seed: 12, names: three}.table(t)
	if _, err := decompose.NewJoint(t.Context(), applierA, applierB, [2]data.Source{other, other}, "w"); err == nil || !strings.Contains(err.Error(), "the rows must be those of both") {
		t.Errorf("error %v", err)
	}
	few := drawn{n: 90, seed: 11, names: three}.table(t)
	if _, err := decompose.NewJoint(t.Context(), applierA, applierB, [2]data.Source{few, few}, "w"); err == nil || !strings.Contains(err.Error(), "these are 90") {
		t.Errorf("error %v", err)
	}
}

// With B's rows at hand, changes of means are also known for terms with different columns;
// where the columns are the same it is what the moments say.
func TestMeansOfRows(t *testing.T) {
	before, after := drawn{n: 500, seed: 1, names: three}.table(t), drawn{n: 400, seed: 2, lo: 0.5, names: three}.table(t)
	m := &box{func(x0, x1, g float64) float64 { return math.Sin(2*x0) + x0*x1/2 + g }}
	a, applier := side(t, "A", m, before, terms(t, m, before, formula), "")
	same, _ := side(t, "B", m, after, terms(t, m, before, formula), "")
	other, _ := side(t, "B", m, after, terms(t, m, after, formula), "")
	means, n, err := applier.MeansOf(t.Context(), after, "")
	if err != nil || n != 400 {
		t.Fatal(n, err)
	}
	known, err := compare.New(a, other, compare.Rows{Means: means})
	if err != nil {
		t.Fatal(err)
	}
	moments, unknown := compared(t, a, same), compared(t, a, other)
	for i, want := range moments.Predictors[0].Terms {
		got, without := known.Predictors[0].Terms[i], unknown.Predictors[0].Terms[i]
		if math.Abs(*got.Rows-*want.Rows) > 1e-10 || !want.SameBasis {
			t.Errorf("%s: %g from the rows, %g from the moments", want.Name, *got.Rows, *want.Rows)
		}
		if smooth := strings.Contains(want.Name, "("); smooth != (without.Rows == nil) || smooth == got.SameBasis {
			t.Errorf("%+v without rows, %+v with them", without, got)
		}
	}
}

// With an interaction the curve of its margin is that of the regression on the margins alone, and so is the standard
// error of a difference, but for the degrees of freedom.
func TestJointErrorsCountTheSplit(t *testing.T) {
	tab := drawn{n: 400, seed: 11, names: three}.table(t)
	one := &box{func(x0, x1, g float64) float64 { return x0 + x0*x1 + g }}
	two := &box{func(x0, x1, g float64) float64 { return 2*x0 + 1.1*x0*x1 + 0.1*x1*x1 }}
	var se [2][]float64
	for i, formula := range []string{"~ x0 + x1 + x0:x1", "~ x0 + x1"} {
		blocks := terms(t, one, tab, formula)
		a, applierA := side(t, "A", one, tab, blocks, "w")
		b, applierB := side(t, "B", two, tab, blocks, "w")
		j, err := decompose.NewJoint(t.Context(), applierA, applierB, [2]data.Source{tab, tab}, "w")
		if err != nil {
			t.Fatal(err)
		}
		errors, err := report.DifferenceErrors(t.Context(), a.Result, b.Result, applierA, applierB, j)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range errors[0].SE {
			se[i] = append(se[i], v*math.Sqrt(400-a.Result.Predictors[0].EDF))
		}
	}
	for l, v := range se[0] {
		if math.Abs(v-se[1][l]) > 1e-9*se[1][0] {
			t.Errorf("point %d: %g with the interaction, %g without", l, v, se[1][l])
		}
	}
}
