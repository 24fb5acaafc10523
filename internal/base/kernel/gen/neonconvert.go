package main

// neonConversions move numbers between float64 and float32, eight at a time.
func neonConversions(s *source) {
	v := neon{s, true}
	v.conversion("toFloat32NEON", "toFloat32NEON rounds float64 to float32: see type conversion.", true, false)
	v.conversion("toFloat64NEON", "toFloat64NEON widens float32 to float64: see type conversion.", false, true)
	v.conversion("roundNEON", "roundNEON rounds float64 to the numbers that float32 has: see type conversion.", true, true)
}

// conversion reads eight numbers of float64 and narrows them, or eight of float32; and widens
// them, or not, before it writes them.
func (s neon) conversion(name, comment string, narrow, widen bool) {
	const double, single = 0, 4 // registers
	s.begin(name, "c", comment)
	s.field(conversionDst, "R4")
	s.field(conversionSrc, "R5")
	s.field(conversionN, "R3")
	s.label("loop")
	if narrow {
		for i := range 2 {
			s.op("FLDPQ.P", mem(neonBytes, "R5"), pairOf(double+2*i, double+2*i+1))
			s.emit(convert("fcvtn", single+i, double+2*i))
			s.emit(convert("fcvtn2", single+i, double+2*i+1))
		}
	} else {
		s.op("FLDPQ.P", mem(neonBytes, "R5"), pairOf(single, single+1))
	}
	if widen {
		for i := range 2 {
			s.emit(convert("fcvtl", double+2*i, single+i))
			s.emit(convert("fcvtl2", double+2*i+1, single+i))
			s.op("FSTPQ.P", pairOf(double+2*i, double+2*i+1), mem(neonBytes, "R4"))
		}
	} else {
		s.op("FSTPQ.P", pairOf(single, single+1), mem(neonBytes, "R4"))
	}
	s.op("SUB", "$8", "R3")
	s.op("CBNZ", "R3", "loop")
	s.ret()
}
