package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/arrow"
	"github.com/pho-go/pho/data/parquet"
)

func content(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(golden, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// failure writes a file, opens it and reads it; the message names it F.
func failure(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	message := ""
	if s, err := Open([]string{path}, nil); err != nil {
		message = err.Error()
	} else {
		message = all(s).Err
		s.Close()
	}
	return strings.ReplaceAll(message, path, "F")
}

// TestCut cuts files off everywhere: every cut is an error that names the file.
func TestCut(t *testing.T) {
	for _, name := range []string{"views_delta.arrows", "rows_stream.arrows", "rows_lz4.arrow", "rows_snappy.parquet"} {
		whole := content(t, name)
		if got := failure(t, whole); got != "" {
			t.Fatal(name, got)
		}
		ends := 0
		for n := 8; n < len(whole); n += 1 + len(whole)/40 {
			got := failure(t, whole[:n])
			if got == "" && strings.HasSuffix(name, "arrows") {
				ends++ // a stream may end behind any message
				continue
			}
			if !strings.HasPrefix(got, `data: "F"`) {
				t.Errorf("%s cut at %d: %s", name, n, got)
			}
		}
		if ends > 3 {
			t.Errorf("%s: %d cuts go unnoticed", name, ends)
		}
	}
}

func TestBad(t *testing.T) {
	pq, ipc := content(t, "rows_snappy.parquet"), content(t, "rows_file.arrow")
	huge := bytes.Clone(pq)
	binary.LittleEndian.PutUint32(huge[len(huge)-8:], 1<<31)
	encrypted := append(bytes.Clone(pq[:len(pq)-4]), "PARE"...)
	mark := bytes.Clone(ipc)
	mark[len(mark)-1] = '2'
	footer := bytes.Clone(ipc)
	binary.LittleEndian.PutUint32(footer[len(footer)-10:], 1<<30)
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"Parquet without an end", pq[:200], `data: "F": the file ends with `},
		{"Parquet with a huge footer", huge, `data: "F": the footer should take 2147483648 bytes of a file of `},
		{"encrypted Parquet", encrypted, `data: "F": the file is encrypted, which is not supported: decrypt it first`},
		{"a short Parquet", []byte("PAR1PAR1"), `data: "F": 8 bytes are too few for a Parquet file`},
		{"Feather 1", []byte("FEA1 and so on and on"), `data: "F": the file is in version 1 of Feather: write it again in version 2`},
		{"Arrow with another end", mark, `data: "F": the file ends with "ARROW2", not with the mark of Arrow: it is cut off; fetch it, or write it, again`},
		{"Arrow with a huge footer", footer, `data: "F": the footer should take 1073741824 bytes: the file is damaged`},
		{"a stream of nothing", []byte("\xff\xff\xff\xff\x00\x00\x00\x00"), `data: "F": it has no schema`},
		{"an archive of nothing", []byte("PK\x05\x06" + strings.Repeat("\x00", 18)), `data: "F": the archive is empty`},
	} {
		if got := failure(t, c.content); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestDictionaryOutOfRange damages the indices of a dictionary.
func TestDictionaryOutOfRange(t *testing.T) {
	// In the stream of views the second record batch's codes are int16.
	whole := content(t, "views_delta.arrows")
	want := 0
	for i := 0; i < len(whole); i += 41 {
		b := bytes.Clone(whole)
		b[i] ^= 0x40
		got := failure(t, b)
		if strings.Contains(got, `column "cat": cell`) && strings.Contains(got, "levels of the column: the file is damaged") {
			want++
		}
	}
	if want < 1 {
		t.Errorf("%d damaged codes were noticed", want)
	}
}

// TestMemory refuses what takes more memory than allowed.
func TestMemory(t *testing.T) {
	for _, name := range []string{"rows_zstd.parquet", "rows_zstd.arrow"} {
		s := mustOpen(t, &Options{Memory: 600}, name)
		got := all(s).Err
		if !strings.Contains(got, "600") || !strings.HasPrefix(got, `data: "`+filepath.Join(golden, name)+`", column "x": `) {
			t.Error(got)
		}
	}
	if _, err := parquet.Open([]string{"x"}, &parquet.Options{Memory: -1}); err == nil {
		t.Error("negative memory")
	}
	if _, err := arrow.Open([]string{"x"}, &arrow.Options{Memory: -1}); err == nil {
		t.Error("negative memory")
	}
}

// TestConcurrent runs passes at the same time; the race detector watches.
func TestConcurrent(t *testing.T) {
	for _, name := range []string{"rows_snappy.parquet", "rows_lz4.arrow", "rows_stream.arrows"} {
		s := mustOpen(t, &Options{BatchRows: 50, Factors: []string{"i8"}}, name)
		want := all(s)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				if diff := cmp.Diff(want, all(s)); diff != "" {
					t.Error(name, "differs")
				}
			})
		}
		wait.Wait()
	}
}

func TestCancel(t *testing.T) {
	for _, name := range []string{"rows_snappy.parquet", "rows_lz4.arrow", "rows.csv"} {
		ctx, cancel := context.WithCancel(context.Background())
		s := mustOpen(t, &Options{BatchRows: 10}, name)
		n := 0
		var last error
		for _, err := range s.Batches(ctx, []string{"x"}) {
			n++
			last = err
			cancel()
		}
		cancel()
		if n != 2 || !errors.Is(last, context.Canceled) {
			t.Error(name, n, last)
		}
	}
}

func TestChanged(t *testing.T) {
	for _, name := range []string{"rows_snappy.parquet", "rows_lz4.arrow"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content(t, name), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open([]string{path}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content(t, "odd.parquet"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, want := all(s).Err, `data: "`+path+`" has changed since it was opened`; got != want {
			t.Error(got)
		}
	}
}

func TestOpen(t *testing.T) {
	if _, err := Open(nil, nil); err == nil || err.Error() != "data: no data files" {
		t.Error(err)
	}
	s, err := Open([]string{"-"}, &Options{Stdin: strings.NewReader("x\n1\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if p := all(s); len(p.Rows) != 1 {
		t.Error(p)
	}
	_, err = Open([]string{filepath.Join(golden, "rows_v2.parquet")}, &Options{Factors: []string{"tex"}})
	if err == nil || !strings.HasSuffix(err.Error(), `; the nearest name is "text"`) {
		t.Error(err)
	}
	var _ io.Closer = s
	var _ data.Source = s
}

// TestWorkers compares whole files and a damaged one, decoded by several goroutines, with
// the result of one goroutine.
func TestWorkers(t *testing.T) {
	for _, path := range []string{"rows_snappy.parquet", "rows_zstd.parquet", "rows_gzip.parquet", "nulls_v2.parquet", "nulls_delta.parquet", "odd.parquet", "rows_zstd.arrow", "nulls_lz4.arrow", "views_delta.arrows", "odd.arrow"} {
		for _, na := range []data.NAPolicy{data.NAError, data.NADrop} {
			want := all(mustOpen(t, &Options{BatchRows: 7, NA: na}, path))
			for _, workers := range []int{2, 3, 100} {
				if diff := cmp.Diff(want, all(mustOpen(t, &Options{BatchRows: 7, NA: na, Workers: workers}, path))); diff != "" {
					t.Errorf("%s with %d workers: %s", path, workers, diff)
				}
			}
		}
	}
	damaged := filepath.Join(t.TempDir(), "f")
	b := content(t, "rows_snappy.parquet")
	clear(b[4 : len(b)/2])
	if err := os.WriteFile(damaged, b, 0o600); err != nil {
		t.Fatal(err)
	}
	want := all(mustOpen(t, nil, damaged)).Err
	if got := all(mustOpen(t, &Options{Workers: 4}, damaged)).Err; got != want || got == "" {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if _, err := parquet.Open([]string{damaged}, &parquet.Options{Workers: -1}); err == nil {
		t.Error("-1 workers")
	}
}

// What a program reacts to has the same type in every format.
func TestMissingValueOfAnyFormat(t *testing.T) {
	for file, column := range map[string]string{"odd.parquet": "null", "odd.arrow": "name", "../../../npy/testdata/golden/nan.npy": "x0"} {
		var cell *data.CellError
		var missing *data.MissingColumnError
		s := mustOpen(t, nil, file)
		for _, err := range s.Batches(t.Context(), []string{column}) {
			if err != nil && (!errors.Is(err, data.ErrMissingValue) || !errors.As(err, &cell) || cell.Row != 2 || cell.Column != column) {
				t.Errorf("%s: %v", file, err)
			}
		}
		if cell == nil {
			t.Errorf("%s: no cell of %q is missing", file, column)
		}
		for _, err := range s.Batches(t.Context(), []string{"nobody"}) {
			if !errors.As(err, &missing) || missing.Column != "nobody" {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, err := range mustOpen(t, nil, "odd.parquet").Batches(t.Context(), []string{"inf"}) {
		if errors.Is(err, data.ErrMissingValue) {
			t.Errorf("an infinite cell is not missing: %v", err)
		}
	}
}
