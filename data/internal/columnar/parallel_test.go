package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
)

// TestCut: cells of a cut are those of the block, and so is the one at fault.
func TestCut(t *testing.T) {
	b := &Block{Rows: 5, Values: []Values{
		{Numbers: []float64{0, 1, 2, 3, 4}, Fault: &Fault{Row: 3, Cell: "c", Reason: "r"}},
		{Codes: []int32{4, 3, 2, 1, 0}, Levels: []string{"a"}},
		{Text: [][]byte{{0}, {1}, {2}, {3}, {4}}},
	}}
	want := &Block{Rows: 2, Values: []Values{
		{Numbers: []float64{2, 3}, Fault: &Fault{Row: 1, Cell: "c", Reason: "r"}},
		{Codes: []int32{2, 1}, Levels: []string{"a"}},
		{Text: [][]byte{{2}, {3}}},
	}}
	if got := b.Cut(2, 4); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := b.Cut(0, 3); got.Values[0].Fault != nil {
		t.Error("a fault of later rows")
	}
}

// TestParallel: every column is done once, and the error is that of the first, whatever the
// number of workers.
func TestParallel(t *testing.T) {
	for workers := 1; workers < 5; workers++ {
		done := make([]int, 7)
		err := Parallel(workers, len(done), func(worker, j int) error {
			if done[j]++; worker >= workers || j == 3 || j == 5 {
				return fmt.Errorf("column %d", j)
			}
			return nil
		})
		if fmt.Sprint(err, done) != "column 3 [1 1 1 1 1 1 1]" {
			t.Errorf("%d workers: %v, %v", workers, err, done)
		}
	}
}

// TestDoubles: the bytes of numbers are those that files have.
func TestDoubles(t *testing.T) {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, math.Float64bits(-1.5)), math.Float64bits(1e300))
	v := make([]float64, 2)
	Doubles(v, b)
	if v[0] != -1.5 || v[1] != 1e300 {
		t.Errorf("got %v", v)
	}
	if view, ok := View(b, 2); ok && !slices.Equal(view, v) {
		t.Errorf("view %v, want %v", view, v)
	}
	if view, ok := View(b[1:], 1); ok {
		t.Errorf("%v begins where no number can", view)
	}
	if memory, ok := Memory(v); ok && !bytes.Equal(memory, b) {
		t.Errorf("memory is %x, want %x", memory, b)
	}
}

// TestAllFinite: one number that is not finite is enough, wherever it stands.
func TestAllFinite(t *testing.T) {
	for n := range 40 {
		v := slices.Repeat([]float64{-math.MaxFloat64}, n)
		if !allFinite(v) {
			t.Errorf("%v is not finite", v)
		}
		for i := range v {
			for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), Null} {
				v[i] = x
				if allFinite(v) {
					t.Errorf("%v is finite", v)
				}
				v[i] = 0
			}
		}
	}
}

// TestItems: numbers are those of their bytes, where these are aligned and where they are not.
func TestItems(t *testing.T) {
	b := []byte{0, 1, 2, 0xfe, 0xff, 3, 4, 5, 6, 7, 8, 9}
	for first := range 3 {
		var want []int16
		for i := first; i+1 < len(b); i += 2 {
			want = append(want, int16(binary.LittleEndian.Uint16(b[i:])))
		}
		if got := Items[int16](b[first:], len(want)); !slices.Equal(got, want) {
			t.Errorf("from byte %d: %v, want %v", first, got, want)
		}
	}
	if got := Items[float32]([]byte{0, 0, 0x80, 0xbf}, 1); got[0] != -1 {
		t.Errorf("got %v", got)
	}
	if got := Items[uint64](nil, 0); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// TestFresh: memory is as long as asked for, of nobody else, and has room behind.
func TestFresh(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100, 5000, 100_000} {
		v, w := Fresh(n), Fresh(n)
		if len(v) != n || len(w) != n {
			t.Fatalf("%d and %d numbers, want %d", len(v), len(w), n)
		}
		for i := range v {
			v[i], w[i] = float64(i), -1
		}
		for i, x := range v {
			if x != float64(i) {
				t.Fatalf("number %d is %v", i, x)
			}
		}
		if b := FreshBytes(n); len(b) != n || cap(b) < n+padding {
			t.Fatalf("%d of %d bytes, want %d", len(b), cap(b), n)
		}
	}
}
