package data

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzCSV: no text makes the reader panic; a second pass yields the same as the
// first, and so does any batch size, and reading record by record in one goroutine.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"", "x\n", "x,y\n1,2\n3,4\n", "x,g\n1,a\nNA,b\n2,a\n", "\xef\xbb\xbfx\r\n1\r\n\r\n2", "x,\"y\"\n1,\"a\n\"\"b\"\n",
		"x\n\n1\n\n\n2\n", "x,x\n", "x,y\n1\n", "x\n1e999\n", "x\n0x1p3\n", "x,y\n1,\"2\n", zip(f, "x\n1\n2\n"), zip(f, "x\n1\n")[:20],
		"x;y\n1;2\n", "x\n1\n1.0\n 1e0\nb\n", "\xff\xfex\n",
	} {
		f.Add([]byte(text), byte(0), uint8(3), false)
		f.Add([]byte(text), byte(';'), uint8(0), true)
	}
	small := defaultLimits()
	small.record, small.columns, small.cells, small.dictionary, small.block = 4096, 20, 1000, 4096, 64
	f.Fuzz(func(t *testing.T, text []byte, comma byte, rows uint8, drop bool) {
		open := func(factors []string, rows int) (*CSV, error) {
			o := &CSVOptions{Delimiter: rune(comma), BatchRows: rows, Factors: factors, Stdin: bytes.NewReader(text), Workers: 1 + rows%2}
			if drop {
				o.NA = NADrop
			}
			return openCSV([]string{"-"}, o, small)
		}
		c, err := open(nil, int(rows))
		if err != nil {
			return
		}
		defer c.Close()
		first := all(c)
		if d := cmp.Diff(first, all(c)); d != "" {
			t.Error("the second pass differs:", d)
		}
		names := c.Schema().Names()
		slow, err := open(nil, int(rows))
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		if d := cmp.Diff(flatten(slow.oneByOne(names)), first); d != "" {
			t.Error("record by record:", d)
		}
		again, err := open(names, 7)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if other := all(again); first.Err == "" && other.Err == "" {
			if !slices.Equal(first.Rows, other.Rows) || cmp.Diff(first.Numbers, other.Numbers) != "" {
				t.Errorf("batches of 7 rows and factors: got\n%v\nwant\n%v", other, first)
			}
		}
		total, dropped := c.Rows()
		if first.Err == "" && total-dropped != int64(len(first.Rows)) {
			t.Errorf("%d rows of which %d dropped, but %d yielded", total, dropped, len(first.Rows))
		}
		for name := range first.Text {
			for _, b := range flattenLevels(c, name) {
				if new(notation).isMissing(b) {
					t.Errorf("column %q has the level %q", name, b)
				}
			}
		}
	})
}

// flattenLevels returns the levels of a column after a pass.
func flattenLevels(s Source, name string) (levels []string) {
	for b, err := range s.Batches(context.Background(), []string{name}) {
		if err != nil {
			break
		}
		c, _ := b.Codes(name)
		levels = c.Levels
	}
	return levels
}
