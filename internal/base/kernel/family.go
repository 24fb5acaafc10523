package kernel

import "runtime"

// Family names what decides the last digits of this package's results on this machine: "fma/amd64"
// with AVX2 or AVX-512, which give the same bits, "fma/arm64" with NEON, "plain/" and the architecture
// with Go's own arithmetic. NEON gives the bits of AVX2 here, but around this package Go's compiler
// fuses multiply-adds on arm64 and not on amd64. units: products of float32 ran on matrix units (PackSplit),
// "fma+amx/amd64". Processes of one family and one version of the program give the same bytes.
func Family(units bool) string {
	switch {
	case units:
		return "fma+amx/" + runtime.GOARCH
	case best() == plain:
		return "plain/" + runtime.GOARCH
	}
	return "fma/" + runtime.GOARCH
}
