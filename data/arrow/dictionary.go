package arrow

import (
	"errors"
	"math"
	"slices"

	"github.com/pho-go/pho/data/internal/columnar"
)

// dictionary holds the levels of a dictionary column.
type dictionary struct {
	node   *node
	levels []string
	nulls  []int32 // positions in levels that hold no value
	bytes  int64
}

// read replaces the levels, or appends to them.
func (d *dictionary) read(b *batch, z *inflater, delta bool) error {
	plain := *d.node
	plain.index = 0
	c, err := b.column(&plain)
	if err == nil {
		err = c.load(z)
	}
	if err != nil {
		return err
	}
	if !delta {
		d.levels, d.nulls, d.bytes = nil, nil, 0
	}
	for row := int64(0); row < b.rows; {
		n := int(min(b.rows-row, 4096))
		text, err := c.texts(row, n)
		if err != nil {
			return err
		}
		if c.valid != nil {
			valid, err := c.valid.bitmap(row, int64(n))
			if err != nil {
				return err
			}
			valid.zeros(n, func(i int) { d.nulls = append(d.nulls, int32(len(d.levels)+i)) })
		}
		for _, level := range text {
			if d.bytes += int64(len(level)) + 64; d.bytes > columnar.LevelBytes {
				return errors.New("the levels take more memory than allowed; leave out columns that name single rows")
			}
			d.levels = append(d.levels, string(level))
		}
		row += int64(n)
	}
	if len(d.levels) > math.MaxInt32 {
		return errors.New("a dictionary has more than 2^31 levels")
	}
	return nil
}

// missing takes codes of values that are null for missing cells.
func (d *dictionary) missing(codes []int32) {
	if len(d.nulls) == 0 {
		return
	}
	for i, k := range codes {
		if _, null := slices.BinarySearch(d.nulls, k); null {
			codes[i] = -1
		}
	}
}
