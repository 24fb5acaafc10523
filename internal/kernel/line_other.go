//go:build !amd64 || purego

package kernel

func runLine[T Float](isa, *line) {}
