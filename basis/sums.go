package basis

import (
	"fmt"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/wire"
)

// sumsKind is the kind of the sums of all scanners of this package.
const sumsKind = "basis/1"

// part is one thing that a scanner collects: the levels of a column, say. A scanner collects into
// its parts; they are its sums as well.
type part interface {
	tag() partTag
	add(next part) error // next is of the same type
	write(b []byte) []byte
}

// partTag tells parts apart in a file.
type partTag int

const (
	levelsTag partTag = iota + 1
	valuesTag
	pointsTag
	byTag
	cellsTag
	indicatorsTag
	chunksTag
	rangesTag
)

// scanSums are the sums of one scanner.
type scanSums struct {
	term  string
	parts []part
}

func sumsOf(term string, parts []part) (decompose.Sums, error) {
	for _, p := range parts {
		if c, ok := p.(*chunkSums); ok {
			if err := c.complete(); err != nil {
				return nil, fmt.Errorf("term %s: %w", term, err)
			}
		}
	}
	return &scanSums{term, parts}, nil
}

// restore gives a scanner that has seen nothing, with these parts, the sums of all rows.
func restore(term string, parts []part, sums decompose.Sums) error {
	return (&scanSums{term, parts}).Add(sums)
}

// Kind is that of all sums of this package.
func (s *scanSums) Kind() string { return sumsKind }

// Add adds the sums of the same term over other rows.
func (s *scanSums) Add(next decompose.Sums) error {
	n, ok := next.(*scanSums)
	if !ok {
		return fmt.Errorf("term %s: sums of %s do not add to those of a term", s.term, next.Kind())
	}
	if n.term != s.term || len(n.parts) != len(s.parts) {
		return fmt.Errorf("sums of the terms %s (%d) and %s (%d) do not add up: they are of different scans", s.term, len(s.parts), n.term, len(n.parts))
	}
	for i, p := range s.parts {
		if p.tag() != n.parts[i].tag() {
			return fmt.Errorf("term %s: sums of different scans do not add up", s.term)
		}
		if err := p.add(n.parts[i]); err != nil {
			return fmt.Errorf("term %s: %w", s.term, err)
		}
	}
	return nil
}

// MarshalBinary writes the sums for DecodeSums.
func (s *scanSums) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt(wire.AppendText(nil, s.term), len(s.parts))
	for _, p := range s.parts {
		b = p.write(wire.AppendInt(b, p.tag()))
	}
	return b, nil
}

// DecodeSums reads what the scanners of this package's terms have seen of rows: see
// decompose.DecodeSums.
func DecodeSums(kind string, raw []byte) (decompose.Sums, error) {
	if kind != sumsKind {
		return nil, fmt.Errorf("basis: unknown sums %q: this version reads %q", kind, sumsKind)
	}
	r := wire.NewReader(raw)
	s := &scanSums{term: r.Text()}
	for range r.Count(16) {
		p := readPart(r)
		if p == nil || r.Err() != nil {
			break
		}
		s.parts = append(s.parts, p)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("basis: the sums of term %.80q are damaged: %w", s.term, err)
	}
	return s, nil
}

func readPart(r *wire.Reader) part {
	switch tag := partTag(r.AtMost(int(rangesTag))); tag {
	case levelsTag:
		return readLevels(r)
	case valuesTag:
		return readColumn(r)
	case pointsTag:
		return readPointScan(r)
	case byTag:
		return readBy(r)
	case rangesTag:
		return readRanges(r)
	case cellsTag:
		return readCells(r)
	case indicatorsTag:
		return readIndicators(r)
	case chunksTag:
		return readChunks(r)
	default:
		r.Fail("there is no part of type %d", tag)
		return nil
	}
}
