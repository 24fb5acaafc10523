package interaction

// block is a part of the matrices: rows lo up to hi, columns from up to to.
type block struct{ lo, hi, from, to int }

// echo is a block that others hold already: of four columns, the products of (a,b) with
// (c,d) are those of (a,c) with (b,d) and of (a,d) with (b,c), in another order.
type echo struct{ p, q, fromP, fromQ int }

// parts are the blocks of the upper triangle beside the block of the functions of single columns.
type parts struct {
	summed  []block // over rows,
	derived []*derived
	echoes  []echo // copied
}

// parts says how each is formed; complete tells of which columns each row has a polynomial.
func (f *functions) parts(complete []bool) *parts {
	number := map[[2]int]int{}
	for i, p := range f.pairs {
		number[p] = i
	}
	all := &parts{}
	for q := range f.pairs {
		all.beside(f, q, complete)
		for p := range q + 1 {
			fromP, fromQ, ok := f.earlier(number, p, q)
			d := f.shared(number, p, q, complete)
			switch {
			case ok:
				all.echoes = append(all.echoes, echo{p, q, fromP, fromQ})
			case d == nil:
				all.sum(f, block{f.begins[p], f.begins[p+1], f.begins[q], f.begins[q+1]})
			default:
				all.derived = append(all.derived, d)
				switch { // of the last function of the shared column
				case d.first < d.second:
					all.sum(f, block{f.begins[p+1] - d.rows, f.begins[p+1], f.begins[q], f.begins[q+1]})
				case d.second < d.first:
					all.sum(f, block{f.begins[p], f.begins[p+1], f.begins[q+1] - d.cols, f.begins[q+1]})
				}
			}
		}
	}
	return all
}

// sum sums a block, together with the one above if they touch and are of single columns.
func (a *parts) sum(f *functions, b block) {
	if n := len(a.summed); n > 0 && b.lo < f.begins[0] {
		if last := &a.summed[n-1]; last.hi == b.lo && last.from == b.from && last.to == b.to {
			last.hi = b.hi
			return
		}
	}
	a.summed = append(a.summed, b)
}

// beside adds the parts of pair q and the functions of single columns.
func (a *parts) beside(f *functions, q int, complete []bool) {
	from, to := f.begins[q], f.begins[q+1]
	a.sum(f, block{0, 1, from, to})
	for _, j := range f.of {
		lo := f.singles[j]
		hi := lo + f.scales[j].singleWidth(f.degree)
		pair := f.pairs[q]
		switch {
		case !complete[j] || j != pair[0] && j != pair[1]:
		case f.singles[pair[0]] >= 0 && f.singles[pair[1]] >= 0:
			d := f.ownDerived(q, j, pair[0]+pair[1]-j)
			if d.first > 0 {
				a.derived = append(a.derived, d)
				lo += d.first
			}
		}
		a.sum(f, block{lo, hi, from, to})
	}
}

// shared are the sums of pairs p and q if these share one column, complete, and its and their others' functions are among those of
// single columns; else nil.
func (f *functions) shared(number map[[2]int]int, p, q int, complete []bool) *derived {
	for _, a := range f.pairs[p] {
		b, c := f.pairs[p][0]+f.pairs[p][1]-a, f.pairs[q][0]+f.pairs[q][1]-a
		if a != f.pairs[q][0] && a != f.pairs[q][1] || b == c || !complete[a] || f.singles[b] < 0 || f.singles[c] < 0 {
			continue
		}
		r, ok := number[sorted(b, c)]
		if !ok || f.scales[a].width(f.degree) < 2*f.scales[a].width(degrees) {
			r = -1
		}
		if r < 0 && a != f.pairs[p][0] && a != f.pairs[q][0] { // its last function's products do not lie together
			return nil
		}
		return f.sharedDerived(p, q, r, a, b, c)
	}
	return nil
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
