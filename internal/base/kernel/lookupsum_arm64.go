//go:build arm64 && !purego

package kernel

//go:noescape
func lookUpSumF64NEON(l *lookUpSum)

//go:noescape
func lookUpSumF32NEON(l *lookUpSum)

func runLookUpSum[T Float](_ isa, l *lookUpSum) {
	switch any(T(0)).(type) {
	case float64:
		lookUpSumF64NEON(l)
	case float32:
		lookUpSumF32NEON(l)
	}
}
