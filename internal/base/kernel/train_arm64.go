//go:build arm64 && !purego

package kernel

//go:noescape
func adamF64NEON(a *adam[float64])

//go:noescape
func adamF32NEON(a *adam[float32])

//go:noescape
func sumRowsF64NEON(r *sumRows)

//go:noescape
func sumRowsF32NEON(r *sumRows)

//go:noescape
func transpose8NEON(q *squares)

//go:noescape
func reluGradF64NEON(l *loop[float64])

//go:noescape
func reluGradF32NEON(l *loop[float32])

func runAdam[T Float](_ isa, a *adam[T]) {
	switch a := any(a).(type) {
	case *adam[float64]:
		adamF64NEON(a)
	case *adam[float32]:
		adamF32NEON(a)
	}
}

func runSumRows[T Float](r *sumRows) {
	switch any(T(0)).(type) {
	case float64:
		sumRowsF64NEON(r)
	case float32:
		sumRowsF32NEON(r)
	}
}

// runSquares transposes squares of one vector by one.
func runSquares[T Float](q *squares) {
	switch any(T(0)).(type) {
	case float64:
		transpose4NEON(q)
	case float32:
		transpose8NEON(q)
	}
}

func runReluGrad[T Float](l *loop[T]) {
	switch l := any(l).(type) {
	case *loop[float64]:
		reluGradF64NEON(l)
	case *loop[float32]:
		reluGradF32NEON(l)
	}
}
