package main

import (
	"fmt"
	"slices"
)

// neonSet is what formulas need to know: vectors are as long as AVX2's, and so the steps are
// those of AVX2.
var neonSet = isa{name: neonName, bytes: neonBytes}

// neonCode turns a formula into instructions: values are in two registers side by side,
// constants in one. See code, which does it for amd64.
type neonCode struct {
	neon
	f      *formula
	pool   *pool
	last   []int         // step that reads a value last
	at     map[value]int // a value's first register; a constant's
	tables map[value]int // the first register of a lookup's table
	free   []int         // first registers of pairs
	peak   int           // most pairs in use at once
	pairs  int
}

const (
	neonRegisters = 32
	neonSpare     = 30 // this one and the next are free within a step
)

// neonFunctions writes the functions in both precisions.
func neonFunctions(src *source) {
	p := &pool{bits: map[string][]uint64{}, size: map[string]int{}}
	for _, double := range []bool{true, false} {
		s := neon{src, double}
		s.begin("function"+s.typ(), "l", fmt.Sprintf("function%s runs one function over a loop's values: see type loop.", s.typ()))
		s.field(loopDst, "R4")
		s.field(loopA, "R6")
		s.field(loopN, "R3")
		s.field(loopOp, "R5")
		s.op("MOVD", "$values<>(SB)", "R8")
		for i, o := range functions {
			s.op("CMP", imm(len(operations)+i), "R5")
			s.op("BEQ", o.name)
		}
		s.ret()
		for _, o := range functions {
			s.label(o.name)
			s.loopOver(p, o.name, o.body)
		}
	}
	p.write(src, neonBytes)
}

// loopOver writes the loop that applies a formula, made by body, to all elements.
func (s neon) loopOver(p *pool, name string, body func(f *formula) value) {
	f := &formula{v: vector{neonSet, s.double}}
	result := body(f)
	f.steps[result].taken++
	trial := newNeonCode(neon{&source{}, s.double}, &pool{bits: map[string][]uint64{}, size: map[string]int{}}, f, result, neonRegisters)
	trial.body()
	c := newNeonCode(s, p, f, result, trial.peak)
	c.pin()
	c.label(name + "_loop")
	c.body()
	c.op("SUB", imm(c.lanes()), "R3")
	c.op("CBNZ", "R3", name+"_loop")
	c.ret()
}

func newNeonCode(s neon, p *pool, f *formula, result value, pairs int) *neonCode {
	c := &neonCode{neon: s, f: f, pool: p, pairs: pairs, at: map[value]int{}, tables: map[value]int{}, last: make([]int, len(f.steps))}
	for i, st := range f.steps {
		for _, a := range st.args {
			c.last[a] = i
		}
	}
	c.last[result] = len(f.steps)
	for i := pairs - 1; i >= 0; i-- {
		c.free = append(c.free, 2*i)
	}
	return c
}

// pin loads scalars, tables and constants into registers that no value needs, the most used
// first.
func (c *neonCode) pin() {
	next := 2 * c.pairs
	if next > neonSpare {
		panic("out of registers")
	}
	var constants, lookups []value
	for i, s := range c.f.steps {
		switch s.op {
		case "scalar":
			c.repeatField(loopScalar+s.imm*c.size(), next)
			c.at[value(i)] = next
			next++
		case "constant":
			constants = append(constants, value(i))
		case "lookup":
			lookups = append(lookups, value(i))
		}
	}
	for _, i := range lookups {
		if next+2 <= neonSpare {
			c.table(i, next)
			c.tables[i] = next
			next += 2
		}
	}
	slices.SortStableFunc(constants, func(i, j value) int { return c.f.steps[j].taken - c.f.steps[i].taken })
	for _, i := range constants[:min(neonSpare-next, len(constants))] {
		c.number(c.f.steps[i].bits, next)
		c.at[i] = next
		next++
	}
}

// number loads 16 bytes of the pool, table 32.
func (c *neonCode) number(bits []uint64, to int) {
	c.op("FMOVQ", mem(c.pool.place(bits, c.f.v), "R8"), f(to))
}

func (c *neonCode) table(i value, to int) {
	at := c.pool.place(c.f.steps[i].bits, c.f.v)
	c.op("FMOVQ", mem(at, "R8"), f(to))
	c.op("FMOVQ", mem(at+16, "R8"), f(to+1))
}

func (c *neonCode) body() {
	for i := range c.f.steps {
		c.step(value(i))
		if c.last[i] == len(c.f.steps) {
			c.op("FSTPQ.P", pairOf(c.at[value(i)], c.at[value(i)]+1), mem(neonBytes, "R4"))
		}
	}
}

// single tells whether a value is the same in all lanes, and so in one register.
func (c *neonCode) single(a value) bool {
	op := c.f.steps[a].op
	return op == "constant" || op == "scalar"
}

// read is the register of a value in each half; constants in memory are loaded into the
// spare one that is named.
func (c *neonCode) read(a value, spare int) [2]int {
	r, ok := c.at[a]
	switch {
	case !ok:
		c.number(c.f.steps[a].bits, neonSpare+spare)
		return [2]int{neonSpare + spare, neonSpare + spare}
	case c.single(a):
		return [2]int{r, r}
	}
	return [2]int{r, r + 1}
}

// make gives the result of step i a pair of registers; fresh: not one of its arguments'.
func (c *neonCode) make(i value, fresh bool) [2]int {
	if !fresh {
		c.release(i)
	}
	if len(c.free) == 0 {
		panic("out of registers")
	}
	r := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	c.at[i] = r
	c.peak = max(c.peak, c.pairs-len(c.free))
	if fresh {
		c.release(i)
	}
	return [2]int{r, r + 1}
}

// release frees the registers of what step i reads last.
func (c *neonCode) release(i value) {
	for _, a := range c.f.steps[i].args {
		if r, ok := c.at[a]; ok && c.dies(a, i) {
			delete(c.at, a)
			c.free = append(c.free, r)
		}
	}
}

func (c *neonCode) dies(a, i value) bool { return c.last[a] == int(i) && !c.single(a) }

// take gives step i the registers of its argument a, which dies.
func (c *neonCode) take(i, a value) [2]int {
	r := c.at[a]
	delete(c.at, a)
	c.release(i)
	c.at[i] = r
	return [2]int{r, r + 1}
}

// neonBinary are the instructions for two operands.
var neonBinary = map[string]string{"VADD": "fadd", "VSUB": "fsub", "VMUL": "fmul", "VDIV": "fdiv"}

func (c *neonCode) step(i value) {
	s := c.f.steps[i]
	switch s.op {
	case "constant", "scalar":
	case "x":
		d := c.make(i, false)
		c.op("FLDPQ.P", mem(neonBytes, "R6"), pairOf(d[0], d[1]))
	case "VADD", "VSUB", "VMUL", "VDIV":
		a, b := c.read(s.args[0], 0), c.read(s.args[1], 1)
		c.each(c.make(i, false), func(d, h int) { c.three(neonBinary[s.op], d, a[h], b[h]) })
	case "VFMADD", "VFMSUB", "VFNMADD":
		c.fused(i)
	case "VMIN", "VMAX":
		c.extreme(i)
	case "less":
		a, b := c.read(s.args[0], 0), c.read(s.args[1], 1)
		c.each(c.make(i, false), func(d, h int) { c.three("fcmgt", d, b[h], a[h]) })
	case "pick":
		c.pick(i)
	case "VAND", "VOR", "VPADD":
		a, n := c.read(s.args[0], 0), c.read(s.args[1], 1)
		c.each(c.make(i, false), func(d, h int) { c.bitwise(s.op, d, a[h], n[h]) })
	case "VPSLL":
		a := c.read(s.args[0], 0)
		c.each(c.make(i, false), func(d, h int) { c.op("VSHL", imm(s.imm), c.all(a[h]), c.all(d)) })
	case "VROUND": // down
		a := c.read(s.args[0], 0)
		c.each(c.make(i, false), func(d, h int) { c.two("frintm", d, a[h]) })
	case "index":
		c.index(i)
	case "lookup":
		c.lookup(i)
	default:
		panic("no instruction " + s.op)
	}
}

// each writes instructions for both halves.
func (c *neonCode) each(d [2]int, write func(d, h int)) {
	for h := range 2 {
		write(d[h], h)
	}
}

func (c *neonCode) bitwise(op string, d, n, m int) {
	switch op {
	case "VAND":
		c.op("VAND", b(m), b(n), b(d))
	case "VOR":
		c.op("VORR", b(m), b(n), b(d))
	default:
		c.op("VADD", c.all(m), c.all(n), c.all(d))
	}
}

// fused adds to the register of the addend, or of a copy.
func (c *neonCode) fused(i value) {
	s := c.f.steps[i]
	add := s.args[2]
	a, n := c.read(s.args[0], 0), c.read(s.args[1], 1)
	name := map[string]string{"VFMADD": "fmla", "VFMSUB": "fmla", "VFNMADD": "fmls"}[s.op]
	var d [2]int
	if c.dies(add, i) && add != s.args[0] && add != s.args[1] {
		d = c.take(i, add)
		if s.op == "VFMSUB" {
			c.each(d, func(d, _ int) { c.two("fneg", d, d) })
		}
	} else {
		_, inRegister := c.at[add]
		from := [2]int{}
		if inRegister {
			from = c.read(add, 0)
		}
		d = c.make(i, true)
		c.each(d, func(d, h int) {
			switch {
			case !inRegister && h == 0:
				c.number(c.f.steps[add].bits, d)
			case !inRegister:
				c.copy(d, d-1)
			default:
				c.copy(d, from[h])
			}
		})
		if s.op == "VFMSUB" {
			c.each(d, func(d, _ int) { c.two("fneg", d, d) })
		}
	}
	c.each(d, func(d, h int) { c.three(name, d, a[h], n[h]) })
}

// extreme is the second operand if either is NaN, or both are 0.
func (c *neonCode) extreme(i value) {
	s := c.f.steps[i]
	a, n := c.read(s.args[0], 0), c.read(s.args[1], 1)
	if first := c.f.steps[s.args[0]]; first.op == "constant" && first.bits[0] != 0 {
		name := map[string]string{"VMIN": "fmin", "VMAX": "fmax"}[s.op]
		c.each(c.make(i, false), func(d, h int) { c.three(name, d, a[h], n[h]) })
		return
	}
	c.each(c.make(i, true), func(d, h int) {
		if s.op == "VMIN" {
			c.three("fcmgt", d, n[h], a[h])
		} else {
			c.three("fcmgt", d, a[h], n[h])
		}
		c.op("VBSL", b(n[h]), b(a[h]), b(d))
	})
}

// pick chooses by a mask, or by the sign of a value that is none.
func (c *neonCode) pick(i value) {
	s := c.f.steps[i]
	mask := c.read(s.args[0], 0)
	yes, no := c.read(s.args[1], 0), c.read(s.args[2], 1)
	c.each(c.make(i, true), func(d, h int) {
		if c.f.steps[s.args[0]].mask {
			c.copy(d, mask[h])
		} else {
			c.signs(d, mask[h])
		}
		c.op("VBSL", b(no[h]), b(yes[h]), b(d))
	})
}

// signs makes lanes all ones whose sign bit is set.
func (c *neonCode) signs(d, n int) { c.emit(negativeIntegers(c.double, d, n)) }

// index turns the last bits of integers into the numbers of the bytes of a table's entry.
func (c *neonCode) index(i value) {
	s := c.f.steps[i]
	from := c.read(s.args[0], 0)
	d := c.make(i, false)
	spread, within, shift, bits := []uint64{0, 0x0808080808080808}, uint64(0x0706050403020100), 3, uint64(0x1818181818181818)
	if !c.double {
		spread, within, shift, bits = []uint64{0, 0x04040404, 0x08080808, 0x0c0c0c0c}, 0x03020100, 2, 0x1c1c1c1c
	}
	c.number(spread, neonSpare)
	c.each(d, func(d, h int) {
		c.op("VTBL", b(neonSpare), "["+b(from[h])+"]", b(d))
		c.op("VSHL", imm(shift), b(d), b(d))
	})
	c.number([]uint64{bits}, neonSpare)
	c.each(d, func(d, _ int) { c.op("VAND", b(neonSpare), b(d), b(d)) })
	c.number([]uint64{within}, neonSpare)
	c.each(d, func(d, _ int) { c.op("VORR", b(neonSpare), b(d), b(d)) })
}

func (c *neonCode) lookup(i value) {
	table, ok := c.tables[i]
	if !ok {
		table = neonSpare
		c.table(i, table)
	}
	from := c.read(c.f.steps[i].args[0], 0)
	c.each(c.make(i, false), func(d, h int) {
		c.op("VTBL", b(from[h]), "["+b(table)+", "+b(table+1)+"]", b(d))
	})
}
