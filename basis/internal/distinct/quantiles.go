package distinct

import "math"

// tailShare is the share of knots that lie evenly in the logit of their probability.
const tailShare = 0.3

// tailRows is how many rows lie between the end of the range and the knot next to it, at least.
const tailRows = 5

// Quantiles are k increasing quantiles, two or more, of points of one column by their counts: knots of a spline. They are
// evenly apart in
//
//	G(u) = (1 - tailShare) u + tailShare (1 + logit(u)/logit(1 - tailRows/rows))/2
//
// of their probability u, its logit bounded to where tailRows lie beyond it. Evenly in u alone, the last piece of a spline would reach from
// the 95 % quantile to the largest value, and miss what the function does there. A point counts for no more than a share of
// 1/(k-1): so quantiles increase, whatever occurs often. The least and the greatest are lo and hi, which no point may lie
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
	capped(count, float64(k-1)) // what occurs often leaves the others their tails
	mass := tailed(count)
	capped(mass, float64(k-1))
	place := make([]float64, len(x)) // of each point: what is below it, and half of its own
	sum := 0.0
	for i, m := range mass {
		place[i] = sum + m/2
		sum += m
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

// tailed are the increments of G over points of such counts.
func tailed(count []float64) []float64 {
	rows := 0.0
	for _, n := range count {
		rows += n
	}
	end := min(0.25, tailRows/rows)
	logit := func(u float64) float64 { return math.Log(u / (1 - u)) }
	g := func(u float64) float64 {
		return (1-tailShare)*u + tailShare*(1-logit(min(max(u, end), 1-end))/logit(end))/2
	}
	mass := make([]float64, len(count))
	below := 0.0
	for i, n := range count {
		mass[i] = g((below+n)/rows) - g(below/rows)
		below += n
	}
	return mass
}

// capped lowers masses to at most a share of 1/parts of their sum.
func capped(mass []float64, parts float64) {
	for range 100 {
		sum, most := 0.0, 0.0
		for _, n := range mass {
			sum, most = sum+n, math.Max(most, n)
		}
		bound := sum / parts
		if most <= bound*(1+1e-9) {
			return
		}
		for i, n := range mass {
			mass[i] = math.Min(n, bound)
		}
	}
}
