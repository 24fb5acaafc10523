package parquet

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// boundCodecs replaces, once, the library's decoders of Snappy and Zstandard by
// ones that never write more than the page's header announces. The library's
// own take as much memory as the compressed bytes ask for, and its only way to
// change that is this table of the process.
var boundCodecs = sync.OnceValue(func() error {
	for _, c := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Zstd} {
		codec, err := compress.GetCodec(c)
		if err != nil {
			return err
		}
		full, ok := codec.(streamingCodec)
		if !ok {
			return fmt.Errorf("data: the Parquet library has changed: %T", codec)
		}
		decode := snappyDecode
		if c == compress.Codecs.Zstd {
			r, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
			if err != nil {
				return err
			}
			decode = func(dst, src []byte) ([]byte, error) { return r.DecodeAll(src, dst[:0:len(dst)]) }
		}
		compress.RegisterCodec(c, boundCodec{full, decode})
	}
	return nil
})

type streamingCodec interface {
	compress.Codec
	compress.StreamingCodec
}

// boundCodec is a codec whose blocks decode into dst or not at all.
type boundCodec struct {
	streamingCodec
	decode func(dst, src []byte) ([]byte, error)
}

// DecodeWithError implements compress.ErrorCodec.
func (c boundCodec) DecodeWithError(dst, src []byte) ([]byte, error) { return c.decode(dst, src) }

// Decode implements compress.Codec; it panics on bad blocks, as the library's do.
func (c boundCodec) Decode(dst, src []byte) []byte {
	v, err := c.decode(dst, src)
	if err != nil {
		panic(err)
	}
	return v
}

func snappyDecode(dst, src []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > len(dst) {
		return nil, fmt.Errorf("the page holds %d bytes where its header announces %d", n, len(dst))
	}
	return snappy.Decode(dst, src)
}
