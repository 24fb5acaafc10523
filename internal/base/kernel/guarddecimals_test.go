//go:build linux && amd64 && !purego

package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// decimalCases are cases of the assembly of WriteDecimals: of numbers of any bits, which end it early, of which it must not look beyond the
// table, and of those that it writes.
func decimalCases(check func(string, func(*guards))) {
	if !hasDecimals() {
		return
	}
	for n := 1; n < 20; n++ {
		for _, any := range []bool{false, true} {
			check(fmt.Sprintf("%d numbers, of any bits: %t", n, any), func(g *guards) {
				v := numbers[float64](g, n)
				for i := range v {
					if any && g.rng.IntN(4) == 0 {
						v[i] = math.Float64frombits(g.rng.Uint64())
					}
					if any && g.rng.IntN(4) == 0 { // where the table begins or ends
						v[i] = math.Ldexp(v[i], []int{-158, 252}[g.rng.IntN(2)]-32+g.rng.IntN(64))
					}
				}
				powers := place[[2]uint64](g, len(PowersOfTen{}))
				for i := range powers {
					powers[i] = [2]uint64{g.rng.Uint64(), g.rng.Uint64()}
				}
				WriteDecimals(place[byte](g, n*DecimalRoom), v, place[byte](g, n), (*PowersOfTen)(unsafe.Pointer(&powers[0])))
			})
		}
	}
}
