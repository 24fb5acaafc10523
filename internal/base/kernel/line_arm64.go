//go:build arm64 && !purego

package kernel

//go:noescape
func lineF64NEON(l *line)

//go:noescape
func lineF32NEON(l *line)

func runLine[T Float](_ isa, l *line) {
	switch any(T(0)).(type) {
	case float64:
		lineF64NEON(l)
	case float32:
		lineF32NEON(l)
	}
}
