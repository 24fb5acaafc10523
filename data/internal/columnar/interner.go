package columnar

import "encoding/binary"

// Interner numbers texts in the order in which it meets them.
type Interner struct {
	Names []string

	codes  map[string]int32
	recent [4096]int32 // by hash: 1 + the code of the last text with this hash, 0 for none
}

// NewInterner returns one that has met nothing.
func NewInterner() *Interner { return &Interner{codes: map[string]int32{}} }

// Code is the number of a text, a new one for a text that it has not met. The same texts
// come again and again, so the last one with the same hash is compared first: that is
// faster than the map.
func (t *Interner) Code(text []byte) int32 {
	slot := &t.recent[hash(text)]
	if k := *slot - 1; k >= 0 && t.Names[k] == string(text) {
		return k
	}
	k, ok := t.codes[string(text)]
	if !ok {
		name := string(text)
		k = int32(len(t.Names))
		t.Names = append(t.Names, name)
		t.codes[name] = k
	}
	*slot = k + 1
	return k
}

// hash mixes the length and the last eight bytes into twelve bits.
func hash(text []byte) uint64 {
	h := uint64(len(text)) << 56
	if n := len(text); n >= 8 {
		h ^= binary.LittleEndian.Uint64(text[n-8:])
	} else {
		for _, b := range text {
			h = h<<8 ^ uint64(b) ^ h>>56
		}
	}
	return h * 0x9e3779b97f4a7c15 >> 52
}
