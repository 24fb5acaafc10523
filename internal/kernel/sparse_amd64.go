//go:build amd64 && !purego

package kernel

//go:noescape
func sparse4F64AVX512(p *sparse)

//go:noescape
func sparse3F64AVX512(p *sparse)

//go:noescape
func sparse2F64AVX512(p *sparse)

//go:noescape
func sparse4F32AVX512(p *sparse)

//go:noescape
func sparse3F32AVX512(p *sparse)

//go:noescape
func sparse2F32AVX512(p *sparse)

//go:noescape
func sparse6F64AVX2(p *sparse)

//go:noescape
func sparse5F64AVX2(p *sparse)

//go:noescape
func sparse4F64AVX2(p *sparse)

//go:noescape
func sparse3F64AVX2(p *sparse)

//go:noescape
func sparse6F32AVX2(p *sparse)

//go:noescape
func sparse5F32AVX2(p *sparse)

//go:noescape
func sparse4F32AVX2(p *sparse)

//go:noescape
func sparse3F32AVX2(p *sparse)

//go:noescape
func nonzerosF64AVX512(n *nonzeros)

//go:noescape
func nonzerosF32AVX512(n *nonzeros)

//go:noescape
func nonzerosF64AVX2(n *nonzeros)

//go:noescape
func nonzerosF32AVX2(n *nonzeros)

// runSparse adds up rows of so many panels.
func runSparse[T Float](s isa, p *sparse, panels int) {
	_, double := any(T(0)).(float64)
	switch {
	case s == avx512 && double:
		runDoubleAVX512(p, panels)
	case s == avx512:
		runSingleAVX512(p, panels)
	case double:
		runDoubleAVX2(p, panels)
	default:
		runSingleAVX2(p, panels)
	}
}

func runDoubleAVX512(p *sparse, panels int) {
	switch panels {
	case 4:
		sparse4F64AVX512(p)
	case 3:
		sparse3F64AVX512(p)
	default:
		sparse2F64AVX512(p)
	}
}

func runSingleAVX512(p *sparse, panels int) {
	switch panels {
	case 4:
		sparse4F32AVX512(p)
	case 3:
		sparse3F32AVX512(p)
	default:
		sparse2F32AVX512(p)
	}
}

func runDoubleAVX2(p *sparse, panels int) {
	switch panels {
	case 6:
		sparse6F64AVX2(p)
	case 5:
		sparse5F64AVX2(p)
	case 4:
		sparse4F64AVX2(p)
	default:
		sparse3F64AVX2(p)
	}
}

func runSingleAVX2(p *sparse, panels int) {
	switch panels {
	case 6:
		sparse6F32AVX2(p)
	case 5:
		sparse5F32AVX2(p)
	case 4:
		sparse4F32AVX2(p)
	default:
		sparse3F32AVX2(p)
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
