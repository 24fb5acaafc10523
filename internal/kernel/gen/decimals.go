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
	decimalsPowers  // of ten, 128 bits each, the upper 64 first
	decimalsScratch // memory for the eight texts in the making
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
	decimalsAlign   = cacheLine - 1 // what must be there besides
	cacheLine       = 64
)

// Vector registers of decimals, one number a lane.
const (
	decBits   = "Z0"  // of the numbers
	decPower  = "Z1"  // k: the number is s 10^k, s with the places behind its point
	decWidth  = "Z2"  // of the interval that rounds to the number, in 2^-48
	decWhole  = "Z3"  // s before its point
	decBehind = "Z4"  // s behind its point, in 2^-48
	decUpper  = "Z5"  // the first nine digits of 17
	decLower  = "Z6"  // the last eight
	decSigns  = "Z7"  // 1: negative
	decFirst  = "Z8"  // the first digit
	decDigits = "Z9"  // how many there are without zeros at the end
	decPoint  = "Z10" // behind so many digits
	decShape  = "Z11"
	decLength = "Z12"
	decMarks  = "Z13" // first digit, -.0e, sign and two digits of the exponent

	decZero = "Z31"

	decHundredth, decHundred, decTenth, decTen = "Z30", "Z29", "Z28", "Z27" // of words
)

// Masks of decimals.
const (
	decHere = "K1" // there is a number
	decSure = "K2" // of which the text is known
)

// decimalCode writes the kernel of decimal text.
type decimalCode struct {
	*source
	pool *pool
}

// decimalTexts writes what makes shortest decimals of eight float64 at a time, as package decimal does, with 104 bits
// of the powers of ten where that has 128: what is behind the point is known to 2^-48, and less sure.
func decimalTexts(s *source) {
	d := decimalCode{s, &pool{bits: map[string][]uint64{}, size: map[string]int{}}}
	s.function("decimalsAVX512", "d", "decimalsAVX512 writes numbers as text: see type decimalTexts.")
	for _, field := range []struct {
		offset int
		to     string
	}{{decimalsDst, "DX"}, {decimalsValues, "SI"}, {decimalsN, "BX"}, {decimalsPowers, "R8"}} {
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
	d.place()
	s.label("end")
	s.op("MOVQ", "DX", mem(decimalsDst, "DI"))
	s.op("MOVQ", "BX", mem(decimalsN, "DI"))
	s.finish()
	d.pool.write(s, 8)
	d.tables()
}

// constant is where a constant lies.
func (d decimalCode) constant(v uint64) string {
	return fmt.Sprintf("values<>+%d(SB)", d.pool.place([]uint64{v}, vector{isa{bytes: 8}, true}))
}

// with is an instruction with a constant, the same in all lanes; registers are a source and the destination, with a mask between them if
// there is one.
func (d decimalCode) with(name string, v int64, registers ...any) {
	d.op(name+".BCST", append([]any{d.constant(uint64(v))}, registers...)...)
}

// ratio leaves in to the quotient of x, of up to size bits, and a whole number: a product with its reciprocal, rounded up, of 32 bits.
func (d decimalCode) ratio(x string, size int, by uint64, to string) {
	shift := size + bits.Len64(by-1) // so that what is too much does not matter
	d.with("VPMULUDQ", int64((1<<shift+by-1)/by), x, to)
	d.op("VPSRLQ", imm(shift), to, to)
}

// numbers loads up to eight, and finds those that are zero or in the range of the table.
func (d decimalCode) numbers() {
	d.op("MOVL", "$255", "AX")
	d.op("CMPQ", "BX", "$8")
	d.op("JGE", "eight")
	d.op("MOVL", "BX", "CX")
	d.op("BZHIL", "CX", "AX", "AX")
	d.label("eight")
	d.op("KMOVW", "AX", decHere)
	d.op("VMOVDQU64.Z", "(SI)", decHere, decBits)
	d.op("VPSRLQ", "$63", decBits, decSigns)
	d.op("VPSRLQ", "$52", decBits, "Z14")
	d.with("VPANDQ", 0x7ff, "Z14", "Z14")
	d.with("VPSUBQ", decimalsLeast, "Z14", "Z15")
	d.op("VPCMPUQ.BCST", "$2", d.constant(decimalsMost-decimalsLeast), "Z15", decHere, decSure)
	d.with("VPSUBQ", 1075, "Z14", "Z14") // the number is its 53 bits times 2^Z14
}

// scaled multiplies with the power of ten that leaves 16 or 17 digits before the point. With w = 2^q/10^k,
// from 1 to 10, in 2^-48 and in 2^-100, that is (2^52 + fraction) w.
func (d decimalCode) scaled() {
	d.with("VPMULDQ", 1262611, "Z14", decPower)
	d.op("VPSRAQ", "$22", decPower, decPower) // floor(log10(2^q))
	d.with("VPMULDQ", -1741647, decPower, "Z15")
	d.op("VPSRAQ", "$19", "Z15", "Z15") // floor(log2(10^-k))
	d.op("VPADDQ", "Z15", "Z14", "Z15")
	d.op("VPSUBQ", "Z15", decZero, "Z15")
	d.with("VPADDQ", 16-1, "Z15", "Z15") // bits of the upper 64 that are below 2^-48
	d.with("VPADDQ", 12, "Z15", "Z16")   // bits of all 128 that are below 2^-100
	d.op("VPSUBQ", decPower, decZero, "Z17")
	d.with("VPSUBQ", decimalsLeastPower, "Z17", "Z17")
	d.op("VPADDQ", "Z17", "Z17", "Z17")
	for i, to := range []string{"Z18", "Z19"} {
		d.op("VPXORQ", to, to, to)
		d.op("KMOVW", decSure, "K3")
		d.op("VPGATHERQQ", mem(8*i, "R8")+"(Z17*8)", "K3", to)
	}
	d.op("VPSRLVQ", "Z15", "Z18", decWidth)
	d.op("VPSHRDVQ", "Z16", "Z18", "Z19")
	d.with("VPANDQ", 1<<52-1, "Z19", "Z19")
	d.op("VMOVDQA64", decWidth, decWhole)
	d.op("VMOVDQA64", "Z19", decBehind)
	d.op("VPMADD52HUQ", decWidth, decBits, decWhole)
	d.op("VPMADD52HUQ", "Z19", decBits, decBehind)
	d.op("VPMADD52LUQ", decWidth, decBits, decBehind)
	d.op("VPSLLQ", "$4", decWhole, decWhole)
	d.op("VPSRLQ", "$48", decBehind, "Z15")
	d.op("VPADDQ", "Z15", decWhole, decWhole)
	d.with("VPANDQ", 1<<48-1, decBehind, decBehind)
}

// split leaves the last eight digits before the point in decLower and those above in decUpper. 10^8 is
// 5^8 2^8, and what is above 2^8 takes 49 bits.
func (d decimalCode) split() {
	const fives, shift = 390625, 16
	high, low := uint64(1)<<(52+shift-64), uint64(0)
	reciprocal, _ := bits.Div64(high, low, fives)
	d.op("VPSRLQ", "$8", decWhole, "Z14")
	d.op("VPXORQ", decUpper, decUpper, decUpper)
	d.with("VPMADD52HUQ", int64(reciprocal+1), "Z14", decUpper)
	d.op("VPSRLQ", imm(shift), decUpper, decUpper)
	d.with("VPMULUDQ", 1e8, decUpper, "Z14")
	d.op("VPSUBQ", "Z14", decWhole, decLower)
}

// shorten takes a multiple of ten if the interval has one, else the nearest whole number. Nothing
// that is compared is wrong by more than 5.
func (d decimalCode) shorten() {
	const ten, sure = 10 << 48, 8
	unsure := func(difference string) {
		d.with("VPADDQ", sure, difference, "Z17")
		d.op("VPCMPUQ.BCST", "$5", d.constant(2*sure), "Z17", decSure, decSure)
	}
	d.ratio(decLower, 27, 10, "Z14")
	d.with("VPMULUDQ", 10, "Z14", "Z14")
	d.op("VPSUBQ", decLower, "Z14", "Z14") // 0 less the last digit
	d.op("VPSUBQ", "Z14", decZero, "Z15")
	d.op("VPSLLQ", "$48", "Z15", "Z15")
	d.op("VPORQ", decBehind, "Z15", "Z15") // above the multiple of ten
	d.op("VPSRLQ", "$1", decWidth, "Z16")  // half of the interval
	d.op("VPSUBQ", "Z16", "Z15", "Z18")
	unsure("Z18")
	d.op("VPMOVQ2M", "Z18", "K4") // the multiple below
	d.op("VPADDQ", "Z16", "Z15", "Z18")
	d.op("VPSUBQ", "Z18", decZero, "Z18")
	d.with("VPADDQ", ten, "Z18", "Z18")
	unsure("Z18")
	d.op("VPMOVQ2M", "Z18", "K5") // the multiple above
	d.with("VPSUBQ", 1<<47, decBehind, "Z18")
	unsure("Z18")
	d.op("VPSRLQ", "$47", decBehind, "Z18") // 1: the nearest is above
	d.op("VMOVDQA64", "Z14", "K4", "Z18")
	d.with("VPADDQ", 10, "Z14", "K5", "Z18")
	// To powers of two the number below is nearer than that above. They have their texts if they are multiples themselves.
	d.op("VPSLLQ", "$12", decBits, "Z14")
	d.op("VPTESTNMQ", "Z14", "Z14", decSure, "K3")
	d.op("VPCMPUQ.BCST", "$5", d.constant(sure), "Z15", "K3", "K3")
	d.op("KANDNW", decSure, "K3", decSure)
	d.op("VPADDQ", "Z18", decLower, decLower)
	d.op("VPCMPEQQ.BCST", d.constant(1e8), decLower, "K4")
	d.op("VPXORQ", decLower, decLower, "K4", decLower)
	d.with("VPADDQ", 1, decUpper, "K4", decUpper)
}

// seventeen makes 17 digits of 16.
func (d decimalCode) seventeen() {
	d.op("VPCMPUQ.BCST", "$1", d.constant(1e8), decUpper, "K4")
	d.ratio(decLower, 27, 1e7, "Z14")
	d.with("VPMULUDQ", 10, decUpper, "K4", decUpper)
	d.op("VPADDQ", "Z14", decUpper, "K4", decUpper)
	d.with("VPMULUDQ", 10, decLower, "K4", decLower)
	d.with("VPMULUDQ", 1e8, "Z14", "Z14")
	d.op("VPSUBQ", "Z14", decLower, "K4", decLower)
	d.with("VPSUBQ", 1, decPower, "K4", decPower)
}

// first takes the first digit off.
func (d decimalCode) first() {
	d.ratio(decUpper, 30, 1e8, decFirst)
	d.with("VPMULUDQ", 1e8, decFirst, "Z14")
	d.op("VPSUBQ", "Z14", decUpper, decUpper)
}

// characters are the eight digits of x, the first the lowest byte, as in package decimal: it halves
// numbers of 8, 4 and 2 digits.
func (d decimalCode) characters(x string) {
	d.ratio(x, 27, 1e4, "Z14")
	d.with("VPMULUDQ", 1e4, "Z14", "Z15")
	d.op("VPSUBQ", "Z15", x, x)
	d.op("VPSLLQ", "$32", x, x)
	d.op("VPORQ", "Z14", x, x)
	d.op("VPMULHUW", decHundredth, x, "Z14")
	d.op("VPSRLW", "$3", "Z14", "Z14")
	d.op("VPMULLW", decHundred, "Z14", "Z15")
	d.op("VPSUBW", "Z15", x, x)
	d.op("VPSLLD", "$16", x, x)
	d.op("VPORQ", "Z14", x, x)
	d.op("VPMULHUW", decTenth, x, "Z14")
	d.op("VPMULLW", decTen, "Z14", "Z15")
	d.op("VPSUBW", "Z15", x, x)
	d.op("VPSLLW", "$8", x, x)
	d.op("VPORQ", "Z14", x, x)
}

// count counts the digits without zeros at the end.
func (d decimalCode) count() {
	d.op("VPTESTNMQ", decLower, decLower, "K4")
	d.op("VPLZCNTQ", decLower, "Z14")
	d.op("VPLZCNTQ", decUpper, "Z15")
	d.op("VPADDQ", "Z15", "Z14", "K4", "Z14")
	d.op("VPSRLQ", "$3", "Z14", "Z14")
	d.op("VPSUBQ", "Z14", decZero, decDigits)
	d.with("VPADDQ", 17, decDigits, decDigits)
}

// layout finds shapes and lengths.
func (d decimalCode) layout() {
	d.with("VPADDQ", 17, decPower, decPoint)
	d.op("VPADDQ", decBits, decBits, "Z14")
	d.op("VPTESTNMQ", "Z14", "Z14", decHere, "K3") // zeros
	d.op("VPBROADCASTQ", d.constant(1), "K3", decPoint)
	d.op("KORW", "K3", decSure, decSure)

	d.with("VPADDQ", 3, decPoint, decShape)
	d.op("VPCMPUQ.BCST", "$6", d.constant(9), decShape, "K4") // with an exponent
	d.with("VPADDQ", 9, decDigits, "K4", decShape)

	d.op("VPSUBQ", decPoint, decZero, decLength)
	d.with("VPADDQ", 2, decLength, decLength)
	d.with("VPMAXSQ", 1, decLength, decLength)
	d.op("VPADDQ", decDigits, decLength, decLength)
	d.op("VPCMPQ", "$2", decPoint, decDigits, "K3")
	d.op("VMOVDQA64", decPoint, "K3", decLength) // whole numbers
	d.with("VPMINSQ", 2, decDigits, "K4", decLength)
	d.op("VPADDQ", decDigits, decLength, "K4", decLength)
	d.with("VPADDQ", 3, decLength, "K4", decLength)

	d.op("VPADDQ", decSigns, decLength, decLength)
	d.with("VPADDQ", 1, decLength, decLength) // and what follows
	d.op("VPSLLQ", "$5", decShape, decShape)
	d.op("VPSUBQ", decSigns, decShape, decShape)
}

// mark makes the characters beside the last 16 digits.
func (d decimalCode) mark() {
	d.with("VPSUBQ", 1, decPoint, "Z14")
	d.op("VPMOVQ2M", "Z14", "K4")
	d.op("VPABSQ", "Z14", "Z14")
	d.ratio("Z14", 7, 10, "Z15")
	d.with("VPMULUDQ", 10, "Z15", "Z16")
	d.op("VPSUBQ", "Z16", "Z14", "Z14")
	d.op("VPSLLQ", "$48", "Z15", "Z15")
	d.op("VPSLLQ", "$56", "Z14", "Z14")
	d.op("VPORQ", "Z15", "Z14", "Z14")
	d.op("VPORQ", decFirst, "Z14", "Z14")
	d.with("VPADDQ", eightBytes("0-.0e+00"), "Z14", decMarks)
	d.with("VPADDQ", ('-'-'+')<<40, decMarks, "K4", decMarks)
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
	d.op("VPUNPCKLQDQ", decLower, decUpper, "Z14")
	d.op("VPUNPCKHQDQ", decLower, decUpper, "Z15")
	for i, digits := range []string{"Z14", "Z15", "Z14", "Z15"} {
		number := i&1 + i&2*2
		d.op("VMOVDQU64", fmt.Sprintf("lanes<>+%d(SB)", cacheLine*i), "Z16")
		d.op("VPERMI2Q", decMarks, digits, "Z16")
		d.op("VMOVDQU64", "Y16", mem(decimalsSources+32*number, "R9"))
		d.op("VEXTRACTI64X4", "$1", "Z16", mem(decimalsSources+32*(number+2), "R9"))
	}
	d.op("VMOVDQU64", decShape, mem(decimalsShapes, "R9"))
	d.op("VMOVDQU64", decLength, mem(decimalsLengths, "R9"))
}

// place writes texts one behind the other, up to the first number whose text is not known.
func (d decimalCode) place() {
	d.op("KMOVW", decSure, "CX")
	d.op("NOTL", "CX")
	d.op("TZCNTL", "CX", "CX")
	d.op("SUBQ", "CX", "BX")
	for i := range 8 {
		d.op("SUBQ", "$1", "CX")
		d.op("JCS", "end")
		d.op("MOVQ", mem(decimalsShapes+8*i, "R9"), "R13")
		d.op("VMOVDQU", mem(1, "R10")+"(R13*1)", "Y14")
		d.op("VPERMB", mem(decimalsSources+32*i, "R9"), "Y14", "Y14")
		d.op("VMOVDQU", "Y14", "(DX)")
		d.op("ADDQ", mem(decimalsLengths+8*i, "R9"), "DX")
		d.op("MOVB", "$','", "-1(DX)")
	}
	d.op("ADDQ", "$64", "SI")
	d.op("TESTQ", "BX", "BX")
	d.op("JNE", "loop")
}
