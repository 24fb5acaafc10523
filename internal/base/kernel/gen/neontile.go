package main

import (
	"fmt"
	"math/bits"
)

// Rows of a tile, in falling order; as in AVX2.
var neonHeights = []int{6, 4, 2, 1}

// neonTiles writes both precisions.
func neonTiles(s *source) {
	for _, double := range []bool{true, false} {
		s := neon{s, double}
		s.begin("tile"+s.typ(), "t", fmt.Sprintf("tile%s computes one tile: see type tile.", s.typ()))
		s.field(tileRows, "R2")
		s.field(tileCols, "R3")
		s.op("CMP", imm(s.lanes()), "R3")
		s.op("BLE", "narrow")
		s.op("SUB", imm(s.lanes()), "R3")
		s.choose(2)
		s.label("narrow")
		s.choose(1)
		for _, rows := range neonHeights {
			for _, vectors := range []int{2, 1} {
				s.tile(rows, vectors)
			}
		}
	}
}

// choose jumps to the code of the tile's height, in R2, with the columns of the last vector
// in R3.
func (s neon) choose(vectors int) {
	for i, rows := range neonHeights {
		name := fmt.Sprintf("tile%dx%d", rows, vectors)
		if i == len(neonHeights)-1 {
			s.op("JMP", name)
			return
		}
		s.op("CMP", imm(rows), "R2")
		s.op("BEQ", name)
	}
}

// tile is the code for one shape: see the one of amd64. Six rows of two vectors take 24 registers
// for the sums, four for a row of B and four for values of A in turn.
func (s neon) tile(rows, vectors int) {
	name := fmt.Sprintf("tile%dx%d", rows, vectors)
	width := 2 * vectors
	acc := func(i, j int) int { return i*width + j }
	row := rows * width // of B
	value := row + width
	free := 32 - value

	s.label(name)
	s.field(tileX, "R4")
	s.op("CBZ", "R4", name+"_zero")
	s.field(tileXS, "R5")
	s.wholeOrPart(name+"_x", func(whole bool) {
		for i := range rows {
			for j := range vectors {
				switch {
				case whole || j < vectors-1:
					s.load(j*neonBytes, "R4", acc(i, 2*j), acc(i, 2*j+1))
				default:
					s.last("R4", j)
					s.loadPart(tilePart, "R6", acc(i, 2*j), acc(i, 2*j+1), 31)
				}
			}
			if i < rows-1 {
				s.op("ADD", "R5", "R4")
			}
		}
		s.op("JMP", name+"_begin")
	})
	s.label(name + "_zero")
	for i := range rows * width {
		s.zeros(i)
	}

	s.label(name + "_begin")
	s.field(tileA, "R8")
	s.field(tileRS, "R9")
	s.field(tileKS, "R10")
	s.field(tileB, "R11")
	s.field(tileBS, "R12")
	s.field(tileK, "R13")
	s.op("MOVD", "ZR", "R21") // bytes of starts that are done
	s.products(name, rows, vectors)
	s.field(tileSteps, "R7")
	s.op("CMP", "R7", "R21")
	s.op("BEQ", name+"_sums")
	s.field(tileStarts, "R7")
	s.op("ADD", "R21", "R7")
	s.op("ADD", "$16", "R21")
	for _, at := range []struct {
		register string
		field    int
	}{{"R8", tileA}, {"R11", tileB}} {
		s.op("MOVD.P", "8(R7)", "R22")
		s.field(at.field, at.register)
		s.op("ADD", fmt.Sprintf("R22<<%d", bits.TrailingZeros(uint(s.size()))), at.register)
	}
	s.field(tileK, "R13")
	s.op("JMP", name+"_loop")

	s.label(name + "_sums")
	s.field(tileC, "R4")
	s.field(tileCS, "R5")
	s.field(tileRelu, "R2")
	s.op("CBZ", "R2", name+"_store")
	for i := range rows * width {
		s.positive(i, value+i%free)
	}
	s.label(name + "_store")
	s.wholeOrPart(name+"_c", func(whole bool) {
		for i := range rows {
			for j := range vectors {
				switch {
				case whole || j < vectors-1:
					s.store(acc(i, 2*j), acc(i, 2*j+1), j*neonBytes, "R4")
				default:
					s.last("R4", j)
					s.storePart(tilePart, acc(i, 2*j), acc(i, 2*j+1), "R6", 31)
				}
			}
			if i < rows-1 {
				s.op("ADD", "R5", "R4")
			}
		}
		s.ret()
	})
}

var tilePart = part{n: "R3", rest: "R19", last: "R20"}

// wholeOrPart writes code for a last vector of which all lanes count, and for others.
func (s neon) wholeOrPart(name string, write func(whole bool)) {
	s.op("CMP", imm(s.lanes()), "R3")
	s.op("BNE", name)
	write(true)
	s.label(name)
	s.split(tilePart)
	write(false)
}

// last is the address of vector j of a row, in R6.
func (s neon) last(base string, j int) {
	s.op("ADD", imm(j*neonBytes), base, "R6")
}

// products adds to the sums of a tile, in the first registers, what R13 columns of A, R10
// bytes apart and R9 from row to row, from R8 on, give with rows of B, from R11 on and R12 apart.
func (s neon) products(name string, rows, vectors int) {
	width := 2 * vectors
	row := rows * width // of B
	value := row + width
	// Bytes from the first row of A to the others.
	offset := []string{"", "R9", "R14", "R15", "R16", "R17"}
	for i := 2; i < rows; i++ {
		s.op("ADD", "R9", offset[i-1], offset[i])
	}
	s.op("CBZ", "R13", name+"_end")
	s.op("PCALIGN", "$16")
	s.label(name + "_loop")
	for j := range vectors {
		s.load(j*neonBytes, "R11", row+2*j, row+2*j+1)
	}
	s.op("ADD", "R12", "R11")
	for i := range rows {
		a := value + i%(32-value)
		from := "(R8)"
		if i > 0 {
			from += "(" + offset[i] + ")"
		}
		s.op(s.move(), from, f(a))
		for j := range width {
			s.byLane("fmla", i*width+j, row+j, a, 0)
		}
	}
	s.op("ADD", "R10", "R8")
	s.op("SUB", "$1", "R13")
	s.op("CBNZ", "R13", name+"_loop")

	s.label(name + "_end")
}
