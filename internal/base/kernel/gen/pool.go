package main

import (
	"fmt"
	"slices"
)

// pool is the constants and tables of a file in memory, by their bits and width.
type pool struct {
	keys []string
	bits map[string][]uint64
	size map[string]int
}

// place is where an entry lies, in bytes from the beginning.
func (p *pool) place(bits []uint64, v vector) int {
	key := fmt.Sprintf("%x_%d", bits, v.size())
	if _, ok := p.bits[key]; !ok {
		p.keys = append(p.keys, key)
		p.bits[key], p.size[key] = bits, v.size()
	}
	return v.bytes * slices.Index(p.keys, key)
}

// write writes the pool, every entry repeated to a vector's length.
func (p *pool) write(s *source, bytes int) {
	s.line("")
	for i, key := range p.keys {
		bits := p.bits[key]
		for at := 0; at < bytes; at += 8 {
			word := bits[at/8%len(bits)]
			if p.size[key] == 4 {
				word = bits[at/4%len(bits)] | bits[(at/4+1)%len(bits)]<<32
			}
			s.line(fmt.Sprintf("DATA values<>+%d(SB)/8, $0x%016x", i*bytes+at, word))
		}
	}
	s.line(fmt.Sprintf("GLOBL values<>(SB), RODATA|NOPTR, $%d", len(p.keys)*bytes))
}
