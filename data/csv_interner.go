package data

import (
	"bytes"
	"hash/maphash"
)

// interner numbers the texts of some cells in the order in which they come. It holds on to
// their memory.
type interner struct {
	texts [][]byte
	slots []int32 // by hash, or behind that: 1 + the number of a text; 0: free
	seed  maphash.Seed
}

func newInterner() interner {
	const few = 64
	return interner{slots: make([]int32, few), seed: maphash.MakeSeed()}
}

// reset forgets all texts.
func (t *interner) reset() {
	t.texts = t.texts[:0]
	clear(t.slots)
}

// code is the number of a text; fresh says that it is a new one.
func (t *interner) code(text []byte) (code int32, fresh bool) {
	slot := t.find(text)
	if k := *slot; k != 0 {
		return k - 1, false
	}
	t.texts = append(t.texts, text)
	*slot = int32(len(t.texts))
	if 2*len(t.texts) > len(t.slots) {
		t.grow()
	}
	return int32(len(t.texts)) - 1, true
}

// find is the slot where a text is, or where it belongs.
func (t *interner) find(text []byte) *int32 {
	mask := uint64(len(t.slots) - 1)
	for h := maphash.Bytes(t.seed, text); ; h++ {
		slot := &t.slots[h&mask]
		if *slot == 0 || bytes.Equal(t.texts[*slot-1], text) {
			return slot
		}
	}
}

func (t *interner) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	for k, text := range t.texts {
		*t.find(text) = int32(k) + 1
	}
}
