// Package sumstest is the conformance suite for anyone's decompose.Sums: sums of chunks come out
// the same in any order and grouping, and read and written again, and damaged bytes are an error.
package sumstest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/dyadic"
)

// TB is what of a testing.TB is used. Fatal and Fatalf do not return.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Chunks cuts parts, which follow each other, into chunks of so many rows at most.
func Chunks(t TB, parts []*decompose.Parts, rows int) []*decompose.Parts {
	t.Helper()
	var all []*decompose.Parts
	for _, p := range parts {
		for lo := 0; lo < p.Batch.Rows(); lo += rows {
			all = append(all, cut(t, p, lo, min(lo+rows, p.Batch.Rows())))
		}
	}
	return all
}

// MergeScanned merges encoded decompose.Scanned of shards in a random order and grouping.
func MergeScanned(t TB, shares [][]byte, decode decompose.DecodeSums, r *rand.Rand) []byte {
	t.Helper()
	read := func(raw []byte) *decompose.Scanned {
		s, err := decompose.DecodeScanned(raw, decode)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	shares = slices.Clone(shares)
	for len(shares) > 1 {
		r.Shuffle(len(shares), func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
		a := read(shares[0])
		if err := a.Merge(read(shares[1])); err != nil {
			t.Fatal(err)
		}
		raw, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares[2:], raw)
	}
	return shares[0]
}

// Empty is a chunk of no rows like p.
func Empty(t TB, p *decompose.Parts) *decompose.Parts {
	t.Helper()
	return cut(t, p, 0, 0)
}

// cut has the rows lo to hi of p.
func cut(t TB, p *decompose.Parts, lo, hi int) *decompose.Parts {
	t.Helper()
	out := &decompose.Parts{Batch: p.Batch.Slice(lo, hi)}
	for _, d := range p.Predictors {
		c := decompose.PredictorParts{Intercept: d.Intercept, Terms: new(mat.Dense), Unstructured: d.Unstructured[lo:hi], Eta: d.Eta[lo:hi]}
		if _, j := d.Terms.Dims(); j > 0 && lo < hi {
			c.Terms = d.Terms.Slice(lo, hi, 0, j).(*mat.Dense)
		}
		out.Predictors = append(out.Predictors, c)
	}
	return out
}

// Total adds the sums of the n chunks, some of which may be nil, in a binary tree over their
// numbers. sums makes those of chunk i anew.
func Total(t TB, n int, sums func(i int) decompose.Sums) decompose.Sums {
	t.Helper()
	f := new(dyadic.Forest[decompose.Sums])
	for i := range n {
		must(t, f.Add(dyadic.Node[decompose.Sums]{Start: i, Value: sums(i)}, add))
	}
	return total(t, f)
}

// AnyOrder cuts the n chunks into shards at random, adds them in random order and grouping,
// writing and reading sums now and then, and compares the bytes of the total with those of
// Total.
func AnyOrder(t TB, n, times int, sums func(i int) decompose.Sums, decode decompose.DecodeSums) {
	t.Helper()
	want := Bytes(t, Total(t, n, sums))
	for seed := range uint64(times) {
		r := rand.New(rand.NewPCG(seed, 16))
		var shards []*dyadic.Forest[decompose.Sums]
		for at := 0; at < n; {
			next := at + r.IntN(2+n/3) // none: an empty shard
			shards = append(shards, shard(t, r, at, min(next, n), sums, decode))
			at = next
		}
		for len(shards) > 1 {
			i := r.IntN(len(shards))
			from := shards[i]
			shards = slices.Delete(shards, i, i+1)
			to := shards[r.IntN(len(shards))]
			for _, node := range from.Nodes() {
				node.Value = perhapsRead(t, r, node.Value, decode)
				must(t, to.Add(node, add))
			}
		}
		if got := Bytes(t, total(t, shards[0])); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: shards add up to other bytes than one process: %s", seed, difference(got, want))
		}
	}
}

// shard adds the chunks [first, next) in random order.
func shard(t TB, r *rand.Rand, first, next int, sums func(i int) decompose.Sums, decode decompose.DecodeSums) *dyadic.Forest[decompose.Sums] {
	t.Helper()
	f := new(dyadic.Forest[decompose.Sums])
	for _, i := range r.Perm(next - first) {
		must(t, f.Add(dyadic.Node[decompose.Sums]{Start: first + i, Value: perhapsRead(t, r, sums(first+i), decode)}, add))
	}
	return f
}

// perhapsRead is s, or s written and read.
func perhapsRead(t TB, r *rand.Rand, s decompose.Sums, decode decompose.DecodeSums) decompose.Sums {
	t.Helper()
	if s == nil || r.IntN(3) == 0 {
		return s
	}
	raw := Bytes(t, s)
	back, err := decode(s.Kind(), raw)
	must(t, err)
	if again := Bytes(t, back); !bytes.Equal(again, raw) {
		t.Fatalf("sums of %d bytes are written otherwise when read: %s", len(raw), difference(again, raw))
	}
	return back
}

// add adds sums, of which nil ones are those of a chunk that is not there.
func add(a, b decompose.Sums) (decompose.Sums, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil:
		return a, nil
	}
	return a, a.Add(b)
}

func total(t TB, f *dyadic.Forest[decompose.Sums]) decompose.Sums {
	t.Helper()
	s, ok, err := f.Total(add)
	must(t, err)
	if !ok || s == nil {
		t.Fatal("there are no sums")
	}
	return s
}

// Bytes are what s writes.
func Bytes(t TB, s decompose.Sums) []byte {
	t.Helper()
	raw, err := s.MarshalBinary()
	must(t, err)
	return raw
}

// difference says where a and b differ.
func difference(a, b []byte) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("byte %d of %d and %d", i, len(a), len(b))
		}
	}
	return fmt.Sprintf("%d and %d bytes", len(a), len(b))
}

func must(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Damaged checks that raw with a few changed, missing or added bytes is an error, or is read as the
// sums that it then is; and that sums that were read can be added and written.
func Damaged(t TB, kind string, raw []byte, decode decompose.DecodeSums) {
	t.Helper()
	for n := range len(raw) {
		if n > 300 && n < len(raw)-20 { // of long ones the beginning and the end
			continue
		}
		if _, err := decode(kind, raw[:n]); err == nil {
			t.Fatalf("%d of %d bytes are no error", n, len(raw))
		}
	}
	if _, err := decode(kind, append(bytes.Clone(raw), 0)); err == nil {
		t.Fatal("a byte too many is no error")
	}
	if _, err := decode("another/1", raw); err == nil {
		t.Fatal("another kind is no error")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		bad := bytes.Clone(raw)
		bad[r.IntN(min(len(bad), 300))] ^= 1 << r.IntN(8)
		Read(t, kind, bad, decode)
	}
}

// Read is what fuzz targets do: bytes that are no error are written as they were read, and
// can be added.
func Read(t TB, kind string, raw []byte, decode decompose.DecodeSums) {
	t.Helper()
	s, err := decode(kind, raw)
	if err != nil {
		return
	}
	if again, err := s.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
		t.Fatalf("%d bytes are read and written otherwise: %s, %v", len(raw), difference(again, raw), err)
	}
	other, err := decode(kind, raw)
	must(t, err)
	if err := s.Add(other); err == nil {
		_, _ = s.MarshalBinary() // rows that are there twice are an error, not a panic
	}
}
