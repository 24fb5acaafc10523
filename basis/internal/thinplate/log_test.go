package thinplate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLogTable(t *testing.T) {
	logs := newLogTable()
	check := func(t interface{ Fatalf(string, ...any) }, s float64) {
		got := []float64{s}
		logs.xLogX(0.5, got)
		want, size := 0.0, 0.0
		if s > 0 {
			want = s * math.Log(s) / 2
			size = s * max(1, math.Abs(math.Log(s)))
		}
		if math.IsInf(want, 0) && got[0] == want {
			return
		}
		if !(math.Abs(got[0]-want) <= 4e-16*size+1e-322) {
			t.Fatalf("s log(s)/2 at %v is %v, want %v", s, got[0], want)
		}
	}
	for _, s := range []float64{0, 5e-324, 1e-310, 1e-300, 1, math.Nextafter(1, 0), math.Nextafter(1, 2), 2, math.Nextafter(2, 1), 1e300, 1e303, math.MaxFloat64, math.Inf(1)} {
		check(t, s)
	}
	rapid.Check(t, func(rt *rapid.T) { check(rt, math.Abs(rapid.Float64().Draw(rt, "s"))) })
	rapid.Check(t, func(rt *rapid.T) { check(rt, rapid.Float64Range(1e-9, 1e9).Draw(rt, "s")) })
	for i := range 100_000 {
		check(t, 0.5+float64(i)*2e-5)
	}
}
