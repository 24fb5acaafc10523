//go:build amd64 && !purego

package kernel

//go:noescape
func adamF64AVX2(a *adam[float64])

//go:noescape
func adamF32AVX2(a *adam[float32])

//go:noescape
func sumRowsF64AVX2(r *sumRows)

//go:noescape
func sumRowsF32AVX2(r *sumRows)

//go:noescape
func transpose8(q *squares)

//go:noescape
func reluGradF64AVX2(l *loop[float64])

//go:noescape
func reluGradF32AVX2(l *loop[float32])

//go:noescape
func adamF64AVX512(a *adam[float64])

//go:noescape
func adamF32AVX512(a *adam[float32])

func runAdam[T Float](s isa, a *adam[T]) {
	switch a := any(a).(type) {
	case *adam[float64]:
		if s == avx512 {
			adamF64AVX512(a)
		} else {
			adamF64AVX2(a)
		}
	case *adam[float32]:
		if s == avx512 {
			adamF32AVX512(a)
		} else {
			adamF32AVX2(a)
		}
	}
}

func runSumRows[T Float](r *sumRows) {
	switch any(T(0)).(type) {
	case float64:
		sumRowsF64AVX2(r)
	case float32:
		sumRowsF32AVX2(r)
	}
}

// runSquares transposes squares of one vector of AVX2 by one.
func runSquares[T Float](q *squares) {
	switch any(T(0)).(type) {
	case float64:
		transpose4(q)
	case float32:
		transpose8(q)
	}
}

func runReluGrad[T Float](l *loop[T]) {
	switch l := any(l).(type) {
	case *loop[float64]:
		reluGradF64AVX2(l)
	case *loop[float32]:
		reluGradF32AVX2(l)
	}
}
