// Package decimal writes float64 numbers as decimal text and reads them back: the same
// bytes and the same bits as package strconv, in less time for the numbers that data hold.
package decimal

import "encoding/binary"

// zeros are eight characters '0'.
const zeros = 0x3030303030303030

// load is eight bytes, the first of them the lowest.
func load(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// store writes eight bytes, the lowest first.
func store(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// log2Pow10 is the largest e with 2^e <= 10^k, for the powers in the table.
func log2Pow10(k int) int { return k * 1741647 >> 19 }

// tens are the powers of ten that fit into 64 bits.
var tens = [20]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}
