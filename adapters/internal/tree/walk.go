package tree

import (
	"math"
	"slices"
)

// Block is the number of rows that go down one tree after another together: their
// numbers, and a tree, stay in the first cache.
const Block = 64

// Columns is the number of columns that Sum, Best and Scored read for each row.
func (e *Ensemble) Columns() int { return max(1, len(e.columns)) }

// Feature is the feature of column c.
func (e *Ensemble) Feature(c int) int {
	if c >= len(e.columns) {
		return -1
	}
	return e.columns[c].feature
}

// Missing is what column c holds in place of NaN.
func (e *Ensemble) Missing(c int) float64 {
	if c >= len(e.columns) {
		return 0
	}
	return [...]float64{lowest: math.Inf(-1), highest: math.Inf(1), itself: math.NaN()}[e.columns[c].missing]
}

// Sum adds to dst, rows x Targets, what the leaves add up to that rows of x, rows x
// Columns, come to. x holds in each column the row's number of that feature, and
// Missing in place of NaN. The sum of a row is over the trees in order, whatever the
// other rows.
func (e *Ensemble) Sum(dst, x []float64, rows int) {
	if rows == 0 {
		return
	}
	width, block := e.Columns(), e.block()
	for from := 0; from < rows; from += block {
		n := min(block, rows-from)
		e.sumBlock(dst[from*e.Targets:(from+n)*e.Targets], x[from*width:(from+n)*width], n)
	}
}

// block is how many rows go down one tree after another together.
func (e *Ensemble) block() int {
	if e.stride > 0 {
		return min(Block, singles/e.stride)
	}
	return Block
}

// SumRounded is Sum, each sum rounded to float32 after each tree.
func (e *Ensemble) SumRounded(dst, x []float64, rows int) {
	var endsOf [Block]uint32
	var single [singles]float32
	width, block := e.Columns(), e.block()
	for from := 0; from < rows; from += block {
		ends := endsOf[:min(block, rows-from)]
		own, sums := x[from*width:(from+len(ends))*width], dst[from*e.Targets:]
		if e.stride > 0 {
			upwards(single[:], own, width, e.stride)
		}
		for i := range e.stretches {
			s := &e.stretches[i]
			if s.beside != nil && s.single {
				s.sumBeside(sums, single[:], len(ends), e.Targets, s.beside.SumRounded)
				continue
			}
			for k := range s.trees {
				e.addRounded(&s.trees[k], sums, own, ends)
			}
		}
	}
}

// addRounded adds to the rows of sums, which it rounds.
func (e *Ensemble) addRounded(t *walked, sums, x []float64, ends []uint32) {
	var buf [1]Weight
	e.descend(t, x, ends)
	if t.target >= 0 {
		at := int(t.target)
		for _, end := range ends {
			sums[at] = float64(float32(sums[at] + t.value[end-t.inner]))
			at += e.Targets
		}
		return
	}
	for r, end := range ends {
		for _, w := range t.at(int(end), &buf) {
			at := &sums[r*e.Targets+int(w.Target)]
			*at = float64(float32(*at + w.Value))
		}
	}
}

// sumBeside lets sum, of s.beside, add to the rows of dst.
func (s *stretch) sumBeside(dst []float64, single []float32, rows, targets int, sum func(sums []float64, x []float32)) {
	var sumsOf [Block]float64
	sums, column := sumsOf[:rows], dst[s.target:]
	for r := range sums {
		sums[r] = column[r*targets]
	}
	sum(sums, single)
	for r, v := range sums {
		column[r*targets] = v
	}
}

// sumBlock is Sum of up to Block rows.
func (e *Ensemble) sumBlock(dst, x []float64, rows int) {
	if e.stride == 0 {
		e.sumStretches(dst, x, nil, rows)
		return
	}
	var single [singles]float32
	upwards(single[:], x, e.Columns(), e.stride)
	e.sumStretches(dst, x, single[:], rows)
}

// sumStretches adds tree after tree; single are the numbers of x for trees side by side.
func (e *Ensemble) sumStretches(dst, x []float64, single []float32, rows int) {
	var endsOf [Block]uint32
	var sumsOf [Block]float64
	ends, sums := endsOf[:rows], sumsOf[:rows]
	for i := range e.stretches {
		s := &e.stretches[i]
		if s.target < 0 || s.beside == nil && rows < 4 {
			e.sumApart(s.trees, dst, x, ends)
			continue
		}
		if s.beside != nil {
			s.sumBeside(dst, single, rows, e.Targets, s.beside.Sum)
			continue
		}
		column := dst[s.target:]
		for r := range sums {
			sums[r] = column[r*e.Targets]
		}
		for i := range s.trees {
			t := &s.trees[i]
			e.descend(t, x, ends)
			for r, end := range ends {
				sums[r] += t.value[end-t.inner]
			}
		}
		for r, v := range sums {
			column[r*e.Targets] = v
		}
	}
}

// sumApart adds to the rows of dst, of one tree after the other, or row by row if they are few.
func (e *Ensemble) sumApart(trees []walked, dst, x []float64, ends []uint32) {
	if len(ends) < 4 {
		for r := range ends {
			e.sumRow(trees, dst[r*e.Targets:(r+1)*e.Targets], x[r*e.Columns():(r+1)*e.Columns()])
		}
		return
	}
	for i := range trees {
		t := &trees[i]
		e.descend(t, x, ends)
		t.addAll(dst, ends, e.Targets)
	}
}

// sumRow takes one row down four trees side by side.
func (e *Ensemble) sumRow(trees []walked, dst, x []float64) {
	for len(trees) >= 4 {
		a, b, c, d := &trees[0], &trees[1], &trees[2], &trees[3]
		if a.general || b.general || c.general || d.general {
			break
		}
		depth := max(a.depth, b.depth, c.depth, d.depth)
		if a.ends(depth) || b.ends(depth) || c.ends(depth) || d.ends(depth) {
			e.sumEach(trees[:4], dst, x)
			trees = trees[4:]
			continue
		}
		var i, j, k, l uint32
		for range depth {
			na, nb, nc, nd := &a.nodes[i], &b.nodes[j], &c.nodes[k], &d.nodes[l]
			i = na.left + right(x[na.column], na.threshold)
			j = nb.left + right(x[nb.column], nb.threshold)
			k = nc.left + right(x[nc.column], nc.threshold)
			l = nd.left + right(x[nd.column], nd.threshold)
		}
		a.add(dst, i)
		b.add(dst, j)
		c.add(dst, k)
		d.add(dst, l)
		trees = trees[4:]
	}
	e.sumEach(trees, dst, x)
}

// ends tells whether no row can go down t so many levels: a leaf of a complete tree leads nowhere.
func (t *walked) ends(depth int32) bool { return t.inner > 0 && t.depth < depth }

// sumEach takes one row down one tree after the other.
func (e *Ensemble) sumEach(trees []walked, dst, x []float64) {
	var end [1]uint32
	for i := range trees {
		e.descend(&trees[i], x, end[:])
		trees[i].add(dst, end[0])
	}
}

// addAll adds to rows of dst what the leaves that they come to add.
func (t *walked) addAll(dst []float64, ends []uint32, targets int) {
	if t.to != nil {
		value, to := t.value, t.to[:len(t.value)]
		row := 0
		for _, end := range ends {
			dst[row+int(to[end-t.inner])] += value[end-t.inner]
			row += targets
		}
		return
	}
	for r, end := range ends {
		t.add(dst[r*targets:(r+1)*targets], end)
	}
}

// add adds what the leaf at node i adds.
func (t *walked) add(dst []float64, i uint32) {
	if t.target >= 0 {
		dst[t.target] += t.value[i-t.inner]
		return
	}
	if t.to != nil {
		dst[t.to[i-t.inner]] += t.value[i-t.inner]
		return
	}
	for _, w := range t.weights[t.span[i]:t.span[i+1]] {
		dst[w.Target] += w.Value
	}
}

// Best is as Sum, with the least or, if greatest is set, the greatest value that a leaf
// adds to a target instead of their sum; 0 where none adds to it.
func (e *Ensemble) Best(dst, x []float64, rows int, greatest bool) {
	scored := e.Scored(x, rows)
	none := math.Inf(1)
	if greatest {
		none = math.Inf(-1)
	}
	for i, ok := range scored {
		if dst[i] = 0; ok {
			dst[i] = none
		}
	}
	e.each(x, rows, func(row int, w Weight) {
		if at := &dst[row*e.Targets+int(w.Target)]; greatest && w.Value > *at || !greatest && w.Value < *at {
			*at = w.Value
		}
	})
}

// Scored reports, by row and target, whether some leaf that the row comes to adds to it.
func (e *Ensemble) Scored(x []float64, rows int) []bool {
	out := make([]bool, rows*e.Targets)
	e.each(x, rows, func(row int, w Weight) { out[row*e.Targets+int(w.Target)] = true })
	return out
}

// each calls yield with every weight of every leaf that a row comes to.
func (e *Ensemble) each(x []float64, rows int, yield func(row int, w Weight)) {
	var ends [Block]uint32
	var buf [1]Weight
	width := e.Columns()
	for from := 0; from < rows; from += Block {
		n := min(Block, rows-from)
		for i := range e.trees {
			t := &e.trees[i]
			e.descend(t, x[from*width:(from+n)*width], ends[:n])
			for r, end := range ends[:n] {
				for _, w := range t.at(int(end), &buf) {
					yield(from+r, w)
				}
			}
		}
	}
}

// descend finds the leaf of t that each row of x comes to.
func (e *Ensemble) descend(t *walked, x []float64, ends []uint32) {
	width := e.Columns()
	if t.general {
		for r := range ends {
			ends[r] = e.general(t, x[r*width:(r+1)*width])
		}
		return
	}
	r := 0
	for ; r+4 <= len(ends); r += 4 {
		four((*[4]uint32)(ends[r:]), t.nodes, int(t.depth), x[r*width:(r+4)*width], width)
	}
	for ; r < len(ends); r++ {
		ends[r] = one(t.nodes, int(t.depth), x[r*width:(r+1)*width])
	}
}

// right is 1 if x is above t, without a branch.
func right(x, t float64) uint32 {
	var one uint32
	if x > t {
		one = 1
	}
	return one
}

// stride is how many levels rows go down before it is asked whether all are at leaves.
const stride = 6

// four takes four rows down a tree side by side: each waits for its own numbers, and the
// processor works on the others meanwhile.
func four(ends *[4]uint32, nodes []node, depth int, x []float64, width int) {
	x0, x1, x2, x3 := x[:width], x[width:2*width], x[2*width:3*width], x[3*width:4*width]
	var i0, i1, i2, i3 uint32
	for {
		for range min(depth, stride) {
			n0, n1, n2, n3 := &nodes[i0], &nodes[i1], &nodes[i2], &nodes[i3]
			i0 = n0.left + right(x0[n0.column], n0.threshold)
			i1 = n1.left + right(x1[n1.column], n1.threshold)
			i2 = n2.left + right(x2[n2.column], n2.threshold)
			i3 = n3.left + right(x3[n3.column], n3.threshold)
		}
		if depth -= stride; depth <= 0 || nodes[i0].left == i0 && nodes[i1].left == i1 && nodes[i2].left == i2 && nodes[i3].left == i3 {
			break
		}
	}
	*ends = [4]uint32{i0, i1, i2, i3}
}

func one(nodes []node, depth int, x []float64) uint32 {
	i := uint32(0)
	for range depth {
		n := &nodes[i]
		next := n.left + right(x[n.column], n.threshold)
		if next == i {
			break
		}
		i = next
	}
	return i
}

// general takes a row down a tree with any splits.
func (e *Ensemble) general(t *walked, x []float64) uint32 {
	i := uint32(0)
	for range t.depth {
		n, r := &t.nodes[i], &t.other[i]
		if r.split == leaf {
			break
		}
		v := x[n.column]
		goes := r.missing
		if !math.IsNaN(v) {
			goes = e.goesRight(r, v, n.threshold)
		}
		if i = n.left; goes {
			i++
		}
	}
	return i
}

func (e *Ensemble) goesRight(r *rule, x, t float64) bool {
	switch r.split {
	case equal:
		return x == t
	case member:
		_, in := slices.BinarySearch(e.sets[r.set], x)
		return in
	case less:
		return x < t
	case atLeast:
		return x >= t
	case atMost:
		return x <= t
	}
	return x > t
}
