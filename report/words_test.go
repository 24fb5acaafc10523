package report

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", 0.99996: "1.00", -0.5: "−0.500", 1234.5: "1234", 999999.9: "1e6", 1e6: "1e6", -2.5e-7: "−2.5e−7",
		0.001: "0.00100", 0.0009999: "0.00100", 0.00099: "9.9e−4", math.Inf(1): "–", 7.29e10: "7.29e10",
	} {
		if got := num(v); got != want {
			t.Errorf("num(%g) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0\u00a0%", 0.934: "93.4\u00a0%", -0.048: "−4.8\u00a0%", 1e-5: "< 0.1\u00a0%", -1e-5: "> −0.1\u00a0%", 0.0005: "0.1\u00a0%"} {
		if got := percent(v); got != want {
			t.Errorf("percent(%g) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -1000: "−1\u202f000"} {
		if got := count(v); got != want {
			t.Errorf("count(%d) = %q, want %q", v, got, want)
		}
	}
}

// TestTicks: every axis has ticks, inside it, in order, with labels that differ.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e9, 1e9).Draw(t, "lo")
		size := math.Pow(10, rapid.Float64Range(-6, 9).Draw(t, "size"))
		a := axis{span{lo, lo + size}.drawable(), 0, 300}
		ticks := a.spaced(6)
		if len(ticks) > 13 {
			t.Fatalf("%d ticks from %g to %g", len(ticks), a.lo, a.hi)
		}
		seen := map[string]bool{}
		for _, k := range ticks {
			seen[k.Label] = true
		}
		if size > 1e-3*math.Abs(lo) && (len(ticks) == 0 || len(seen) != len(ticks)) {
			t.Fatalf("ticks %v from %g to %g", ticks, a.lo, a.hi)
		}
	})
}
