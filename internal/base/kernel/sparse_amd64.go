//go:build amd64 && !purego

package kernel

//go:noescape
func sparse4x2F64AVX512(p *sparse)

//go:noescape
func sparse3x2F64AVX512(p *sparse)

//go:noescape
func sparse2x2F64AVX512(p *sparse)

//go:noescape
func sparse6x1F64AVX512(p *sparse)

//go:noescape
func sparse5x1F64AVX512(p *sparse)

//go:noescape
func sparse4x1F64AVX512(p *sparse)

//go:noescape
func sparse3x1F64AVX512(p *sparse)

//go:noescape
func sparse2x1F64AVX512(p *sparse)

//go:noescape
func sparse4x2F32AVX512(p *sparse)

//go:noescape
func sparse3x2F32AVX512(p *sparse)

//go:noescape
func sparse2x2F32AVX512(p *sparse)

//go:noescape
func sparse6x1F32AVX512(p *sparse)

//go:noescape
func sparse5x1F32AVX512(p *sparse)

//go:noescape
func sparse4x1F32AVX512(p *sparse)

//go:noescape
func sparse3x1F32AVX512(p *sparse)

//go:noescape
func sparse2x1F32AVX512(p *sparse)

//go:noescape
func sparse3x2F64AVX2(p *sparse)

//go:noescape
func sparse6x1F64AVX2(p *sparse)

//go:noescape
func sparse5x1F64AVX2(p *sparse)

//go:noescape
func sparse4x1F64AVX2(p *sparse)

//go:noescape
func sparse3x1F64AVX2(p *sparse)

//go:noescape
func sparse3x2F32AVX2(p *sparse)

//go:noescape
func sparse6x1F32AVX2(p *sparse)

//go:noescape
func sparse5x1F32AVX2(p *sparse)

//go:noescape
func sparse4x1F32AVX2(p *sparse)

//go:noescape
func sparse3x1F32AVX2(p *sparse)

//go:noescape
func nonzerosF64AVX512(n *nonzeros)

//go:noescape
func nonzerosF32AVX512(n *nonzeros)

//go:noescape
func nonzerosF64AVX2(n *nonzeros)

//go:noescape
func nonzerosF32AVX2(n *nonzeros)

// runSparse adds up rows of so many panels, side by side as many rows of A.
func runSparse[T Float](s isa, p *sparse, panels, rows int) {
	_, double := any(T(0)).(float64)
	switch {
	case s == avx512 && double:
		runDoubleAVX512(p, panels, rows)
	case s == avx512:
		runSingleAVX512(p, panels, rows)
	case double:
		runDoubleAVX2(p, panels, rows)
	default:
		runSingleAVX2(p, panels, rows)
	}
}

func runDoubleAVX512(p *sparse, panels, rows int) {
	switch [2]int{panels, rows} {
	case [2]int{4, 2}:
		sparse4x2F64AVX512(p)
	case [2]int{3, 2}:
		sparse3x2F64AVX512(p)
	case [2]int{2, 2}:
		sparse2x2F64AVX512(p)
	case [2]int{6, 1}:
		sparse6x1F64AVX512(p)
	case [2]int{5, 1}:
		sparse5x1F64AVX512(p)
	case [2]int{4, 1}:
		sparse4x1F64AVX512(p)
	case [2]int{3, 1}:
		sparse3x1F64AVX512(p)
	default:
		sparse2x1F64AVX512(p)
	}
}

func runSingleAVX512(p *sparse, panels, rows int) {
	switch [2]int{panels, rows} {
	case [2]int{4, 2}:
		sparse4x2F32AVX512(p)
	case [2]int{3, 2}:
		sparse3x2F32AVX512(p)
	case [2]int{2, 2}:
		sparse2x2F32AVX512(p)
	case [2]int{6, 1}:
		sparse6x1F32AVX512(p)
	case [2]int{5, 1}:
		sparse5x1F32AVX512(p)
	case [2]int{4, 1}:
		sparse4x1F32AVX512(p)
	case [2]int{3, 1}:
		sparse3x1F32AVX512(p)
	default:
		sparse2x1F32AVX512(p)
	}
}

func runDoubleAVX2(p *sparse, panels, rows int) {
	switch [2]int{panels, rows} {
	case [2]int{3, 2}:
		sparse3x2F64AVX2(p)
	case [2]int{6, 1}:
		sparse6x1F64AVX2(p)
	case [2]int{5, 1}:
		sparse5x1F64AVX2(p)
	case [2]int{4, 1}:
		sparse4x1F64AVX2(p)
	default:
		sparse3x1F64AVX2(p)
	}
}

func runSingleAVX2(p *sparse, panels, rows int) {
	switch [2]int{panels, rows} {
	case [2]int{3, 2}:
		sparse3x2F32AVX2(p)
	case [2]int{6, 1}:
		sparse6x1F32AVX2(p)
	case [2]int{5, 1}:
		sparse5x1F32AVX2(p)
	case [2]int{4, 1}:
		sparse4x1F32AVX2(p)
	default:
		sparse3x1F32AVX2(p)
	}
}

func runNonzeros[T Float](s isa, n *nonzeros) {
	_, double := any(T(0)).(float64)
	switch {
	case s == avx512 && double:
		nonzerosF64AVX512(n)
	case s == avx512:
		nonzerosF32AVX512(n)
	case double:
		nonzerosF64AVX2(n)
	default:
		nonzerosF32AVX2(n)
	}
}
