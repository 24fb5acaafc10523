package decompose_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// TestInseparable: columns that others make up but for a ten thousandth are told as a sum where noise hides that, each
// dependent set by itself, and one by one where it does not. The sum has the moments and the standard errors of one.
func TestInseparable(t *testing.T) {
	const n = 400
	r := rand.New(rand.NewPCG(7, 1))
	frame := newFrame(n)
	x := make([][]float64, 7)
	for j := range x {
		x[j] = make([]float64, n)
		for i := range x[j] {
			x[j][i] = r.NormFloat64()
		}
	}
	for i := range n {
		x[1][i] = x[0][i] + 1e-4*x[1][i]
		x[4][i] = x[2][i] + x[3][i] + 1e-4*x[4][i]
	}
	names := []string{"a", "near_a", "b", "c", "near_b_and_c", "d", "noise"}
	for j, name := range names {
		frame = frame.with(name, x[j])
	}
	tab := frame.table(t)
	for _, c := range []struct {
		noise float64
		want  [][]string
	}{
		{1, [][]string{{"a", "near_a"}, {"b", "c", "near_b_and_c"}}},
		{1e-9, nil},
	} {
		m := formulaBox(t, tab, names, "~ a + near_a + b + c + near_b_and_c + d", func(x []float64) float64 {
			return x[0] + x[1] + x[2] - x[3] + x[4] + x[5] + c.noise*x[6]
		})
		result, rows := run(t, m, tab, decompose.Options{})
		d := &result.Predictors[0]
		var got [][]string
		for _, e := range d.Entangled {
			got = append(got, e.Terms)
			mean, square := 0.0, 0.0
			for _, row := range rows.terms[0] {
				v := 0.0
				for j := range d.Terms {
					if slices.Contains(e.Terms, d.Terms[j].Name) {
						v += row[j]
					}
				}
				mean, square = mean+v/n, square+v*v/n
			}
			if want := square - mean*mean; math.Abs(e.After.Variance-want) > 1e-6*want { // terms of some thousand cancel in it
				t.Errorf("%v: variance %g, of the rows %g", e.Terms, e.After.Variance, want)
			}
			if e.Weak != nil || e.Because[0].Kind != decompose.ReasonNearlyDependent {
				t.Errorf("%v: weak %v, because %v", e.Terms, e.Weak, e.Because)
			}
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("noise %g: together %v, want %v", c.noise, got, c.want)
		}
		for j := range d.Terms {
			alone := !slices.ContainsFunc(c.want, func(g []string) bool { return slices.Contains(g, d.Terms[j].Name) })
			if told := d.Terms[j].Verdict == decompose.Identified || d.Terms[j].Verdict == decompose.Weak; told != alone || !d.Terms[j].Identified {
				t.Errorf("noise %g: %s is %s, identified %v", c.noise, d.Terms[j].Name, d.Terms[j].Verdict, d.Terms[j].Identified)
			}
		}
	}
}

// TestInseparableInAnyOrder: which terms are together does not depend on their order: neither on one that no sum makes
// precise (sum_of_x and the eight of which it is the sum), nor on sets of larger errors than those of another set.
func TestInseparableInAnyOrder(t *testing.T) {
	const n = 400
	r := rand.New(rand.NewPCG(1, 7))
	names := []string{"sum_of_x", "b", "c", "near_b_and_c", "a", "near_a", "noise", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"}
	x := make([][]float64, len(names))
	for j := range x {
		x[j] = make([]float64, n)
		for i := range x[j] {
			x[j][i] = r.NormFloat64()
		}
	}
	frame := newFrame(n)
	for i := range n {
		x[0][i] *= 0.05
		for _, of := range x[7:] {
			x[0][i] += of[i]
		}
		x[2][i] *= 3
		x[3][i] = x[1][i] + x[2][i] + 1e-4*x[3][i]
		x[5][i] = x[4][i] + 1e-3*x[5][i]
	}
	for j, name := range names {
		frame = frame.with(name, x[j])
	}
	tab := frame.table(t)
	eta := func(x []float64) float64 { return x[1] + x[4] + x[6] }
	want := [][]string{{"a", "near_a"}, {"b", "c", "near_b_and_c"}}
	for _, formula := range []string{
		"~ sum_of_x + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + b + c + near_b_and_c + a + near_a",
		"~ a + near_a + b + c + near_b_and_c + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + sum_of_x",
		"~ near_b_and_c + x1 + near_a + c + a + x2 + b + x3 + x4 + x5 + x6 + x7 + x8 + sum_of_x",
	} {
		result, _ := run(t, formulaBox(t, tab, names, formula, eta), tab, decompose.Options{})
		var got [][]string
		for _, e := range result.Predictors[0].Entangled {
			got = append(got, slices.Sorted(slices.Values(e.Terms)))
		}
		slices.SortFunc(got, slices.Compare)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: together %v, want %v", formula, got, want)
		}
	}
}
