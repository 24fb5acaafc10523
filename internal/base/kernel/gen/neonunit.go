package main

import "fmt"

// neonUnits writes both precisions.
func neonUnits(s *source) {
	for _, double := range []bool{true, false} {
		s := neon{s, double}
		s.begin("unit"+s.typ(), "t", fmt.Sprintf("unit%s computes tiles: see type unitTile.", s.typ()))
		s.field(unitA, "R19")
		s.field(unitC, "R20")
		s.field(unitBias, "R21")
		s.field(unitStrips, "R22")
		s.field(unitCS, "R23")
		s.field(unitRows, "R2")
		s.field(unitCols, "R3")
		shapes := unitShapes(isa{heights: neonHeights})
		for i, shape := range shapes {
			name := fmt.Sprintf("unit%dx%d", shape[0], shape[1])
			if i == len(shapes)-1 {
				s.op("JMP", name)
				break
			}
			s.op("CMP", imm(shape[0]), "R2")
			s.op("BNE", "not"+name)
			s.op("CMP", imm(shape[1]), "R3")
			s.op("BEQ", name)
			s.label("not" + name)
		}
		for _, shape := range shapes {
			s.unitTile(shape[0], shape[1])
		}
	}
}

// unitTile is the code for one shape: see the one of amd64. R19 to R21 move on along A, C and
// the bias from tile to tile.
func (s neon) unitTile(rows, vectors int) {
	name := fmt.Sprintf("unit%dx%d", rows, vectors)
	width := 2 * vectors
	acc := func(i, j int) int { return i*width + j }
	row := rows * width // of B
	value := row + width
	free := 32 - value
	eachRow := func(f func(i int)) {
		s.op("MOVD", "R20", "R4")
		for i := range rows {
			f(i)
			s.op("ADD", "R23", "R4")
		}
	}

	s.label(name)
	s.field(unitAdd, "R2")
	s.op("CBZ", "R2", name+"_fresh")
	eachRow(func(i int) {
		for j := range vectors {
			s.load(j*neonBytes, "R4", acc(i, 2*j), acc(i, 2*j+1))
		}
	})
	s.op("JMP", name+"_begin")
	s.label(name + "_fresh")
	s.op("CBZ", "R21", name+"_zero")
	for i := range rows {
		s.repeat("R21", acc(i, 0))
		for j := 1; j < width; j++ {
			s.copy(acc(i, j), acc(i, 0))
		}
		s.op("ADD", imm(s.size()), "R21")
	}
	s.op("JMP", name+"_begin")
	s.label(name + "_zero")
	for i := range rows * width {
		s.zeros(i)
	}

	s.label(name + "_begin")
	s.op("MOVD", "R19", "R8")
	s.field(unitRS, "R9")
	s.field(unitKS, "R10")
	s.field(unitB, "R11")
	s.field(unitBS, "R12")
	s.field(unitK, "R13")
	s.products(name, rows, vectors)

	s.field(unitRelu, "R2")
	s.op("CBZ", "R2", name+"_store")
	for i := range rows * width {
		s.positive(i, value+i%free)
	}
	s.label(name + "_store")
	eachRow(func(i int) {
		for j := range vectors {
			s.store(acc(i, 2*j), acc(i, 2*j+1), j*neonBytes, "R4")
		}
	})
	s.op("MOVD", "R4", "R20")
	for range rows {
		s.op("ADD", "R9", "R19")
	}
	s.op("SUB", "$1", "R22")
	s.op("CBNZ", "R22", name)
	s.ret()
}
