package distinct

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func add(t *testing.T, v *Values, x []float64) {
	t.Helper()
	if bad := v.Add(x); bad >= 0 {
		t.Fatalf("value %d is not finite", bad)
	}
}

// TestValuesSubsample: what is kept is within the limit, the same for any order
// and batches, and stands for the whole.
func TestValuesSubsample(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 40_000)
	for i := range x {
		x[i] = r.ExpFloat64()
	}
	collect := func(x []float64, batch int) *Values {
		v := &Values{Limit: 2000}
		for i := 0; i < len(x); i += batch {
			add(t, v, x[i:min(i+batch, len(x))])
		}
		v.merge()
		return v
	}
	a := collect(x, 1000)
	if !a.Sampled() || len(a.kept) > 2000 || len(a.kept) < 500 {
		t.Fatalf("%d of %d values are kept", len(a.kept), len(x))
	}
	r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	if b := collect(x, 77); !slices.Equal(a.kept, b.kept) || a.Min != b.Min || a.Max != b.Max {
		t.Error("another order keeps other values")
	}
	slices.Sort(x)
	q := a.Quantiles(11, a.Min, a.Max)
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
		all, some := &Values{Limit: MaxValues}, &Values{Limit: 10, Few: true}
		for i := 0; i < n; i += 700 {
			for _, v := range []*Values{all, some} {
				add(t, v, x[i:min(i+700, n)])
			}
		}
		got := all.Distinct()
		if len(got) != len(set) || !slices.IsSorted(got) || all.Sampled() {
			rt.Fatalf("%d distinct values are kept of %d", len(got), len(set))
		}
		for _, a := range got {
			if !set[a] {
				rt.Fatalf("%v is kept and did not occur", a)
			}
		}
		if some.N() != min(10, len(set)) {
			rt.Fatalf("counted %d of %d", some.N(), len(set))
		}
		if all.Min != got[0] || all.Max != got[len(got)-1] || some.Min != all.Min || some.Max != all.Max {
			rt.Fatal("the range is wrong")
		}
	})
}

// TestPointsDoNotSeeOrder: which points are kept, and their counts, depend on the
// rows alone, whether there are more than the limit or not.
func TestPointsDoNotSeeOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]float64 {
			return [2]float64{float64(rapid.IntRange(0, 9).Draw(t, "a")), float64(rapid.IntRange(-4, 4).Draw(t, "b"))}
		}), 1, 300).Draw(rt, "rows")
		collect := func(rows [][2]float64) *Points {
			p := NewPoints(2, limit)
			for _, r := range rows {
				p.Add(r[0], r[1])
			}
			p.Sort()
			return p
		}
		p := collect(rows)
		shuffled := slices.Clone(rows)
		rand.New(rand.NewPCG(3, 1)).Shuffle(len(rows), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		q := collect(shuffled)
		if !slices.Equal(p.X, q.X) || !slices.Equal(p.Count, q.Count) || p.Sampled() != q.Sampled() {
			rt.Fatalf("%v %v, in another order %v %v", p.X, p.Count, q.X, q.Count)
		}
		distinct := map[[2]float64]int64{}
		for _, r := range rows {
			distinct[r]++
		}
		if p.N() != min(limit, len(distinct)) || p.Sampled() != (len(distinct) > limit) {
			rt.Fatalf("%d points of %d kept, limit %d, sampled %v", p.N(), len(distinct), limit, p.Sampled())
		}
		for i, c := range p.Count {
			if want := distinct[[2]float64(p.X[2*i:2*i+2])]; c != want {
				rt.Fatalf("point %v counted %d times, want %d", p.X[2*i:2*i+2], c, want)
			}
		}
	})
}
