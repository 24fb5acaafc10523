package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// limits bound what one CSV may take, whatever its files hold.
type limits struct {
	kinds      int   // rows that decide what columns hold
	block      int   // bytes of text that are parsed at a time
	record     int   // bytes of a record
	columns    int   // cells of a record
	cells      int   // cells of a batch
	dictionary int64 // bytes of all levels
}

func defaultLimits() limits {
	return limits{kinds: kindRows, block: blockBytes, record: 16 << 20, columns: 100_000, cells: 8 << 20, dictionary: 1 << 30}
}

// bounded passes bytes on to the CSV reader and fails before a record grows beyond the
// limits. It follows quotes as RFC 4180 has them: a line break inside quotes does not
// end a record. The CSV reader refuses records that use quotes in another way. It also makes
// \n of the \r\n inside quotes, which belong to their cells: so it gets \r\r\n for them.
type bounded struct {
	ctx   context.Context // of the pass that reads
	r     io.Reader
	comma byte
	limits

	size, delimiters int // of the record so far
	quoted           bool
	err              error
	chunk            []byte // read last
	out              []byte // of it, passed on
	left             []byte // of out
	last             byte   // of out
}

// boundError is a record beyond the limits.
type boundError string

func (e boundError) Error() string { return string(e) }

func (b *bounded) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		if b.err == nil {
			b.err = b.ctx.Err()
		}
		if b.err != nil {
			return 0, b.err
		}
		if b.chunk == nil {
			b.chunk = make([]byte, bufferSize)
		}
		n, err := b.r.Read(b.chunk)
		b.err, b.out = err, b.out[:0]
		if excess := b.scan(b.chunk[:n]); excess != nil {
			b.err = excess
		}
		b.left = b.out
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// pass passes on a piece that is in quotes or not.
func (b *bounded) pass(piece []byte) {
	for b.quoted {
		end := bytes.IndexByte(piece, '\n')
		if end < 0 {
			break
		}
		if end > 0 {
			b.last = piece[end-1]
		}
		b.out = append(b.out, piece[:end]...)
		if b.last == '\r' {
			b.out = append(b.out, '\r')
		}
		b.out, b.last, piece = append(b.out, '\n'), '\n', piece[end+1:]
	}
	if len(piece) > 0 {
		b.out, b.last = append(b.out, piece...), piece[len(piece)-1]
	}
}

// scan follows the records in chunk and passes on what is within the limits. Every byte is
// looked at a bounded number of times.
func (b *bounded) scan(chunk []byte) error {
	next := func(c byte, from int) int {
		if i := bytes.IndexByte(chunk[from:], c); i >= 0 {
			return from + i
		}
		return len(chunk)
	}
	quote, newline := next('"', 0), next('\n', 0)
	for i := 0; i < len(chunk); {
		if newline < i {
			newline = next('\n', i)
		}
		// The next piece ends with a quote, a line break or the chunk.
		end := quote
		if !b.quoted {
			end = min(quote, newline)
		}
		stop := min(end+1, len(chunk))
		b.size += stop - i
		if !b.quoted {
			b.delimiters += bytes.Count(chunk[i:stop], []byte{b.comma})
		}
		switch {
		case b.size > b.record:
			return boundError(fmt.Sprintf("the row is longer than %d bytes: is a quote left open, or is this not CSV?", b.record))
		case b.delimiters >= b.columns:
			return boundError(fmt.Sprintf("the row has more than %d cells: is this CSV?", b.columns))
		}
		b.pass(chunk[i:stop])
		switch {
		case end == len(chunk):
		case end == quote:
			b.quoted = !b.quoted
			quote = next('"', stop)
		default:
			b.size, b.delimiters = 0, 0
		}
		i = stop
	}
	return nil
}
