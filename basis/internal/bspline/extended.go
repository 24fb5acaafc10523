package bspline

// Extended are knots with as many more beyond each end, as far apart as the last two before.
func Extended(knots []float64, outer int) []float64 {
	n := len(knots)
	low, high := knots[1]-knots[0], knots[n-1]-knots[n-2]
	all := make([]float64, 0, n+2*outer)
	for i := outer; i > 0; i-- {
		all = append(all, knots[0]-float64(i)*low)
	}
	all = append(all, knots...)
	for i := range outer {
		all = append(all, knots[n-1]+float64(i+1)*high)
	}
	return all
}
