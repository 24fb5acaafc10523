package main

import "fmt"

// Offsets of the fields of kernel.treeWalk.
const (
	treesX       = 8 * iota // rows of float32
	treesStride             // bytes between them
	treesRows               // at least one
	treesSums               // a float64 for each row
	treesNodes              // of the first group: for each node the thresholds of all trees, then their columns
	treesLeaves             // of the first group: for each tree its leaves, float64
	treesGroups             // at least one
	treesDepth              // 1 to mostDepth
	treesRounded            // 1: sums are of float32; else 0
	treesEnds               // the leaf that a row comes to in each tree of a group
)

const (
	treesBeside = 16 // kernel.treesBeside
	mostDepth   = 6  // kernel.MostTreeDepth
)

var f32 = vector{avx512, false}

// trees writes the walks of a row down sixteen trees side by side. What differs is how columns
// of the row, in a register, become its numbers in them.
func trees(s *source) {
	s.treeWalk("treesAVX512", "treesAVX512 adds what rows of 32 columns come to: see type treeWalk.", func() {
		s.load(f32, "(SI)", 0, false)
		s.load(f32, "64(SI)", 1, false)
	}, func(columns int) {
		s.op("VPERMI2PS", "Z1", "Z0", f32.r(columns))
	})
	s.treeWalk("wideTreesAVX512", "wideTreesAVX512 adds what rows of any number of columns come to.", func() {}, func(columns int) {
		s.op("KXNORW", "K7", "K7", "K7")
		s.zero(f32, 0)
		s.op("VGATHERDPS", fmt.Sprintf("(SI)(%s*4)", f32.r(columns)), "K7", "Z0")
		s.op("VMOVAPS", "Z0", f32.r(columns))
	})
}

const (
	treeEnd  = 2 // registers: the leaf, as far as it is known,
	treeLess = 3 // -1,
	treeFree = 4 // and the first one that is free
)

func (s *source) treeWalk(name, comment string, begin func(), look func(columns int)) {
	s.function(name, "w", comment)
	s.op("MOVQ", mem(treesNodes, "DI"), "R8")
	s.op("MOVQ", mem(treesLeaves, "DI"), "R9")
	s.op("MOVQ", mem(treesGroups, "DI"), "R10")
	s.op("MOVQ", mem(treesStride, "DI"), "BX")
	s.op("MOVQ", mem(treesDepth, "DI"), "AX")
	s.op("MOVQ", mem(treesRounded, "DI"), "R12")
	s.op("LEAQ", mem(treesEnds+f32.bytes-1, "DI"), "R11") // a whole line of the cache
	s.op("ANDQ", imm(-f32.bytes), "R11")
	s.op("VPTERNLOGD", "$255", f32.r(treeLess), f32.r(treeLess), f32.r(treeLess)) // -1
	for depth := 1; depth < mostDepth; depth++ {
		s.op("CMPQ", "AX", imm(depth))
		s.op("JEQ", fmt.Sprintf("groups%d", depth))
	}
	for depth := mostDepth; depth > 0; depth-- {
		s.label(fmt.Sprintf("groups%d", depth))
		s.op("MOVQ", mem(treesX, "DI"), "SI")
		s.op("MOVQ", mem(treesSums, "DI"), "DX")
		s.op("MOVQ", mem(treesRows, "DI"), "CX")
		s.label(fmt.Sprintf("rows%d", depth))
		begin()
		s.walkDown(depth, look)
		s.op("TESTQ", "R12", "R12")
		s.op("JNE", fmt.Sprintf("rounded%d", depth))
		s.addLeaves(depth)
		s.label(fmt.Sprintf("added%d", depth))
		s.op("ADDQ", "BX", "SI")
		s.op("ADDQ", "$8", "DX")
		s.op("DECQ", "CX")
		s.op("JNE", fmt.Sprintf("rows%d", depth))
		s.op("ADDQ", imm((1<<depth-1)*2*f32.bytes), "R8")
		s.op("ADDQ", imm(treesBeside*8<<depth), "R9")
		s.op("DECQ", "R10")
		s.op("JNE", fmt.Sprintf("groups%d", depth))
		s.finish()
		s.label(fmt.Sprintf("rounded%d", depth))
		s.addRounded(depth)
		s.op("JMP", fmt.Sprintf("added%d", depth))
	}
}

// walkDown finds the leaves of complete trees that a row comes to. Mask l+1 says in which trees
// it goes right at level l.
func (s *source) walkDown(depth int, look func(columns int)) {
	s.zero(f32, treeEnd)
	for l := range depth {
		thresholds, columns := treeFree, treeFree+1
		s.atNode(l, l-1, 0, 0, thresholds)
		s.atNode(l, l-1, 0, f32.bytes, columns)
		look(columns)
		mask := fmt.Sprintf("K%d", l+1)
		s.op("VCMPPS", "$1", f32.r(columns), f32.r(thresholds), mask) // less
		s.op("VPADDD", f32.r(treeEnd), f32.r(treeEnd), f32.r(treeEnd))
		s.op("VPSUBD", f32.r(treeLess), f32.r(treeEnd), mask, f32.r(treeEnd))
	}
	s.op("VMOVDQU32", f32.r(treeEnd), "(R11)")
}

// atNode leaves in a register, for each tree, what the node of level l that the row is at has at
// an offset: of the nodes whose place in the level ends with the bits of place, after the ways
// through levels 0 to last, which the masks tell.
func (s *source) atNode(l, last, place, offset, to int) {
	node := func(place int) string { return mem((1<<l-1+place)*2*f32.bytes+offset, "R8") }
	switch {
	case last < 0:
		s.load(f32, node(place), to, false)
	case last == 0:
		s.load(f32, node(place), to, false)
		s.op("VMOVUPS", node(place+1<<(l-1)), "K1", f32.r(to))
	default:
		s.atNode(l, last-1, place, offset, to)
		s.atNode(l, last-1, place+1<<(l-1-last), offset, to+2)
		s.op("VMOVAPS", f32.r(to+2), fmt.Sprintf("K%d", last+1), f32.r(to))
	}
}

// addLeaves adds what the leaves have to the row's sum, in order of trees.
func (s *source) addLeaves(depth int) {
	s.op("VMOVSD", "(DX)", "X4")
	for t := range treesBeside {
		s.op("MOVL", mem(4*t, "R11"), "AX")
		s.op("VADDSD", fmt.Sprintf("%d(R9)(AX*8)", t*8<<depth), "X4", "X4")
	}
	s.op("VMOVSD", "X4", "(DX)")
}

// addRounded is addLeaves in float32. Of what is added and the sum only the next sum waits for the last one.
func (s *source) addRounded(depth int) {
	s.op("VMOVSD", "(DX)", "X4")
	s.op("VCVTSD2SS", "X4", "X4", "X4")
	for t := range treesBeside {
		s.op("MOVL", mem(4*t, "R11"), "AX")
		s.op("VCVTSD2SS", fmt.Sprintf("%d(R9)(AX*8)", t*8<<depth), "X3", "X5")
		s.op("VADDSS", "X5", "X4", "X4")
	}
	s.op("VCVTSS2SD", "X4", "X4", "X4")
	s.op("VMOVSD", "X4", "(DX)")
}
