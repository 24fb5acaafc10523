package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// buffer is a run of bytes of the file, or decompressed from it.
type buffer struct {
	r        data.File
	at, size int64
	codec    int64  // of what is in the file, until it is decompressed
	memory   []byte // nil: in the file
	scratch  []byte
	budget   *columnar.Budget
}

// inflater decompresses buffers one after the other. The zero value is ready to use.
type inflater struct {
	zstd   *zstd.Decoder
	lz4    *lz4.Reader
	packed []byte // taken from the budget
}

func (z *inflater) close() {
	if z.zstd != nil {
		z.zstd.Close()
	}
}

// decompress reads a compressed buffer, which begins with its decompressed size; -1 is one
// that was left as it is.
func (b *buffer) decompress(z *inflater) error {
	codec := b.codec
	if codec == codecNone {
		return nil
	}
	b.codec = codecNone
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
	if size := int(b.size - 8); size > len(z.packed) {
		b.budget.Free(z.packed)
		z.packed = nil
		z.packed = b.budget.Allocate(size)
	}
	packed := z.packed[:b.size-8]
	if _, err := b.r.ReadAt(packed, b.at+8); err != nil {
		return err
	}
	b.budget.Take(n)
	b.memory = columnar.FreshBytes(int(n))
	b.size = n
	if err := z.inflate(codec, b.memory, packed); err != nil {
		return fmt.Errorf("decompressing: %w", err)
	}
	return nil
}

// inflate decompresses src, which must fill dst.
func (z *inflater) inflate(codec int64, dst, src []byte) error {
	if codec == codecLZ4 {
		if inflateLZ4(dst, src) {
			return nil
		}
		return z.readLZ4(dst, src)
	}
	if z.zstd == nil {
		var err error
		if z.zstd, err = zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(false)); err != nil {
			return err
		}
	}
	got, err := z.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(got) != len(dst) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// readLZ4 decompresses any frame, and says what is wrong with one.
func (z *inflater) readLZ4(dst, src []byte) error {
	if z.lz4 == nil {
		z.lz4 = lz4.NewReader(nil)
	}
	z.lz4.Reset(bytes.NewReader(src))
	_, err := io.ReadFull(z.lz4, dst)
	return err
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

// doubles are n numbers of eight bytes from the given row on. They are in memory that nothing
// else uses, if every row is asked for once.
func (b *buffer) doubles(row int64, n int, v *columnar.Values) error {
	if row < 0 || row > math.MaxInt64/64 || 8*row > b.size-8*int64(n) {
		return fmt.Errorf("rows %d to %d are outside their buffer of %d bytes: the file is damaged", row, row+int64(n), b.size)
	}
	if b.memory == nil {
		section := data.Section(b.r, b.at+8*row, 8*int64(n))
		defer section.Close()
		return v.ReadDoubles(section, n)
	}
	var ok bool
	if v.Numbers, ok = columnar.View(b.memory[8*row:], n); !ok {
		v.Numbers = v.Room(n)
		columnar.Doubles(v.Numbers, b.memory[8*row:])
	}
	return nil
}

// items are n items of the given number of bits, from the given row on.
func (b *buffer) items(row, n, bits int64) ([]byte, error) {
	if row > math.MaxInt64/64 {
		return nil, errFlat
	}
	return b.bytes(row*bits/8, n*bits/8)
}
