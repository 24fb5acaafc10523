package parquet

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// TestCodecs decodes blocks that hold more than there is room for.
func TestCodecs(t *testing.T) {
	if err := boundCodecs(); err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for codec, bomb := range map[compress.Compression][]byte{
		compress.Codecs.Snappy: binary.AppendUvarint(nil, 1<<31),
		compress.Codecs.Zstd:   z.EncodeAll(make([]byte, 1<<20), nil),
	} {
		c, err := compress.GetCodec(codec)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := compress.Decode(c, make([]byte, 100), bomb); err == nil || len(v) > 100 {
			t.Errorf("%s: %d bytes, %v", codec, len(v), err)
		} else if codec == compress.Codecs.Snappy && err.Error() != "the page holds 2147483648 bytes where its header announces 100" {
			t.Error(err)
		}
		text := []byte(strings.Repeat("text ", 20))
		v, err := compress.Decode(c, make([]byte, len(text)), c.Encode(nil, text))
		if err != nil || !bytes.Equal(v, text) {
			t.Errorf("%s: %q, %v", codec, v, err)
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
		{append(ones(mostDepth+2), 0), "columns are nested more than 64 levels deep"},
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
		if err := w.file(); err != nil || !w.bad {
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
