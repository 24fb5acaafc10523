//go:build (!amd64 && !arm64) || purego

package kernel

func runLine[T Float](isa, *line) {}
