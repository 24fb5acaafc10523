package main

import "fmt"

// Offsets of the fields of kernel.column.
const (
	columnA      = 8 * iota // first row
	columnRS                // bytes between rows
	columnW                 // the column
	columnK                 // its length
	columnC                 // four results for each group
	columnGroups            // how many
	columnBias              // added to every sum; after it the least result
)

// Offsets of the fields of kernel.rankOne.
const (
	rankOneA     = 8 * iota // the column
	rankOneAS               // bytes between its values
	rankOneW                // the row, whole vectors
	rankOneX                // initial values, or nil for 0
	rankOneC                // result
	rankOneCS               // bytes between its rows
	rankOneRows             // how many
	rankOneCols             // four vectors, or 1 to one
	rankOneFloor            // the least result
)

// narrow writes both precisions of an instruction set: products with one column,
// and of one column with one row.
func narrow(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.column(v)
		s.rankOne(v)
	}
	if set.bytes == 32 {
		s.masks()
	}
}

// column sums 64 bytes of every row in as many lanes, then adds the upper half of
// the lanes to the lower half until one is left: four rows at a time, whose
// halves share vectors.
func (s *source) column(v vector) {
	const chunk = 64
	lanes, parts := chunk/v.size(), chunk/v.bytes
	s.function("column"+v.typ(), "a", fmt.Sprintf("column%s multiplies rows by a column: see type column.", v.typ()))
	s.op("MOVQ", mem(columnA, "DI"), "R8")
	s.op("MOVQ", mem(columnRS, "DI"), "R12")
	s.op("MOVQ", mem(columnW, "DI"), "SI")
	s.op("MOVQ", mem(columnC, "DI"), "DX")
	s.op("MOVQ", mem(columnGroups, "DI"), "R13")
	row := []string{"R8", "R9", "R10", "R11"}
	acc := func(i, h int) int { return i*parts + h }
	w := 4 * parts
	value, bias, floor := 10, 11, 12
	s.op(v.broadcast(), mem(columnBias, "DI"), fmt.Sprintf("Y%d", bias))
	s.op(v.broadcast(), mem(columnBias+v.size(), "DI"), fmt.Sprintf("Y%d", floor))
	s.op("MOVQ", mem(columnK, "DI"), "CX")
	s.op("MOVQ", "CX", "BX")
	s.op("ANDQ", imm(lanes-1), "CX")
	s.op("SUBQ", "CX", "BX")
	s.op("IMULQ", imm(v.size()), "BX") // bytes of whole chunks
	s.op("MOVQ", "CX", "DI")           // values after them
	s.chunkMasks(v)
	masked := func(from string, to, h int) { s.loadTail(v, from, to, h) }
	at := func(h int, base string) string { return fmt.Sprintf("%d(%s)(CX*1)", h*v.bytes, base) }

	s.label("group")
	for i := range 4 * parts {
		s.zero(v, i)
	}
	for i := 1; i < 4; i++ {
		s.op("LEAQ", fmt.Sprintf("(%s)(R12*1)", row[i-1]), row[i])
	}
	s.op("XORQ", "CX", "CX")
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", "tail")
	s.label("loop")
	for h := range parts {
		s.load(v, at(h, "SI"), w+h, false)
	}
	for i := range 4 {
		for h := range parts {
			s.op(v.p("VFMADD231"), at(h, row[i]), v.r(w+h), v.r(acc(i, h)))
		}
	}
	s.op("ADDQ", imm(chunk), "CX")
	s.op("CMPQ", "CX", "BX")
	s.op("JNE", "loop")
	s.label("tail")
	s.op("TESTQ", "DI", "DI")
	s.op("JEQ", "sum")
	for h := range parts {
		masked(at(h, "SI"), w+h, h)
	}
	for i := range 4 {
		for h := range parts {
			masked(at(h, row[i]), value, h)
			s.op(v.p("VFMADD231"), v.r(value), v.r(w+h), v.r(acc(i, h)))
		}
	}

	s.label("sum")
	y := func(i int) string { return fmt.Sprintf("Y%d", i) }
	add, t := v.p("VADD"), y(value)
	s.halves(v, acc, value)
	p, q := y(acc(0, 0)), y(acc(1, 0))
	out, b, f := p, y(bias), y(floor)
	if v.double {
		s.op("VUNPCKHPD", q, p, t)
		s.op("VUNPCKLPD", q, p, p)
		s.op(add, t, p, p)
	} else {
		s.op("VSHUFPD", "$15", q, p, t)
		s.op("VSHUFPD", "$0", q, p, p)
		s.op(add, t, p, p)
		x, h, u := "X0", fmt.Sprintf("X%d", acc(1, 0)), fmt.Sprintf("X%d", value)
		s.op("VEXTRACTF128", "$1", p, h)
		s.op("VSHUFPS", "$0xDD", h, x, u)
		s.op("VSHUFPS", "$0x88", h, x, x)
		s.op(add, u, x, x)
		out, b, f = x, fmt.Sprintf("X%d", bias), fmt.Sprintf("X%d", floor)
	}
	s.op(add, b, out, out)
	s.op(v.p("VMAX"), out, f, out) // of a NaN and another the value: see tile
	s.op(v.p("VMOVU"), out, "(DX)")
	s.op("ADDQ", imm(4*v.size()), "DX")
	s.op("LEAQ", "(R11)(R12*1)", "R8")
	s.op("DECQ", "R13")
	s.op("JNE", "group")
	s.finish()
}

// rankOne keeps the row and the initial values in registers while the rows of the
// result are written.
func (s *source) rankOne(v vector) {
	s.function("rankOne"+v.typ(), "r", fmt.Sprintf("rankOne%s multiplies a column by a row: see type rankOne.", v.typ()))
	s.op("MOVQ", mem(rankOneCols, "DI"), "CX")
	s.op("MOVQ", mem(rankOneA, "DI"), "R8")
	s.op("MOVQ", mem(rankOneAS, "DI"), "R9")
	s.op("MOVQ", mem(rankOneW, "DI"), "SI")
	s.op("MOVQ", mem(rankOneX, "DI"), "R10")
	s.op("MOVQ", mem(rankOneC, "DI"), "DX")
	s.op("MOVQ", mem(rankOneCS, "DI"), "R11")
	s.op("MOVQ", mem(rankOneRows, "DI"), "BX")
	const x, sum, a, floor = 4, 8, 12, 13
	s.op(v.broadcast(), mem(rankOneFloor, "DI"), v.r(floor))
	s.op("CMPQ", "CX", imm(v.lanes()))
	s.op("JGT", "rankOne4")
	s.tailMask(v)
	for _, vectors := range []int{1, 4} {
		name := fmt.Sprintf("rankOne%d", vectors)
		s.label(name)
		for j := range vectors {
			s.load(v, mem(j*v.bytes, "SI"), j, false)
			s.zero(v, x+j)
		}
		s.op("TESTQ", "R10", "R10")
		s.op("JEQ", name+"_loop")
		for j := range vectors {
			s.load(v, mem(j*v.bytes, "R10"), x+j, vectors == 1)
		}
		s.label(name + "_loop")
		s.op(v.broadcast(), "(R8)", v.r(a))
		for j := range vectors {
			s.op(v.p("VMOVA"), v.r(x+j), v.r(sum+j))
			s.op(v.p("VFMADD231"), v.r(j), v.r(a), v.r(sum+j))
			s.op(v.p("VMAX"), v.r(sum+j), v.r(floor), v.r(sum+j))
			s.store(v, sum+j, mem(j*v.bytes, "DX"), vectors == 1)
		}
		s.op("ADDQ", "R9", "R8")
		s.op("ADDQ", "R11", "DX")
		s.op("DECQ", "BX")
		s.op("JNE", name+"_loop")
		s.finish()
	}
}

// chunkMasks makes the masks of what is left of 64 bytes, CX values. It uses AX and R9.
func (s *source) chunkMasks(v vector) {
	if v.bytes == 64 {
		s.tailMask(v)
		return
	}
	// As many as fit into the first vector, then the others.
	s.op("MOVQ", "CX", "R9")
	s.op("MOVQ", imm(v.lanes()), "AX")
	s.op("CMPQ", "CX", "AX")
	s.op("CMOVQGT", "AX", "CX")
	s.op("SUBQ", "CX", "R9")
	s.tailMask(v)
	s.op("VMOVUPS", v.r(maskReg), v.r(maskReg-1))
	s.op("MOVQ", "R9", "CX")
	s.tailMask(v) // of the second vector
}

// loadTail loads the values of vector h of a chunk that exist.
func (s *source) loadTail(v vector, from string, to, h int) {
	if v.bytes == 64 {
		s.load(v, from, to, true)
		return
	}
	s.op(v.p("VMASKMOV"), from, v.r(maskReg-1+h), v.r(to))
}

// halves adds the upper halves of four rows' 64 bytes of sums to the lower ones, twice: rows 0 and 2
// to the vector of row 0, 1 and 3 to that of row 1, so that a last step leaves them in order.
func (s *source) halves(v vector, acc func(i, h int) int, free int) {
	y := func(i int) string { return fmt.Sprintf("Y%d", i) }
	add, t := v.p("VADD"), y(free)
	for i := range 4 {
		if v.bytes == 64 {
			s.op("VEXTRACTF64X4", "$1", v.r(i), t)
			s.op(add, t, y(i), y(i))
		} else {
			s.op(add, y(acc(i, 1)), y(acc(i, 0)), y(acc(i, 0)))
		}
	}
	for i := range 2 {
		lower, upper := y(acc(i, 0)), y(acc(i+2, 0))
		s.op("VPERM2F128", "$0x31", upper, lower, t)
		s.op("VPERM2F128", "$0x20", upper, lower, lower)
		s.op(add, t, lower, lower)
	}
}
