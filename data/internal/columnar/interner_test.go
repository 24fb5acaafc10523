package columnar

import (
	"testing"

	"pgregory.net/rapid"
)

// TestInterner compares it with a map.
func TestInterner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.SliceOfN(rapid.SampledFrom([]byte("ab\x00")), 0, 12)).Draw(t, "texts")
		in, want := NewInterner(), map[string]int32{}
		for _, text := range texts {
			k, ok := want[string(text)]
			if !ok {
				k = int32(len(want))
				want[string(text)] = k
			}
			if got := in.Code(text); got != k || in.Names[k] != string(text) {
				t.Fatalf("%q is %d (%q), want %d", text, got, in.Names[got], k)
			}
		}
	})
}

func TestBudget(t *testing.T) {
	b := &Budget{Limit: 100}
	v := b.Allocate(60)
	if err := Guard("f", "c", func() error { b.Allocate(41); return nil }); err == nil || err.Error() !=
		`data: "f", column "c": decoding needs 101 bytes at once, of which 100 are allowed: write the file with smaller row groups, batches or pages` {
		t.Error(err)
	}
	v = b.Reallocate(62, v)
	b.Free(v)
	if len(b.Allocate(100)) != 100 {
		t.Error("freed memory is not free")
	}
	if err := Guard("f", "", func() error { var s []int; _ = s[len(v)+38]; return nil }); err == nil || err.Error() !=
		`data: "f": the file is damaged, or holds what the decoder cannot read: runtime error: index out of range [100] with length 0` {
		t.Error(err)
	}
}
