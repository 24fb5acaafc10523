package main

import "fmt"

// Offsets of the fields of kernel.tile.
const (
	tileA      = 8 * iota // element (0, 0) of A
	tileRS                // bytes between rows of A
	tileKS                // bytes between columns of A
	tileB                 // packed panel of B
	tileBS                // bytes between rows of the panel
	tileK                 // length of the sums
	tileX                 // initial values, or nil for 0
	tileXS                // bytes between their rows
	tileC                 // result
	tileCS                // bytes between its rows
	tileRows              // one of the heights
	tileCols              // 1 to two vectors
	tileRelu              // not 0: negative results become 0
	tileAhead             // memory to fetch meanwhile, or 0
	tileBy                // bytes from one of its lines to the next
	tileStarts            // where the sums go on: values behind A and B for each further step
	tileSteps             // bytes of them
)

// tiles writes both precisions of an instruction set.
func tiles(s *source, set isa) {
	for _, double := range []bool{true, false} {
		v := vector{set, double}
		s.function("tile"+v.typ(), "t", fmt.Sprintf("tile%s computes one tile: see type tile.", v.typ()))
		s.op("MOVQ", mem(tileCols, "DI"), "CX")
		s.op("MOVQ", mem(tileRows, "DI"), "BX")
		s.op("CMPQ", "CX", imm(v.lanes()))
		s.op("JLE", "narrow")
		s.op("SUBQ", imm(v.lanes()), "CX")
		s.tailMask(v)
		s.choose(v, 2)
		s.label("narrow")
		s.tailMask(v)
		s.choose(v, 1)
		for _, rows := range set.heights {
			for _, vectors := range []int{2, 1} {
				s.tile(v, rows, vectors)
			}
		}
	}
	if set.bytes == 32 {
		s.masks()
	}
}

// choose jumps to the code of the tile's height, in BX.
func (s *source) choose(v vector, vectors int) {
	for i, rows := range v.heights {
		if i == len(v.heights)-1 {
			s.op("JMP", fmt.Sprintf("tile%dx%d", rows, vectors))
			return
		}
		s.op("CMPQ", "BX", imm(rows))
		s.op("JEQ", fmt.Sprintf("tile%dx%d", rows, vectors))
	}
}

// fetchingHeight is the least number of rows of a tile that fetches memory meanwhile.
const fetchingHeight = 4

// fetching leaves in AX the first address that the loop fetches and in BX the bytes from
// there to the next one, 0 where there is nothing to fetch.
func (s *source) fetching() {
	s.op("MOVQ", mem(tileAhead, "DI"), "AX")
	s.op("MOVQ", mem(tileBy, "DI"), "BX")
	s.op("TESTQ", "AX", "AX")
	s.op("CMOVQEQ", "AX", "BX")
	s.op("CMOVQEQ", "SI", "AX") // is in the cache
}

// tile is the code for one shape. Every element is one chain of fused
// multiply-adds in order of k, from its initial value: so its bits depend on
// neither shape nor position.
func (s *source) tile(v vector, rows, vectors int) {
	name := fmt.Sprintf("tile%dx%d", rows, vectors)
	acc := func(i, j int) int { return i*vectors + j }
	// After the accumulators: a row of B, then values of A in turn.
	b := rows * vectors
	free := 32 - b - vectors
	if v.bytes == 32 {
		free = maskReg - b - vectors
	}
	pointer := []string{"R8", "R9", "R10", "R11"}
	groups := (rows + 2) / 3

	s.label(name)
	s.op("MOVQ", mem(tileX, "DI"), "AX")
	s.op("TESTQ", "AX", "AX")
	s.op("JEQ", name+"_zero")
	s.op("MOVQ", mem(tileXS, "DI"), "BX")
	for i := range rows {
		for j := range vectors {
			s.load(v, mem(j*v.bytes, "AX"), acc(i, j), j == vectors-1)
		}
		if i < rows-1 {
			s.op("ADDQ", "BX", "AX")
		}
	}
	s.op("JMP", name+"_begin")
	s.label(name + "_zero")
	for i := range rows * vectors {
		s.zero(v, i)
	}

	s.label(name + "_begin")
	s.op("MOVQ", mem(tileA, "DI"), "R8")
	s.op("MOVQ", mem(tileRS, "DI"), "R12")
	s.op("MOVQ", mem(tileKS, "DI"), "R13")
	s.op("MOVQ", mem(tileB, "DI"), "SI")
	s.op("MOVQ", mem(tileBS, "DI"), "DX")
	s.op("MOVQ", mem(tileK, "DI"), "CX")
	s.op("XORQ", "R15", "R15") // bytes of starts that are done
	lower := func(by string) { // rows of A
		if groups > 1 {
			s.op("LEAQ", "(R12)(R12*2)", by)
		}
		for i := 1; i < groups; i++ {
			s.op("LEAQ", fmt.Sprintf("(%s)(%s*1)", pointer[i-1], by), pointer[i])
		}
	}
	lower("AX")
	s.op("TESTQ", "CX", "CX")
	s.op("JEQ", name+"_end")
	fetches := rows >= fetchingHeight
	if fetches {
		s.fetching()
	}
	s.op("PCALIGN", "$32")
	s.label(name + "_loop")
	if fetches {
		s.op("PREFETCHT0", "(AX)")
		s.op("ADDQ", "BX", "AX")
	}
	for j := range vectors {
		s.load(v, mem(j*v.bytes, "SI"), b+j, false)
	}
	for i := range rows {
		a := b + vectors + i%free
		from := pointer[i/3]
		switch i % 3 {
		case 0:
			from = mem(0, from)
		default:
			from = fmt.Sprintf("(%s)(R12*%d)", from, i%3)
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
	s.op("CMPQ", "R15", mem(tileSteps, "DI"))
	s.op("JEQ", name+"_end")
	s.op("MOVQ", mem(tileStarts, "DI"), "CX")
	s.op("MOVQ", "(CX)(R15*1)", "R8")
	s.op("MOVQ", "8(CX)(R15*1)", "SI")
	s.op("ADDQ", "$16", "R15")
	for _, at := range []struct {
		register string
		field    int
	}{{"R8", tileA}, {"SI", tileB}} {
		s.op("IMULQ", imm(v.size()), at.register)
		s.op("ADDQ", mem(at.field, "DI"), at.register)
	}
	lower("CX")
	s.op("MOVQ", mem(tileK, "DI"), "CX")
	s.op("JMP", name+"_loop")

	s.label(name + "_end")
	s.op("MOVQ", mem(tileC, "DI"), "AX")
	s.op("MOVQ", mem(tileCS, "DI"), "BX")
	s.op("CMPQ", mem(tileRelu, "DI"), "$0")
	s.op("JEQ", name+"_store")
	s.zero(v, b)
	for i := range rows * vectors {
		// Of a NaN and 0, and of -0 and 0, MAX takes the operand that comes
		// second in Intel's order, first here: the value.
		s.op(v.p("VMAX"), v.r(i), v.r(b), v.r(i))
	}
	s.label(name + "_store")
	write := func(masked bool) {
		for i := range rows {
			for j := range vectors {
				s.store(v, acc(i, j), mem(j*v.bytes, "AX"), masked && j == vectors-1)
			}
			if i < rows-1 {
				s.op("ADDQ", "BX", "AX")
			}
		}
		s.finish()
	}
	if v.bytes == 32 {
		// Masked stores are slow on some machines: only where they are needed.
		s.op("CMPQ", mem(tileCols, "DI"), imm(vectors*v.lanes()))
		s.op("JNE", name+"_tail")
		write(false)
		s.label(name + "_tail")
	}
	write(true)
}
