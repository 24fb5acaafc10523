package main

// neonBinary are the instructions for two operands.
var neonBinary = map[string]string{"VADD": "fadd", "VSUB": "fsub", "VMUL": "fmul", "VDIV": "fdiv"}

func (c *neonCode) step(i value) {
	s := c.f.steps[i]
	switch s.op {
	case "constant", "scalar":
	case "x":
		d := c.make(i, false)
		if c.x != 0 {
			c.load(c.x, "R6", d[0], d[1])
		} else {
			c.op("FLDPQ.P", mem(neonBytes, "R6"), pairOf(d[0], d[1]))
		}
	case "near": // before this
		if _, ok := c.at[i]; !ok {
			c.make(i, false)
		}
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
	case "VPSRL":
		a := c.read(s.args[0], 0)
		c.each(c.make(i, false), func(d, h int) { c.op("VUSHR", imm(s.imm), c.all(a[h]), c.all(d)) })
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
	var d [2]int
	m := s.args[0]
	if c.dies(m, i) && m != s.args[1] && m != s.args[2] {
		d = c.take(i, m)
	} else {
		d = c.make(i, true)
	}
	c.each(d, func(d, h int) {
		switch {
		case !c.f.steps[m].mask:
			c.signs(d, mask[h])
		case d != mask[h]:
			c.copy(d, mask[h])
		}
		c.op("VBSL", b(no[h]), b(yes[h]), b(d))
	})
}

// signs makes lanes all ones whose sign bit is set.
func (c *neonCode) signs(d, n int) { c.emit(negativeIntegers(c.double, d, n)) }

// index turns the last bits of integers into the numbers of the bytes of a table's entry: of a
// table of imm bytes.
func (c *neonCode) index(i value) {
	s := c.f.steps[i]
	from := c.read(s.args[0], 0)
	d := c.make(i, false)
	spread, within, shift := []uint64{0, 0x0808080808080808}, uint64(0x0706050403020100), 3
	if !c.double {
		spread, within, shift = []uint64{0, 0x04040404, 0x08080808, 0x0c0c0c0c}, 0x03020100, 2
	}
	bits := uint64((s.imm-1)&^(1<<shift-1)) * 0x01010101 // of the entry
	if c.double {
		bits |= bits << 32
	}
	c.number(spread, c.spare)
	c.each(d, func(d, h int) {
		c.op("VTBL", b(c.spare), "["+b(from[h])+"]", b(d))
		c.op("VSHL", imm(shift), b(d), b(d))
	})
	c.number([]uint64{bits}, c.spare)
	c.each(d, func(d, _ int) { c.op("VAND", b(c.spare), b(d), b(d)) })
	c.number([]uint64{within}, c.spare)
	c.each(d, func(d, _ int) { c.op("VORR", b(c.spare), b(d), b(d)) })
}

func (c *neonCode) lookup(i value) {
	table, ok := c.tables[i]
	if !ok {
		table = c.spare
		c.table(c.f.steps[i].bits, table)
	}
	c.pickBytes(i, table, 2)
}

// pickBytes reads bytes of a table in registers by their numbers.
func (c *neonCode) pickBytes(i value, table, registers int) {
	list := b(table)
	for r := table + 1; r < table+registers; r++ {
		list += ", " + b(r)
	}
	from := c.read(c.f.steps[i].args[0], 0)
	c.each(c.make(i, false), func(d, h int) { c.op("VTBL", b(from[h]), "["+list+"]", b(d)) })
}
