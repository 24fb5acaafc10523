package interaction

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/decompose/sumstest"
)

// sampled scans rows with the numbers given: numbers (NaN among them), levels and weights.
func sampled(t testing.TB, numbers []int64) decompose.Sums {
	s, ok := NewSample([]string{"x", "g"}, "w").Scanner().(decompose.SummingScanner)
	if !ok {
		t.Fatal("a sample is no SummingScanner")
	}
	b := data.NewBatch(len(numbers), 0)
	x, w, g := make([]float64, len(numbers)), make([]float64, len(numbers)), make([]int32, len(numbers))
	for i, n := range numbers {
		x[i], w[i], g[i] = math.Sin(float64(n)), float64(n%4), int32(n%3)
		if n%5 == 0 {
			x[i] = math.NaN()
		}
	}
	for _, err := range []error{b.SetRows(numbers), b.SetNumeric("x", x), b.SetNumeric("w", w), b.SetCodes("g", data.Codes{Index: g, Levels: []string{"", "b", "ü"}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Scan(b); err != nil {
		t.Fatal(err)
	}
	sums, err := s.Sums()
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func written(t testing.TB, s decompose.Sums) []byte {
	raw, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestSampleSums: samples of pieces, added in any order, are that of all rows, and come back from bytes.
func TestSampleSums(t *testing.T) {
	for _, n := range []int64{0, 100, 3 * sampleRows, 20_000} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		var all []int64
		for i := range n {
			if r.IntN(5) > 0 {
				all = append(all, i)
			}
		}
		shares := [][]byte{written(t, sampled(t, nil))}
		for at := 0; at < len(all); {
			next := min(at+r.IntN(4000), len(all))
			shares = append(shares, written(t, sampled(t, all[at:next])))
			at = next
		}
		for len(shares) > 1 {
			r.Shuffle(len(shares), func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
			a, err := DecodeSums("sample/2", shares[0])
			if err != nil {
				t.Fatal(err)
			}
			b, err := DecodeSums("sample/2", shares[1])
			if err == nil {
				err = a.Add(b)
			}
			if err != nil {
				t.Fatal(err)
			}
			shares = append(shares[2:], written(t, a))
		}
		if !bytes.Equal(shares[0], written(t, sampled(t, all))) {
			t.Errorf("%d rows: the sample of pieces is another than that of all", n)
		}
	}
	if err := NewSample([]string{"x"}, "").Add(sampled(t, nil)); err == nil {
		t.Error("a sample of other columns was added")
	}
}

// FuzzDecodeSums: damaged samples are errors.
func FuzzDecodeSample(f *testing.F) {
	f.Add(written(f, sampled(f, []int64{1, 2, 3, 5, 9})))
	f.Add(written(f, sampled(f, nil)))
	f.Fuzz(func(t *testing.T, raw []byte) { sumstest.Read(t, sampleKind, raw, DecodeSums) })
}
