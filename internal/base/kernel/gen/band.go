package main

import (
	"fmt"
	"math"
)

// Offsets of the fields of kernel.band.
const (
	bandC    = 8 * iota // cells
	bandN               // rows; what is left of them at a row in no cell
	bandRow             // cell rows, 4 bytes each
	bandRows            // how many there are
	bandA               // four values of each row
	bandCol             // cell columns, 4 bytes each (outer)
	bandCols            // how many there are (outer); columns of b (scale, rows)
	bandB               // four values of each row (outer), any number (scale, rows)
	bandLDB             // bytes between rows of b (scale, rows), between terms (fold)
	bandW               // weights, or nil for ones
	bandLDC             // bytes between rows of c (rows)
)

// Offsets of the fields of kernel.spline.
const (
	splineX     = 8 * iota // numbers
	splineN                // how many, a multiple of 4, at least 4
	splineFirst            // 4 bytes each
	splineValue            // four each
	splineLo
	splineHi
	splineScale
	splineLast
	splineOut // out: not 0 if a number is not in [lo, hi]
)

// bands writes the loops over rows that have four adjacent entries.
func bands(s *source, set isa) {
	v := vector{set, true}
	s.function("bandOuter"+v.name, "b", fmt.Sprintf("bandOuter%s adds products of four values by four to cells: see type band.", v.name))
	s.bandArguments()
	s.op("MOVQ", mem(bandCol, "DI"), "R9")
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("MOVQ", mem(bandCols, "DI"), "R13")
	if v.bytes == 64 {
		s.op("VMOVDQU64", "pairs<>+0(SB)", v.r(14))
		s.op("VMOVDQU64", "pairs<>+64(SB)", v.r(15))
	}
	s.op("TESTQ", "R11", "R11")
	s.op("JNE", "weighted")
	for _, weighted := range []bool{false, true} {
		loop := "loop"
		if weighted {
			loop = "weighted"
		}
		s.label(loop)
		s.op("MOVL", "(SI)", "AX")
		s.op("MOVL", "(R9)", "BX")
		s.op("CMPQ", "AX", "R12")
		s.op("JAE", "done")
		s.op("CMPQ", "BX", "R13")
		s.op("JAE", "done")
		s.op("IMULQ", "R13", "AX")
		s.op("ADDQ", "BX", "AX")
		s.op("SHLQ", "$7", "AX")
		s.op("ADDQ", "DX", "AX")
		if v.bytes == 64 {
			s.op("VBROADCASTF64X4", "(R10)", v.r(0))
		} else {
			s.op("VMOVUPD", "(R10)", v.r(0))
		}
		if weighted {
			s.op("VBROADCASTSD", "(R11)", v.r(5))
			s.op("VMULPD", v.r(5), v.r(0), v.r(0))
			s.op("ADDQ", "$8", "R11")
		}
		if v.bytes == 64 {
			s.op("VMOVUPD", "(R8)", "Y1")
			for l := range 2 {
				s.op("VPERMPD", v.r(1), v.r(14+l), v.r(2+l))
				s.op("VFMADD213PD", mem(64*l, "AX"), v.r(0), v.r(2+l))
				s.op("VMOVUPD", v.r(2+l), mem(64*l, "AX"))
			}
		} else {
			for l := range 4 {
				s.op("VBROADCASTSD", mem(8*l, "R8"), v.r(1+l))
			}
			for l := range 4 {
				s.op("VFMADD213PD", mem(32*l, "AX"), v.r(0), v.r(1+l))
				s.op("VMOVUPD", v.r(1+l), mem(32*l, "AX"))
			}
		}
		s.op("ADDQ", "$4", "SI")
		s.op("ADDQ", "$4", "R9")
		s.op("ADDQ", "$32", "R8")
		s.op("ADDQ", "$32", "R10")
		s.op("DECQ", "CX")
		s.op("JNE", loop)
		if !weighted {
			s.op("JMP", "done")
		}
	}
	s.label("done")
	s.op("MOVQ", "CX", mem(bandN, "DI"))
	s.finish()

	if v.bytes == 64 {
		s.line("")
		for i := range 16 {
			s.line(fmt.Sprintf("DATA pairs<>+%d(SB)/8, $%d", 8*i, i/4))
		}
		s.line("GLOBL pairs<>(SB), RODATA|NOPTR, $128")
		s.bandScale(v)
		s.bandSplineWide(v)
		s.bandConstants(v)
		return
	}
	s.bandScale(v)
	s.bandFold(v)
	s.bandNorm(v)
	s.bandSpline(v)
	s.bounds(v)
	s.bandConstants(v)
}

func (s *source) bandArguments() {
	s.op("MOVQ", mem(bandC, "DI"), "DX")
	s.op("MOVQ", mem(bandN, "DI"), "CX")
	s.op("MOVQ", mem(bandRow, "DI"), "SI")
	s.op("MOVQ", mem(bandRows, "DI"), "R12")
	s.op("MOVQ", mem(bandA, "DI"), "R8")
	s.op("MOVQ", mem(bandW, "DI"), "R11")
}

// bandScale adds the four values times each value of a row of b: for vectors of eight
// two columns of b at a time, whose sums are neighbours, to the same bits.
func (s *source) bandScale(v vector) {
	s.function("bandScale"+v.name, "b", fmt.Sprintf("bandScale%s adds four values times each column of b to cells: see type band.", v.name))
	s.bandArguments()
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("MOVQ", mem(bandLDB, "DI"), "R9")
	s.op("MOVQ", mem(bandCols, "DI"), "R13")
	s.op("MOVQ", "R13", "DI") // bytes of a row of cells
	s.op("SHLQ", "$5", "DI")
	if v.bytes == 64 {
		s.op("DECQ", "R13") // the last column
		s.op("VMOVDQU64", "pairs<>+0(SB)", v.r(14))
	}
	s.label("row")
	s.op("MOVL", "(SI)", "AX")
	s.op("CMPQ", "AX", "R12")
	s.op("JAE", "done")
	s.op("IMULQ", "DI", "AX")
	s.op("ADDQ", "DX", "AX")
	if v.bytes == 64 {
		s.op("VBROADCASTF64X4", "(R8)", v.r(0))
	} else {
		s.op("VMOVUPD", "(R8)", v.r(0))
	}
	s.op("TESTQ", "R11", "R11")
	s.op("JEQ", "columns")
	s.op("VBROADCASTSD", "(R11)", v.r(1))
	s.op("VMULPD", v.r(1), v.r(0), v.r(0))
	s.op("ADDQ", "$8", "R11")
	s.label("columns")
	s.op("XORQ", "BX", "BX")
	if v.bytes == 64 {
		s.op("CMPQ", "BX", "R13")
		s.op("JGE", "last")
	}
	s.label("column")
	if v.bytes == 64 {
		s.op("VMOVUPD", "(R10)(BX*8)", "X1")
		s.op("VPERMPD", v.r(1), v.r(14), v.r(1))
	} else {
		s.op("VBROADCASTSD", "(R10)(BX*8)", v.r(1))
	}
	s.op("VFMADD213PD", "(AX)", v.r(0), v.r(1))
	s.op("VMOVUPD", v.r(1), "(AX)")
	s.op("ADDQ", imm(v.bytes), "AX")
	s.op("ADDQ", imm(v.lanes()/4), "BX")
	s.op("CMPQ", "BX", "R13")
	s.op("JLT", "column")
	if v.bytes == 64 {
		s.label("last")
		s.op("JNE", "next") // beyond the last column: there were pairs only
		s.op("VBROADCASTSD", "(R10)(BX*8)", "Y1")
		s.op("VFMADD213PD", "(AX)", "Y0", "Y1")
		s.op("VMOVUPD", "Y1", "(AX)")
		s.label("next")
	}
	s.op("ADDQ", "$4", "SI")
	s.op("ADDQ", "$32", "R8")
	s.op("ADDQ", "R9", "R10")
	s.op("DECQ", "CX")
	s.op("JNE", "row")
	s.label("done")
	s.op("MOVQ", "b+0(FP)", "DI")
	s.op("MOVQ", "CX", mem(bandN, "DI"))
	s.finish()
}

// bandFold adds to each of n vectors of four, 16 values apart, the terms that lie
// ldb bytes on, 2 ldb bytes on and so forth: rows of them.
func (s *source) bandFold(v vector) {
	s.function("bandFold"+v.name, "b", fmt.Sprintf("bandFold%s adds up rows of cells: see FoldOuter.", v.name))
	s.op("MOVQ", mem(bandC, "DI"), "AX")
	s.op("MOVQ", mem(bandN, "DI"), "CX")
	s.op("MOVQ", mem(bandRows, "DI"), "R12")
	s.op("MOVQ", mem(bandLDB, "DI"), "R9")
	s.label("cell")
	s.op("VMOVUPD", "(AX)", v.r(0))
	s.op("MOVQ", "AX", "BX")
	s.op("MOVQ", "R12", "DX")
	s.label("term")
	s.op("ADDQ", "R9", "BX")
	s.op("VADDPD", "(BX)", v.r(0), v.r(0))
	s.op("DECQ", "DX")
	s.op("JNE", "term")
	s.op("VMOVUPD", v.r(0), "(AX)")
	s.op("ADDQ", "$128", "AX")
	s.op("DECQ", "CX")
	s.op("JNE", "cell")
	s.finish()
}

// bandNorm finds the largest sum of four absolute values; it is left in the first
// four numbers at b, with NaN for what is not finite in the next four.
func (s *source) bandNorm(v vector) {
	s.function("bandNorm"+v.name, "b", fmt.Sprintf("bandNorm%s finds the largest 1-norm of four rows at a time: see BandNorm.", v.name))
	s.op("MOVQ", mem(bandA, "DI"), "R8")
	s.op("MOVQ", mem(bandN, "DI"), "CX")
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	s.op("VMOVUPD", "bandAbs<>+0(SB)", v.r(13))
	s.zero(v, 14)
	s.zero(v, 15)
	s.label("loop")
	for i := range 4 {
		s.op("VANDPD", mem(32*i, "R8"), v.r(13), v.r(i))
	}
	s.op("VHADDPD", v.r(1), v.r(0), v.r(4)) // pairs of rows 0, 1, 0, 1
	s.op("VHADDPD", v.r(3), v.r(2), v.r(5))
	s.op("VPERM2F128", "$0x20", v.r(5), v.r(4), v.r(6))
	s.op("VPERM2F128", "$0x31", v.r(5), v.r(4), v.r(7))
	s.op("VADDPD", v.r(7), v.r(6), v.r(6))
	s.op("VMAXPD", v.r(6), v.r(14), v.r(14))
	s.op("VSUBPD", v.r(6), v.r(6), v.r(7))
	s.op("VADDPD", v.r(7), v.r(15), v.r(15))
	s.op("ADDQ", "$128", "R8")
	s.op("SUBQ", "$4", "CX")
	s.op("JNE", "loop")
	s.op("VMOVUPD", v.r(14), "(R10)")
	s.op("VMOVUPD", v.r(15), mem(32, "R10"))
	s.finish()
}

// bandSpline evaluates cubic B-splines on equispaced knots at four numbers at a
// time, with the operations of cubicPlain: nothing is fused.
func (s *source) bandSpline(v vector) {
	s.splineArguments(v)
	s.zero(v, 11) // whether a number is outside
	s.label("loop")
	s.op("VMOVUPD", "(SI)", v.r(0))
	s.op("VCMPPD", "$9", v.r(12), v.r(0), v.r(1)) // not x >= lo
	s.op("VCMPPD", "$6", v.r(13), v.r(0), v.r(2)) // not x <= hi
	s.op("VORPD", v.r(1), v.r(11), v.r(11))
	s.op("VORPD", v.r(2), v.r(11), v.r(11))
	s.op("VSUBPD", v.r(12), v.r(0), v.r(0))
	s.op("VMULPD", v.r(14), v.r(0), v.r(0)) // t
	s.op("VROUNDPD", "$9", v.r(0), v.r(1))
	s.op("VMINPD", v.r(15), v.r(1), v.r(1)) // j
	s.op("VCVTTPD2DQY", v.r(1), "X2")
	s.op("VMOVDQU", "X2", "(R9)")
	s.op("VMOVUPD", "bandOne<>+0(SB)", v.r(10))
	s.op("VMOVUPD", "bandHalf<>+0(SB)", v.r(9))
	s.op("VMOVUPD", "bandSixth<>+0(SB)", v.r(8))
	s.op("VMOVUPD", "bandTwoThirds<>+0(SB)", v.r(7))
	s.splineValues(v, 10, 9, 8, 7)
	for i, halves := range []string{"$0x20", "$0x20", "$0x31", "$0x31"} {
		s.op("VPERM2F128", halves, v.r(6+i%2), v.r(i%2), v.r(8))
		s.op("VMOVUPD", v.r(8), mem(32*i, "R8"))
	}
	s.splineNext(v)
	s.op("VMOVMSKPD", v.r(11), "AX")
	s.op("MOVQ", "AX", mem(splineOut, "DI"))
	s.finish()
}

// splineArguments begins a function and leaves lo, hi, scale and last in vectors 12
// to 15.
func (s *source) splineArguments(v vector) {
	s.function("bandSpline"+v.name, "s", fmt.Sprintf("bandSpline%s evaluates cubic B-splines: see type spline.", v.name))
	s.op("MOVQ", mem(splineX, "DI"), "SI")
	s.op("MOVQ", mem(splineN, "DI"), "CX")
	s.op("MOVQ", mem(splineFirst, "DI"), "R9")
	s.op("MOVQ", mem(splineValue, "DI"), "R8")
	for i, field := range []int{splineLo, splineHi, splineScale, splineLast} {
		s.op("VBROADCASTSD", mem(field, "DI"), v.r(12+i))
	}
}

// splineValues turns t and j, vectors 0 and 1, into the four values at each number: in
// vectors 0 and 1 pairs of the first two, of numbers 0, 2, ... and 1, 3, ..., in 6 and
// 7 of the others. The constants are in vectors of those numbers.
func (s *source) splineValues(v vector, one, half, sixth, twoThirds int) {
	s.op("VSUBPD", v.r(1), v.r(0), v.r(0))   // u
	s.op("VSUBPD", v.r(0), v.r(one), v.r(1)) // r
	s.op("VMULPD", v.r(0), v.r(0), v.r(2))   // u^2
	s.op("VMULPD", v.r(1), v.r(1), v.r(3))   // r^2
	s.op("VMULPD", v.r(0), v.r(half), v.r(4))
	s.op("VMULPD", v.r(1), v.r(half), v.r(5))
	s.op("VSUBPD", v.r(4), v.r(one), v.r(4)) // 1 - u/2
	s.op("VSUBPD", v.r(5), v.r(one), v.r(5)) // 1 - r/2
	s.op("VMULPD", v.r(4), v.r(2), v.r(4))
	s.op("VMULPD", v.r(5), v.r(3), v.r(5))
	s.op("VSUBPD", v.r(4), v.r(twoThirds), v.r(4)) // the second
	s.op("VSUBPD", v.r(5), v.r(twoThirds), v.r(5)) // the third
	s.op("VMULPD", v.r(3), v.r(1), v.r(3))
	s.op("VMULPD", v.r(2), v.r(0), v.r(2))
	s.op("VMULPD", v.r(sixth), v.r(3), v.r(3)) // the first
	s.op("VMULPD", v.r(sixth), v.r(2), v.r(2)) // the fourth
	s.op("VUNPCKLPD", v.r(4), v.r(3), v.r(0))
	s.op("VUNPCKHPD", v.r(4), v.r(3), v.r(1))
	s.op("VUNPCKLPD", v.r(2), v.r(5), v.r(6))
	s.op("VUNPCKHPD", v.r(2), v.r(5), v.r(7))
}

// splineNext ends the loop.
func (s *source) splineNext(v vector) {
	s.op("ADDQ", imm(v.bytes), "SI")
	s.op("ADDQ", imm(v.bytes/2), "R9")
	s.op("ADDQ", imm(4*v.bytes), "R8")
	s.op("SUBQ", imm(v.lanes()), "CX")
	s.op("JNE", "loop")
}

// bandSplineWide is bandSpline for eight numbers at a time, to the same bits.
func (s *source) bandSplineWide(v vector) {
	s.splineArguments(v)
	for i, name := range []string{"bandOne", "bandHalf", "bandSixth", "bandTwoThirds", "bandLower", "bandUpper"} {
		s.op("VMOVUPD", name+"<>+0(SB)", v.r(16+i))
	}
	s.op("KXORB", "K3", "K3", "K3") // whether a number is outside
	s.label("loop")
	s.op("VMOVUPD", "(SI)", v.r(0))
	s.op("VCMPPD", "$9", v.r(12), v.r(0), "K1") // not x >= lo
	s.op("VCMPPD", "$6", v.r(13), v.r(0), "K2") // not x <= hi
	s.op("KORB", "K1", "K3", "K3")
	s.op("KORB", "K2", "K3", "K3")
	s.op("VSUBPD", v.r(12), v.r(0), v.r(0))
	s.op("VMULPD", v.r(14), v.r(0), v.r(0)) // t
	s.op("VRNDSCALEPD", "$9", v.r(0), v.r(1))
	s.op("VMINPD", v.r(15), v.r(1), v.r(1)) // j
	s.op("VCVTTPD2DQ", v.r(1), "Y2")
	s.op("VMOVDQU", "Y2", "(R9)")
	s.splineValues(v, 16, 17, 18, 19)
	for i, rows := range []struct{ index, first, last int }{{20, 0, 6}, {20, 1, 7}, {21, 0, 6}, {21, 1, 7}} {
		s.op("VMOVAPD", v.r(rows.index), v.r(8+i))
		s.op("VPERMI2PD", v.r(rows.last), v.r(rows.first), v.r(8+i)) // a row and the second after it
	}
	for i, half := range []struct {
		rows  int
		lanes string
	}{{8, "$0x44"}, {8, "$0xee"}, {10, "$0x44"}, {10, "$0xee"}} {
		s.op("VSHUFF64X2", half.lanes, v.r(half.rows+1), v.r(half.rows), v.r(0))
		s.op("VMOVUPD", v.r(0), mem(64*i, "R8"))
	}
	s.splineNext(v)
	s.op("KMOVB", "K3", "AX")
	s.op("MOVQ", "AX", mem(splineOut, "DI"))
	s.finish()

	for _, index := range []struct {
		name  string
		lanes []int
	}{{"bandLower", []int{0, 1, 8, 9, 2, 3, 10, 11}}, {"bandUpper", []int{4, 5, 12, 13, 6, 7, 14, 15}}} {
		s.line("")
		for i, lane := range index.lanes {
			s.line(fmt.Sprintf("DATA %s<>+%d(SB)/8, $%d", index.name, 8*i, lane))
		}
		s.line(fmt.Sprintf("GLOBL %s<>(SB), RODATA|NOPTR, $64", index.name))
	}
}

// bounds finds the least and the greatest of n numbers, a multiple of 16, and leaves
// four of each at b, followed by four that are NaN if one is not finite.
func (s *source) bounds(v vector) {
	s.function("bounds"+v.name, "b", fmt.Sprintf("bounds%s finds the range of numbers: see Bounds.", v.name))
	s.op("MOVQ", mem(bandA, "DI"), "R8")
	s.op("MOVQ", mem(bandN, "DI"), "CX")
	s.op("MOVQ", mem(bandB, "DI"), "R10")
	for i := range 4 {
		s.op("VMOVUPD", mem(32*i, "R8"), v.r(i))
		s.op("VMOVAPD", v.r(i), v.r(4+i))
	}
	s.zero(v, 8)
	s.zero(v, 9)
	s.label("loop")
	for i := range 4 {
		s.op("VMOVUPD", mem(32*i, "R8"), v.r(10))
		s.op("VMINPD", v.r(10), v.r(i), v.r(i))
		s.op("VMAXPD", v.r(10), v.r(4+i), v.r(4+i))
		s.op("VSUBPD", v.r(10), v.r(10), v.r(10))
		s.op("VADDPD", v.r(10), v.r(8+i%2), v.r(8+i%2))
	}
	s.op("ADDQ", "$128", "R8")
	s.op("SUBQ", "$16", "CX")
	s.op("JNE", "loop")
	for _, r := range []struct {
		op   string
		from int
	}{{"VMINPD", 0}, {"VMAXPD", 4}} {
		s.op(r.op, v.r(r.from+1), v.r(r.from), v.r(r.from))
		s.op(r.op, v.r(r.from+3), v.r(r.from+2), v.r(r.from+2))
		s.op(r.op, v.r(r.from+2), v.r(r.from), v.r(r.from))
		s.op("VMOVUPD", v.r(r.from), mem(8*r.from, "R10"))
	}
	s.op("VADDPD", v.r(9), v.r(8), v.r(8))
	s.op("VMOVUPD", v.r(8), mem(64, "R10"))
	s.finish()
}

func (s *source) bandConstants(v vector) {
	for _, c := range []struct {
		name string
		bits uint64
	}{
		{"bandAbs", 1<<63 - 1},
		{"bandOne", math.Float64bits(1)},
		{"bandHalf", math.Float64bits(0.5)},
		{"bandSixth", math.Float64bits(1.0 / 6)},
		{"bandTwoThirds", math.Float64bits(2.0 / 3)},
	} {
		s.line("")
		for i := range v.lanes() {
			s.line(fmt.Sprintf("DATA %s<>+%d(SB)/8, $0x%016x", c.name, 8*i, c.bits))
		}
		s.line(fmt.Sprintf("GLOBL %s<>(SB), RODATA|NOPTR, $%d", c.name, v.bytes))
	}
}
