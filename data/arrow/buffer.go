package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/pho-go/pho/data/internal/columnar"
)

// buffer is a run of bytes of the file, or decompressed from it.
type buffer struct {
	r        io.ReaderAt
	at, size int64
	memory   []byte // nil: in the file
	scratch  []byte
	budget   *columnar.Budget
}

// decompress reads the buffer, which begins with its decompressed size; -1 is
// one that was left as it is.
func (b *buffer) decompress(codec int64) error {
	head, err := b.bytes(0, 8)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint64(head))
	if n == -1 {
		b.at, b.size = b.at+8, b.size-8
		return nil
	}
	if n < 0 {
		return errFlat
	}
	packed := b.budget.Allocate(int(b.size - 8))
	if _, err := b.r.ReadAt(packed, b.at+8); err != nil {
		return err
	}
	b.memory = b.budget.Allocate(int(n))
	b.size = n
	switch codec {
	case codecLZ4:
		_, err = io.ReadFull(lz4.NewReader(bytes.NewReader(packed)), b.memory)
	default:
		var z *zstd.Decoder
		if z, err = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err != nil {
			return err
		}
		defer z.Close()
		var got []byte
		if got, err = z.DecodeAll(packed, b.memory[:0:n]); err == nil && int64(len(got)) != n {
			err = io.ErrUnexpectedEOF
		}
	}
	b.budget.Free(packed)
	if err != nil {
		return fmt.Errorf("decompressing: %w", err)
	}
	return nil
}

// bytes is a part of the buffer, valid until the next call.
func (b *buffer) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > b.size-n {
		return nil, fmt.Errorf("bytes %d to %d are outside their buffer of %d: the file is damaged", at, at+n, b.size)
	}
	if b.memory != nil {
		return b.memory[at : at+n], nil
	}
	if int64(len(b.scratch)) < n {
		b.budget.Free(b.scratch)
		b.scratch = nil
		b.scratch = b.budget.Allocate(int(n))
	}
	v := b.scratch[:n]
	if _, err := b.r.ReadAt(v, b.at+at); err != nil {
		return nil, err
	}
	return v, nil
}

// items are n items of the given number of bits, from the given row on.
func (b *buffer) items(row, n, bits int64) ([]byte, error) {
	if row > math.MaxInt64/64 {
		return nil, errFlat
	}
	return b.bytes(row*bits/8, n*bits/8)
}

// bitmap tells the bits of rows row to row+n-1.
func (b *buffer) bitmap(row, n int64) (func(i int) bool, error) {
	first := row / 8
	v, err := b.bytes(first, (row+n+7)/8-first)
	if err != nil {
		return nil, err
	}
	shift := int(row - 8*first)
	return func(i int) bool { return v[(i+shift)/8]>>((i+shift)%8)&1 == 1 }, nil
}
