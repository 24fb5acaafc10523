package main

import (
	"fmt"
	"strings"
)

// digits name the digits of a number, and placed is where its characters are: the last 16, then the
// first and what else there is.
const (
	digits = "ABCDEFGHIJKLMNOPQ"
	placed = "BCDEFGHIJKLMNOPQA-.0e+xy"
)

// tables writes the lanes of sources and the shapes of texts.
func (d decimalCode) tables() {
	d.line("")
	for i := range 4 {
		a, m := uint64(i&2*2), uint64(8+i&1+i&2*2) // lanes of digits and of marks
		for j, lane := range []uint64{a, a + 1, m, m, a + 2, a + 3, m + 2, m + 2} {
			d.line(fmt.Sprintf("DATA lanes<>+%d(SB)/8, $%d", cacheLine*i+8*j, lane))
		}
	}
	d.line(fmt.Sprintf("GLOBL lanes<>(SB), RODATA|NOPTR, $%d", 4*cacheLine))
	d.line("")
	var all []string
	for point := -3; point <= 6; point++ {
		if point <= 0 {
			all = append(all, "0."+"000"[:-point]+digits)
		} else {
			all = append(all, digits[:point]+"."+digits[point:])
		}
	}
	for n := 1; n <= len(digits); n++ {
		all = append(all, strings.TrimSuffix(digits[:1]+"."+digits[1:n], ".")+"e+xy")
	}
	for i, shape := range append(all, "") {
		row := fmt.Sprintf("-%-31s", shape)
		for at := 0; at < len(row); at += 8 {
			var w uint64
			for j := range 8 {
				w |= uint64(max(strings.IndexByte(placed, row[at+j]), 0)) << (8 * j)
			}
			d.line(fmt.Sprintf("DATA shapes<>+%d(SB)/8, $0x%016x", 32*i+at, w))
		}
	}
	d.line(fmt.Sprintf("GLOBL shapes<>(SB), RODATA|NOPTR, $%d", 32*(len(all)+1)))
}
