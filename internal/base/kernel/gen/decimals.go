package main

import (
	"fmt"
	"math/bits"
)

// Offsets of the fields of kernel.decimalTexts.
const (
	decimalsDst     = 8 * iota
	decimalsValues  // float64
	decimalsN       // of them, at least one; then those left from the first on that has no text here
	decimalsBehind  // a byte for each number, which follows it
	decimalsPowers  // of ten, 128 bits each, the upper 64 first
	decimalsScratch // memory for the texts in the making
)

// What kernel.PowersOfTen begins with, and the biased exponents of the numbers for which it is enough.
const (
	decimalsLeastPower = -65
	decimalsLeast      = 1075 - 210
	decimalsMost       = 1075 + 200
)

// Parts of the scratch, from a whole line of the cache on.
const (
	decimalsSources = 0             // for each number the 24 characters that its text is chosen from, and 8 more bytes
	decimalsShapes  = 8 * 32        // where its shape is in the table
	decimalsLengths = 8*32 + 64     // how many bytes its text and what follows that take
	decimalsEight   = 8*32 + 2*64   // numbers take that
	decimalsAlign   = cacheLine - 1 // what must be there besides
	cacheLine       = 64
)

// Vector registers of decimals, one number a lane; Z7 to Z12 are free for what is needed on the way. Those of the second eight numbers are
// decBeside further, and masks decMasks.
const (
	decBits   = "Z0" // of the numbers
	decPower  = "Z1" // k: the number is s 10^k, s with the places behind its point
	decWidth  = "Z2" // of the interval that rounds to the number, in 2^-48
	decWhole  = "Z3" // s before its point
	decBehind = "Z4" // s behind its point, in 2^-48
	decUpper  = "Z5" // the first nine digits of 17
	decLower  = "Z6" // the last eight

	// When the digits are known:
	decLength = "Z1"
	decFirst  = "Z2"  // the first digit
	decDigits = "Z3"  // how many there are without zeros at the end
	decPoint  = "Z4"  // behind so many digits
	decSigns  = "Z10" // 1: negative
	decShape  = "Z11"
	decMarks  = "Z12" // first digit, -.0e, sign and two digits of the exponent

	decZero = "Z31"

	decHundredth, decHundred, decTenth, decTen = "Z30", "Z29", "Z28", "Z27" // of words

	decSure = "K1" // mask of the numbers of which the text is known; K2 and K3 are free

	decBeside, decMasks = 13, 3
)

// decimalTexts writes what makes shortest decimals of 16 float64 at a time, as package decimal does, with 104 bits
// of the powers of ten where that has 128: what is behind the point is known to 2^-48, and less sure.
func decimalTexts(s *source) {
	d := decimalCode{s, &pool{bits: map[string][]uint64{}, size: map[string]int{}}, false}
	s.function("decimalsAVX512", "d", "decimalsAVX512 writes numbers as text: see type decimalTexts.")
	for _, field := range []struct {
		offset int
		to     string
	}{{decimalsDst, "DX"}, {decimalsValues, "SI"}, {decimalsN, "BX"}, {decimalsBehind, "R11"}, {decimalsPowers, "R8"}} {
		s.op("MOVQ", mem(field.offset, "DI"), field.to)
	}
	s.op("LEAQ", mem(decimalsScratch+decimalsAlign, "DI"), "R9")
	s.op("ANDQ", imm(-cacheLine), "R9")
	s.op("LEAQ", "shapes<>(SB)", "R10")
	s.op("VPXORQ", decZero, decZero, decZero)
	for _, word := range []struct {
		value uint64
		to    string
	}{{5243, decHundredth}, {100, decHundred}, {6554, decTenth}, {10, decTen}} {
		s.op("VPBROADCASTQ", d.constant(word.value*0x0001000100010001), word.to)
	}
	s.label("loop")
	d.numbers()
	d.beside(func(d decimalCode) {
		d.scaled()
		d.split()
		d.shorten()
		d.seventeen()
		d.first()
		d.characters(decUpper)
		d.characters(decLower)
		d.count()
		d.layout()
		d.mark()
		d.sources()
	})
	d.place()
	s.label("end")
	s.op("MOVQ", "DX", mem(decimalsDst, "DI"))
	s.op("MOVQ", "BX", mem(decimalsN, "DI"))
	s.finish()
	d.pool.write(s, 8)
	d.tables()
}

// numbers loads up to 16.
func (d decimalCode) numbers() {
	d.op("MOVL", "$0xffff", "AX")
	d.op("CMPQ", "BX", "$16")
	d.op("JGE", "many")
	d.op("BZHIL", "BX", "AX", "AX")
	d.label("many")
	for i := range 2 {
		d.second = i == 1
		d.op("KMOVW", "AX", "K7")
		d.op("VMOVDQU64.Z", mem(64*i, "SI"), "K7", decBits)
		d.op("SHRL", "$8", "AX")
	}
}

// scaled multiplies with the power of ten that leaves 16 or 17 digits before the point. With w = 2^q/10^k,
// from 1 to 10, in 2^-48 and in 2^-100, that is (2^52 + fraction) w.
func (d decimalCode) scaled() {
	d.op("VPSRLQ", "$52", decBits, "Z7")
	d.with("VPANDQ", 0x7ff, "Z7", "Z7")
	d.with("VPSUBQ", decimalsLeast, "Z7", "Z8")
	d.op("VPCMPUQ.BCST", "$2", d.constant(decimalsMost-decimalsLeast), "Z8", decSure)
	d.with("VPSUBQ", 1075, "Z7", "Z7") // the number is its 53 bits times 2^Z7
	d.with("VPMULDQ", 1262611, "Z7", decPower)
	d.op("VPSRAQ", "$22", decPower, decPower) // floor(log10(2^q))
	d.with("VPMULDQ", -1741647, decPower, "Z8")
	d.op("VPSRAQ", "$19", "Z8", "Z8") // floor(log2(10^-k))
	d.op("VPADDQ", "Z8", "Z7", "Z8")
	d.op("VPSUBQ", "Z8", decZero, "Z8")
	d.with("VPADDQ", 16-1, "Z8", "Z8") // bits of the upper 64 that are below 2^-48
	d.with("VPADDQ", 12, "Z8", "Z9")   // bits of all 128 that are below 2^-100
	d.op("VPSUBQ", decPower, decZero, "Z10")
	d.with("VPSUBQ", decimalsLeastPower, "Z10", "Z10")
	d.op("VPADDQ", "Z10", "Z10", "Z10")
	for i, to := range []string{"Z11", "Z12"} {
		d.op("VPXORQ", to, to, to)
		d.op("KMOVW", decSure, "K2")
		d.op("VPGATHERQQ", mem(8*i, "R8")+"(Z10*8)", "K2", to)
	}
	d.op("VPSRLVQ", "Z8", "Z11", decWidth)
	d.op("VPSHRDVQ", "Z9", "Z11", "Z12")
	d.with("VPANDQ", 1<<52-1, "Z12", "Z12")
	d.op("VMOVDQA64", decWidth, decWhole)
	d.op("VMOVDQA64", "Z12", decBehind)
	d.op("VPMADD52HUQ", decWidth, decBits, decWhole)
	d.op("VPMADD52HUQ", "Z12", decBits, decBehind)
	d.op("VPMADD52LUQ", decWidth, decBits, decBehind)
	d.op("VPSLLQ", "$4", decWhole, decWhole)
	d.op("VPSRLQ", "$48", decBehind, "Z8")
	d.op("VPADDQ", "Z8", decWhole, decWhole)
	d.with("VPANDQ", 1<<48-1, decBehind, decBehind)
}

// split leaves the last eight digits before the point in decLower and those above in decUpper. 10^8 is
// 5^8 2^8, and what is above 2^8 takes 49 bits.
func (d decimalCode) split() {
	const fives, shift = 390625, 16
	high, low := uint64(1)<<(52+shift-64), uint64(0)
	reciprocal, _ := bits.Div64(high, low, fives)
	d.op("VPSRLQ", "$8", decWhole, "Z7")
	d.op("VPXORQ", decUpper, decUpper, decUpper)
	d.with("VPMADD52HUQ", int64(reciprocal+1), "Z7", decUpper)
	d.op("VPSRLQ", imm(shift), decUpper, decUpper)
	d.with("VPMULUDQ", 1e8, decUpper, "Z7")
	d.op("VPSUBQ", "Z7", decWhole, decLower)
}

// shorten takes a multiple of ten if the interval has one, else the nearest whole number. Nothing
// that is compared is wrong by more than 5.
func (d decimalCode) shorten() {
	const ten, sure = 10 << 48, 8
	unsure := func(difference string) {
		d.with("VPADDQ", sure, difference, "Z10")
		d.op("VPCMPUQ.BCST", "$5", d.constant(2*sure), "Z10", decSure, decSure)
	}
	d.ratio(decLower, 27, 10, "Z7")
	d.with("VPMULUDQ", 10, "Z7", "Z7")
	d.op("VPSUBQ", decLower, "Z7", "Z7") // 0 less the last digit
	d.op("VPSUBQ", "Z7", decZero, "Z8")
	d.op("VPSLLQ", "$48", "Z8", "Z8")
	d.op("VPORQ", decBehind, "Z8", "Z8") // above the multiple of ten
	d.op("VPSRLQ", "$1", decWidth, "Z9") // half of the interval
	d.op("VPSUBQ", "Z9", "Z8", "Z11")
	unsure("Z11")
	d.op("VPMOVQ2M", "Z11", "K3") // the multiple below
	d.op("VPADDQ", "Z9", "Z8", "Z11")
	d.op("VPSUBQ", "Z11", decZero, "Z11")
	d.with("VPADDQ", ten, "Z11", "Z11")
	unsure("Z11")
	d.op("VPMOVQ2M", "Z11", "K2") // the multiple above
	d.with("VPSUBQ", 1<<47, decBehind, "Z11")
	unsure("Z11")
	d.op("VPSRLQ", "$47", decBehind, "Z11") // 1: the nearest is above
	d.op("VMOVDQA64", "Z7", "K3", "Z11")
	d.with("VPADDQ", 10, "Z7", "K2", "Z11")
	// To powers of two the number below is nearer than that above. They have their texts if they are multiples themselves.
	d.op("VPSLLQ", "$12", decBits, "Z7")
	d.op("VPTESTNMQ", "Z7", "Z7", decSure, "K2")
	d.op("VPCMPUQ.BCST", "$5", d.constant(sure), "Z8", "K2", "K2")
	d.op("KANDNW", decSure, "K2", decSure)
	d.op("VPADDQ", "Z11", decLower, decLower)
	d.op("VPCMPEQQ.BCST", d.constant(1e8), decLower, "K3")
	d.op("VPXORQ", decLower, decLower, "K3", decLower)
	d.with("VPADDQ", 1, decUpper, "K3", decUpper)
}

// seventeen makes 17 digits of 16.
func (d decimalCode) seventeen() {
	d.op("VPCMPUQ.BCST", "$1", d.constant(1e8), decUpper, "K3")
	d.ratio(decLower, 27, 1e7, "Z7")
	d.with("VPMULUDQ", 10, decUpper, "K3", decUpper)
	d.op("VPADDQ", "Z7", decUpper, "K3", decUpper)
	d.with("VPMULUDQ", 10, decLower, "K3", decLower)
	d.with("VPMULUDQ", 1e8, "Z7", "Z7")
	d.op("VPSUBQ", "Z7", decLower, "K3", decLower)
	d.with("VPSUBQ", 1, decPower, "K3", decPower)
}

// first takes the first digit off.
func (d decimalCode) first() {
	d.ratio(decUpper, 30, 1e8, decFirst)
	d.with("VPMULUDQ", 1e8, decFirst, "Z7")
	d.op("VPSUBQ", "Z7", decUpper, decUpper)
}

// characters are the eight digits of x, the first the lowest byte, as in package decimal: it halves
// numbers of 8, 4 and 2 digits.
func (d decimalCode) characters(x string) {
	d.ratio(x, 27, 1e4, "Z7")
	d.with("VPMULUDQ", 1e4, "Z7", "Z8")
	d.op("VPSUBQ", "Z8", x, x)
	d.op("VPSLLQ", "$32", x, x)
	d.op("VPORQ", "Z7", x, x)
	d.op("VPMULHUW", decHundredth, x, "Z7")
	d.op("VPSRLW", "$3", "Z7", "Z7")
	d.op("VPMULLW", decHundred, "Z7", "Z8")
	d.op("VPSUBW", "Z8", x, x)
	d.op("VPSLLD", "$16", x, x)
	d.op("VPORQ", "Z7", x, x)
	d.op("VPMULHUW", decTenth, x, "Z7")
	d.op("VPMULLW", decTen, "Z7", "Z8")
	d.op("VPSUBW", "Z8", x, x)
	d.op("VPSLLW", "$8", x, x)
	d.op("VPORQ", "Z7", x, x)
}

// count counts the digits without zeros at the end.
func (d decimalCode) count() {
	d.op("VPTESTNMQ", decLower, decLower, "K3")
	d.op("VPLZCNTQ", decLower, "Z7")
	d.op("VPLZCNTQ", decUpper, "Z8")
	d.op("VPADDQ", "Z8", "Z7", "K3", "Z7")
	d.op("VPSRLQ", "$3", "Z7", "Z7")
	d.op("VPSUBQ", "Z7", decZero, decDigits)
	d.with("VPADDQ", 17, decDigits, decDigits)
}

// layout finds shapes and lengths.
func (d decimalCode) layout() {
	d.with("VPADDQ", 17, decPower, decPoint)
	d.op("VPADDQ", decBits, decBits, "Z7")
	d.op("VPTESTNMQ", "Z7", "Z7", "K2") // zeros
	d.op("VPBROADCASTQ", d.constant(1), "K2", decPoint)
	d.op("KORW", "K2", decSure, decSure)

	d.with("VPADDQ", 3, decPoint, decShape)
	d.op("VPCMPUQ.BCST", "$6", d.constant(9), decShape, "K3") // with an exponent
	d.with("VPADDQ", 9, decDigits, "K3", decShape)

	d.op("VPSUBQ", decPoint, decZero, decLength)
	d.with("VPADDQ", 2, decLength, decLength)
	d.with("VPMAXSQ", 1, decLength, decLength)
	d.op("VPADDQ", decDigits, decLength, decLength)
	d.op("VPCMPQ", "$2", decPoint, decDigits, "K2")
	d.op("VMOVDQA64", decPoint, "K2", decLength) // whole numbers
	d.with("VPMINSQ", 2, decDigits, "K3", decLength)
	d.op("VPADDQ", decDigits, decLength, "K3", decLength)
	d.with("VPADDQ", 3, decLength, "K3", decLength)

	d.op("VPSRLQ", "$63", decBits, decSigns)
	d.op("VPADDQ", decSigns, decLength, decLength)
	d.with("VPADDQ", 1, decLength, decLength) // and what follows
	d.op("VPSLLQ", "$5", decShape, decShape)
	d.op("VPSUBQ", decSigns, decShape, decShape)
}

// mark makes the characters beside the last 16 digits.
func (d decimalCode) mark() {
	d.with("VPSUBQ", 1, decPoint, "Z7")
	d.op("VPMOVQ2M", "Z7", "K3")
	d.op("VPABSQ", "Z7", "Z7")
	d.ratio("Z7", 7, 10, "Z8")
	d.with("VPMULUDQ", 10, "Z8", "Z9")
	d.op("VPSUBQ", "Z9", "Z7", "Z7")
	d.op("VPSLLQ", "$48", "Z8", "Z8")
	d.op("VPSLLQ", "$56", "Z7", "Z7")
	d.op("VPORQ", "Z8", "Z7", "Z7")
	d.op("VPORQ", decFirst, "Z7", "Z7")
	d.with("VPADDQ", eightBytes("0-.0e+00"), "Z7", decMarks)
	d.with("VPADDQ", ('-'-'+')<<40, decMarks, "K3", decMarks)
	for _, x := range []string{decUpper, decLower} {
		d.with("VPORQ", eightBytes("00000000"), x, x)
	}
}

// eightBytes are eight characters, the first the lowest byte.
func eightBytes(text string) (w int64) {
	for i := range 8 {
		w |= int64(text[i]) << (8 * i)
	}
	return w
}

// sources puts what belongs to one number side by side. A vector has those of two numbers, one and the next but one.
func (d decimalCode) sources() {
	at := 0
	if d.second {
		at = decimalsEight
	}
	d.op("VPUNPCKLQDQ", decLower, decUpper, "Z7")
	d.op("VPUNPCKHQDQ", decLower, decUpper, "Z8")
	for i, digits := range []string{"Z7", "Z8", "Z7", "Z8"} {
		number := i&1 + i&2*2
		d.op("VMOVDQU64", fmt.Sprintf("lanes<>+%d(SB)", cacheLine*i), "Z9")
		d.op("VPERMI2Q", decMarks, digits, "Z9")
		d.op("VMOVDQU64", "Y9", mem(at+decimalsSources+32*number, "R9"))
		d.op("VEXTRACTI64X4", "$1", "Z9", mem(at+decimalsSources+32*(number+2), "R9"))
	}
	d.op("VMOVDQU64", decShape, mem(at+decimalsShapes, "R9"))
	d.op("VMOVDQU64", decLength, mem(at+decimalsLengths, "R9"))
}

// place writes texts one behind the other, up to the first number whose text is not known.
func (d decimalCode) place() {
	d.op("KUNPCKBW", decSure, fmt.Sprintf("K%d", 1+decMasks), decSure)
	d.op("KMOVW", decSure, "CX")
	d.op("NOTL", "CX")
	d.op("TZCNTL", "CX", "CX")
	d.op("CMPQ", "CX", "BX")
	d.op("CMOVQGT", "BX", "CX")
	d.op("SUBQ", "CX", "BX")
	for i := range 16 {
		at := i / 8 * decimalsEight
		d.op("SUBQ", "$1", "CX")
		d.op("JCS", "end")
		d.op("MOVQ", mem(at+decimalsShapes+8*(i%8), "R9"), "R13")
		d.op("VMOVDQU", mem(1, "R10")+"(R13*1)", "Y7")
		d.op("VPERMB", mem(at+decimalsSources+32*(i%8), "R9"), "Y7", "Y7")
		d.op("VMOVDQU", "Y7", "(DX)")
		d.op("ADDQ", mem(at+decimalsLengths+8*(i%8), "R9"), "DX")
		d.op("MOVBLZX", mem(i, "R11"), "AX")
		d.op("MOVB", "AX", "-1(DX)")
	}
	d.op("ADDQ", "$128", "SI")
	d.op("ADDQ", "$16", "R11")
	d.op("TESTQ", "BX", "BX")
	d.op("JNE", "loop")
}
