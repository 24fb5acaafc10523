//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// best is the widest instruction set that processor and operating system have.
func best() isa {
	x := &cpu.X86
	switch {
	// The package reports AVX and AVX-512 only if the system saves their
	// registers; FMA has no such check of its own.
	case !x.HasAVX || !x.HasAVX2 || !x.HasFMA || !x.HasBMI1:
		return plain
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return avx512
	}
	return avx2
}

//go:noescape
func tileF64AVX512(t *tile)

//go:noescape
func tileF32AVX512(t *tile)

//go:noescape
func tileF64AVX2(t *tile)

//go:noescape
func tileF32AVX2(t *tile)

//go:noescape
func packF64AVX512(p *pack)

//go:noescape
func packF32AVX512(p *pack)

//go:noescape
func packF64AVX2(p *pack)

//go:noescape
func packF32AVX2(p *pack)

//go:noescape
func loopF64AVX512(l *loop[float64])

//go:noescape
func loopF32AVX512(l *loop[float32])

//go:noescape
func loopF64AVX2(l *loop[float64])

//go:noescape
func loopF32AVX2(l *loop[float32])

//go:noescape
func functionF64AVX512(l *loop[float64])

//go:noescape
func functionF32AVX512(l *loop[float32])

//go:noescape
func functionF64AVX2(l *loop[float64])

//go:noescape
func functionF32AVX2(l *loop[float32])

//go:noescape
func columnF64AVX512(a *column[float64])

//go:noescape
func columnF32AVX512(a *column[float32])

//go:noescape
func columnF64AVX2(a *column[float64])

//go:noescape
func columnF32AVX2(a *column[float32])

//go:noescape
func rankOneF64AVX512(r *rankOne[float64])

//go:noescape
func rankOneF32AVX512(r *rankOne[float32])

//go:noescape
func rankOneF64AVX2(r *rankOne[float64])

//go:noescape
func rankOneF32AVX2(r *rankOne[float32])

//go:noescape
func transpose4(q *squares)

//go:noescape
func bandOuterAVX512(b *band)

//go:noescape
func bandOuterAVX2(b *band)

//go:noescape
func bandScaleAVX512(b *band)

//go:noescape
func bandScaleAVX2(b *band)

//go:noescape
func bandFoldAVX2(b *band)

//go:noescape
func bandNormAVX2(b *band)

//go:noescape
func bandSplineAVX512(s *spline)

//go:noescape
func bandSplineAVX2(s *spline)

//go:noescape
func boundsAVX2(b *band)

//go:noescape
func rowDotsAVX512(a *rowSums)

//go:noescape
func rowDotsAVX2(a *rowSums)

//go:noescape
func rowSizesAVX512(a *rowSums)

//go:noescape
func rowSizesAVX2(a *rowSums)

//go:noescape
func bandRowsAVX512(b *band)

//go:noescape
func bandRowsAVX2(b *band)

//go:noescape
func bandMulAVX2(b *band)

//go:noescape
func scatterAVX512(s *scatter)

//go:noescape
func scatterAVX2(s *scatter)

//go:noescape
func scatterBandAVX2(s *scatter)

func runTile[T Float](s isa, t *tile) {
	switch any(T(0)).(type) {
	case float64:
		if s == avx512 {
			tileF64AVX512(t)
		} else {
			tileF64AVX2(t)
		}
	case float32:
		if s == avx512 {
			tileF32AVX512(t)
		} else {
			tileF32AVX2(t)
		}
	}
}

func runPack[T Float](s isa, p *pack) {
	switch any(T(0)).(type) {
	case float64:
		if s == avx512 {
			packF64AVX512(p)
		} else {
			packF64AVX2(p)
		}
	case float32:
		if s == avx512 {
			packF32AVX512(p)
		} else {
			packF32AVX2(p)
		}
	}
}

func runLoop[T Float](s isa, l *loop[T]) {
	if l.op >= opExp {
		runFunction(s, l)
		return
	}
	switch l := any(l).(type) {
	case *loop[float64]:
		if s == avx512 {
			loopF64AVX512(l)
		} else {
			loopF64AVX2(l)
		}
	case *loop[float32]:
		if s == avx512 {
			loopF32AVX512(l)
		} else {
			loopF32AVX2(l)
		}
	}
}

func runFunction[T Float](s isa, l *loop[T]) {
	switch l := any(l).(type) {
	case *loop[float64]:
		if s == avx512 {
			functionF64AVX512(l)
		} else {
			functionF64AVX2(l)
		}
	case *loop[float32]:
		if s == avx512 {
			functionF32AVX512(l)
		} else {
			functionF32AVX2(l)
		}
	}
}

func runColumn[T Float](s isa, a *column[T]) {
	switch a := any(a).(type) {
	case *column[float64]:
		if s == avx512 {
			columnF64AVX512(a)
		} else {
			columnF64AVX2(a)
		}
	case *column[float32]:
		if s == avx512 {
			columnF32AVX512(a)
		} else {
			columnF32AVX2(a)
		}
	}
}

func runRankOne[T Float](s isa, r *rankOne[T]) {
	switch r := any(r).(type) {
	case *rankOne[float64]:
		if s == avx512 {
			rankOneF64AVX512(r)
		} else {
			rankOneF64AVX2(r)
		}
	case *rankOne[float32]:
		if s == avx512 {
			rankOneF32AVX512(r)
		} else {
			rankOneF32AVX2(r)
		}
	}
}

func runTranspose(q *squares) { transpose4(q) }

func runOuter(s isa, b *band) {
	if s == avx512 {
		bandOuterAVX512(b)
	} else {
		bandOuterAVX2(b)
	}
}

func runScaled(s isa, b *band) {
	if s == avx512 {
		bandScaleAVX512(b)
	} else {
		bandScaleAVX2(b)
	}
}

// These are the same on both instruction sets: their vectors have four values.
func runFold(b *band) { bandFoldAVX2(b) }

func runNorm(b *band) { bandNormAVX2(b) }

func runSpline(s isa, a *spline) {
	if s == avx512 {
		bandSplineAVX512(a)
	} else {
		bandSplineAVX2(a)
	}
}

func runBounds(b *band) { boundsAVX2(b) }

func runMulBand(b *band) { bandMulAVX2(b) }

func runRowDots(s isa, r *rowSums) {
	if s == avx512 {
		rowDotsAVX512(r)
	} else {
		rowDotsAVX2(r)
	}
}

func runRowSizes(s isa, r *rowSums) {
	if s == avx512 {
		rowSizesAVX512(r)
	} else {
		rowSizesAVX2(r)
	}
}

func runMulBandRows(s isa, b *band) {
	if s == avx512 {
		bandRowsAVX512(b)
	} else {
		bandRowsAVX2(b)
	}
}

func runScatter(s isa, a *scatter) {
	if s == avx512 {
		scatterAVX512(a)
	} else {
		scatterAVX2(a)
	}
}

func runScatterBand(a *scatter) { scatterBandAVX2(a) }
