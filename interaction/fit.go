package interaction

import "slices"

// fit is what the chosen pairs and functions of single columns explain of a remainder.
type fit struct {
	functions *functions
	coef      []float64
}

// fitOf is the least squares fit of the known functions and the pairs chosen.
func fitOf(f *functions, p *products, steps []step) *fit {
	var pairs [][2]int
	columns := make([]int, f.known)
	for j := range columns {
		columns[j] = j
	}
	for i, pair := range f.pairs[f.first:] {
		if slices.ContainsFunc(steps, func(s step) bool { return s.pair == pair }) {
			pairs = append(pairs, pair)
			for j := f.begins[f.first+i]; j < f.begins[f.first+i+1]; j++ {
				columns = append(columns, j)
			}
		}
	}
	n := len(columns)
	gram, reference, score := make([]float64, n*n), make([]float64, n), make([]float64, n)
	for i, a := range columns {
		for j, b := range columns[:i+1] {
			gram[i*n+j] = p.gram[min(a, b)*p.n+max(a, b)]
		}
		reference[i], score[i] = gram[i*n+i], p.score[a]
	}
	s := factorised(gram, n, reference, tolerance)
	out := &fit{newFunctions(f.scales, f.of, f.degree, f.pairs[:f.first], pairs), make([]float64, n)}
	for i, v := range s.solve(score) {
		out.coef[s.kept[i]] = v
	}
	return out
}
