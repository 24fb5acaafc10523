package kernel

import "runtime"

// Family names what decides the last digits of this package's results on this machine: "fma/amd64"
// with AVX2 or AVX-512, which give the same bits, "plain/" and the architecture with Go's own
// arithmetic. Processes of one family and one version of the program give the same bytes.
func Family() string {
	if best() == plain {
		return "plain/" + runtime.GOARCH
	}
	return "fma/" + runtime.GOARCH
}
