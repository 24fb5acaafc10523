package distinct

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/internal/base/wire"
)

// TestMerge: values of pieces, written, read and merged in any order, are those of all rows: beyond the limit, below it, and
// where only the number of values is asked for.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		few := rapid.Bool().Draw(rt, "few")
		counted := rapid.Bool().Draw(rt, "counted")
		limit := rapid.IntRange(1, 60).Draw(rt, "limit")
		n := rapid.IntRange(0, 400).Draw(rt, "n")
		different := rapid.IntRange(1, 200).Draw(rt, "different")
		pieces := rapid.IntRange(1, 6).Draw(rt, "pieces")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		collection := func() *Values {
			v := &Values{Limit: limit, Few: few && !counted}
			if counted {
				v.Points = NewPoints(1, limit)
			}
			return v
		}
		whole, parts := collection(), make([]*Values, pieces)
		for i := range parts {
			parts[i] = collection()
		}
		for range n {
			x := []float64{float64(r.IntN(different))}
			if x[0] == 0 && r.IntN(2) == 0 {
				x[0] = math.Copysign(0, -1)
			}
			for _, v := range []*Values{whole, parts[r.IntN(pieces)]} {
				if v.Add(x) >= 0 {
					rt.Fatal("not finite")
				}
			}
		}
		for len(parts) > 1 {
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			a, b := reread(rt, parts[0]), reread(rt, parts[1])
			if err := a.Merge(&b); err != nil {
				rt.Fatal(err)
			}
			parts = append(parts[2:], &a)
		}
		if got, want := parts[0].Append(nil), whole.Append(nil); !bytes.Equal(got, want) {
			rt.Fatalf("merged %x, want %x", got, want)
		}
		if parts[0].N() != whole.N() || parts[0].Sampled() != whole.Sampled() {
			rt.Fatalf("%d values, sampled: %v; want %d, %v", parts[0].N(), parts[0].Sampled(), whole.N(), whole.Sampled())
		}
	})
}

func reread(t interface{ Fatal(...any) }, v *Values) Values {
	raw := v.Append(nil)
	r := wire.NewReader(raw)
	again := ReadValues(r)
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Append(nil), raw) {
		t.Fatal("what is read is written otherwise")
	}
	return again
}

// TestMergeDifferent: what was collected otherwise is refused.
func TestMergeDifferent(t *testing.T) {
	for _, v := range []*Values{{Limit: 5}, {Limit: 4, Few: true}, {Limit: 4, Points: NewPoints(1, 4)}} {
		if err := (&Values{Limit: 4}).Merge(v); err == nil {
			t.Errorf("%+v was merged", v)
		}
	}
	if err := NewPoints(2, 9).Merge(NewPoints(1, 9)); err == nil {
		t.Error("points of other columns were merged")
	}
}
