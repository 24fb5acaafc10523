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
	pairs  int           // of registers for values
	peak   int           // most of them in use at once
	spare  int           // this register and those after it are free within a step
	x      int           // bytes from the pointer to where the argument is, if it has moved on
}

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
			if o.form(double).body != nil {
				s.op("CMP", imm(len(operations)+i), "R5")
				s.op("BEQ", o.name)
			}
		}
		s.ret()
		for _, o := range functions {
			if o.form(double).body != nil {
				s.label(o.name)
				s.loopOver(p, o.name, o.form(double))
			}
		}
	}
	p.write(src, neonBytes)
}

// loopOver writes the loop that applies a function to all elements. Vectors with elements that
// its formula is not meant for take a way round.
func (s neon) loopOver(p *pool, name string, fn form) {
	v := vector{neonSet, s.double}
	f := &formula{v: v}
	result := fn.body(f)
	pairs, spare := s.trial(f, result), 30
	pinned := 2 * pairs // the first register that is
	var detour *formula
	var detoured value
	if f.far != nil {
		detour = &formula{v: v}
		detoured = fn.far(detour, detour.do("near"))
		pinned = max(pinned, 2*s.trial(detour, detoured))
	}
	c := newNeonCode(s, p, f, result, pairs)
	c.spare = spare
	c.pin(pinned)
	s.label(name + "_loop")
	c.body()
	if detour != nil {
		c.jumpIfAny(c.at[*f.far], c.spare, name+"_far")
		s.label(name + "_near")
	}
	s.op("FSTPQ.P", pairOf(c.at[result], c.at[result]+1), mem(neonBytes, "R4"))
	s.op("SUB", imm(s.lanes()), "R3")
	s.op("CBNZ", "R3", name+"_loop")
	s.ret()
	if detour == nil {
		return
	}
	s.label(name + "_far")
	d := newNeonCode(s, p, detour, detoured, pinned/2)
	d.spare, d.x = 30, -neonBytes
	d.keep(c.at[result])
	d.body()
	s.copy(c.at[result], d.at[detoured])
	s.copy(c.at[result]+1, d.at[detoured]+1)
	s.op("JMP", name+"_near")
}

// trial is the number of pairs of registers that the values of a formula need.
func (s neon) trial(f *formula, result value) int {
	c := newNeonCode(neon{&source{}, s.double}, &pool{bits: map[string][]uint64{}, size: map[string]int{}}, f, result, 32)
	c.body()
	return c.peak
}

// keep leaves alone the registers that hold what near is.
func (c *neonCode) keep(r int) {
	c.free = slices.DeleteFunc(c.free, func(at int) bool { return at == r })
	for i, s := range c.f.steps {
		if s.op == "near" {
			c.at[value(i)] = r
		}
	}
}

// jumpIfAny jumps if a lane of a mask is set. It uses register free, R9 and R10.
func (s neon) jumpIfAny(mask, free int, label string) {
	s.op("VORR", b(mask+1), b(mask), b(free))
	s.op("VMOV", fmt.Sprintf("V%d.D[0]", free), "R9")
	s.op("VMOV", fmt.Sprintf("V%d.D[1]", free), "R10")
	s.op("ORR", "R9", "R10")
	s.op("CBNZ", "R10", label)
}

func newNeonCode(s neon, p *pool, f *formula, result value, pairs int) *neonCode {
	c := &neonCode{neon: s, f: f, pool: p, pairs: pairs, at: map[value]int{}, tables: map[value]int{}, last: make([]int, len(f.steps))}
	for i, st := range f.steps {
		for _, a := range st.args {
			c.last[a] = i
		}
	}
	c.last[result] = len(f.steps)
	if f.far != nil {
		c.last[*f.far] = len(f.steps)
	}
	for i := pairs - 1; i >= 0; i-- {
		c.free = append(c.free, 2*i)
	}
	return c
}

// pin loads scalars, tables and constants into registers that no value needs, the most used
// first.
func (c *neonCode) pin(next int) {
	if 2*c.pairs > c.spare || next > 30 {
		panic(fmt.Sprintf("out of registers: %d pairs, others from %d on", c.pairs, next))
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
		if next+2 <= c.spare {
			c.table(c.f.steps[i].bits, next)
			c.tables[i] = next
			next += 2
		}
	}
	slices.SortStableFunc(constants, func(i, j value) int { return c.f.steps[j].taken - c.f.steps[i].taken })
	for _, i := range constants[:max(0, min(c.spare-next, len(constants)))] {
		c.number(c.f.steps[i].bits, next)
		c.at[i] = next
		next++
	}
}

// number loads 16 bytes of the pool, table 32.
func (c *neonCode) number(bits []uint64, to int) {
	c.op("FMOVQ", mem(c.pool.place(bits, c.f.v), "R8"), f(to))
}

func (c *neonCode) table(bits []uint64, to int) {
	at := c.pool.place(bits, c.f.v)
	c.op("FMOVQ", mem(at, "R8"), f(to))
	c.op("FMOVQ", mem(at+16, "R8"), f(to+1))
}

func (c *neonCode) body() {
	for i := range c.f.steps {
		if c.last[i] > 0 {
			c.step(value(i))
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
		c.number(c.f.steps[a].bits, c.spare+spare)
		return [2]int{c.spare + spare, c.spare + spare}
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

func (c *neonCode) dies(a, i value) bool {
	return c.last[a] == int(i) && !c.single(a) && c.f.steps[a].op != "near"
}

// take gives step i the registers of its argument a, which dies.
func (c *neonCode) take(i, a value) [2]int {
	r := c.at[a]
	delete(c.at, a)
	c.release(i)
	c.at[i] = r
	return [2]int{r, r + 1}
}
