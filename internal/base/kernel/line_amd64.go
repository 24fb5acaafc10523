//go:build amd64 && !purego

package kernel

//go:noescape
func lineF64AVX512(l *line)

//go:noescape
func lineF32AVX512(l *line)

//go:noescape
func lineF64AVX2(l *line)

//go:noescape
func lineF32AVX2(l *line)

func runLine[T Float](s isa, l *line) {
	switch any(T(0)).(type) {
	case float64:
		if s == avx512 {
			lineF64AVX512(l)
		} else {
			lineF64AVX2(l)
		}
	case float32:
		if s == avx512 {
			lineF32AVX512(l)
		} else {
			lineF32AVX2(l)
		}
	}
}
