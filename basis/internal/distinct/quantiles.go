package distinct

import "math"

// Quantiles are k increasing quantiles, two or more, of points of one column by their counts, at probabilities 0,
// 1/(k-1), ..., 1, in which a point counts for no more than a share of 1/(k-1) of all: so they increase, whatever occurs often. Of
// points that occur once each they are of type 7 (Hyndman and Fan 1996). The least and the greatest are lo and hi, which no point may lie
// beyond: the range, which a sample need not hold.
func (p *Points) Quantiles(k int, lo, hi float64) []float64 {
	p.Sort()
	x, count := p.X, make([]float64, len(p.Count))
	for i, n := range p.Count {
		count[i] = float64(n)
	}
	if x[0] != lo {
		x, count = append([]float64{lo}, x...), append([]float64{1}, count...)
	}
	if x[len(x)-1] != hi {
		x, count = append(x[:len(x):len(x)], hi), append(count, 1)
	}
	capped(count, float64(k-1))
	place := make([]float64, len(x)) // of each point: what is below it, and half of its own
	sum := 0.0
	for i, n := range count {
		place[i] = sum + n/2
		sum += n
	}
	q := make([]float64, k)
	first, last := place[0], place[len(place)-1]
	at := 0
	for j := range q {
		h := first + (last-first)*float64(j)/float64(k-1)
		for at < len(x)-2 && place[at+1] <= h {
			at++
		}
		w := min(1, max(0, (h-place[at])/(place[at+1]-place[at])))
		q[j] = (1-w)*x[at] + w*x[at+1]
	}
	q[0], q[k-1] = lo, hi
	return q
}

// capped lowers counts to at most a share of 1/parts of their sum.
func capped(count []float64, parts float64) {
	for range 100 {
		sum, most := 0.0, 0.0
		for _, n := range count {
			sum, most = sum+n, math.Max(most, n)
		}
		bound := sum / parts
		if most <= bound*(1+1e-9) {
			return
		}
		for i, n := range count {
			count[i] = math.Min(n, bound)
		}
	}
}
