//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// matrixUnits says whether processor and operating system let this process use tiles of
// bfloat16. Linux wants to be asked, once or again; it then keeps room for tiles where signals
// are handled, which C code with small signal stacks has to know.
func matrixUnits() bool {
	x := &cpu.X86
	return best() == avx512 && x.HasAMXTile && x.HasAMXBF16 && x.HasAVX512BF16 && tilesEnabled() && askForTiles()
}

// tilesEnabled says whether the operating system has switched the registers of tiles on, bits 17
// and 18 of XCR0. It is for processors with AVX.
func tilesEnabled() bool {
	const tiles = 3 << 17
	var enabled uint32
	enabledStates(&enabled)
	return enabled&tiles == tiles
}

//go:noescape
func enabledStates(to *uint32)

//go:noescape
func unitBlock3(u *unitBlock)

//go:noescape
func unitBlock3Low(u *unitBlock)

//go:noescape
func unitBlock1(u *unitBlock)

//go:noescape
func unitBlock1Low(u *unitBlock)

//go:noescape
func splitTile(r *splitRows)

//go:noescape
func stackTile(r *splitRows)

func runUnitBlock(u *unitBlock, parts int) {
	switch low := u.rows <= 16; {
	case parts == 3 && low:
		unitBlock3Low(u)
	case parts == 3:
		unitBlock3(u)
	case low:
		unitBlock1Low(u)
	default:
		unitBlock1(u)
	}
}

func runSplit(r *splitRows, stacked bool) {
	if stacked {
		stackTile(r)
	} else {
		splitTile(r)
	}
}
