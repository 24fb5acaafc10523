package moments_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pho-go/pho/decompose/internal/moments"
)

// chunkSum is the sum of chunks [first, next), nil leaves being chunks without rows.
func chunkSum(t fataler, l moments.Layout, leaves []*moments.Moments, first, next int) *moments.Sum {
	s := moments.NewSum(l, 0)
	for i := first; i < next; i++ {
		var err error
		if leaves[i] == nil {
			err = s.Skip(i, i+1)
		} else {
			err = s.Add(i, leaves[i].Clone())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestShardsInAnyOrder: shards with gaps between them and chunks without rows, read and
// written or not, merge to the bytes of one pass; what is merged is as it was.
func TestShardsInAnyOrder(t *testing.T) {
	s := awkward(37*23+7, true, 21)
	all := s.leaves(t, 23)
	rapid.Check(t, func(t *rapid.T) {
		leaves := slices.Clone(all)
		for i := range leaves {
			if rapid.Float64Range(0, 1).Draw(t, "left out") < 0.3 {
				leaves[i] = nil
			}
		}
		n := len(leaves)
		want := marshal(t, chunkSum(t, s.layout, leaves, 0, n))
		shards := []*moments.Sum{moments.NewSum(s.layout, 0)}
		for at := 0; at < n; {
			next := rapid.IntRange(at+1, n).Draw(t, "next")
			shards = append(shards, chunkSum(t, s.layout, leaves, at, next))
			at = next
		}
		for len(shards) > 1 {
			i := rapid.IntRange(0, len(shards)-1).Draw(t, "from")
			from := shards[i]
			shards = slices.Delete(shards, i, i+1)
			j := rapid.IntRange(0, len(shards)-1).Draw(t, "to")
			if rapid.Bool().Draw(t, "stored") {
				stored := new(moments.Sum)
				if err := stored.UnmarshalBinary(marshal(t, shards[j])); err != nil {
					t.Fatal(err)
				}
				shards[j] = stored
			}
			before := marshal(t, from)
			if err := shards[j].Merge(from); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(marshal(t, from), before) {
				t.Fatal("Merge changed its operand")
			}
		}
		if !bytes.Equal(marshal(t, shards[0]), want) {
			t.Fatal("merged shards have other bytes")
		}
		if err := shards[0].Whole(); err != nil {
			t.Fatal(err)
		}
		last := n
		for last > 0 && leaves[last-1] == nil {
			last--
		}
		if !bytes.Equal(marshal(t, shards[0].Compact()), marshal(t, chunkSum(t, s.layout, leaves, 0, last))) {
			t.Fatal("chunks without rows at the end make other bytes")
		}
	})
}

// A merge that is refused leaves both as they were, and what was merged shares no memory.
func TestMergedSumsShareNothing(t *testing.T) {
	s := awkward(100, false, 23)
	leaves := s.leaves(t, 10)
	a, b := sum(t, s.layout, leaves, 2, 4), sum(t, s.layout, leaves, 7, 9)
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	before := marshal(t, b)
	if err := a.Merge(sum(t, s.layout, leaves, 4, 7)); err != nil { // adds to what came from b
		t.Fatal(err)
	}
	if err := a.Merge(sum(t, s.layout, leaves, 9, 10)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, b), before) {
		t.Error("a later merge changed sums that were merged before")
	}
	if err := a.Whole(); err == nil || err.Error() != "moments: missing are chunks 0 to 1: their rows are to be added first" {
		t.Errorf("chunks that are missing: %v", err)
	}
	was, twice := marshal(t, a), sum(t, s.layout, leaves, 0, 3)
	wasTwice := marshal(t, twice)
	if err := a.Merge(twice); err == nil || !strings.Contains(err.Error(), "chunk 2 is there already") {
		t.Errorf("a chunk twice: %v", err)
	}
	if !bytes.Equal(marshal(t, a), was) || !bytes.Equal(marshal(t, twice), wasTwice) {
		t.Error("a refused merge left traces")
	}
}

// TestDamagedRuns: runs of chunks that cannot be are refused.
func TestDamagedRuns(t *testing.T) {
	s := awkward(60, false, 24)
	leaves := s.leaves(t, 10)
	a := sum(t, s.layout, leaves, 1, 2)
	if err := a.Merge(sum(t, s.layout, leaves, 4, 5)); err != nil {
		t.Fatal(err)
	}
	if err := a.Skip(5, 6); err != nil {
		t.Fatal(err)
	}
	data := marshal(t, a)
	at := bytes.Index(data, []byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2})
	if at < 0 {
		t.Fatal("no runs in the encoding")
	}
	for name, change := range map[string]func(put func(i int, v uint64)){
		"many":      func(put func(int, uint64)) { put(0, 1<<40) },
		"backwards": func(put func(int, uint64)) { put(3, 0); put(4, 1) },
		"empty":     func(put func(int, uint64)) { put(3, 5) },
		"overlap":   func(put func(int, uint64)) { put(6, 4); put(7, 5) },
		"wide":      func(put func(int, uint64)) { put(4, 1<<62); put(6, 1<<62); put(7, 1<<62+1) },
	} {
		bad := bytes.Clone(data)
		change(func(i int, v uint64) { binary.LittleEndian.PutUint64(bad[at+8*i:], v) })
		body := bad[:len(bad)-4]
		binary.LittleEndian.PutUint32(bad[len(body):], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		if err := new(moments.Sum).UnmarshalBinary(bad); err == nil {
			t.Errorf("%s: runs that cannot be were read", name)
		}
	}
	if err := new(moments.Sum).UnmarshalBinary(data); err != nil {
		t.Error(err)
	}
}
