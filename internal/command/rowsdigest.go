package command

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"slices"

	"github.com/pho-go/pho/data"
)

// rowsDigest tells rows from others that came in their place: other values, or the same in another
// order. It holds a number for each column, made of the values in order, so that it does not depend
// on batches. It is no guard against malice.
type rowsDigest struct {
	columns []string
	state   []uint64
}

// newRowsDigest is that of no rows with these columns, sorted.
func newRowsDigest(columns []string) *rowsDigest {
	return &rowsDigest{columns, make([]uint64, len(columns))}
}

// mix takes in one value, at a multiplication each.
func mix(h, v uint64) uint64 { return bits.RotateLeft64(h^v, 27)*0x9e3779b97f4a7c15 + 1 }

// add takes in the rows of b.
func (d *rowsDigest) add(b *data.Batch) error {
	for j, name := range d.columns {
		h := d.state[j]
		if b.Categorical(name) {
			c, err := b.Codes(name)
			if err != nil {
				return err
			}
			level := make([]uint64, len(c.Levels))
			for i, text := range c.Levels {
				own := fnv.New64a()
				own.Write([]byte(text))
				level[i] = own.Sum64()
			}
			for _, i := range c.Index {
				h = mix(h, level[i])
			}
		} else if x, err := b.Numeric(name); err == nil {
			for _, v := range x {
				h = mix(h, math.Float64bits(v))
			}
		} else if m, err := b.Tensor(name); err == nil {
			rows, _ := m.Dims()
			for i := range rows {
				for _, v := range m.RawRowView(i) {
					h = mix(h, math.Float64bits(v))
				}
			}
		} else {
			return fmt.Errorf("column %q holds nothing that can be read", name)
		}
		d.state[j] = h
	}
	return nil
}

// String is the digest, with the columns' names.
func (d *rowsDigest) String() string {
	h := sha256.New()
	for j, name := range d.columns {
		fmt.Fprintf(h, "%q", name)
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], d.state[j])
		h.Write(b[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// sortedNames are the names, each once.
func sortedNames(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
