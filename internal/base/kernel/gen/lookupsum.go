package main

import "fmt"

// Offsets of the fields of kernel.lookUpSum.
const (
	lookUpSumDst   = 8 * iota
	lookUpSumDS    // bytes between rows of dst
	lookUpSumTable // rows one after another
	lookUpSumTS    // bytes between them
	lookUpSumSize  // how many
	lookUpSumIndex // which of them, 4 bytes each
	lookUpSumCount // how many of those are a sum, at least one
	lookUpSumN     // sums, at least one; then those left from the first on that has a row outside
	lookUpSumBytes // of each row: one of lookUpSumPieces
)

// lookUpSumPieces are the lengths that sums have registers for, in bytes: of vectors of AVX-512, and of
// others.
var lookUpSumPieces = map[bool][]int{true: {512, 256, 128, 64}, false: {256, 128, 64}}

// lookUpSums writes both precisions of an instruction set.
func lookUpSums(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("lookUpSum"+v.typ(), "l", fmt.Sprintf("lookUpSum%s adds rows of a table: see type lookUpSum.", v.typ()))
		for _, field := range []struct {
			offset int
			to     string
		}{{lookUpSumDst, "SI"}, {lookUpSumDS, "DX"}, {lookUpSumTable, "R8"}, {lookUpSumTS, "R9"}, {lookUpSumSize, "R10"}, {lookUpSumIndex, "R11"}, {lookUpSumCount, "R13"}, {lookUpSumN, "BX"}, {lookUpSumBytes, "CX"}} {
			s.op("MOVQ", mem(field.offset, "DI"), field.to)
		}
		pieces := lookUpSumPieces[set.bytes == 64]
		for _, bytes := range pieces[1:] {
			s.op("CMPQ", "CX", imm(bytes))
			s.op("JEQ", fmt.Sprintf("bytes%d", bytes))
		}
		for _, bytes := range pieces {
			s.lookUpPieces(v, bytes)
		}
		s.label("end")
		s.op("MOVQ", "BX", mem(lookUpSumN, "DI"))
		s.finish()
	}
}

// lookUpPieces is the code for so many bytes of each row.
func (s *source) lookUpPieces(v vector, bytes int) {
	name := fmt.Sprintf("bytes%d", bytes)
	row := func() { // AX is the next row
		s.op("MOVL", "(R11)", "AX")
		s.op("CMPQ", "AX", "R10")
		s.op("JCC", "end")
		s.op("ADDQ", "$4", "R11")
		s.op("IMULQ", "R9", "AX")
		s.op("ADDQ", "R8", "AX")
	}
	s.label(name)
	s.op("MOVQ", "R13", "CX")
	row()
	for i := range bytes / v.bytes {
		s.load(v, mem(i*v.bytes, "AX"), i, false)
	}
	s.op("JMP", name+"_next")
	s.label(name + "_add")
	row()
	for i := range bytes / v.bytes {
		s.op(v.p("VADD"), mem(i*v.bytes, "AX"), v.r(i), v.r(i))
	}
	s.label(name + "_next")
	s.op("DECQ", "CX")
	s.op("JNE", name+"_add")
	for i := range bytes / v.bytes {
		s.store(v, i, mem(i*v.bytes, "SI"), false)
	}
	s.op("ADDQ", "DX", "SI")
	s.op("DECQ", "BX")
	s.op("JNE", name)
	s.op("JMP", "end")
}
