package importance

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/pho-go/pho/internal/base/wire"
)

// pairs is Harrell's C by its definition, one pair after the other.
func (s timed) pairs() float64 {
	var right, all float64
	for i := range s {
		for j := range s {
			a, b := &s[i], &s[j]
			if !a.event || a.time > b.time || a.time == b.time && b.event {
				continue
			}
			w := a.weight * b.weight
			all += w
			switch {
			case a.risk > b.risk:
				right += w
			case a.risk == b.risk && i != j:
				right += w / 2
			}
		}
	}
	return right / all
}

// TestConcordanceAsInR: R's survival::concordance, to rounding: at most 120^2 products are added up.
func TestConcordanceAsInR(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/concordance.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Name                      string
			C                         float64
			Time, Event, Risk, Weight []float64
		}
	}
	if err := json.Unmarshal(raw, &golden); err != nil || len(golden.Cases) != 6 {
		t.Fatal(len(golden.Cases), err)
	}
	for _, c := range golden.Cases {
		var s timed
		for i := range c.Time {
			s = append(s, timedRow{int64(i), c.Time[i], c.Risk[i], c.Weight[i], c.Event[i] == 1})
		}
		if got := s.concordance(); math.Abs(got-c.C) > 1e-13 {
			t.Errorf("%s: %.16g, R has %.16g", c.Name, got, c.C)
		}
	}
}

// TestConcordanceOfParts: parts in any order and grouping, through files, to the bits of one; and by definition.
func TestConcordanceOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(54, 0))
	var all timed
	for i := range 700 {
		all = append(all, timedRow{int64(i), float64(random.IntN(40)), float64(random.IntN(15)), float64(1 + random.IntN(3)), random.IntN(2) == 0})
	}
	want := slices.Clone(all).concordance()
	if own := all.pairs(); math.Abs(want-own) > 1e-13 {
		t.Errorf("%.16g, by definition %.16g", want, own)
	}
	var sum timed
	for _, at := range random.Perm(7) {
		r := wire.NewReader(appendTimed(nil, slices.Clone(all[100*at:100*at+100])))
		part := readTimed(r)
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		sum = sum.merge(part)
	}
	if got := sum.concordance(); got != want {
		t.Errorf("%.17g of parts, %.17g of all", got, want)
	}
	if c := (timed{{0, 1, 1, 1, false}, {1, 2, 1, 1, true}}).concordance(); !math.IsNaN(c) {
		t.Errorf("no pair: %g", c)
	}
}

// TestConcordanceOfASample: of many rows a sample that is near all of them, whatever their order.
func TestConcordanceOfASample(t *testing.T) {
	random := rand.New(rand.NewPCG(55, 0))
	all := make(timed, 3*concordanceRows)
	for i := range all {
		risk := random.NormFloat64()
		all[i] = timedRow{int64(i), random.ExpFloat64() * math.Exp(-risk), risk, 1, random.IntN(3) > 0}
	}
	var forward, backward timed
	for at := 0; at < len(all); at += 50_000 {
		forward = forward.merge(slices.Clone(all[at : at+50_000]))
		backward = backward.merge(slices.Clone(all[len(all)-at-50_000 : len(all)-at]))
	}
	f := forward.concordance()
	if b := backward.concordance(); f != b {
		t.Errorf("%.17g forwards, %.17g backwards", f, b)
	}
	// With hazards exp(risk) the higher of two risks is first with probability 1/(1 + exp(-|d|)); their difference d is
	// normal of variance 2, over which the mean is this (by Simpson's rule). The tolerance is four standard errors.
	if want := 0.72521; math.Abs(f-want) > 0.004 {
		t.Errorf("%.4f, expected %.4f", f, want)
	}
}
