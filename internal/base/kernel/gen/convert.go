package main

// Offsets of the fields of kernel.conversion.
const (
	conversionDst = 8 * iota
	conversionSrc
	conversionN // a multiple of 8, at least 8
)

// conversions move numbers between float64 and float32, eight at a time.
func conversions(s *source) {
	for _, c := range []struct {
		name, comment string
		from, to      int // bytes of a number
		round         bool
	}{
		{"toFloat32AVX2", "toFloat32AVX2 rounds float64 to float32: see type conversion.", 8, 4, true},
		{"toFloat64AVX2", "toFloat64AVX2 widens float32 to float64: see type conversion.", 4, 8, false},
		{"roundAVX2", "roundAVX2 rounds float64 to the numbers that float32 has: see type conversion.", 8, 8, true},
	} {
		s.function(c.name, "c", c.comment)
		s.op("MOVQ", mem(conversionDst, "DI"), "R8")
		s.op("MOVQ", mem(conversionSrc, "DI"), "SI")
		s.op("MOVQ", mem(conversionN, "DI"), "CX")
		s.label("loop")
		for i, half := range []string{"0", "1"} {
			x, y := "X"+half, "Y"+half
			if c.round {
				s.op("VCVTPD2PSY", mem(4*i*c.from, "SI"), x)
			}
			switch {
			case !c.round:
				s.op("VCVTPS2PD", mem(4*i*c.from, "SI"), y)
				s.op("VMOVUPD", y, mem(4*i*c.to, "R8"))
			case c.to == 8:
				s.op("VCVTPS2PD", x, y)
				s.op("VMOVUPD", y, mem(4*i*c.to, "R8"))
			default:
				s.op("VMOVUPS", x, mem(4*i*c.to, "R8"))
			}
		}
		s.op("ADDQ", imm(8*c.from), "SI")
		s.op("ADDQ", imm(8*c.to), "R8")
		s.op("SUBQ", "$8", "CX")
		s.op("JNE", "loop")
		s.finish()
	}
}
