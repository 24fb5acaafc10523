package interaction

// block is a part of the matrices: the columns of pair q beside all those from lo up to hi.
type block struct{ lo, hi, q int }

// echo is a block that others hold already: of four columns, the products of (a,b) with
// (c,d) are those of (a,c) with (b,d) and of (a,d) with (b,c), in another order.
type echo struct{ p, q, fromP, fromQ int }

// blocks are the parts of the upper triangle, beside the functions of single columns, that are summed over rows, and those that are copied.
func (f *functions) blocks() (summed []block, copied []echo) {
	number := map[[2]int]int{}
	for i, p := range f.pairs {
		number[p] = i
	}
	for q := range f.pairs {
		last := block{0, f.begins[0], q}
		for p := range q + 1 {
			if fromP, fromQ, ok := f.earlier(number, p, q); ok {
				copied = append(copied, echo{p, q, fromP, fromQ})
				continue
			}
			if last.hi < f.begins[p] {
				summed = append(summed, last)
				last.lo = f.begins[p]
			}
			last.hi = f.begins[p+1]
		}
		summed = append(summed, last)
	}
	return summed, copied
}

// earlier are the pairs with the products of p and q whose second one comes first; not ok: they are p and q.
func (f *functions) earlier(number map[[2]int]int, p, q int) (fromP, fromQ int, ok bool) {
	a, b, c, d := f.pairs[p][0], f.pairs[p][1], f.pairs[q][0], f.pairs[q][1]
	if a == c || a == d || b == c || b == d {
		return 0, 0, false
	}
	last := q
	for _, other := range [][2][2]int{{sorted(a, c), sorted(b, d)}, {sorted(a, d), sorted(b, c)}} {
		x, hasX := number[other[0]]
		y, hasY := number[other[1]]
		if hasX && hasY && max(x, y) < last {
			fromP, fromQ, ok = min(x, y), max(x, y), true
			last = fromQ
		}
	}
	return fromP, fromQ, ok
}

func sorted(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// copy writes an echo to the n x n matrix.
func (f *functions) copy(matrix []float64, n int, e echo) {
	width := func(j int) int { return f.scales[j].width(degrees) }
	// step is how far apart the sums of neighbouring functions of column j are.
	step := func(p, q, j int) int {
		switch pair, second := f.pairs[p], f.pairs[q]; j {
		case pair[0]:
			return n * width(pair[1])
		case pair[1]:
			return n
		case second[0]:
			return width(second[1])
		}
		return 1
	}
	var wide, to, from [4]int
	for i, j := range [4]int{f.pairs[e.p][0], f.pairs[e.p][1], f.pairs[e.q][0], f.pairs[e.q][1]} {
		wide[i], to[i], from[i] = width(j), step(e.p, e.q, j), step(e.fromP, e.fromQ, j)
	}
	dst, src := f.begins[e.p]*n+f.begins[e.q], f.begins[e.fromP]*n+f.begins[e.fromQ]
	for a := range wide[0] {
		for b := range wide[1] {
			for c := range wide[2] {
				for d := range wide[3] {
					matrix[dst+a*to[0]+b*to[1]+c*to[2]+d*to[3]] = matrix[src+a*from[0]+b*from[1]+c*from[2]+d*from[3]]
				}
			}
		}
	}
}
