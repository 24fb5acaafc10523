package main

import "fmt"

// neonLookUpSums writes both precisions.
func neonLookUpSums(src *source) {
	for _, double := range []bool{true, false} {
		s := neon{src, double}
		s.begin("lookUpSum"+s.typ(), "l", fmt.Sprintf("lookUpSum%s adds rows of a table: see type lookUpSum.", s.typ()))
		for _, field := range []struct {
			offset int
			to     string
		}{{lookUpSumDst, "R2"}, {lookUpSumDS, "R3"}, {lookUpSumTable, "R4"}, {lookUpSumTS, "R5"}, {lookUpSumSize, "R6"}, {lookUpSumIndex, "R7"}, {lookUpSumCount, "R8"}, {lookUpSumN, "R9"}, {lookUpSumBytes, "R10"}} {
			s.field(field.offset, field.to)
		}
		pieces := lookUpSumPieces[false]
		for _, bytes := range pieces[1:] {
			s.op("CMP", imm(bytes), "R10")
			s.op("BEQ", fmt.Sprintf("bytes%d", bytes))
		}
		for _, bytes := range pieces {
			s.lookUpPieces(bytes)
		}
		s.label("end")
		s.op("MOVD", "R9", mem(lookUpSumN, "R0"))
		s.ret()
	}
}

// lookUpPieces is the code for so many bytes of each row: see the one of amd64.
func (s neon) lookUpPieces(bytes int) {
	const value, values = 16, 8 // the first register for numbers to add; how many there are
	name := fmt.Sprintf("bytes%d", bytes)
	row := func() { // R12 is the next row
		s.op("MOVWU", "(R7)", "R12")
		s.op("CMP", "R6", "R12")
		s.op("BHS", "end")
		s.op("ADD", "$4", "R7")
		s.op("MUL", "R5", "R12")
		s.op("ADD", "R4", "R12")
	}
	s.label(name)
	s.op("MOVD", "R8", "R11")
	row()
	for i := range bytes / neonBytes {
		s.load(i*neonBytes, "R12", 2*i, 2*i+1)
	}
	s.op("JMP", name+"_next")
	s.label(name + "_add")
	row()
	for i := range bytes / neonBytes {
		from := value + 2*i%values
		s.load(i*neonBytes, "R12", from, from+1)
		s.three("fadd", 2*i, 2*i, from)
		s.three("fadd", 2*i+1, 2*i+1, from+1)
	}
	s.label(name + "_next")
	s.op("SUB", "$1", "R11")
	s.op("CBNZ", "R11", name+"_add")
	for i := range bytes / neonBytes {
		s.store(2*i, 2*i+1, i*neonBytes, "R2")
	}
	s.op("ADD", "R3", "R2")
	s.op("SUB", "$1", "R9")
	s.op("CBNZ", "R9", name)
	s.op("JMP", "end")
}
