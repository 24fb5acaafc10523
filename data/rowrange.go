package data

import (
	"fmt"
	"math"
)

// RowRange is rows First to Next-1 of a table, counted from 0. The zero value is all rows.
type RowRange struct {
	First, Next int64 // Next 0: to the end
	Number      int64 // what Batch.Row says of row First
}

// End is Next, or what is beyond every row.
func (r RowRange) End() int64 {
	if r.Next == 0 {
		return math.MaxInt64
	}
	return r.Next
}

// Check is an error for what is no range with a row in it.
func (r RowRange) Check() error {
	if r.First < 0 || r.Number < 0 || r.End() <= r.First {
		return fmt.Errorf("data: rows %d to %d are no range", r.First, r.Next)
	}
	return nil
}
