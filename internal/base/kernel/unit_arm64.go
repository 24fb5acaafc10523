//go:build arm64 && !purego

package kernel

//go:noescape
func unitF64NEON(t *unitTile)

//go:noescape
func unitF32NEON(t *unitTile)

func runUnit[T Float](_ isa, t *unitTile) {
	switch any(T(0)).(type) {
	case float64:
		unitF64NEON(t)
	case float32:
		unitF32NEON(t)
	}
}

// Nothing is asked for ahead, and the others are of AVX-512 alone.
func runPrefetch(*prefetch) {}

func runTurn[T Float](*turning) {}

func runUnitDot[T Float](*unitDot) {}

func runOneInput[T Float](*unitDot) {}
