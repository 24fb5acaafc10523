package columnar

import "encoding/binary"

// Interner numbers texts in the order in which it meets them.
type Interner struct {
	Names []string

	codes  map[string]int32
	recent [4096]int32 // by a cheap hash: 1 + the code of a text that had it
}

// NewInterner returns one that has met nothing.
func NewInterner() *Interner { return &Interner{codes: map[string]int32{}} }

// Code is the number of a text, a new one if need be. Texts come again and
// again: comparing with the last of the same hash is faster than a map.
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
