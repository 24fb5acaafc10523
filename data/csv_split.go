package data

import (
	"bytes"
	"io"

	"github.com/pho-go/pho/internal/base/decimal"
)

// blockBytes is about how much text of a CSV file is parsed at a time.
const blockBytes = 256 << 10

// block is a stretch of a file's text with whole records, and what parse made of it.
type block struct {
	text  []byte    // in memory with room for behind
	lines int       // line ends in it
	tail  io.Reader // what follows and was not cut into blocks; nil if the block is whole

	parsed
	done chan struct{} // closed when it is parsed; nil if nobody waits for that
}

// behind is how many bytes there are behind a block's text: a line end if the text has none, and
// padding for readers of several bytes at a time.
const behind = decimal.Padding + 8

// splitter cuts a text into blocks at ends of records. It follows quotes as RFC 4180 has them, in
// which a line break inside quotes ends no record; where a record uses them in another way, what
// follows may be cut anywhere, but reading ends at that record.
type splitter struct {
	text   io.Reader
	size   int    // of a block, if it has a record's end in it
	record int    // bytes that a record may have
	rest   []byte // read and not yet in a block
	ended  bool
}

// next returns the next block, in b's memory, or nil behind the last. What cannot be cut, a
// record of too many bytes or the place where reading fails, is in a last block with a tail.
func (s *splitter) next(b *block) *block {
	if s.ended {
		return nil
	}
	b.tail = nil
	buf, cut := append(b.text[:0], s.rest...), 0
	for want := max(s.size, len(buf)); cut == 0; want = min(2*want, max(want, s.record)+1) {
		if cap(buf) < want+behind {
			buf = append(make([]byte, 0, want+behind), buf...)
		}
		var err error
		if buf, err = readTo(buf, want, s.text); err != nil {
			s.ended, cut = true, len(buf)
			if err != io.EOF {
				b.tail = failed{err}
			}
			break
		}
		if cut = lastRecord(buf); cut == 0 && len(buf) > s.record {
			s.ended, b.tail, cut = true, s.text, len(buf)
		}
	}
	s.rest = append(s.rest[:0], buf[cut:]...)
	b.text = buf[:cut]
	b.lines = bytes.Count(b.text, newline)
	if len(b.text) == 0 && b.tail == nil {
		return nil
	}
	return b
}

// readTo reads until buf has n bytes.
func readTo(buf []byte, n int, r io.Reader) ([]byte, error) {
	for idle := 0; len(buf) < n; idle++ {
		got, err := r.Read(buf[len(buf):n])
		buf = buf[:len(buf)+got]
		if got > 0 {
			idle = 0
		}
		if err == nil && idle == 100 {
			err = io.ErrNoProgress
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

var newline, carriage, quote = []byte("\n"), []byte("\r"), []byte(`"`)

// lastRecord is the place behind the last line end in text that is not in quotes; 0: there
// is none.
func lastRecord(text []byte) int {
	quoted := bytes.Count(text, quote)%2 == 1
	for i := len(text); i > 0; {
		line, mark := bytes.LastIndexByte(text[:i], '\n'), -1
		if quoted {
			line = -1
		}
		mark = bytes.LastIndexByte(text[max(line, 0):i], '"')
		switch {
		case mark >= 0:
			quoted, i = !quoted, max(line, 0)+mark
		case line >= 0:
			return line + 1
		default:
			return 0
		}
	}
	return 0
}

// failed is a reader that fails.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// replay reads what was read of a text once more, from some place on, and then the rest.
type replay struct {
	text io.Reader
	seen []byte
	err  error // with which reading ended
	back bool  // reading again
}

func (r *replay) Read(p []byte) (n int, err error) {
	if r.back && len(r.seen) > 0 {
		n = copy(p, r.seen)
		r.seen = r.seen[n:]
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.text.Read(p)
	if !r.back {
		r.seen = append(r.seen, p[:n]...)
	}
	return n, r.err
}

// from goes back to a place.
func (r *replay) from(place int64) { r.seen, r.back = r.seen[place:], true }
