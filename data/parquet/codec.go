package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
	"github.com/pierrec/lz4/v4"
)

// codec is how pages are compressed (CompressionCodec in parquet.thrift).
type codec int64

const (
	codecNone codec = iota
	codecSnappy
	codecGzip
	codecLZO
	codecBrotli
	codecLZ4Hadoop
	codecZstd
	codecLZ4
)

// ratio bounds how many bytes the codec can make of one: more cannot be true. 0:
// there is no bound.
func (c codec) ratio() int64 {
	switch c {
	case codecSnappy: // a copy of 64 bytes takes 3
		return 22
	case codecLZ4: // a byte adds 255 to a length
		return 256
	case codecGzip: // two bits for 258 bytes
		return 1032
	}
	return 0
}

// inflater decompresses the pages of one pass.
type inflater struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
}

func (d *inflater) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

var errLength = errors.New("a page holds more or fewer bytes than its header announces")

// inflate decompresses src, which must fill dst and not more.
func (d *inflater) inflate(c codec, dst, src []byte) error {
	switch c {
	case codecSnappy:
		if n, err := snappy.DecodedLen(src); err != nil {
			return err
		} else if n != len(dst) {
			return errLength
		}
		_, err := snappy.Decode(dst, src)
		return err
	case codecLZ4:
		return exactly(len(dst))(lz4.UncompressBlock(src, dst))
	case codecZstd:
		if d.zstd == nil {
			r, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(false), zstd.WithDecoderConcurrency(1))
			if err != nil {
				return err
			}
			d.zstd = r
		}
		v, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
		return exactly(len(dst))(len(v), err)
	case codecGzip:
		var err error
		if d.gzip == nil {
			d.gzip, err = gzip.NewReader(bytes.NewReader(src))
		} else {
			err = d.gzip.Reset(bytes.NewReader(src))
		}
		if err != nil {
			return err
		}
		return fill(dst, d.gzip)
	case codecBrotli:
		return fill(dst, brrr.NewReader(bytes.NewReader(src)))
	case codecLZ4Hadoop:
		return errors.New("the pages are compressed with the first, unclear form of LZ4: write the file with Zstandard, Snappy or LZ4_RAW")
	case codecLZO:
		return errors.New("the pages are compressed with LZO: write the file with Zstandard or Snappy")
	}
	return fmt.Errorf("the pages are compressed with method %d, which is not known", int64(c))
}

func exactly(want int) func(int, error) error {
	return func(n int, err error) error {
		if err == nil && n != want {
			err = errLength
		}
		return err
	}
}

// fill reads dst and makes sure that r ends behind it.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	var more [1]byte
	for {
		n, err := r.Read(more[:])
		switch {
		case n > 0:
			return errLength
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
