package importance

import (
	"cmp"
	"math"
	"slices"

	"github.com/pho-go/pho/family"
	"github.com/pho-go/pho/internal/base/rowhash"
	"github.com/pho-go/pho/internal/base/wire"
)

// concordanceRows is of how many rows pairs are formed: all, or of more those of the smallest hashes, so that memory
// is bounded. The standard error of the concordance of so many is below 0.002.
const concordanceRows = 100_000

// timed are rows whose times are compared with their predictions.
type timed []timedRow

type timedRow struct {
	row        int64 // its number in the data
	time, risk float64
	weight     float64
	event      bool // else censored at that time
}

// riskOf is larger where events are sooner: the log hazard ratio, or less the location of log times.
func riskOf(fam family.Family, eta float64) float64 {
	if fam.Link(0).Of == family.HazardRatio {
		return eta
	}
	return -eta
}

// sampled are at most n rows, in an order that depends on the rows alone.
func (s timed) sampled(n int) timed {
	slices.SortFunc(s, func(a, b timedRow) int {
		return cmp.Or(cmp.Compare(rowhash.Of(a.row), rowhash.Of(b.row)), cmp.Compare(a.row, b.row))
	})
	return s[:min(len(s), n)]
}

// merge takes the rows of o too; it prunes once there are twice as many as are kept.
func (s timed) merge(o timed) timed {
	s = append(s, o...)
	if len(s) > 2*concordanceRows {
		s = s.sampled(concordanceRows)
	}
	return s
}

// concordance is Harrell's C, ties as in R's survival::concordance: of all pairs of rows of which one is known to have its
// event first, by product of weights, the share in which that one has the higher risk; a pair of equal risks counts half.
// A row censored at the time of another's event is known to be later; of two events at one time neither is first. NaN
// without pairs. Harrell, Lee and Mark (1996); from the last time to the first, with sums by rank of risk (Fenwick 1994),
// n log n steps.
func (s timed) concordance() float64 {
	s = s.sampled(concordanceRows)
	risks := make([]float64, len(s))
	for i := range s {
		risks[i] = s[i].risk
	}
	slices.Sort(risks)
	risks = slices.Compact(risks)
	rank := func(r *timedRow) int { k, _ := slices.BinarySearch(risks, r.risk); return k }
	slices.SortStableFunc(s, func(a, b timedRow) int { // the last time first, there those that are censored
		return cmp.Or(cmp.Compare(b.time, a.time), compareBools(a.event, b.event))
	})
	later := newFenwick(len(risks)) // weights of the rows whose event is known to be later
	var concordant, discordant, tied float64
	for from := 0; from < len(s); {
		to := from // rows of one time, all events or all censored
		for to < len(s) && s[to].time == s[from].time && s[to].event == s[from].event {
			to++
		}
		for i := from; s[from].event && i < to; i++ {
			k, w := rank(&s[i]), s[i].weight
			below, upTo := later.sum(k), later.sum(k+1)
			concordant += w * below
			tied += w * (upTo - below)
			discordant += w * (later.sum(len(risks)) - upTo)
		}
		for i := from; i < to; i++ {
			later.add(rank(&s[i]), s[i].weight)
		}
		from = to
	}
	return (concordant + tied/2) / (concordant + discordant + tied)
}

// compareBools has false first.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// fenwick are n numbers, of which the first few are summed in log n steps (Fenwick 1994).
type fenwick []float64

func newFenwick(n int) fenwick { return make(fenwick, n+1) }

// add adds w to number k.
func (f fenwick) add(k int, w float64) {
	for i := k + 1; i < len(f); i += i & -i {
		f[i] += w
	}
}

// sum is that of the first k numbers.
func (f fenwick) sum(k int) float64 {
	sum := 0.0
	for i := k; i > 0; i -= i & -i {
		sum += f[i]
	}
	return sum
}

// appendTimed appends rows for readTimed.
func appendTimed(b []byte, s timed) []byte {
	s = s.sampled(concordanceRows)
	b = wire.AppendInt(b, len(s))
	for i := range s {
		r := &s[i]
		b = wire.AppendNumbers(wire.AppendInt(b, r.row), []float64{r.time, r.risk, r.weight})
		b = wire.AppendBool(b, r.event)
	}
	return b
}

// readTimed reads the rows at the end of sums; those of an earlier version have none.
func readTimed(r *wire.Reader) timed {
	if r.Err() != nil || r.Left() == 0 {
		return nil
	}
	n := r.Count(33)
	if n > concordanceRows {
		r.Fail("%d rows of times, of %d at most", n, concordanceRows)
		return nil
	}
	s := make(timed, n)
	for i := range s {
		s[i] = timedRow{row: r.Int(), time: r.Float(), risk: r.Float(), weight: r.Float(), event: r.Bool()}
		if !(s[i].weight > 0) || math.IsNaN(s[i].time+s[i].risk) {
			r.Fail("row %d of times is none", s[i].row)
			return nil
		}
	}
	return s
}
