package main

import (
	"fmt"
	"slices"
)

// code turns a formula into instructions.
type code struct {
	*source
	f      *formula
	pool   *pool
	last   []int          // step that reads a value last
	at     map[value]int  // register of a value, vector or mask
	free   []int          // vector registers
	masks  []int          // mask registers
	pinned map[value]bool // constants that stay in their registers
	dying  []value        // read for the last time by the step in work
	total  int            // vector registers
	peak   int            // most of them in use at once
}

const maskRegisters = 7

// loopOver writes the loop that applies a function to all elements: CX bytes behind SI,
// written behind R8. Vectors with elements that its formula is not meant for take a way round.
func (s *source) loopOver(p *pool, v vector, name string, fn form) {
	f := &formula{v: v}
	result := fn.body(f)
	peak := trial(f, result)
	var detour *formula
	var detoured value
	if f.far != nil {
		detour = &formula{v: v}
		detoured = fn.far(detour, detour.do("near"))
		peak = max(peak, trial(detour, detoured)) + 1
	}
	c := newCode(s, p, f, result, v.registers())
	c.scalars()
	c.pin(v.registers() - peak)
	s.label(name + "_loop")
	c.body()
	if detour != nil {
		c.jumpIfAny(*f.far, name+"_far")
		s.label(name + "_near")
	}
	s.op(v.p("VMOVU"), v.r(c.at[result]), "(R8)(CX*1)")
	s.op("ADDQ", imm(v.bytes), "CX")
	s.op("JLT", name+"_loop")
	s.finish()
	if detour == nil {
		return
	}
	s.label(name + "_far")
	d := newCode(s, p, detour, detoured, v.registers())
	d.reserve(c, result)
	d.body()
	s.op(v.p("VMOVU"), v.r(d.at[detoured]), v.r(c.at[result]))
	s.op("JMP", name+"_near")
}

func (v vector) registers() int {
	if v.bytes == 64 {
		return 32
	}
	return 16
}

// trial is the number of registers that a formula needs with its constants in memory.
func trial(f *formula, result value) int {
	c := newCode(&source{}, &pool{bits: map[string][]uint64{}, size: map[string]int{}}, f, result, 64)
	c.scalars()
	c.body()
	return c.peak
}

func newCode(s *source, p *pool, f *formula, result value, registers int) *code {
	c := &code{source: s, f: f, pool: p, total: registers, at: map[value]int{}, pinned: map[value]bool{}, last: make([]int, len(f.steps))}
	c.last[result] = len(f.steps)
	if f.far != nil {
		c.last[*f.far] = len(f.steps)
	}
	c.needed()
	for i := registers - 1; i >= 0; i-- {
		c.free = append(c.free, i)
	}
	for i := maskRegisters; i > 0; i-- {
		c.masks = append(c.masks, i)
	}
	return c
}

// reserve leaves what another formula keeps in registers alone: its constants, and its result, which
// is the value "near" here.
func (c *code) reserve(other *code, result value) {
	taken := []int{other.at[result]}
	for v := range other.pinned {
		taken = append(taken, other.at[v])
	}
	c.free = slices.DeleteFunc(c.free, func(r int) bool { return slices.Contains(taken, r) })
	for i, s := range c.f.steps {
		if s.op == "near" {
			c.at[value(i)], c.pinned[value(i)] = other.at[result], true
		}
	}
}

// jumpIfAny jumps if a mask is set anywhere.
func (c *code) jumpIfAny(mask value, label string) {
	if c.f.v.bytes == 64 {
		k := fmt.Sprintf("K%d", c.at[mask])
		c.op("KORTESTW", k, k)
	} else {
		c.op(c.f.v.p("VMOVMSK"), c.f.v.r(c.at[mask]), "AX")
		c.op("TESTL", "AX", "AX")
	}
	c.op("JNE", label)
}

// needed finds the last reader of each value that the result, or the mask of far, needs.
func (c *code) needed() {
	for i := len(c.f.steps) - 1; i >= 0; i-- {
		if c.last[i] == 0 {
			continue
		}
		for _, a := range c.f.steps[i].args {
			c.last[a] = max(c.last[a], i)
		}
	}
}

// pin loads as many constants and tables as there are registers for, the most used first.
func (c *code) pin(many int) {
	var all []value
	for i, s := range c.f.steps {
		if c.last[i] > 0 && (s.op == "constant" || s.op == "lookup") {
			all = append(all, value(i))
		}
	}
	use := func(i value) int {
		if c.f.steps[i].op == "lookup" {
			return 3 // whole vectors are dearer to read
		}
		return c.f.steps[i].taken
	}
	slices.SortStableFunc(all, func(i, j value) int { return use(j) - use(i) })
	for _, i := range all[:max(0, min(many, len(all)))] {
		r := c.take()
		c.pinned[c.key(i)] = true
		c.at[c.key(i)] = r
		c.op(c.f.v.p("VMOVU"), c.table(c.f.steps[i].bits), c.f.v.r(r))
	}
}

// scalars keeps the scalars of the loop in registers.
func (c *code) scalars() {
	for i, s := range c.f.steps {
		if s.op == "scalar" {
			c.pinned[value(i)] = true
			c.at[value(i)] = c.take()
			c.op(c.f.v.broadcast(), mem(loopScalar+s.imm*c.f.v.size(), "DI"), c.f.v.r(c.at[value(i)]))
		}
	}
}

// key is where a pinned value is filed: a lookup's table is not its result.
func (c *code) key(i value) value {
	if c.f.steps[i].op == "lookup" {
		return -1 - i
	}
	return i
}

func (c *code) take() int {
	if len(c.free) == 0 {
		panic("out of registers")
	}
	r := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	return r
}

// table is where a constant or table lies in memory, repeated over a vector.
func (c *code) table(bits []uint64) string {
	return fmt.Sprintf("values<>+%d(SB)", c.pool.place(bits, c.f.v))
}

func (c *code) body() {
	for i := range c.f.steps {
		if c.last[i] > 0 {
			c.step(value(i))
		}
	}
}

// inRegister tells whether a value is in a register, not a constant in memory.
func (c *code) inRegister(a value) bool {
	_, ok := c.at[a]
	return ok
}

// reg is the register of a value; constants in memory are loaded into one that is free.
func (c *code) reg(a value) string {
	if !c.inRegister(a) {
		r := c.take()
		c.at[a] = r
		c.op(c.f.v.p("VMOVU"), c.table(c.f.steps[a].bits), c.f.v.r(r))
		c.dying = append(c.dying, a) // the next reader loads it again
		c.peak = max(c.peak, c.used())
	}
	return c.f.v.r(c.at[a])
}

// operand is a register or memory.
func (c *code) operand(a value) string {
	if c.inRegister(a) {
		return c.f.v.r(c.at[a])
	}
	return c.table(c.f.steps[a].bits)
}

func (c *code) used() int { return c.total - len(c.free) }

// dies tells whether a value is read for the last time by step i, so that its register
// may be overwritten.
func (c *code) dies(a value, i value) bool {
	return !c.pinned[a] && (c.last[a] == int(i) || c.f.steps[a].op == "constant")
}

// release frees the registers of what step i reads last.
func (c *code) release(i value) {
	for _, a := range c.f.steps[i].args {
		if c.dies(a, i) {
			c.drop(a)
		}
	}
	for _, a := range c.dying {
		c.drop(a)
	}
	c.dying = nil
}

func (c *code) drop(a value) {
	r, ok := c.at[a]
	if !ok {
		return
	}
	delete(c.at, a)
	if c.f.steps[a].mask && c.f.v.bytes == 64 {
		c.masks = append(c.masks, r)
	} else {
		c.free = append(c.free, r)
	}
}

// into gives the result of step i a register, one of its dying arguments' if there is.
func (c *code) into(i value) string {
	c.release(i)
	r := c.take()
	c.at[i] = r
	c.peak = max(c.peak, c.used())
	return c.f.v.r(r)
}

// commutative lists the instructions whose operands may change places.
var commutative = map[string]bool{"VADD": true, "VMUL": true, "VAND": true, "VOR": true, "VPADD": true}

func (c *code) step(i value) {
	s, v := c.f.steps[i], c.f.v
	switch s.op {
	case "constant":
	case "x":
		c.op(v.p("VMOVU"), "(SI)(CX*1)", c.into(i))
	case "VFMADD", "VFMSUB", "VFNMADD":
		c.fused(i)
	case "less":
		c.less(i)
	case "negative":
		from := c.reg(s.args[0])
		c.release(i)
		c.op(v.integer("VPMOV")+"2M", from, c.mask(i))
	case "pick":
		c.pick(i)
	case "lookup":
		c.lookup(i)
	case "VPSLL", "VPSRL", "VPSHUFD", "VROUND":
		name := map[string]string{"VPSLL": v.integer("VPSLL"), "VPSRL": v.integer("VPSRL"), "VPSHUFD": "VPSHUFD", "VROUND": v.p("VROUND")}[s.op]
		from := c.reg(s.args[0])
		c.op(name, imm(s.imm), from, c.into(i))
	case "scalar", "near": // before this
		if !c.inRegister(i) {
			c.into(i)
		}
	default:
		c.binary(i)
	}
}

// integer is an instruction on integers of the vector's elements.
func (v vector) integer(name string) string {
	if v.double {
		return name + "Q"
	}
	return name + "D"
}

func (c *code) binary(i value) {
	s := c.f.steps[i]
	a, b := s.args[0], s.args[1]
	if !c.inRegister(a) && c.inRegister(b) && commutative[s.op] {
		a, b = b, a
	}
	first := c.reg(a)
	second := c.operand(b)
	name := c.f.v.p(s.op)
	if s.op == "VPADD" {
		name = c.f.v.integer(s.op)
	}
	c.op(name, second, first, c.into(i))
}

// fused picks the form of a multiply-add that overwrites an operand nobody needs any more.
func (c *code) fused(i value) {
	s := c.f.steps[i]
	a, b, add := s.args[0], s.args[1], s.args[2]
	dead := func(x value) bool { return c.inRegister(x) && c.dies(x, i) }
	if !dead(a) && dead(b) || !c.inRegister(a) {
		a, b = b, a
	}
	var to value
	switch {
	case dead(add) && add != a && add != b:
		to = add
		if !c.inRegister(a) {
			c.reg(a)
		}
		c.op(c.f.v.p(s.op+"231"), c.operand(b), c.reg(a), c.reg(add))
	case dead(a) && a != b && a != add:
		to = a
		if !c.inRegister(b) && c.inRegister(add) {
			c.op(c.f.v.p(s.op+"132"), c.operand(b), c.reg(add), c.reg(a))
		} else {
			c.reg(b)
			c.op(c.f.v.p(s.op+"213"), c.operand(add), c.reg(b), c.reg(a))
		}
	default:
		c.reg(a)
		first, second := c.reg(a), c.operand(b)
		from := c.operand(add)
		r := c.take()
		c.op(c.f.v.p("VMOVU"), from, c.f.v.r(r))
		c.op(c.f.v.p(s.op+"231"), second, first, c.f.v.r(r))
		c.peak = max(c.peak, c.used()+1)
		c.release(i)
		c.at[i] = r
		return
	}
	r := c.at[to]
	delete(c.at, to)
	c.release(i)
	c.at[i] = r
	c.peak = max(c.peak, c.used())
}

func (c *code) mask(i value) string {
	r := c.masks[len(c.masks)-1]
	c.masks = c.masks[:len(c.masks)-1]
	c.at[i] = r
	return fmt.Sprintf("K%d", r)
}

func (c *code) less(i value) {
	s := c.f.steps[i]
	first, second := c.reg(s.args[0]), c.operand(s.args[1])
	to := ""
	if c.f.v.bytes == 64 {
		c.release(i)
		to = c.mask(i)
	} else {
		to = c.into(i)
	}
	c.op(c.f.v.p("VCMP"), "$1", second, first, to)
}

func (c *code) pick(i value) {
	s := c.f.steps[i]
	m, yes, no := s.args[0], s.args[1], s.args[2]
	if c.f.v.bytes == 64 {
		k := fmt.Sprintf("K%d", c.at[m])
		first := c.reg(no)
		second := c.operand(yes)
		c.op(c.f.v.p("VBLENDM"), second, first, k, c.into(i))
		return
	}
	k := c.reg(m)
	first := c.reg(no)
	second := c.operand(yes)
	c.op(c.f.v.p("VBLENDV"), k, second, first, c.into(i))
}

func (c *code) lookup(i value) {
	s := c.f.steps[i]
	table := c.table(s.bits)
	if c.pinned[c.key(i)] {
		table = c.f.v.r(c.at[c.key(i)])
	}
	index := c.reg(s.args[0])
	name := "VPERMPS"
	if c.f.v.double && c.f.v.bytes == 64 {
		name = "VPERMPD"
	}
	c.op(name, table, index, c.into(i))
}
