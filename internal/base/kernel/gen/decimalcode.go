package main

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
)

// decimalCode writes the kernel of decimal text.
type decimalCode struct {
	*source
	pool   *pool
	second bool // eight of 16 numbers
}

var ownRegister = regexp.MustCompile(`\b[KYZ][0-9]+\b`)

// op writes an instruction for the eight numbers whose turn it is.
func (d decimalCode) op(name string, operands ...any) {
	for i, o := range operands {
		if text, ok := o.(string); ok && d.second {
			operands[i] = ownRegister.ReplaceAllStringFunc(text, func(r string) string {
				many, further := decBeside, decBeside
				if r[0] == 'K' {
					many, further = decMasks+1, decMasks
				}
				if n, _ := strconv.Atoi(r[1:]); n < many {
					return r[:1] + strconv.Itoa(n+further)
				}
				return r
			})
		}
	}
	d.source.op(name, operands...)
}

// beside writes instructions for two times eight numbers in turns: each waits long for the one before, and the processor does not look
// ahead as far as the next eight.
func (d decimalCode) beside(write func(d decimalCode)) {
	var lines [2][]string
	for i := range lines {
		own := decimalCode{&source{}, d.pool, i == 1}
		write(own)
		lines[i] = strings.SplitAfter(own.String(), "\n")
	}
	for i := range lines[0] {
		d.WriteString(lines[0][i] + lines[1][i])
	}
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
