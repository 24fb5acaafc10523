// Package distinct collects the distinct values or points of any number of rows in
// bounded memory: all of them, or of very many a sample that a hash chooses, so that it
// depends on the set alone and not on the order of the rows.
package distinct

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Points collects the distinct points (rows of d columns) and how often each
// occurs. It keeps all of them if there are no more than limit, else the limit
// points of the smallest hash: what is kept, and its counts, depend on the rows
// alone, not on their order or on batches.
type Points struct {
	D, Limit int
	Rows     int64 // that were added
	// X holds the coordinates of the points kept, D after D, and Count how often each
	// occurred. Both are in order, and within the limit, after Sort.
	X     []float64
	Count []int64

	index   map[string]int // a kept point's bytes -> its number
	values  map[uint64]int // of one column: a value's bits -> its number
	hash    []uint64
	maxHash uint64 // points of a greater hash are left out
	sampled bool
	key     []byte
}

// NewPoints collects points of d columns, at most limit of them.
func NewPoints(d, limit int) *Points {
	return &Points{D: d, Limit: limit, index: map[string]int{}, values: map[uint64]int{}, maxHash: math.MaxUint64, key: make([]byte, 8*d)}
}

// Add counts one row of D finite coordinates.
func (p *Points) Add(x ...float64) {
	p.Rows++
	h := uint64(p.D)
	for _, v := range x {
		h = hashed(h, v)
	}
	if h > p.maxHash {
		return
	}
	before := len(p.Count)
	i := p.Number(x)
	p.Count[i]++
	if len(p.Count) > before {
		p.hash = append(p.hash, h)
		if len(p.Count) > 2*p.Limit {
			p.prune()
		}
	}
}

// AddColumn is Add for each of the rows of one column. Of many rows, nearly all are
// left out.
func (p *Points) AddColumn(x []float64) {
	p.look(x)
	for _, v := range x {
		if hashed(1, v) > p.maxHash {
			p.Rows++
			continue
		}
		p.Add(v)
	}
}

// look leaves out what the rows of one column that are added next put beyond the limit, so that it is
// not kept first: where Limit points of them have a smaller hash.
func (p *Points) look(x []float64) {
	const worthwhile = 8
	if len(x) < worthwhile*p.Limit {
		return
	}
	// About twice the limit have a hash below this, if they are all different.
	bound := math.MaxUint64 / uint64(len(x)) * uint64(2*p.Limit)
	if bound >= p.maxHash {
		return
	}
	below := make([]uint64, 0, 3*p.Limit)
	for _, v := range x {
		if h := hashed(1, v); h < bound {
			below = append(below, h)
		}
	}
	slices.Sort(below)
	if below = slices.Compact(below); len(below) > p.Limit {
		p.maxHash, p.sampled = below[p.Limit-1], true
	}
}

// Number finds a point among those kept, or keeps it, without counting it. Of points
// collected by Number alone none is left out.
func (p *Points) Number(x []float64) int {
	i, ok := p.find(x)
	if ok {
		return i
	}
	i = len(p.Count)
	p.set(x, i)
	for _, v := range x {
		p.X = append(p.X, v+0)
	}
	p.Count = append(p.Count, 0)
	return i
}

// find is the number of a point among those kept.
func (p *Points) find(x []float64) (i int, ok bool) {
	if p.D == 1 {
		i, ok = p.values[math.Float64bits(x[0]+0)]
		return i, ok
	}
	p.encode(x)
	i, ok = p.index[string(p.key)]
	return i, ok
}

// set makes i the number of a point.
func (p *Points) set(x []float64, i int) {
	if p.D == 1 {
		p.values[math.Float64bits(x[0]+0)] = i
		return
	}
	p.encode(x)
	p.index[string(p.key)] = i
}

// encode writes a point's bytes to key; -0 is 0.
func (p *Points) encode(x []float64) {
	for j, v := range x {
		binary.LittleEndian.PutUint64(p.key[8*j:], math.Float64bits(v+0))
	}
}

// hashed is h with one more coordinate; -0 is 0.
func hashed(h uint64, v float64) uint64 { return mix(h ^ math.Float64bits(v+0)) }

// mix is the finaliser of SplitMix64.
func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// compare orders two kept points by their coordinates.
func (p *Points) compare(a, b int) int {
	return slices.Compare(p.X[a*p.D:(a+1)*p.D], p.X[b*p.D:(b+1)*p.D])
}

// prune leaves the limit points of the smallest hash. A point that is out cannot
// come back, because maxHash only falls: so the counts stay right.
func (p *Points) prune() {
	if len(p.Count) <= p.Limit {
		return
	}
	order := slices.Clone(p.hash)
	slices.Sort(order)
	p.maxHash, p.sampled = order[p.Limit-1], true
	var within, last []int
	for i, h := range p.hash {
		switch {
		case h < p.maxHash:
			within = append(within, i)
		case h == p.maxHash:
			last = append(last, i)
		}
	}
	slices.SortFunc(last, p.compare)
	p.keep(append(within, last[:p.Limit-len(within)]...))
}

// keep leaves the points listed, in that order.
func (p *Points) keep(order []int) {
	x, count, hash := make([]float64, 0, len(order)*p.D), make([]int64, 0, len(order)), make([]uint64, 0, len(order))
	for _, i := range order {
		x = append(x, p.X[i*p.D:(i+1)*p.D]...)
		count, hash = append(count, p.Count[i]), append(hash, p.hash[i])
	}
	p.X, p.Count, p.hash = x, count, hash
	clear(p.index)
	clear(p.values)
	for i := range count {
		p.set(x[i*p.D:(i+1)*p.D], i)
	}
}

// Sort applies the limit and puts the points in order of their coordinates.
func (p *Points) Sort() {
	p.prune()
	order := make([]int, len(p.Count))
	for i := range order {
		order[i] = i
	}
	if !slices.IsSortedFunc(order, p.compare) {
		slices.SortFunc(order, p.compare)
		p.keep(order)
	}
}

// Sampled tells whether there were more points than the limit.
func (p *Points) Sampled() bool {
	p.prune()
	return p.sampled
}

// N is the number of points kept.
func (p *Points) N() int { return len(p.Count) }

// Centred are the points less their mean over the rows, and that mean.
func (p *Points) Centred() (at, mean []float64) {
	mean = make([]float64, p.D)
	rows := 0.0
	for i, c := range p.Count {
		rows += float64(c)
		for j := range mean {
			mean[j] += float64(c) * p.X[i*p.D+j]
		}
	}
	floats.Scale(1/rows, mean)
	at = make([]float64, len(p.X))
	for i, v := range p.X {
		at[i] = v - mean[i%p.D]
	}
	return at, mean
}
