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

// Offsets of the fields of kernel.prefetch.
const (
	prefetchSrc   = 8 * iota
	prefetchRows  // their numbers, int
	prefetchN     // how many, at least one
	prefetchBytes // of a row
)

// prefetchRows asks for the cache lines of some rows.
func (s *source) prefetchRows() {
	s.function("prefetchRowsAVX2", "p", "prefetchRowsAVX2 asks for the cache lines of rows: see type prefetch.")
	s.op("MOVQ", mem(prefetchSrc, "DI"), "SI")
	s.op("MOVQ", mem(prefetchRows, "DI"), "R8")
	s.op("MOVQ", mem(prefetchN, "DI"), "CX")
	s.op("MOVQ", mem(prefetchBytes, "DI"), "DX")
	s.label("row")
	s.op("MOVQ", mem(0, "R8"), "R9")
	s.op("IMULQ", "DX", "R9")
	s.op("ADDQ", "SI", "R9")
	s.op("LEAQ", "-1(R9)(DX*1)", "R10") // the last byte
	s.label("line")
	s.op("PREFETCHT1", "(R9)")
	s.op("ADDQ", "$64", "R9")
	s.op("CMPQ", "R9", "R10")
	s.op("JLS", "line")
	s.op("PREFETCHT1", "(R10)")
	s.op("ADDQ", "$8", "R8")
	s.op("DECQ", "CX")
	s.op("JNE", "row")
	s.op("RET")
}

// Offsets of the fields of kernel.turning.
const (
	turnSrc  = 8 * iota // first unit
	turnMask            // first unit of the mask, or nil
	turnSS              // bytes between units, of both
	turnDst             // first row
	turnDS              // bytes between rows
	turnN               // vectors of rows
)

// turns writes both precisions.
func turns(s *source) {
	s.turn(vector{avx512, true})
	s.turn(vector{avx512, false})
}

// turn transposes squares of one vector by one in AVX-512, after 0 has replaced what the
// mask switches off, in the units too.
func (s *source) turn(v vector) {
	s.function("turn"+v.typ(), "q", fmt.Sprintf("turn%s transposes squares: see type turning.", v.typ()))
	s.op("MOVQ", mem(turnSrc, "DI"), "SI")
	s.op("MOVQ", mem(turnMask, "DI"), "BX")
	s.op("MOVQ", mem(turnSS, "DI"), "DX")
	s.op("MOVQ", mem(turnDst, "DI"), "R8")
	s.op("MOVQ", mem(turnDS, "DI"), "R9")
	s.op("MOVQ", mem(turnN, "DI"), "CX")
	s.op("LEAQ", "(DX)(DX*2)", "R10")
	s.label("loop")
	s.op("MOVQ", "SI", "R11")
	s.op("MOVQ", "BX", "R12")
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", "plain")
	s.zero(v, 31)
	for u := range v.lanes() {
		s.load(v, s.unit("R11", u), u, false)
		s.op(v.p("VCMP"), "$4", s.unit("R12", u), v.r(31), "K2")
		s.op(v.p("VMOVA")+".Z", v.r(u), "K2", v.r(u))
		s.store(v, u, s.unit("R11", u), false)
		if u%4 == 3 {
			s.op("LEAQ", "(R11)(DX*4)", "R11")
			s.op("LEAQ", "(R12)(DX*4)", "R12")
		}
	}
	s.op("ADDQ", "$64", "BX")
	s.op("JMP", "turn")
	s.label("plain")
	for u := range v.lanes() {
		s.load(v, s.unit("R11", u), u, false)
		if u%4 == 3 {
			s.op("LEAQ", "(R11)(DX*4)", "R11")
		}
	}
	s.label("turn")
	for _, r := range s.square(v) {
		s.store(v, r, "(R8)", false)
		s.op("ADDQ", "R9", "R8")
	}
	s.op("ADDQ", "$64", "SI")
	s.op("DECQ", "CX")
	s.op("JNE", "loop")
	s.finish()
}

// unit is the place of unit u, of four that begin at base; R10 holds three times DX.
func (s *source) unit(base string, u int) string {
	return []string{"(" + base + ")", "(" + base + ")(DX*1)", "(" + base + ")(DX*2)", "(" + base + ")(R10*1)"}[u%4]
}

// square transposes the vectors in the first registers; it returns the registers of the
// result's rows.
func (s *source) square(v vector) []int {
	n := v.lanes()
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	// Each pass goes from one half of the registers to the other.
	next := 16
	pass := func(f func(to func(op string, imm string, a, b int) int)) {
		at := next
		f(func(op, imm string, a, b int) int {
			if imm == "" {
				s.op(op, v.r(b), v.r(a), v.r(at))
			} else {
				s.op(op, imm, v.r(b), v.r(a), v.r(at))
			}
			at++
			return at - 1
		})
		next = 16 - next
	}
	if v.double {
		pass(func(to func(string, string, int, int) int) { // pairs
			for i := 0; i < n; i += 2 {
				a, b := rows[i], rows[i+1]
				rows[i], rows[i+1] = to("VUNPCKLPD", "", a, b), to("VUNPCKHPD", "", a, b)
			}
		})
	} else {
		pass(func(to func(string, string, int, int) int) {
			for i := 0; i < n; i += 2 {
				a, b := rows[i], rows[i+1]
				rows[i], rows[i+1] = to("VUNPCKLPS", "", a, b), to("VUNPCKHPS", "", a, b)
			}
		})
		pass(func(to func(string, string, int, int) int) { // pairs of pairs
			for i := 0; i < n; i += 4 {
				a, b, c, d := rows[i], rows[i+1], rows[i+2], rows[i+3]
				rows[i], rows[i+1] = to("VUNPCKLPD", "", a, c), to("VUNPCKHPD", "", a, c)
				rows[i+2], rows[i+3] = to("VUNPCKLPD", "", b, d), to("VUNPCKHPD", "", b, d)
			}
		})
	}
	// Now quarter l of register i of a group has column l*group + i of the group's
	// rows: four groups become one.
	group := n / 4
	shuffle := "VSHUFF32X4"
	if v.double {
		shuffle = "VSHUFF64X2"
	}
	even, odd := make([]int, n/2), make([]int, n/2)
	pass(func(to func(string, string, int, int) int) {
		for half := range 2 {
			for i := range group {
				a, b := rows[2*half*group+i], rows[(2*half+1)*group+i]
				even[half*group+i], odd[half*group+i] = to(shuffle, "$0x88", a, b), to(shuffle, "$0xdd", a, b)
			}
		}
	})
	pass(func(to func(string, string, int, int) int) {
		for i := range group {
			rows[i], rows[2*group+i] = to(shuffle, "$0x88", even[i], even[group+i]), to(shuffle, "$0xdd", even[i], even[group+i])
			rows[group+i], rows[3*group+i] = to(shuffle, "$0x88", odd[i], odd[group+i]), to(shuffle, "$0xdd", odd[i], odd[group+i])
		}
	})
	return rows
}
