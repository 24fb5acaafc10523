//go:build amd64 && !purego

package kernel

//go:noescape
func lookUpSumF64AVX512(l *lookUpSum)

//go:noescape
func lookUpSumF32AVX512(l *lookUpSum)

//go:noescape
func lookUpSumF64AVX2(l *lookUpSum)

//go:noescape
func lookUpSumF32AVX2(l *lookUpSum)

func runLookUpSum[T Float](s isa, l *lookUpSum) {
	switch any(T(0)).(type) {
	case float64:
		if s == avx512 {
			lookUpSumF64AVX512(l)
		} else {
			lookUpSumF64AVX2(l)
		}
	case float32:
		if s == avx512 {
			lookUpSumF32AVX512(l)
		} else {
			lookUpSumF32AVX2(l)
		}
	}
}
