package drift

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers of any size are added without rounding, in any order to the same ones; the first is
// the nearest to the sum.
func TestSumsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		values := make([]float64, 1+r.IntN(60))
		whole := new(big.Float).SetPrec(3000)
		for i := range values {
			values[i] = math.Ldexp(r.NormFloat64(), r.IntN(80)-40)
			if i > 0 && r.IntN(4) == 0 {
				values[i] = -values[i-1]
			}
			whole.Add(whole, new(big.Float).SetFloat64(values[i]))
		}
		s := newSums(1)
		for _, v := range values {
			s.addTo(0, v)
		}
		if want, _ := whole.Float64(); s.head[0] != want {
			t.Fatalf("sum %g, want %g", s.head[0], want)
		}
		r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		parts := []sums{newSums(1), newSums(1)}
		for i, v := range values {
			parts[i%2].addTo(0, v)
		}
		parts[0].add(&parts[1])
		a, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := json.Marshal(parts[0]); string(a) != string(b) {
			t.Fatalf("in another order %s, not %s", b, a)
		}
		var back sums
		if err := json.Unmarshal(a, &back); err != nil {
			t.Fatal(err)
		}
		if b, _ := json.Marshal(back); string(a) != string(b) || !slices.Equal(back.head, s.head) {
			t.Fatalf("read as %s, written as %s", b, a)
		}
	}
}

// The stability index of two histograms, and its bound.
func TestStability(t *testing.T) {
	if f := stability("x", []int64{10, 20, 0, 70}, []int64{10, 20, 0, 70}); *f.PSI != 0 || !(*f.Critical > 0) {
		t.Errorf("of equal counts %+v", f)
	}
	// Shares with half a row: (50.5, 50.5)/101 and (80.5, 20.5)/101.
	want := (80.5-50.5)/101*math.Log(80.5/50.5) + (20.5-50.5)/101*math.Log(20.5/50.5)
	if f := stability("x", []int64{50, 50}, []int64{80, 20}); math.Abs(*f.PSI-want) > 1e-12 || math.Abs(*f.Critical-3.841458820694124*0.02) > 1e-9 {
		t.Errorf("%g and %g, want %g", *f.PSI, *f.Critical, want)
	}
	if f := stability("x", []int64{0, 0}, []int64{80, 20}); f.PSI != nil {
		t.Errorf("of nothing %g", *f.PSI)
	}
}
