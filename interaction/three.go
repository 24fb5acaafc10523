package interaction

// three are columns, in order, that rows are summed over together: one sum stands for those of
// two or three pairs.
type three struct {
	columns [3]int
	at      [3]int // where the tables of the first and second column, first and third, second and third begin; < 0: they are of others
}

// threesOf covers each pair of n columns once. Of each pair that no three has yet, the third column is the
// one with which most others are covered; a pair alone has its second column twice.
func threesOf(n int) []three {
	var all []three
	at := make([][]int, n) // where a pair's table begins; -1: it is covered
	next := 0
	for i := range at {
		at[i] = make([]int, n)
		for j := range at[i] {
			at[i][j] = -1
			if j > i {
				at[i][j] = next
				next += cells
			}
		}
	}
	take := func(i, j int) int {
		begin := at[i][j]
		at[i][j] = -1
		return begin
	}
	open := func(i, j int) int {
		if at[min(i, j)][max(i, j)] < 0 {
			return 0
		}
		return 1
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if at[i][j] < 0 {
				continue
			}
			third, most := j, 0
			for k := i + 1; k < n; k++ {
				if gain := open(i, k) + open(j, k); k != j && gain > most {
					third, most = k, gain
				}
			}
			b, c := min(j, third), max(j, third)
			all = append(all, three{[3]int{i, b, c}, [3]int{take(i, b), take(i, c), take(b, c)}})
		}
	}
	return all
}

// threeSums are the table of three columns. Its cells are numbered by ten bits, which needs no check of
// bounds; and a cell's sums lie side by side.
type threeSums [1 << 10]sum

// pairSums are a pair's table.
type pairSums [cells]sum

// addSums adds x to the tables of predictor k that c covers.
func (t *tables) addSums(k int, c three, codes [][]uint8, x []sum) {
	var sums threeSums
	sums.rows(codes[c.columns[0]], codes[c.columns[1]], codes[c.columns[2]], x)
	var pairs [3]pairSums
	sums.addPairs(&pairs)
	for p, at := range c.at {
		if at >= 0 {
			t.addPair(k, at, &pairs[p])
		}
	}
}

// rows adds x where columns have these bins.
func (s *threeSums) rows(a, b, c []uint8, x []sum) {
	a, b, c = a[:len(x)], b[:len(x)], c[:len(x)]
	for i, v := range x {
		s[(uint(a[i])*cells+uint(b[i])*stride+uint(c[i]))%uint(len(s))].add(v)
	}
}

// addPairs adds the sums to those of the first and second column, first and third, second and third.
func (s *threeSums) addPairs(to *[3]pairSums) {
	for a := range stride {
		firstThird := to[1][a*stride:][:stride]
		for b := range stride {
			row, secondThird := s[(a*stride+b)*stride:][:stride], to[2][b*stride:][:stride]
			var firstSecond sum
			for c, v := range row {
				firstSecond.add(v)
				firstThird[c].add(v)
				secondThird[c].add(v)
			}
			to[0][a*stride+b].add(firstSecond)
		}
	}
}

func (s *sum) add(x sum) {
	s.weight += x.weight
	s.score += x.score
	s.noise += x.noise
}

// addPair adds sums to the table of predictor k that begins at a cell.
func (t *tables) addPair(k, at int, from *pairSums) {
	weight, score, noise := t.weight[at:][:cells], t.score[k][at:][:cells], t.noise[k][at:][:cells]
	for i, s := range from {
		weight[i] += s.weight
		score[i] += s.score
		noise[i] += s.noise
	}
}
