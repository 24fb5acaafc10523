//go:build arm64 && !purego

package kernel

// best is neon: every arm64 processor has ASIMD.
func best() isa { return neon }

//go:noescape
func tileF64NEON(t *tile)

//go:noescape
func tileF32NEON(t *tile)

//go:noescape
func packF64NEON(p *pack)

//go:noescape
func packF32NEON(p *pack)

//go:noescape
func loopF64NEON(l *loop[float64])

//go:noescape
func loopF32NEON(l *loop[float32])

//go:noescape
func functionF64NEON(l *loop[float64])

//go:noescape
func functionF32NEON(l *loop[float32])

//go:noescape
func columnF64NEON(a *column[float64])

//go:noescape
func columnF32NEON(a *column[float32])

//go:noescape
func rankOneF64NEON(r *rankOne[float64])

//go:noescape
func rankOneF32NEON(r *rankOne[float32])

//go:noescape
func transpose4NEON(q *squares)

//go:noescape
func bandOuterNEON(b *band)

//go:noescape
func bandScaleNEON(b *band)

//go:noescape
func bandFoldNEON(b *band)

//go:noescape
func bandNormNEON(b *band)

//go:noescape
func bandSplineNEON(s *spline)

//go:noescape
func boundsNEON(b *band)

//go:noescape
func rowDotsNEON(a *rowSums)

//go:noescape
func rowSizesNEON(a *rowSums)

//go:noescape
func bandRowsNEON(b *band)

//go:noescape
func bandMulNEON(b *band)

//go:noescape
func scatterNEON(s *scatter)

//go:noescape
func scatterBandNEON(s *scatter)

func runTile[T Float](_ isa, t *tile) {
	switch any(T(0)).(type) {
	case float64:
		tileF64NEON(t)
	case float32:
		tileF32NEON(t)
	}
}

func runPack[T Float](_ isa, p *pack) {
	switch any(T(0)).(type) {
	case float64:
		packF64NEON(p)
	case float32:
		packF32NEON(p)
	}
}

func runLoop[T Float](_ isa, l *loop[T]) {
	if l.op >= opExp {
		runFunction(l)
		return
	}
	switch l := any(l).(type) {
	case *loop[float64]:
		loopF64NEON(l)
	case *loop[float32]:
		loopF32NEON(l)
	}
}

func runFunction[T Float](l *loop[T]) {
	switch l := any(l).(type) {
	case *loop[float64]:
		functionF64NEON(l)
	case *loop[float32]:
		functionF32NEON(l)
	}
}

func runColumn[T Float](_ isa, a *column[T]) {
	switch a := any(a).(type) {
	case *column[float64]:
		columnF64NEON(a)
	case *column[float32]:
		columnF32NEON(a)
	}
}

func runRankOne[T Float](_ isa, r *rankOne[T]) {
	switch r := any(r).(type) {
	case *rankOne[float64]:
		rankOneF64NEON(r)
	case *rankOne[float32]:
		rankOneF32NEON(r)
	}
}

func runTranspose(q *squares) { transpose4NEON(q) }

func runOuter(_ isa, b *band) { bandOuterNEON(b) }

func runScaled(_ isa, b *band) { bandScaleNEON(b) }

func runFold(b *band) { bandFoldNEON(b) }

func runNorm(b *band) { bandNormNEON(b) }

func runSpline(_ isa, a *spline) { bandSplineNEON(a) }

func runBounds(b *band) { boundsNEON(b) }

func runMulBand(b *band) { bandMulNEON(b) }

func runRowDots(_ isa, r *rowSums) { rowDotsNEON(r) }

func runRowSizes(_ isa, r *rowSums) { rowSizesNEON(r) }

func runMulBandRows(_ isa, b *band) { bandRowsNEON(b) }

func runScatter(_ isa, a *scatter) { scatterNEON(a) }

func runScatterBand(a *scatter) { scatterBandNEON(a) }
