//go:build !amd64 || purego

package kernel

func runSparse[T Float](isa, *sparse, int, int) {}

func runNonzeros[T Float](isa, *nonzeros) {}
