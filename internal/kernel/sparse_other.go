//go:build !amd64 || purego

package kernel

func runSparse[T Float](*sparse, int) {}

func runNonzeros[T Float](*nonzeros) {}
