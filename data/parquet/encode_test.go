package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
)

// TestLevels reads levels as they were written, in cuts of any kind.
func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var valid []bool
		for range rapid.IntRange(1, 20).Draw(t, "runs") {
			v, n := rapid.Bool().Draw(t, "valid"), rapid.SampledFrom([]int{1, 1, 1, 2, 7, 100, 1000}).Draw(t, "rows")
			valid = append(valid, slices.Repeat([]bool{v}, n)...)
		}
		b := appendLevels(nil, valid)
		if len(b) > (len(valid)+7)/8+10 {
			t.Fatalf("%d bytes for %d levels", len(b), len(valid))
		}
		h, err := newHybrid(b, 1)
		if err != nil {
			t.Fatal(err)
		}
		for len(valid) > 0 {
			n := min(len(valid), rapid.IntRange(1, 50).Draw(t, "cut"))
			got := make([]uint32, n)
			if h.constant(1, n) {
				for i := range got {
					got[i] = 1
				}
			} else if err := h.read(got); err != nil {
				t.Fatal(err)
			}
			for i, v := range valid[:n] {
				if (got[i] == 1) != v {
					t.Fatalf("level %d is %d", i, got[i])
				}
			}
			valid = valid[n:]
		}
	})
}

// TestScattered writes rows of which any other, or a random half, is null.
func TestScattered(t *testing.T) {
	const n = pageRows + 5000
	rng := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	w, err := NewWriter(&out, []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	var rows []int64
	for i := range n {
		null := i%2 == 0
		if i > n/2 {
			null = rng.IntN(2) == 0
		}
		if null {
			err = w.WriteNull(1)
		} else {
			want, rows = append(want, float64(i)), append(rows, int64(i))
			err = w.Write([][]float64{{float64(i)}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open([]string{path}, &Options{NA: data.NADrop, BatchRows: 777})
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	for b, err := range s.Batches(context.Background(), []string{"x"}) {
		if err != nil {
			t.Fatal(err)
		}
		x, err := b.Numeric("x")
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if v != want[k] || b.Row(i) != rows[k] {
				t.Fatalf("row %d is %v, want row %d, %v", b.Row(i), v, rows[k], want[k])
			}
			k++
		}
	}
	if k != len(want) {
		t.Fatalf("%d rows, want %d", k, len(want))
	}
}

// TestHybrid decodes what the specification packs: the numbers 0 to 7 in three
// bits, and runs that no page could hold.
func TestHybrid(t *testing.T) {
	h, err := newHybrid([]byte{3, 0x88, 0xc6, 0xfa, 2 << 1, 5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, 10)
	if err := h.read(got); err != nil || !slices.Equal(got, []uint32{0, 1, 2, 3, 4, 5, 6, 7, 5, 5}) {
		t.Error(got, err)
	}
	if err := h.read(got[:1]); err != errShort {
		t.Error(err)
	}
	for _, head := range []uint64{1<<63 - 2, 1<<63 - 1} { // a run and packed values
		for _, width := range []byte{0, 1, 32} {
			h, err := newHybrid(append(binary.AppendUvarint(nil, head), 1, 0, 0, 0), width)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.read(got[:1]); err != nil || uint64(got[0]) != min(uint64(width), 1) {
				t.Error(head, width, got[0], err)
			}
		}
	}
	if _, err := newHybrid(nil, 33); err != errValue {
		t.Error(err)
	}
}
