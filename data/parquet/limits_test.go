package parquet

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
	"github.com/pierrec/lz4/v4"
)

// TestCodecs decodes blocks that hold what they should, and blocks that hold more
// or less than there is room for.
func TestCodecs(t *testing.T) {
	text := []byte(strings.Repeat("text ", 20))
	zip := map[codec]func([]byte) []byte{
		codecSnappy: func(b []byte) []byte { return snappy.Encode(nil, b) },
		codecZstd: func(b []byte) []byte {
			z, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			return z.EncodeAll(b, nil)
		},
		codecGzip: func(b []byte) []byte {
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			_, _ = z.Write(b)
			_ = z.Close()
			return out.Bytes()
		},
		codecBrotli: func(b []byte) []byte {
			var out bytes.Buffer
			z, err := brrr.NewWriter(&out, 6)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = z.Write(b)
			_ = z.Close()
			return out.Bytes()
		},
		codecLZ4: func(b []byte) []byte {
			out := make([]byte, lz4.CompressBlockBound(len(b)))
			n, err := lz4.CompressBlock(b, out, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out[:n]
		},
	}
	var d inflater
	defer d.close()
	for c, f := range zip {
		for range 2 {
			got := make([]byte, len(text))
			if err := d.inflate(c, got, f(text)); err != nil || !bytes.Equal(got, text) {
				t.Errorf("codec %d: %q, %v", c, got, err)
			}
			bomb := f(make([]byte, 1<<20))
			if r := c.ratio(); r > 0 && int64(1<<20) > r*int64(len(bomb))+64 {
				t.Errorf("codec %d: %d bytes for a MiB are not too few", c, len(bomb))
			}
			for _, n := range []int{100, 1<<20 - 1, 1<<20 + 1} {
				if err := d.inflate(c, make([]byte, n), bomb); err == nil {
					t.Errorf("codec %d: a MiB goes into %d bytes", c, n)
				}
			}
		}
	}
	if err := d.inflate(codecSnappy, make([]byte, 100), binary.AppendUvarint(nil, 1<<31)); err != errLength {
		t.Error(err)
	}
	for c, want := range map[codec]string{
		codecLZO:       "the pages are compressed with LZO: write the file with Zstandard or Snappy",
		codecLZ4Hadoop: "the pages are compressed with the first, unclear form of LZ4: write the file with Zstandard, Snappy or LZ4_RAW",
		77:             "the pages are compressed with method 77, which is not known",
	} {
		if err := d.inflate(c, make([]byte, 1), make([]byte, 1)); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

// TestFooter checks what decides how much a footer makes the decoder take.
func TestFooter(t *testing.T) {
	for _, c := range []struct {
		children []int64
		want     string
	}{
		{[]int64{2, 0, 0}, ""},
		{[]int64{2, 1, 0, 0}, ""},
		{[]int64{0}, ""},
		{nil, "the file has no schema"},
		{[]int64{1 << 31, 0}, "node 0 of the schema announces 2147483648 children: the footer is damaged"},
		{[]int64{1, 0, 0}, "the schema has more than one root"},
		{[]int64{2, 0, -1}, "node 2 of the schema announces -1 children: the footer is damaged"},
		{[]int64{2, 1, 0}, "the schema ends early: the footer is damaged"},
		{append(ones(maxDepth+2), 0), "columns are nested more than 64 levels deep"},
	} {
		got := ""
		if err := checkTree(c.children); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.children, got, c.want)
		}
	}
	// A list of 2^28 schema nodes in a few bytes; a structure in itself, without end.
	list := append([]byte{0x29, 0xfc}, binary.AppendUvarint(nil, 1<<28)...)
	deep := bytes.Repeat([]byte{0x1c}, 1000)
	for _, b := range [][]byte{list, deep, {0x29}, {0x18, 0xff}, {0xff}} {
		w := walker{b: b}
		if w.file(); !w.bad {
			t.Errorf("% x is taken for a footer", b[:1])
		}
	}
}

func ones(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
