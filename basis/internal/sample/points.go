package basis

import (
	"encoding/binary"
	"math"
	"slices"
)

// points collects the distinct points (rows of d columns) and how often each
// occurs. It keeps all of them if there are no more than limit, else the limit
// points of the smallest hash: what is kept, and its counts, depend on the rows
// alone, not on their order or on batches.
type points struct {
	d, limit int
	rows     int64
	index    map[string]int // a kept point's bytes -> its number
	x        []float64      // its coordinates, d after d
	count    []int64
	hash     []uint64
	bar      uint64 // points of a greater hash are out
	sampled  bool
	key      []byte
}

func newPoints(d, limit int) *points {
	return &points{d: d, limit: limit, index: map[string]int{}, bar: math.MaxUint64, key: make([]byte, 8*d)}
}

// add counts one row of finite coordinates.
func (p *points) add(x ...float64) {
	p.rows++
	h := uint64(p.d)
	for _, v := range x {
		h = hashed(h, v)
	}
	if h > p.bar {
		return
	}
	before := len(p.count)
	i := p.number(x)
	p.count[i]++
	if len(p.count) > before {
		p.hash = append(p.hash, h)
		if len(p.count) > 2*p.limit {
			p.prune()
		}
	}
}

// addColumn is add for each of the rows of one column. Of many rows, nearly all are
// beyond the bar.
func (p *points) addColumn(x []float64) {
	for _, v := range x {
		if hashed(1, v) > p.bar {
			p.rows++
			continue
		}
		p.add(v)
	}
}

// number finds a point among those kept, or keeps it.
func (p *points) number(x []float64) int {
	for j, v := range x {
		binary.LittleEndian.PutUint64(p.key[8*j:], math.Float64bits(v+0))
	}
	if i, ok := p.index[string(p.key)]; ok {
		return i
	}
	i := len(p.count)
	p.index[string(p.key)] = i
	for _, v := range x {
		p.x = append(p.x, v+0)
	}
	p.count = append(p.count, 0)
	return i
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
func (p *points) compare(a, b int) int {
	return slices.Compare(p.x[a*p.d:(a+1)*p.d], p.x[b*p.d:(b+1)*p.d])
}

// prune leaves the limit points of the smallest hash. A point that is out cannot
// come back, because the bar only falls: so the counts stay right.
func (p *points) prune() {
	if len(p.count) <= p.limit {
		return
	}
	order := make([]int, len(p.count))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p.hash[a] < p.hash[b]:
			return -1
		case p.hash[a] > p.hash[b]:
			return 1
		}
		return p.compare(a, b)
	})
	p.keep(order[:p.limit])
	p.bar = p.hash[p.limit-1]
	p.sampled = true
}

// keep leaves the points listed, in that order.
func (p *points) keep(order []int) {
	x, count, hash := make([]float64, 0, len(order)*p.d), make([]int64, 0, len(order)), make([]uint64, 0, len(order))
	for _, i := range order {
		x = append(x, p.x[i*p.d:(i+1)*p.d]...)
		count, hash = append(count, p.count[i]), append(hash, p.hash[i])
	}
	p.x, p.count, p.hash = x, count, hash
	clear(p.index)
	for i := range count {
		for j, v := range x[i*p.d : (i+1)*p.d] {
			binary.LittleEndian.PutUint64(p.key[8*j:], math.Float64bits(v))
		}
		p.index[string(p.key)] = i
	}
}

// sort applies the limit and puts the points in order of their coordinates.
func (p *points) sort() {
	p.prune()
	order := make([]int, len(p.count))
	for i := range order {
		order[i] = i
	}
	if !slices.IsSortedFunc(order, p.compare) {
		slices.SortFunc(order, p.compare)
		p.keep(order)
	}
}

// n is the number of points kept.
func (p *points) n() int { return len(p.count) }
