package nam_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/nam"
)

// At a row's own values the shapes are the sums of that row's contributions, and so
// with the rest they are eta.
func TestShapesAreTheContributions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newNAM(2, 4, [2]int{0, 1})
		m.line = rapid.Bool().Draw(rt, "line")
		v := rapid.SampledFrom([]nam.Variant{nam.Learned, nam.Spline}).Draw(rt, "variant")
		tab := rows(t, 200, 2, 0.4, rapid.Uint64Range(1, 100).Draw(rt, "seed"))
		o := &decompose.Options{Columns: decompose.Columns{Weights: "w"}}
		r := phonam(t, m, tab, v, &nam.Options{Decompose: o, Basis: "cr", K: 5, PairK: 3})
		a, err := r.Applier(m)
		if err != nil {
			rt.Fatal(err)
		}
		const some = 5
		b := all(t, tab).Slice(0, some)
		parts, err := a.Parts(t.Context(), b)
		if err != nil {
			rt.Fatal(err)
		}
		x0, _ := b.Numeric("x0")
		x1, _ := b.Numeric("x1")
		back := slices.Clone(x1) // another order than x0, so that axes cannot be mistaken
		slices.Reverse(back)
		shapes, err := nam.Shapes(t.Context(), r, m, &nam.ShapeOptions{Values: map[string][]float64{"x0": x0, "x1": back}})
		if err != nil {
			rt.Fatal(err)
		}
		if len(shapes) != 3 {
			rt.Fatalf("%d shapes", len(shapes))
		}
		for i := range some {
			at := []int{i, some - 1 - i, i*some + some - 1 - i} // of x0, x1, and both
			sum := r.Predictors[0].Intercept + parts.Predictors[0].Unstructured[i]
			for j, s := range shapes {
				var want float64
				for _, name := range s.Terms {
					want += parts.Predictors[0].Terms.At(i, slices.Index(names(r.Predictors[0]), name))
				}
				if d := math.Abs(s.After[at[j]] - want); d > 1e-10 {
					rt.Fatalf("%v at row %d: shape %g, contributions %g", s.Terms, i, s.After[at[j]], want)
				}
				sum += s.After[at[j]]
			}
			if eta := parts.Predictors[0].Eta[i]; math.Abs(sum-eta) > 1e-10 {
				rt.Fatalf("row %d: intercept, shapes and deep part are %g, eta %g", i, sum, eta)
			}
		}
	})
}

func TestShapesOfTheFeatures(t *testing.T) {
	m := newNAM(2, 4, [2]int{0, 1})
	m.line = true
	r := phonam(t, m, rows(t, 300, 2, 0.2, 3), nam.Spline, nil)
	shapes, err := nam.Shapes(t.Context(), r, m, &nam.ShapeOptions{Points: 11, Side: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"[x0] [x0 f(x0) s(x0)] 11", "[x1] [f(x1) s(x1)] 11", "[x0 x1] [f(x0,x1) ti(x0,x1)] 49"}
	for i, s := range shapes {
		if got := fmt.Sprint(s.Features, s.Terms, " ", len(s.After)); i >= len(want) || got != want[i] {
			t.Errorf("shape %d: %s, want %s", i, got, want[i])
		}
		if len(s.SE) != len(s.After) || !(slices.Max(s.SE) > 0) {
			t.Errorf("%v: standard errors %v", s.Terms, s.SE)
		}
	}
	if v := shapes[0].Axes[0].Values; v[0] != r.Features[0].Min || v[10] != r.Features[0].Max {
		t.Errorf("the grid is from %g to %g, x0 from %g to %g", v[0], v[10], r.Features[0].Min, r.Features[0].Max)
	}
	if _, err := json.Marshal(shapes); err != nil {
		t.Error(err)
	}
	for _, o := range []*nam.ShapeOptions{{Points: 1}, {Side: -1}, {Values: map[string][]float64{"x0": {}}}} {
		if _, err := nam.Shapes(t.Context(), r, m, o); err == nil {
			t.Errorf("options %+v were taken", o)
		}
	}
}

// Two lines that are one have no standard errors of their own, so that a shape of
// one of them has none; and NaN does not get into JSON.
func TestShapesThatAreNotIdentified(t *testing.T) {
	m := newNAM(2, 4)
	tab := rows(t, 300, 2, 0.2, 4)
	copied := data.NewTable(300)
	b := all(t, tab)
	for to, from := range map[string]string{"x0": "x0", "x1": "x1", "again": "x1"} {
		v, err := b.Numeric(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := copied.AddNumeric(to, v); err != nil {
			t.Fatal(err)
		}
	}
	with, err := decompose.With(m, map[string][]decompose.Block{"": {
		{Term: &decompose.LinearTerm{Column: "x1"}}, {Term: &decompose.LinearTerm{Column: "again"}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := phonam(t, with, copied, nam.Spline, nil)
	shapes, err := nam.Shapes(t.Context(), r, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		if (s.SE == nil) != (s.Features[0] != "x0") {
			t.Errorf("%v: %d standard errors", s.Terms, len(s.SE))
		}
	}
	if _, err := json.Marshal(shapes); err != nil {
		t.Error(err)
	}
}

// A factor by splits a feature's shape by level.
func TestShapesOfLevels(t *testing.T) {
	m, tab := newNAM(2, 4), rows(t, 300, 2, 0.2, 5)
	group := make([]string, 300)
	for i := range group {
		group[i] = []string{"a", "b", "c"}[i%3]
	}
	if err := tab.AddTexts("g", group); err != nil {
		t.Fatal(err)
	}
	r := phonam(t, withFormula(t, m, tab, `~ g + s(x0, by=g)`), tab, nam.Spline, nil)
	shapes, err := nam.Shapes(t.Context(), r, m, &nam.ShapeOptions{Side: 9})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range shapes {
		got = append(got, fmt.Sprint(s.Features, len(s.Terms), len(s.After)))
	}
	if want := []string{"[x0] 1 101", "[x1] 1 101", "[g] 1 3", "[x0 g] 3 27"}; !slices.Equal(got, want) {
		t.Errorf("shapes %q, want %q", got, want)
	}
}
