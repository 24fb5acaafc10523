package basis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestValuesSubsample: what is kept is within the limit, the same for any order
// and batches, and stands for the whole.
func TestValuesSubsample(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 40_000)
	for i := range x {
		x[i] = r.ExpFloat64()
	}
	collect := func(x []float64, batch int) *values {
		v := &values{column: "x", limit: 2000}
		for i := 0; i < len(x); i += batch {
			must(t, v.scan("s(x)", numbers(t, "x", x[i:min(i+batch, len(x))])))
		}
		v.merge()
		return v
	}
	a := collect(x, 1000)
	if !a.sampled() || len(a.kept) > 2000 || len(a.kept) < 500 {
		t.Fatalf("%d of %d values are kept", len(a.kept), len(x))
	}
	r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	if b := collect(x, 77); !slices.Equal(a.kept, b.kept) || a.min != b.min || a.max != b.max {
		t.Error("another order keeps other values")
	}
	slices.Sort(x)
	q := a.quantiles(11)
	if q[0] != x[0] || q[10] != x[len(x)-1] {
		t.Errorf("the ends are %v and %v, not %v and %v", q[0], q[10], x[0], x[len(x)-1])
	}
	for i, v := range q {
		rank, _ := slices.BinarySearch(x, v)
		if got := float64(rank) / float64(len(x)); math.Abs(got-float64(i)/10) > 0.05 {
			t.Errorf("quantile %d stands at %.3f", i, got)
		}
	}
}

// TestValuesAreTheSet: below the limit all distinct values are kept, once each.
func TestValuesAreTheSet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20_000).Draw(rt, "n")
		few := rapid.IntRange(1, 20_000).Draw(rt, "values")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		x, set := make([]float64, n), map[float64]bool{}
		for i := range x {
			x[i] = float64(r.IntN(few)) - 3
			set[x[i]] = true
		}
		all, some := &values{column: "x", limit: maxValues}, &values{column: "x", limit: 10, count: true}
		for i := 0; i < n; i += 700 {
			for _, v := range []*values{all, some} {
				must(t, v.scan("s(x)", numbers(t, "x", x[i:min(i+700, n)])))
			}
		}
		got := all.distinct()
		if len(got) != len(set) || !slices.IsSorted(got) || all.sampled() {
			rt.Fatalf("%d distinct values are kept of %d", len(got), len(set))
		}
		for _, a := range got {
			if !set[a] {
				rt.Fatalf("%v is kept and did not occur", a)
			}
		}
		if len(some.distinct()) != min(10, len(set)) {
			rt.Fatalf("counted %d of %d", len(some.kept), len(set))
		}
		if all.min != got[0] || all.max != got[len(got)-1] || some.min != all.min || some.max != all.max {
			rt.Fatal("the range is wrong")
		}
	})
}

func TestSubsampleIsTold(t *testing.T) {
	spec := Smooth("x", CR{}, nil).Scanner().(*smoothScan)
	spec.x.limit = 100
	if len(spec.Notes()) != 0 {
		t.Errorf("notes before the scan: %v", spec.Notes())
	}
	buildWith(t, spec, numbers(t, "x", step(1000, 1000)))
	if n := spec.Notes(); len(n) != 1 || !strings.HasPrefix(n[0], `term s(x): column "x" has more than 100 distinct values; the knots are quantiles of `) {
		t.Errorf("notes: %q", n)
	}
}

func TestLevelOrder(t *testing.T) {
	for _, c := range []struct{ cells, want []string }{
		{[]string{"10", "9", "-1", "1e1", "2.5"}, []string{"-1", "2.5", "9", "10", "1e1"}},
		{[]string{"10", "9", "a"}, []string{"10", "9", "a"}},
		{[]string{"b", "B", "ä", "a", ""}, []string{"", "B", "a", "b", "ä"}},
		{[]string{"NaN", "1", "Inf"}, []string{"1", "Inf", "NaN"}},
	} {
		b := numbers(t, "unused", make([]float64, len(c.cells)))
		must(t, b.SetCodes("g", encode(c.cells)))
		term := mustBuild(t, Factor("g", nil), b)[0].Term.(*FactorTerm)
		if !slices.Equal(term.Levels(), c.want) {
			t.Errorf("levels of %q are %q, want %q", c.cells, term.Levels(), c.want)
		}
	}
}

// TestLevelsOfNumbersAndText: a factor of numbers meets the same column as text,
// and the reverse; -0 is 0.
func TestLevelsOfNumbersAndText(t *testing.T) {
	asNumbers := numbers(t, "g", []float64{1000001, 0.5, math.Copysign(0, -1), 0})
	asText := numbers(t, "unused", make([]float64, 4))
	must(t, asText.SetCodes("g", encode([]string{"1000001", "0.5", "0", "0"})))
	a, b := mustBuild(t, Factor("g", nil), asNumbers)[0].Term, mustBuild(t, Factor("g", nil), asText)[0].Term
	if want := []string{"0", "0.5", "1000001"}; !slices.Equal(a.(*FactorTerm).Levels(), want) || !slices.Equal(b.(*FactorTerm).Levels(), want) {
		t.Fatalf("levels %q and %q", a.(*FactorTerm).Levels(), b.(*FactorTerm).Levels())
	}
	bits(t, "text by a factor of numbers", evaluate(t, a, asText), evaluate(t, b, asNumbers))
}
