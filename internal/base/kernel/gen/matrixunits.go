package main

import "fmt"

// Offsets of the fields of kernel.unitBlock.
const (
	amxConfig  = 8 * iota
	amxA       // tiles of the rows
	amxRowTile // bytes from the upper 16 rows to the lower
	amxStride  // bytes between rows in a tile of A
	amxChunk   // bytes from a chunk of A to the next
	amxB       // tiles of the weights, in the order in which they are read
	amxChunks
	amxPanels
	amxBias
	amxBiasStep
	amxC
	amxCS
	amxRows
	amxCols
	amxLeast
	amxSums
	amxNext                           // rows to split meanwhile, a splitRows
	amxQuota = amxNext + 8*nextFields // of chunks of them, each time
	amxFrom  = amxQuota + 8           // the sums of a row that waits for its bias
	amxTo    = amxQuota + 16          // where it goes
	amxLeft  = amxQuota + 24          // rows that wait
)

// amxTileBytes is a tile: 16 rows of 64 bytes. Those of the upper and lower rows are side by side.
const (
	amxTileBytes = 1024
	amxPartBytes = 2 * amxTileBytes
)

// Tiles 0 to 3 hold sums (upper and lower rows, left and right columns), 4 and 5 the rows,
// 6 and 7 the weights.
const (
	rowsTile    = 4
	weightsTile = 6
)

// matrixUnits writes the products of split operands on AMX units, and the splitting.
// Tiles are set up and released within one call, since goroutines may move to another thread
// between calls.
func matrixUnits(s *source) {
	for _, tall := range []bool{true, false} {
		for _, parts := range []int{3, 1} {
			s.unitBlock(parts, tall)
		}
	}
	s.splitRows()
	s.stackRows()
	s.enabledStates()
	s.line("")
	s.line("DATA magnitude<>+0(SB)/4, $0x7fffffff")
	s.line("GLOBL magnitude<>(SB), RODATA|NOPTR, $4")
}

// unitBlock multiplies a block of rows with all weights. The processor's tiles are set up and
// released within the call: Go does not switch goroutines in the middle of assembly, so tiles
// never have to survive that.
func (s *source) unitBlock(parts int, tall bool) {
	name := fmt.Sprintf("unitBlock%d", parts)
	what := fmt.Sprintf("%s multiplies up to 32 rows, split in %d, with all weights: see type unitBlock.", name, parts)
	if !tall {
		name += "Low"
		what = fmt.Sprintf("%s is that of up to 16 rows.", name)
	}
	s.function(name, "u", what)
	s.op("MOVQ", mem(amxConfig, "DI"), "AX")
	s.bytes("LDTILECFG (AX)", 0xc4, 0xe2, 0x78, 0x49, 0x00)
	s.op("MOVQ", mem(amxB, "DI"), "R8")
	s.op("VBROADCASTSS", mem(amxLeast, "DI"), "Z10")
	meanwhile := tall && parts == 3
	if meanwhile {
		s.beginNext()
	}
	s.label("panel")
	s.unitSums(parts, tall, meanwhile)
	s.beginResult()
	if !meanwhile {
		s.rowsOfResult("whole", 0)
	}
	s.op("DECQ", mem(amxPanels, "DI"))
	s.op("JNE", "panel")
	if meanwhile {
		s.rowsOfResult("last", 0)
	}
	s.bytes("TILERELEASE", 0xc4, 0xe2, 0x78, 0x49, 0xc0)
	// Pointers that may have come to the end of their memory must not be seen by the garbage collector.
	s.op("XORL", "AX", "AX")
	for _, offset := range []int{amxC, amxBias, amxFrom, amxTo, amxNext + splitDst, amxNext + splitSrc, amxNext + splitLargest} {
		s.op("MOVQ", "AX", mem(offset, "DI"))
	}
	s.finish()
}

// beginNext makes ready to split the rows of the next block between products of tiles, which have
// a unit of their own and leave the others idle. R12 is the row, R13 where its parts go, BX the
// number of its columns left, 0 if there are no rows left.
func (s *source) beginNext() {
	s.op("VPBROADCASTD", "magnitude<>(SB)", "Z9")
	s.op("VPXORQ", "Z8", "Z8", "Z8")
	s.op("MOVQ", mem(amxNext+splitSrc, "DI"), "R12")
	s.op("MOVQ", mem(amxNext+splitDst, "DI"), "R13")
	s.op("XORL", "BX", "BX")
	s.op("CMPQ", mem(amxNext+splitRows, "DI"), "$0")
	s.op("CMOVQNE", mem(amxNext+splitCols, "DI"), "BX")
}

// someNext splits as many chunks as the quota says.
func (s *source) someNext(name string) {
	again, same, done := "again"+name, "same"+name, "done"+name
	s.op("MOVQ", mem(amxQuota, "DI"), "R10")
	s.label(again)
	s.op("TESTQ", "BX", "BX")
	s.op("JEQ", done)
	s.splitChunk("BX", "R12", "R13")
	s.op("ADDQ", mem(amxNext+splitChunk, "DI"), "R13")
	s.op("ADDQ", "$128", "R12")
	s.op("SUBQ", "$32", "BX")
	s.op("JGT", same)
	s.op("MOVQ", mem(amxNext+splitLargest, "DI"), "AX")
	s.storeLargest("AX")
	s.op("VPXORQ", "Z8", "Z8", "Z8")
	s.op("ADDQ", "$4", mem(amxNext+splitLargest, "DI"))
	s.op("MOVQ", mem(amxNext+splitSrc, "DI"), "R12")
	s.op("ADDQ", mem(amxNext+splitSS, "DI"), "R12")
	s.op("MOVQ", "R12", mem(amxNext+splitSrc, "DI"))
	s.op("MOVQ", mem(amxNext+splitDst, "DI"), "R13")
	s.op("ADDQ", mem(amxNext+splitStep, "DI"), "R13")
	s.op("MOVQ", "R13", mem(amxNext+splitDst, "DI"))
	s.op("XORL", "BX", "BX")
	s.op("DECQ", mem(amxNext+splitRows, "DI"))
	s.op("CMOVQNE", mem(amxNext+splitCols, "DI"), "BX")
	s.label(same)
	s.op("DECQ", "R10")
	s.op("JNE", again)
	s.label(done)
}

// unitSums adds the products of all chunks up and leaves the sums of 32 columns in memory.
func (s *source) unitSums(parts int, tall, meanwhile bool) {
	for t := range 4 {
		if tall || t < 2 {
			s.bytes(fmt.Sprintf("TILEZERO TMM%d", t), 0xc4, 0xe2, 0x7b, 0x49, 0xc0|t<<3)
		}
	}
	s.op("MOVQ", mem(amxA, "DI"), "SI")
	s.op("MOVQ", mem(amxRowTile, "DI"), "DX")
	s.op("ADDQ", "SI", "DX")
	s.op("MOVQ", "$64", "R9")
	stride := "R9"
	if parts == 1 {
		stride = "R10"
		s.op("MOVQ", mem(amxStride, "DI"), stride)
	}
	s.op("MOVQ", mem(amxChunks, "DI"), "R11")
	s.label("chunk")
	loadA := func(p int) {
		s.tileLoad(rowsTile, "SI", p*amxPartBytes, stride)
		if tall {
			s.tileLoad(rowsTile+1, "DX", p*amxPartBytes, stride)
		}
	}
	loadB := func(p int) {
		s.tileLoad(weightsTile, "R8", p*amxTileBytes, "R9")
		s.tileLoad(weightsTile+1, "R8", (parts+p)*amxTileBytes, "R9")
	}
	products := func() {
		for t := range 4 {
			if row := t / 2; tall || row == 0 {
				s.tileProduct(t, rowsTile+row, weightsTile+t%2)
			}
		}
	}
	if parts == 1 {
		loadA(0)
		loadB(0)
		products()
	} else {
		// Six products of parts that matter in float32, small ones first where that is
		// free: each step reads either rows or weights.
		loadA(0)
		for i, step := range []struct {
			load func(int)
			part int
		}{{loadB, 2}, {loadB, 1}, {loadA, 1}, {loadB, 0}, {loadA, 2}, {loadA, 0}} {
			step.load(step.part)
			products()
			if meanwhile {
				const enough = 3 // of 32 rows, as soon as there are two chunks
				s.rowsOfResult(fmt.Sprint(i), enough)
				s.someNext(fmt.Sprint(i))
			}
		}
	}
	s.op("ADDQ", mem(amxChunk, "DI"), "SI")
	s.op("ADDQ", mem(amxChunk, "DI"), "DX")
	s.op("ADDQ", imm(2*parts*amxTileBytes), "R8")
	s.op("DECQ", "R11")
	s.op("JNE", "chunk")
	if meanwhile {
		s.rowsOfResult("rest", 0)
	}
	s.op("MOVQ", mem(amxSums, "DI"), "SI")
	s.op("MOVQ", "$128", "R9")
	for t := range 4 {
		if tall || t < 2 {
			s.tileMemory("TILESTORED", 0x7a, t, "SI", t/2*16*128+t%2*64, "R9")
		}
	}
}

// beginResult notes what is to be done with the sums of a panel, and goes on to the next: its bias
// is in Z11 and Z12 then, and K3 and K4 are the columns that there are.
func (s *source) beginResult() {
	s.op("MOVQ", mem(amxCols, "DI"), "CX")
	s.pairMasks("K3", "K4")
	s.op("MOVQ", mem(amxBias, "DI"), "R9")
	s.op("VMOVUPS.Z", "(R9)", "K3", "Z11")
	s.op("VMOVUPS.Z", "64(R9)", "K4", "Z12")
	s.op("MOVQ", mem(amxC, "DI"), "CX")
	s.op("MOVQ", "CX", mem(amxTo, "DI"))
	s.op("MOVQ", "SI", mem(amxFrom, "DI"))
	s.op("MOVQ", mem(amxRows, "DI"), "AX")
	s.op("MOVQ", "AX", mem(amxLeft, "DI"))
	s.op("ADDQ", mem(amxBiasStep, "DI"), "R9")
	s.op("MOVQ", "R9", mem(amxBias, "DI"))
	s.op("ADDQ", "$128", "CX")
	s.op("MOVQ", "CX", mem(amxC, "DI"))
	s.op("SUBQ", "$32", mem(amxCols, "DI"))
}

// rowsOfResult adds the bias to the sums of so many rows, or of all that wait if that is 0, takes
// the larger of them and least, and writes the columns that there are.
func (s *source) rowsOfResult(name string, most int) {
	again, done := "row"+name, "rows"+name
	if most > 0 {
		s.op("MOVQ", imm(most), "R10")
	}
	s.label(again)
	s.op("CMPQ", mem(amxLeft, "DI"), "$0")
	s.op("JEQ", done)
	s.op("MOVQ", mem(amxFrom, "DI"), "CX")
	s.op("MOVQ", mem(amxTo, "DI"), "AX")
	for i := range 2 {
		sum, bias, mask := fmt.Sprintf("Z%d", 13+i), fmt.Sprintf("Z%d", 11+i), fmt.Sprintf("K%d", 3+i)
		s.op("VADDPS", mem(64*i, "CX"), bias, sum)
		s.op("VMAXPS", sum, "Z10", sum) // NaN, the second operand, stays
		s.op("VMOVUPS", sum, mask, mem(64*i, "AX"))
	}
	s.op("ADDQ", "$128", "CX")
	s.op("MOVQ", "CX", mem(amxFrom, "DI"))
	s.op("ADDQ", mem(amxCS, "DI"), "AX")
	s.op("MOVQ", "AX", mem(amxTo, "DI"))
	s.op("DECQ", mem(amxLeft, "DI"))
	if most > 0 {
		s.op("DECQ", "R10")
		s.op("JNE", again)
	} else {
		s.op("JMP", again)
	}
	s.label(done)
}

// pairMasks makes masks of two vectors side by side for the columns left, CX, of which 32 count. It
// uses AX.
func (s *source) pairMasks(lower, upper string) {
	s.op("MOVQ", "$32", "AX")
	s.op("CMPQ", "CX", "AX")
	s.op("CMOVQGT", "AX", "CX")
	s.op("MOVQ", "$1", "AX")
	s.op("SHLQ", "CX", "AX")
	s.op("DECQ", "AX")
	s.op("KMOVW", "AX", lower)
	s.op("SHRQ", "$16", "AX")
	s.op("KMOVW", "AX", upper)
}

// Offsets of the fields of kernel.splitRows.
const (
	splitDst = 8 * iota
	splitStep
	splitChunk
	splitSrc
	splitSS
	splitRows
	splitCols
	splitLargest
	nextFields = iota
)

// splitRows writes rows as three parts in bfloat16 that add up to them, in tiles.
func (s *source) splitRows() {
	s.function("splitTile", "r", "splitTile splits up to 32 rows in three parts: see type splitRows.")
	s.eachRow(func() {
		s.op("MOVQ", "R8", "R10")
		s.op("MOVQ", "SI", "R11")
		s.op("MOVQ", mem(splitCols, "DI"), "R12")
		s.label("columns")
		s.splitChunk("R12", "R11", "R10")
		s.op("ADDQ", mem(splitChunk, "DI"), "R10")
		s.op("ADDQ", "$128", "R11")
		s.op("SUBQ", "$32", "R12")
		s.op("JGT", "columns")
	})
}

// splitChunk splits up to 32 numbers of a row. Z9 is what leaves magnitudes, the largest of which Z8
// gathers, as bits. It uses AX, CX, K1, K2 and Z0 to Z4.
func (s *source) splitChunk(cols, src, dst string) {
	s.op("MOVQ", cols, "CX")
	s.pairMasks("K1", "K2")
	for i := range 2 {
		x := fmt.Sprintf("Z%d", i)
		s.op("VMOVUPS.Z", mem(64*i, src), fmt.Sprintf("K%d", i+1), x)
		s.op("VPANDD", x, "Z9", "Z3")
		s.op("VPMAXUD", "Z3", "Z8", "Z8")
	}
	for part := range 3 {
		s.bytes("VCVTNE2PS2BF16 Z0, Z1, Z2", 0x62, 0xf2, 0x77, 0x48, 0x72, 0xd0)
		s.op("VMOVDQU64", "Z2", mem(part*amxPartBytes, dst))
		if part == 2 {
			continue
		}
		s.op("VEXTRACTI64X4", "$1", "Z2", "Y4")
		s.subtract("Y2", "Z3", "Z0")
		s.subtract("Y4", "Z4", "Z1")
	}
}

// stackRows is for few columns, whose parts fit side by side: lower once, middle twice, upper
// three times. Weights are stacked so that one product adds up all six, small ones first.
func (s *source) stackRows() {
	s.function("stackTile", "r", "stackTile is splitTile of up to 16 columns, with parts side by side.")
	s.eachRow(func() {
		s.op("MOVQ", "R8", "R10")
		s.op("MOVQ", mem(splitChunk, "DI"), "R12") // a row of zeros first
		s.op("VPXORQ", "Z3", "Z3", "Z3")
		s.label("zero")
		s.op("VMOVDQU64", "Z3", "(R10)")
		s.op("ADDQ", "$64", "R10")
		s.op("SUBQ", "$64", "R12")
		s.op("JGT", "zero")
		s.op("MOVQ", mem(splitCols, "DI"), "CX")
		s.op("MOVQ", "$1", "AX")
		s.op("SHLQ", "CX", "AX")
		s.op("DECQ", "AX")
		s.op("KMOVW", "AX", "K1")
		s.op("ADDQ", "CX", "CX") // bytes of a part
		s.op("VMOVUPS.Z", "(SI)", "K1", "Z0")
		s.op("VPANDD", "Z0", "Z9", "Z3")
		s.op("VPMAXUD", "Z3", "Z8", "Z8")
		s.op("LEAQ", "(CX)(CX*4)", "R10") // the upper part comes last, and is known first
		s.op("ADDQ", "R8", "R10")
		for part := range 3 {
			s.bytes("VCVTNEPS2BF16 Z0, Y2", 0x62, 0xf2, 0x7e, 0x48, 0x72, 0xd0)
			for range 3 - part {
				s.op("VMOVDQU16", "Y2", "K1", "(R10)")
				s.op("SUBQ", "CX", "R10")
			}
			if part < 2 {
				s.subtract("Y2", "Z3", "Z0")
			}
		}
	})
}

// eachRow goes through the rows: SI is the row, R8 where its parts go, Z8 gathers the largest
// magnitude, as bits.
func (s *source) eachRow(row func()) {
	s.op("MOVQ", mem(splitDst, "DI"), "R8")
	s.op("MOVQ", mem(splitSrc, "DI"), "SI")
	s.op("MOVQ", mem(splitRows, "DI"), "R13")
	s.op("MOVQ", mem(splitLargest, "DI"), "R9")
	s.op("VPBROADCASTD", "magnitude<>(SB)", "Z9")
	s.label("row")
	s.op("VPXORQ", "Z8", "Z8", "Z8")
	row()
	s.storeLargest("R9")
	s.op("ADDQ", "$4", "R9")
	s.op("ADDQ", mem(splitStep, "DI"), "R8")
	s.op("ADDQ", mem(splitSS, "DI"), "SI")
	s.op("DECQ", "R13")
	s.op("JNE", "row")
	s.finish()
}

// storeLargest writes the largest number of Z8, which it uses up.
func (s *source) storeLargest(to string) {
	s.op("VEXTRACTI64X4", "$1", "Z8", "Y3")
	s.op("VPMAXUD", "Y3", "Y8", "Y8")
	s.op("VEXTRACTI128", "$1", "Y8", "X3")
	s.op("VPMAXUD", "X3", "X8", "X8")
	for _, order := range []string{"$0x4e", "$0xb1"} {
		s.op("VPSHUFD", order, "X8", "X3")
		s.op("VPMAXUD", "X3", "X8", "X8")
	}
	s.op("VMOVD", "X8", mem(0, to))
}

// subtract takes values in bfloat16 from values in float32; wide is overwritten.
func (s *source) subtract(half, wide, from string) {
	s.op("VPMOVZXWD", half, wide)
	s.op("VPSLLD", "$16", wide, wide)
	s.op("VSUBPS", wide, from, from)
}

// enabledStates reads what the operating system saves of a processor's state.
func (s *source) enabledStates() {
	s.function("enabledStates", "to", "enabledStates writes the lower half of XCR0.")
	s.op("XORL", "CX", "CX")
	s.op("XGETBV")
	s.op("MOVL", "AX", "(DI)")
	s.op("RET")
}

// bytes writes an instruction that Go's assembler does not know.
func (s *source) bytes(meaning string, code ...int) {
	for i, b := range code {
		if i > 0 {
			s.WriteString("; ")
		} else {
			s.WriteByte('\t')
		}
		fmt.Fprintf(s, "BYTE $0x%02x", b)
	}
	s.line(" // " + meaning)
}

func (s *source) tileLoad(tile int, base string, offset int, stride string) {
	s.tileMemory("TILELOADD", 0x7b, tile, base, offset, stride)
}

// tileMemory moves a tile whose rows are stride bytes apart.
func (s *source) tileMemory(name string, prefix, tile int, base string, offset int, stride string) {
	b, x := registerNumber(base), registerNumber(stride)
	s.bytes(fmt.Sprintf("%s TMM%d, %d(%s)(%s*1)", name, tile, offset, base, stride),
		0xc4, 0x02|1<<7|(1-x>>3)<<6|(1-b>>3)<<5, prefix, 0x4b,
		0x84|tile<<3, // a register, an index and four bytes
		x&7<<3|b&7, offset&255, offset>>8&255, offset>>16&255, offset>>24&255)
}

// tileProduct adds the products of pairs in bfloat16 to sum.
func (s *source) tileProduct(sum, rows, weights int) {
	s.bytes(fmt.Sprintf("TDPBF16PS TMM%d, TMM%d, TMM%d", sum, rows, weights),
		0xc4, 0xe2, 0x02|(15-weights)<<3, 0x5c, 0xc0|sum<<3|rows)
}

// registerNumber is that of the instruction set.
func registerNumber(name string) int {
	for i, n := range []string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13"} {
		if n == name {
			return i
		}
	}
	panic("no register " + name)
}
