//go:build (!amd64 && !arm64) || purego

package kernel

// There is no assembly: best never asks for it.
func runAdam[T Float](isa, *adam[T]) {}

func runSumRows[T Float](*sumRows) {}

func runSquares[T Float](*squares) {}

func runReluGrad[T Float](*loop[T]) {}
