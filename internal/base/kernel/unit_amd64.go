//go:build amd64 && !purego

package kernel

//go:noescape
func unitF64AVX512(t *unitTile)

//go:noescape
func unitF32AVX512(t *unitTile)

//go:noescape
func unitF64AVX2(t *unitTile)

//go:noescape
func unitF32AVX2(t *unitTile)

func runUnit[T Float](s isa, t *unitTile) {
	switch any(T(0)).(type) {
	case float64:
		if s == avx512 {
			unitF64AVX512(t)
		} else {
			unitF64AVX2(t)
		}
	case float32:
		if s == avx512 {
			unitF32AVX512(t)
		} else {
			unitF32AVX2(t)
		}
	}
}

//go:noescape
func prefetchRows(p *prefetch)

func runPrefetch(p *prefetch) { prefetchRows(p) }

//go:noescape
func turnF64AVX512(q *turning)

//go:noescape
func turnF32AVX512(q *turning)

func runTurn[T Float](q *turning) {
	switch any(T(0)).(type) {
	case float64:
		turnF64AVX512(q)
	case float32:
		turnF32AVX512(q)
	}
}

//go:noescape
func unitDotF64AVX512(d *unitDot)

//go:noescape
func unitDotF32AVX512(d *unitDot)

func runUnitDot[T Float](d *unitDot) {
	switch any(T(0)).(type) {
	case float64:
		unitDotF64AVX512(d)
	case float32:
		unitDotF32AVX512(d)
	}
}

//go:noescape
func oneInputF64AVX512(d *unitDot)

//go:noescape
func oneInputF32AVX512(d *unitDot)

func runOneInput[T Float](d *unitDot) {
	switch any(T(0)).(type) {
	case float64:
		oneInputF64AVX512(d)
	case float32:
		oneInputF32AVX512(d)
	}
}
