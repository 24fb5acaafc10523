//go:build (!amd64 && !arm64) || purego

package kernel

func best() isa { return plain }
