package drift

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
)

// sums are numbers to which others are added without rounding: each is kept as the sum of
// float64, the first of them the nearest to the whole, the next the nearest to what that leaves,
// and so on. So the order in which numbers were added does not show.
// A file comes from any machine at any time, so that there are no chunk numbers by which it could
// be added in a tree.
type sums struct {
	head []float64
	tail [][]float64 // of each number the further ones, largest first; nil: nowhere any
}

func newSums(n int) sums { return sums{head: make([]float64, n)} }

func (s *sums) clone() sums {
	c := sums{head: slices.Clone(s.head)}
	if s.tail != nil {
		c.tail = make([][]float64, len(s.tail))
		for i, t := range s.tail {
			c.tail[i] = slices.Clone(t)
		}
	}
	return c
}

// add adds the numbers of o, which is not changed.
func (s *sums) add(o *sums) {
	for i, v := range o.head {
		if o.tail == nil || len(o.tail[i]) == 0 {
			s.addTo(i, v)
			continue
		}
		s.addTo(i, append([]float64{v}, o.tail[i]...)...)
	}
}

// addTo adds values to number i.
func (s *sums) addTo(i int, values ...float64) {
	if len(values) == 1 && (values[0] == 0 || s.head[i] == 0) {
		if values[0] != 0 { // so that there is one zero
			s.head[i] = values[0]
		}
		return
	}
	var parts expansion
	if s.tail != nil {
		for _, v := range slices.Backward(s.tail[i]) {
			parts.add(v)
		}
	}
	parts.add(s.head[i])
	for _, v := range values {
		parts.add(v)
	}
	all := parts.nearest()
	s.head[i] = all[0]
	if len(all) == 1 && s.tail == nil {
		return
	}
	if s.tail == nil {
		s.tail = make([][]float64, len(s.head))
	}
	s.tail[i] = all[1:]
}

// expansion is a sum of float64 that do not overlap, smallest first (Shewchuk 1997).
type expansion []float64

// add adds x without rounding.
func (e *expansion) add(x float64) {
	kept := (*e)[:0]
	for _, y := range *e {
		if math.Abs(x) < math.Abs(y) {
			x, y = y, x
		}
		high := x + y
		if low := y - (high - x); low != 0 {
			kept = append(kept, low)
		}
		x = high
	}
	*e = append(kept, x)
}

// round is the float64 nearest to the sum; of two the even one.
func (e expansion) round() float64 {
	n := len(e) - 1
	if n < 0 {
		return 0
	}
	high, low := e[n], 0.0
	for n > 0 && low == 0 {
		n--
		x := high
		high = x + e[n]
		low = e[n] - (high - x)
	}
	// What is below low decides where low is half a unit of high.
	if n > 0 && low != 0 && (low < 0) == (e[n-1] < 0) {
		if x := high + 2*low; x-high == 2*low {
			return x
		}
	}
	return high
}

// nearest writes the sum in the one way that sums keep it. A sum beyond the largest float64 is
// a single number that is not finite.
func (e expansion) nearest() []float64 {
	out := []float64{e.round()}
	for last := out[0]; last != 0 && !math.IsInf(last, 0) && !math.IsNaN(last); {
		e.add(-last)
		if last = e.round(); last != 0 {
			out = append(out, last)
		}
	}
	return out
}

var errNotFinite = errors.New("a sum is beyond the largest number")

// finite refuses sums that overflowed.
func (s *sums) finite() error {
	for _, v := range s.head {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return errNotFinite
		}
	}
	return nil
}

// MarshalJSON writes each number as one, or as the array of those it is the sum of.
func (s sums) MarshalJSON() ([]byte, error) {
	out := make([]any, len(s.head))
	for i, v := range s.head {
		out[i] = v
		if s.tail != nil && len(s.tail[i]) > 0 {
			out[i] = append([]float64{v}, s.tail[i]...)
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads them, and refuses numbers that are not written in the one way.
func (s *sums) UnmarshalJSON(raw []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	*s = newSums(len(all))
	for i, text := range all {
		if len(text) == 0 || text[0] != '[' {
			if err := json.Unmarshal(text, &s.head[i]); err != nil {
				return err
			}
			continue
		}
		var parts []float64
		if err := json.Unmarshal(text, &parts); err != nil {
			return err
		}
		var e expansion
		for _, v := range slices.Backward(parts) {
			e.add(v)
		}
		if got := e.nearest(); len(parts) < 2 || !slices.Equal(got, parts) {
			return errors.New("a number is not written as the sum of its nearest ones")
		}
		if s.tail == nil {
			s.tail = make([][]float64, len(all))
		}
		s.head[i], s.tail[i] = parts[0], parts[1:]
	}
	return nil
}
