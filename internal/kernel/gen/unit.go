package main

import "fmt"

// Offsets of the fields of kernel.unitTile.
const (
	unitA         = 8 * iota // element (0, 0) of A
	unitRS                   // bytes between rows of A
	unitKS                   // bytes between columns of A
	unitB                    // first row of B: whole vectors
	unitBS                   // bytes between its rows
	unitK                    // length of the sums
	unitBias                 // initial value of each row of C, or nil for 0
	unitC                    // result
	unitCS                   // bytes between its rows
	unitAdd                  // not 0: C is added to
	unitRelu                 // not 0: negative results become 0
	unitStrips               // tiles, one below the other
	unitRows                 // of a tile: one of the heights
	unitCols                 // vectors of a tile: 1, 2 or, of at most two rows, 4
	unitAMoved               // bytes that the tiles so far moved along A
	unitCMoved               // and along C
	unitBiasMoved            // and along the bias
)

// unitTiles writes both precisions of an instruction set.
func unitTiles(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("unit"+v.typ(), "t", fmt.Sprintf("unit%s computes tiles: see type unitTile.", v.typ()))
		shapes := unitShapes(set)
		s.op("MOVQ", mem(unitCols, "DI"), "CX")
		s.op("MOVQ", mem(unitRows, "DI"), "BX")
		for i, shape := range shapes {
			name := fmt.Sprintf("unit%dx%d", shape[0], shape[1])
			if i == len(shapes)-1 {
				s.op("JMP", name)
				break
			}
			s.op("CMPQ", "BX", imm(shape[0]))
			s.op("JNE", "not"+name)
			s.op("CMPQ", "CX", imm(shape[1]))
			s.op("JEQ", name)
			s.label("not" + name)
		}
		for _, shape := range shapes {
			s.unitTile(v, shape[0], shape[1])
		}
	}
}

// unitShapes are rows and vectors of the tiles: low ones are wide, for a processor works on
// some eight sums at once.
func unitShapes(set isa) [][2]int {
	var shapes [][2]int
	for _, rows := range set.heights {
		if rows <= 2 {
			shapes = append(shapes, [2]int{rows, 4})
		}
		shapes = append(shapes, [2]int{rows, 2}, [2]int{rows, 1})
	}
	return shapes
}

// unitTile is the code for one shape. Every element is one chain of fused multiply-adds in
// order of k, from its initial value.
func (s *source) unitTile(v vector, rows, vectors int) {
	name := fmt.Sprintf("unit%dx%d", rows, vectors)
	acc := func(i, j int) int { return i*vectors + j }
	// After the accumulators: a row of B, then values of A in turn.
	b := rows * vectors
	free := 32 - b - vectors
	if v.bytes == 32 {
		free = 16 - b - vectors
	}
	pointer := []string{"R8", "R9", "R10", "R11"}
	groups := (rows + 2) / 3
	eachRow := func(f func(i int)) {
		s.op("MOVQ", mem(unitC, "DI"), "AX")
		s.op("ADDQ", mem(unitCMoved, "DI"), "AX")
		s.op("MOVQ", mem(unitCS, "DI"), "BX")
		for i := range rows {
			f(i)
			if i < rows-1 {
				s.op("ADDQ", "BX", "AX")
			}
		}
	}

	s.label(name)
	s.op("CMPQ", mem(unitAdd, "DI"), "$0")
	s.op("JEQ", name+"_fresh")
	eachRow(func(i int) {
		for j := range vectors {
			s.load(v, mem(j*v.bytes, "AX"), acc(i, j), false)
		}
	})
	s.op("JMP", name+"_begin")
	s.label(name + "_fresh")
	s.op("MOVQ", mem(unitBias, "DI"), "AX")
	s.op("TESTQ", "AX", "AX")
	s.op("JEQ", name+"_zero")
	s.op("ADDQ", mem(unitBiasMoved, "DI"), "AX")
	for i := range rows {
		for j := range vectors {
			s.op(v.broadcast(), mem(i*v.size(), "AX"), v.r(acc(i, j)))
		}
	}
	s.op("ADDQ", imm(rows*v.size()), mem(unitBiasMoved, "DI"))
	s.op("JMP", name+"_begin")
	s.label(name + "_zero")
	for i := range rows * vectors {
		s.zero(v, i)
	}

	s.label(name + "_begin")
	s.op("MOVQ", mem(unitA, "DI"), "R8")
	s.op("ADDQ", mem(unitAMoved, "DI"), "R8")
	s.op("MOVQ", mem(unitRS, "DI"), "R12")
	s.op("MOVQ", mem(unitKS, "DI"), "R13")
	s.op("MOVQ", mem(unitB, "DI"), "SI")
	s.op("MOVQ", mem(unitBS, "DI"), "DX")
	s.op("MOVQ", mem(unitK, "DI"), "CX")
	if groups > 1 {
		s.op("LEAQ", "(R12)(R12*2)", "AX")
	}
	for i := 1; i < groups; i++ {
		s.op("LEAQ", fmt.Sprintf("(%s)(AX*1)", pointer[i-1]), pointer[i])
	}
	s.op("TESTQ", "CX", "CX")
	s.op("JEQ", name+"_end")
	s.op("PCALIGN", "$32")
	s.label(name + "_loop")
	for j := range vectors {
		s.load(v, mem(j*v.bytes, "SI"), b+j, false)
	}
	for i := range rows {
		a := b + vectors + i%free
		from := mem(0, pointer[i/3])
		if i%3 > 0 {
			from = fmt.Sprintf("(%s)(R12*%d)", pointer[i/3], i%3)
		}
		s.op(v.broadcast(), from, v.r(a))
		for j := range vectors {
			s.op(v.p("VFMADD231"), v.r(b+j), v.r(a), v.r(acc(i, j)))
		}
	}
	for i := range groups {
		s.op("ADDQ", "R13", pointer[i])
	}
	s.op("ADDQ", "DX", "SI")
	s.op("DECQ", "CX")
	s.op("JNE", name+"_loop")

	s.label(name + "_end")
	s.op("CMPQ", mem(unitRelu, "DI"), "$0")
	s.op("JEQ", name+"_store")
	s.zero(v, b)
	for i := range rows * vectors {
		// Of a NaN and 0, and of -0 and 0, MAX takes the operand that comes
		// second in Intel's order, first here: the value.
		s.op(v.p("VMAX"), v.r(i), v.r(b), v.r(i))
	}
	s.label(name + "_store")
	eachRow(func(i int) {
		for j := range vectors {
			s.store(v, acc(i, j), mem(j*v.bytes, "AX"), false)
		}
	})
	s.op("ADDQ", "BX", "AX")
	s.op("SUBQ", mem(unitC, "DI"), "AX")
	s.op("MOVQ", "AX", mem(unitCMoved, "DI"))
	s.op("IMULQ", imm(rows), "R12")
	s.op("ADDQ", "R12", mem(unitAMoved, "DI"))
	s.op("DECQ", mem(unitStrips, "DI"))
	s.op("JNE", name)
	s.finish()
}
