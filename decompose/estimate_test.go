package decompose

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pho-go/pho/family"
)

// TestThin: rows whose hash begins otherwise go, with all that is theirs.
func TestThin(t *testing.T) {
	s := thinned{k: 2}
	var want thinned
	for row := range int64(50) {
		y := float64(row)
		for _, to := range []*thinned{&s, &want} {
			if to == &want && !hashBegins(row, 2) {
				continue
			}
			to.rows, to.Y, to.W = append(to.rows, row), append(to.Y, y), append(to.W, y+0.5)
			to.Event, to.Eta = append(to.Event, float64(row%2)), append(to.Eta, y, -y)
		}
	}
	s.bits = 2
	s.thin()
	same := func(a, b family.Sample) bool {
		return slices.Equal(a.Y, b.Y) && slices.Equal(a.W, b.W) && slices.Equal(a.Event, b.Event) && slices.Equal(a.Eta, b.Eta)
	}
	if n := len(s.rows); n < 5 || n > 25 || !slices.Equal(s.rows, want.rows) || !same(s.Sample, want.Sample) {
		t.Errorf("%+v", s)
	}
}

// thinnedRows are rows of made up responses.
func thinnedRows(rows []int64) *thinned {
	s := &thinned{k: 2}
	for _, row := range rows {
		y := float64(row)
		s.rows, s.Y, s.W = append(s.rows, row), append(s.Y, y), append(s.W, 1)
		s.Event, s.Eta = append(s.Event, float64(row%2)), append(s.Eta, y, -y)
	}
	all := &thinned{k: 2}
	all.take(s)
	return all
}

// TestThinnedSums: samples of pieces, added in any order, are that of all rows, although every second row is missing.
func TestThinnedSums(t *testing.T) {
	for _, n := range []int64{0, 1000, 5 * maxSample} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		var all []int64
		for i := int64(1); i < n; i += 2 {
			all = append(all, i)
		}
		encoded := func(s Sums) []byte {
			raw, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		decoded := func(raw []byte) Sums {
			s, err := DecodeFamilySums("family/1", raw)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		shares := [][]byte{encoded(thinnedRows(nil))}
		for at := 0; at < len(all); {
			next := min(at+1+r.IntN(1+len(all)/2), len(all))
			shares = append(shares, encoded(thinnedRows(all[at:next])))
			at = next
		}
		for len(shares) > 1 {
			r.Shuffle(len(shares), func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
			a := decoded(shares[0])
			if err := a.Add(decoded(shares[1])); err != nil {
				t.Fatal(err)
			}
			shares = append(shares[2:], encoded(a))
		}
		whole := thinnedRows(all)
		if !bytes.Equal(shares[0], encoded(whole)) {
			t.Errorf("%d rows: the sample of pieces is another than that of all", n)
		}
		if got := len(whole.rows); n > 2*maxSample && (got > maxSample || got < maxSample/3) {
			t.Errorf("%d of %d rows are kept", got, len(all))
		}
	}
}

// FuzzDecodeFamilySums: damaged samples are errors.
func FuzzDecodeFamilySums(f *testing.F) {
	raw, err := thinnedRows([]int64{1, 2, 7}).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeFamilySums("family/1", raw)
		if err != nil {
			return
		}
		if again, err := s.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%x is read and written as %x: %v", raw, again, err)
		}
	})
}
