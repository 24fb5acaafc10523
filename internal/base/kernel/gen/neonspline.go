package main

import "math"

// neonSpline evaluates cubic B-splines at four numbers at a time, with the operations of
// splinesPlain: nothing is fused.
func neonSpline(src *source) {
	s := neon{src, true}
	s.begin("bandSplineNEON", "s", "bandSplineNEON evaluates cubic B-splines: see type spline.")
	s.field(splineX, "R4")
	s.field(splineN, "R3")
	s.field(splineFirst, "R5")
	s.field(splineValue, "R6")
	const lo, hi, scale, last = 24, 25, 26, 27
	for i, field := range []int{splineLo, splineHi, splineScale, splineLast} {
		s.repeatField(field, lo+i)
	}
	const half, sixth, twoThirds, one = 28, 29, 30, 31
	for i, x := range []float64{0.5, 1.0 / 6, 2.0 / 3, 1} {
		s.constant(math.Float64bits(x), half+i)
	}
	const inside = 23
	s.constant(math.MaxUint64, inside)
	s.label("loop")
	s.load(0, "R4", 0, 1)
	for h := range 2 {
		t, j, u := h, 2+h, 4
		s.three("fcmge", u, t, lo)
		s.op("VAND", b(u), b(inside), b(inside))
		s.three("fcmge", u, hi, t)
		s.op("VAND", b(u), b(inside), b(inside))
		s.three("fsub", t, t, lo)
		s.three("fmul", t, t, scale)
		s.two("frintm", j, t)
		s.three("fmin", j, j, last)
		s.two("fcvtzs", 6+h, j)
	}
	s.emit(convert("xtn", 8, 6))
	s.emit(convert("xtn2", 8, 7))
	s.op("FMOVQ", f(8), "(R5)")
	for h := range 2 {
		u, r, u2, r2, first, second, third, fourth := h, 2+h, 4, 5, 6, 7, 8, 9
		s.three("fsub", u, u, r) // t - j
		s.three("fsub", r, one, u)
		s.three("fmul", u2, u, u)
		s.three("fmul", r2, r, r)
		s.three("fmul", second, u, half)
		s.three("fmul", third, r, half)
		s.three("fsub", second, one, second)
		s.three("fsub", third, one, third)
		s.three("fmul", second, second, u2)
		s.three("fmul", third, third, r2)
		s.three("fsub", second, twoThirds, second)
		s.three("fsub", third, twoThirds, third)
		s.three("fmul", first, r, r2)
		s.three("fmul", fourth, u, u2)
		s.three("fmul", first, first, sixth)
		s.three("fmul", fourth, fourth, sixth)
		s.lower(10, first, second)
		s.lower(11, third, fourth)
		s.upper(12, first, second)
		s.upper(13, third, fourth)
		s.store(10, 11, 64*h, "R6")
		s.store(12, 13, 64*h+32, "R6")
	}
	s.op("ADD", "$32", "R4")
	s.op("ADD", "$16", "R5")
	s.op("ADD", "$128", "R6")
	s.op("SUB", "$4", "R3")
	s.op("CBNZ", "R3", "loop")
	s.op("VMOV", "V23.D[0]", "R8")
	s.op("VMOV", "V23.D[1]", "R9")
	s.op("AND", "R9", "R8")
	s.op("MVN", "R8", "R8")
	s.op("MOVD", "R8", mem(splineOut, "R0"))
	s.ret()
}
