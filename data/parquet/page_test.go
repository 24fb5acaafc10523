package parquet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/pho-go/pho/data/internal/columnar/columnartest"
)

// crafted is a file of one column of numbers and one page, with any header.
func crafted(t *testing.T, rows int64, body []byte, header func(e *encoder)) string {
	t.Helper()
	var e encoder
	header(&e)
	e.end()
	var out bytes.Buffer
	w, err := NewWriter(&out, []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	chunk := append(e.b, body...)
	w.groups = []writtenGroup{{rows, []writtenChunk{{codec: codecSnappy, offset: 4, size: int64(len(chunk)), inflated: int64(len(chunk))}}}}
	for _, b := range [][]byte{chunk, w.footer()} {
		if err := w.put(b); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPages reads pages with headers that contradict their content.
func TestPages(t *testing.T) {
	ten := appendLevels(nil, []bool{true, true, true, true, true, true, true, true, true, true})
	values := append(append([]byte{byte(len(ten)), 0, 0, 0}, ten...), make([]byte, 80)...)
	big := append(append([]byte{byte(len(ten)), 0, 0, 0}, ten...), make([]byte, 200_000)...)
	for _, c := range []struct {
		name                  string
		rows                  int64
		body                  []byte
		size, packed, present int64
		encoding              encoding
		sum                   int64
		want                  string
	}{
		{"what it says", 10, values, 0, 0, 10, plain, 0, ""},
		{"a bomb", 10, values, 1 << 30, 0, 10, plain, 0, "a page holds 1073741824 bytes; 268435456 are allowed: write the file with smaller pages"},
		{"a page that cannot be so large", 10, values, 200 << 20, 0, 10, plain, 0, errLength.Error()},
		{"a page of another size", 10, values, int64(len(values)) + 1, 0, 10, plain, 0, errLength.Error()},
		{"beyond the column", 10, values, 0, 1000, 10, plain, 0, "a page should take 1000 bytes, of which "},
		{"too many values", 9, values, 0, 0, 10, plain, 0, "a page has 10 values where 9 rows are left: the file is damaged"},
		{"too few values", 11, values, 0, 0, 10, plain, 0, errShort.Error()},
		{"a value less", 10, values[:len(values)-1], 0, 0, 10, plain, 0, errShort.Error()},
		{"a negative number", 10, values, 0, 0, -1, plain, 0, errPage.Error()},
		{"a checksum", 10, values, 0, 0, 10, plain, 1, "the checksum of a page does not fit: the file is damaged"},
		{"no dictionary", 10, values, 0, 0, 10, rleDictionary, 0, errValue.Error()},
		{"an unknown encoding", 10, values, 0, 0, 10, 77, 0, "values of type double in encoding 77 cannot be read"},
		{"more memory than allowed", 10, big, 0, 0, 10, plain, 0, "of which 100000 are allowed: write the file with smaller row groups, batches or pages"},
	} {
		packed := snappy.Encode(nil, c.body)
		if c.size == 0 {
			c.size = int64(len(c.body))
		}
		if c.packed == 0 {
			c.packed = int64(len(packed))
		}
		path := crafted(t, c.rows, packed, func(e *encoder) {
			e.integer(1, typeI32, pageData)
			e.integer(2, typeI32, c.size)
			e.integer(3, typeI32, c.packed)
			if c.sum != 0 {
				e.integer(4, typeI32, c.sum)
			}
			e.structure(5, func() {
				e.integer(1, typeI32, c.present)
				e.integer(2, typeI32, int64(c.encoding))
				e.integer(3, typeI32, int64(rle))
				e.integer(4, typeI32, int64(rle))
			})
		})
		s, err := Open([]string{path}, &Options{Memory: 100_000})
		if err != nil {
			t.Fatal(c.name, err)
		}
		var got error
		columnartest.Bounded(t, len(packed), func() (numbers int) {
			for _, got = range s.Batches(context.Background(), []string{"x"}) {
			}
			return 0
		})
		prefix := `data: "` + path + `", column "x": `
		if c.want == "" && got != nil || c.want != "" && (got == nil || !strings.HasPrefix(got.Error(), prefix) || !strings.Contains(got.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// TestNullBomb reads a page of a few bytes that says it is 2^31-1 nulls: what it
// takes is a batch at a time.
func TestNullBomb(t *testing.T) {
	const n = 1<<31 - 1
	levels := []byte{6, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0}
	packed := snappy.Encode(nil, levels)
	path := crafted(t, n, packed, func(e *encoder) {
		e.integer(1, typeI32, pageData)
		e.integer(2, typeI32, int64(len(levels)))
		e.integer(3, typeI32, int64(len(packed)))
		e.structure(5, func() {
			e.integer(1, typeI32, n)
			e.integer(2, typeI32, int64(plain))
			e.integer(3, typeI32, int64(rle))
			e.integer(4, typeI32, int64(rle))
		})
	})
	s, err := Open([]string{path}, &Options{Memory: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	columnartest.Bounded(t, 1, func() (numbers int) {
		for _, err := range s.Batches(context.Background(), []string{"x"}) {
			if err == nil || !strings.Contains(err.Error(), `row 1, column "x": cell "null" marks a missing value`) {
				t.Error(err)
			}
		}
		return 0
	})
}
