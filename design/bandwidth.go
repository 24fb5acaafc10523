package design

// Bandwidth is how near the entries of a row are: those of any row are in columns of which the first
// and the last differ by less. The columns must pass Check.
func Bandwidth(a Columns) int {
	switch a := a.(type) {
	case *Codes:
		return 1
	case *Banded:
		if !a.Cyclic {
			return a.K
		}
	case *Product:
		return (a.A.K-1)*a.B.D + a.B.K
	case *Sparse:
		if a.cells == nil {
			return widest(a.Index, a.K)
		}
		width := 1
		for _, row := range a.cells.lead {
			width = max(width, widest(a.of(row), a.K))
		}
		return width
	}
	_, d := a.Dims()
	return d
}

// widest is that of rows of k columns each.
func widest(index []int32, k int) int {
	width := int32(1)
	for ; len(index) > 0; index = index[k:] {
		lo, hi := index[0], index[0]
		for _, j := range index[1:k] {
			lo, hi = min(lo, j), max(hi, j)
		}
		width = max(width, hi-lo+1)
	}
	return int(width)
}
