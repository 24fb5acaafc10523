package arrow

import (
	"errors"
	"math"

	"github.com/pho-go/pho/data/internal/columnar"
)

// dictionary holds the levels of a dictionary column.
type dictionary struct {
	node   *node
	levels []string
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
		d.levels, d.bytes = nil, 0
	}
	for row := int64(0); row < b.rows; {
		n := int(min(b.rows-row, 4096))
		text, err := c.texts(row, n)
		if err != nil {
			return err
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
