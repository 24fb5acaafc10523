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
func nonzerosF64AVX512(n *nonzeros)

//go:noescape
func nonzerosF32AVX512(n *nonzeros)

// runSparse adds up rows of so many panels.
func runSparse[T Float](p *sparse, panels int) {
	_, double := any(T(0)).(float64)
	switch {
	case double && panels == 4:
		sparse4F64AVX512(p)
	case double && panels == 3:
		sparse3F64AVX512(p)
	case double:
		sparse2F64AVX512(p)
	case panels == 4:
		sparse4F32AVX512(p)
	case panels == 3:
		sparse3F32AVX512(p)
	default:
		sparse2F32AVX512(p)
	}
}

func runNonzeros[T Float](n *nonzeros) {
	if _, double := any(T(0)).(float64); double {
		nonzerosF64AVX512(n)
	} else {
		nonzerosF32AVX512(n)
	}
}
