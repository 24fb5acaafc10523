package main

import "fmt"

// Go's assembler for arm64 has few vector instructions on floating-point numbers. The others
// are written as numbers, each next to the text that it stands for: testdata/neon.txt has
// both from another assembler.

// word is an instruction as a number, and as text.
type word struct {
	code uint32
	text string
}

// emit writes an instruction as a number.
func (s *source) emit(w word) {
	s.line(fmt.Sprintf("\tWORD $0x%08x // %s", w.code, w.text))
}

// Codes of instructions on four float32; bit 22 makes it two float64.
const doubleBit = 1 << 22

var (
	// d = n op m
	threeVectors = map[string]uint32{
		"fadd": 0x4e20d400, "fsub": 0x4ea0d400, "fmul": 0x6e20dc00, "fdiv": 0x6e20fc00,
		"fmin": 0x4ea0f400, "fmax": 0x4e20f400,
		"faddp": 0x6e20d400, // sums of neighbours in n, then in m
		// All bits of a lane if true: >, >=, > of absolute values.
		"fcmgt": 0x6ea0e400, "fcmge": 0x6e20e400, "facgt": 0x6ea0ec00,
		"fmla": 0x4e20cc00, "fmls": 0x4ea0cc00, // d += n m, d -= n m, rounded once
	}
	// d = op n
	twoVectors = map[string]uint32{
		"fsqrt": 0x6ea1f800, "fabs": 0x4ea0f800, "fneg": 0x6ea0f800,
		"frintn": 0x4e218800, "frintm": 0x4e219800, // to nearest, down
		"fcvtzs": 0x4ea1b800, // to integers of the same size, towards 0
	}
	// n compared with 0
	zeroComparisons = map[string]uint32{"fcmlt": 0x4ea0e800, "fcmeq": 0x4ea0d800}
	// d = op n[i] for one lane of m
	laneProducts = map[string]uint32{"fmla": 0x4f801000, "fmul": 0x4f809000}
	// Between float64 and what is half as wide.
	narrowings = map[string]struct {
		code     uint32
		to, from string
	}{
		"fcvtl": {0x0e617800, "2d", "2s"}, "fcvtl2": {0x4e617800, "2d", "4s"},
		"fcvtn": {0x0e616800, "2s", "2d"}, "fcvtn2": {0x4e616800, "4s", "2d"},
		"xtn": {0x0ea12800, "2s", "2d"}, "xtn2": {0x4ea12800, "4s", "2d"}, // integers
	}
)

// arrangement names the lanes of a register.
func arrangement(double bool) string {
	if double {
		return "2d"
	}
	return "4s"
}

func precision(code uint32, double bool) uint32 {
	if double {
		return code | doubleBit
	}
	return code
}

// known looks an instruction up.
func known[V any](table map[string]V, name string) V {
	c, ok := table[name]
	if !ok {
		panic("no instruction " + name)
	}
	return c
}

func three(name string, double bool, d, n, m int) word {
	t := arrangement(double)
	return word{precision(known(threeVectors, name), double) | uint32(m<<16|n<<5|d), fmt.Sprintf("%s v%d.%s, v%d.%s, v%d.%s", name, d, t, n, t, m, t)}
}

func two(name string, double bool, d, n int) word {
	t := arrangement(double)
	return word{precision(known(twoVectors, name), double) | uint32(n<<5|d), fmt.Sprintf("%s v%d.%s, v%d.%s", name, d, t, n, t)}
}

func withZero(name string, double bool, d, n int) word {
	t := arrangement(double)
	return word{precision(known(zeroComparisons, name), double) | uint32(n<<5|d), fmt.Sprintf("%s v%d.%s, v%d.%s, #0.0", name, d, t, n, t)}
}

// byLane multiplies n with lane i of m.
func byLane(name string, double bool, d, n, m, i int) word {
	c := precision(known(laneProducts, name), double) | uint32(m<<16|n<<5|d)
	lane := "s"
	if double {
		lane = "d"
		c |= uint32(i) << 11
	} else {
		c |= uint32(i>>1)<<11 | uint32(i&1)<<21
	}
	t := arrangement(double)
	return word{c, fmt.Sprintf("%s v%d.%s, v%d.%s, v%d.%s[%d]", name, d, t, n, t, m, lane, i)}
}

func convert(name string, d, n int) word {
	c := known(narrowings, name)
	return word{c.code | uint32(n<<5|d), fmt.Sprintf("%s v%d.%s, v%d.%s", name, d, c.to, n, c.from)}
}

// negativeIntegers sets all bits of lanes whose sign bit is set.
func negativeIntegers(double bool, d, n int) word {
	t := arrangement(double)
	return word{precision(0x4ea0a800, double) | uint32(n<<5|d), fmt.Sprintf("cmlt v%d.%s, v%d.%s, #0", d, t, n, t)}
}

// clearBits is d = n and not m, bit by bit.
func clearBits(d, n, m int) word {
	return word{0x4e601c00 | uint32(m<<16|n<<5|d), fmt.Sprintf("bic v%d.16b, v%d.16b, v%d.16b", d, n, m)}
}
