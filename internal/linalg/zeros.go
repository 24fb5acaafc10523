package linalg

// Zeros returns n zeros for a matrix that is about to be written. New memory costs more than most of what is
// done with it, and is taken page by page: several processors write to it first.
func Zeros(n int) []float64 {
	const (
		page  = 4096 / 8 // numbers, on most systems; on none are there fewer
		pages = 32       // that one takes at once
		worth = 32       // multiplications for each number
	)
	v := make([]float64, n)
	parallel((n+pages*page-1)/(pages*page), worth*n, func(lo, hi int) {
		for i := lo * pages * page; i < min(hi*pages*page, n); i += page {
			v[i] = 0
		}
	})
	return v
}
