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
// end a record. The CSV reader refuses records that use quotes in another way.
type bounded struct {
	ctx   context.Context // of the pass that reads
	r     io.Reader
	comma byte
	limits

	size, delimiters int // of the record so far
	quoted           bool
	err              error
}

// boundError is a record beyond the limits.
type boundError string

func (e boundError) Error() string { return string(e) }

func (b *bounded) Read(p []byte) (int, error) {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.err = err
	within, excess := b.scan(p[:n])
	if excess != nil {
		b.err = excess
	}
	return within, b.err
}

// scan follows the records in chunk and returns how many of its bytes are
// within the limits. Every byte is looked at a bounded number of times.
func (b *bounded) scan(chunk []byte) (int, error) {
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
			return i, boundError(fmt.Sprintf("the row is longer than %d bytes: is a quote left open, or is this not CSV?", b.record))
		case b.delimiters >= b.columns:
			return i, boundError(fmt.Sprintf("the row has more than %d cells: is this CSV?", b.columns))
		}
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
	return len(chunk), nil
}
