package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/pho-go/pho/decompose"
)

// mostWhole is of how many whole numbers a column is drawn at these alone.
const mostWhole = 40

// atWhole are effects with curves of columns of whole numbers at these numbers alone, which are
// all the values that there are: of two they are levels. Curves of other columns, of many numbers
// and whose grid leaves some out, are as they were.
func atWhole(r *decompose.Result, effects []Effect) []Effect {
	integers := map[string]bool{}
	for _, f := range r.Features {
		integers[f.Name] = f.Whole()
	}
	out := slices.Clone(effects)
	for i := range out {
		if e := &out[i]; e.Note == "" && e.X2 == nil && e.X.Levels == nil && integers[e.X.Feature] {
			e.atWhole()
		}
	}
	return out
}

func (e *Effect) atWhole() {
	last := len(e.X.Values) - 1
	lo, hi := e.X.Values[0], e.X.Values[last]
	if lo != math.Trunc(lo) || hi != math.Trunc(hi) || !(hi > lo) || hi-lo >= mostWhole {
		return
	}
	var keep []int
	for i, x := range e.X.Values {
		if x == math.Trunc(x) {
			keep = append(keep, i)
		}
	}
	if len(keep) != int(hi-lo)+1 {
		return
	}
	pick := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(keep))
		for to, i := range keep {
			out[to] = v[i]
		}
		return out
	}
	axis := *e.X
	if axis.Values, axis.whole = pick(axis.Values), true; len(keep) == 2 {
		for _, v := range axis.Values {
			axis.Levels = append(axis.Levels, strconv.FormatFloat(v, 'g', -1, 64))
		}
		axis.Values, axis.whole = nil, false
	}
	e.X = &axis
	e.Before, e.After, e.SE, e.Sim = pick(e.Before), pick(e.After), pick(e.SE), pick(e.Sim)
	if e.Networks != nil {
		n := *e.Networks
		n.Before, n.After = slices.Clone(n.Before), slices.Clone(n.After)
		for m := range n.After {
			n.Before[m], n.After[m] = pick(n.Before[m]), pick(n.After[m])
		}
		n.SDBefore, n.SD = pick(n.SDBefore), pick(n.SD)
		e.Networks = &n
	}
}
