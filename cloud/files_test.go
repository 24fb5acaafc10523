package cloud_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/data/parquet"
)

// table is n rows as CSV and as Parquet.
func table(t testing.TB, n int) (csv, pq []byte) {
	t.Helper()
	const columns = 6
	var text, binary bytes.Buffer
	values := make([][]float64, columns)
	names := make([]string, columns)
	for j := range columns {
		names[j] = fmt.Sprint("x", j)
		values[j] = make([]float64, n)
		for i := range values[j] {
			values[j][i] = math.Sin(float64(i*columns + j))
		}
	}
	text.WriteString(strings.Join(names, ",") + "\n")
	for i := range n {
		for j := range columns {
			fmt.Fprint(&text, values[j][i])
			text.WriteByte(",\n"[j/(columns-1)])
		}
	}
	w, err := parquet.NewWriter(&binary, names)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(values), w.Close()); err != nil {
		t.Fatal(err)
	}
	return text.Bytes(), binary.Bytes()
}

// sums adds a column up and counts rows; the first row's number.
func sums(t testing.TB, s data.Source, column string) (rows int, first int64, sum float64) {
	t.Helper()
	first = -1
	for b, err := range s.Batches(t.Context(), []string{column}) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := b.Numeric(column)
		if err != nil {
			t.Fatal(err)
		}
		if first < 0 {
			first = b.Row(0)
		}
		rows += len(v)
		for _, x := range v {
			sum += x
		}
	}
	return rows, first, sum
}

// A tenth of the rows is read with about a tenth of the bytes, as the server counts them.
func TestRangesOfObjects(t *testing.T) {
	rows := 400_000
	if testing.Short() {
		rows = 50_000
	}
	csv, pq := table(t, rows)
	for _, in := range []func(testing.TB) place{amazon, google} {
		p := in(t)
		for _, c := range []struct {
			name    string
			content []byte
			column  []string
			most    float64 // share of the object that a tenth of its rows may ask for
		}{
			{"rows.csv", csv, nil, 0.15},
			{"rows.parquet", pq, nil, 0.1},
		} {
			t.Run(p.name+"/"+c.name, func(t *testing.T) {
				name := p.put(t, c.name, c.content)
				o := &files.Options{Store: p.store}
				surveyed := p.traffic.bytes.Load()
				s, err := files.Look(t.Context(), []string{name}, o, int64(rows/40))
				if err != nil {
					t.Fatal(err)
				}
				surveyed = p.traffic.bytes.Load() - surveyed
				if s.Rows != int64(rows) || s.Files[0].Version == "" {
					t.Errorf("%d rows, version %q", s.Rows, s.Files[0].Version)
				}
				first := int64(rows) / 2
				before, requests := p.traffic.bytes.Load(), p.traffic.gets.Load()
				src, err := s.Open(t.Context(), first, first+int64(rows)/10, o)
				if err != nil {
					t.Fatal(err)
				}
				n, at, _ := sums(t, src, "x3")
				asked := p.traffic.bytes.Load() - before
				t.Logf("%d bytes: survey %d, a tenth of the rows %d in %d requests", len(c.content), surveyed, asked, p.traffic.gets.Load()-requests)
				if n != rows/10 || at != first {
					t.Errorf("%d rows from %d", n, at)
				}
				if asked > int64(c.most*float64(len(c.content)))+(1<<20) && !testing.Short() {
					t.Errorf("a tenth of the rows took %d of %d bytes", asked, len(c.content))
				}
				// Another object of the same size is refused.
				other := bytes.Clone(c.content)
				other[len(other)/2]++
				p.put(t, c.name, other)
				_, err = s.Open(t.Context(), first, first+1, o)
				if !errors.As(err, new(*data.ChangedError)) {
					t.Error(err)
				}
			})
		}
	}
}

// All formats, gzip and several files are read from a store as from the disk.
func TestFormatsInStores(t *testing.T) {
	golden := "../data/files/testdata/golden/"
	p := amazon(t)
	for _, name := range []string{"rows.csv", "rows_zstd.parquet", "rows_file.arrow", "rows_lz4.arrow", "rows_stream.arrows"} {
		local, err := files.Open([]string{golden + name, golden + name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, want := sums(t, local, "u8")
		one, two := p.put(t, "1-"+name, readAll(t, golden+name)), p.put(t, "2-"+name, readAll(t, golden+name))
		o := &files.Options{Store: p.store}
		remote, err := files.Open([]string{one, two}, o)
		if err != nil {
			t.Fatal(err)
		}
		if n, _, got := sums(t, remote, "u8"); n != rows || got != want {
			t.Errorf("%s: %d rows, sum %v; want %d, %v", name, n, got, rows, want)
		}
		s, err := files.Look(t.Context(), []string{one, two}, o, 0)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(s)
		if err != nil || strings.Contains(string(raw), secretKey) {
			t.Errorf("%v\n%s", err, raw)
		}
		part, err := s.Open(t.Context(), int64(rows)/2-3, int64(rows)/2+3, o)
		if err != nil {
			t.Fatal(err)
		}
		if n, first, _ := sums(t, part, "u8"); n != 6 || first != int64(rows)/2-3 {
			t.Errorf("%s: %d rows from %d", name, n, first)
		}
	}
}
