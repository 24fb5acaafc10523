package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pho-go/pho/data"
)

// look surveys files, and reads the survey back from JSON.
func look(t testing.TB, paths []string, o *Options, pieceRows int64) *Survey {
	t.Helper()
	s, err := Look(context.Background(), paths, o, pieceRows)
	if err != nil {
		t.Fatal(err)
	}
	return again(t, s)
}

func again(t testing.TB, s *Survey) *Survey {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, read); diff != "" {
		t.Fatal(diff)
	}
	return read
}

// fatal is what testing's T and rapid's have in common.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// ranges reads the ranges between the cuts one after the other.
func ranges(t fatal, s *Survey, cuts []int64, o *Options) (p plain, dropped int64) {
	t.Helper()
	p = flatten(func(func(*data.Batch, error) bool) {}, nil)
	for i, next := range cuts[1:] {
		src, err := s.Open(context.Background(), cuts[i], next, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Schema(), src.Schema()); diff != "" {
			t.Fatal(diff)
		}
		got := all(src)
		total, left := src.Rows()
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
		if got.Err != "" {
			p.Err = got.Err
			return p, dropped
		}
		if total != next-cuts[i] || int64(len(got.Rows)) != total-left {
			t.Fatalf("rows %d to %d: %d rows, %d left out, %d read", cuts[i], next, total, left, len(got.Rows))
		}
		dropped += left
		p.Rows = append(p.Rows, got.Rows...)
		for name, v := range got.Numbers {
			p.Numbers[name] = append(p.Numbers[name], v...)
		}
		for name, v := range got.Text {
			p.Text[name] = append(p.Text[name], v...)
		}
		for name, v := range got.Tensors {
			p.Tensors[name] = append(p.Tensors[name], v...)
		}
	}
	return p, dropped
}

// cut draws the ends of ranges that cover all rows; some are empty.
func cut(r *rand.Rand, rows int64) []int64 {
	cuts := []int64{0, rows}
	for range r.IntN(6) {
		cuts = append(cuts, r.Int64N(rows+1))
	}
	slices.Sort(cuts)
	return cuts
}

// Ranges of any file, one after the other, are the whole table, with its row numbers.
func TestRangesOfGolden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(golden, "*_*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"rows.csv", "nulls.csv", "views.csv", "rows.feather", "empty.parquet", "empty.arrow"} {
		paths = append(paths, filepath.Join(golden, more))
	}
	arrays, err := filepath.Glob("../npy/testdata/golden/*.np?")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	compared := map[string]int{}
	for _, path := range append(paths, arrays...) {
		o := &Options{NA: data.NADrop, BatchRows: 17}
		whole, err := Open([]string{path, path}, o)
		if err != nil {
			if filepath.Ext(path) != ".npy" && filepath.Ext(path) != ".npz" && filepath.Ext(path) != ".py" {
				t.Error(path, err)
			}
			continue
		}
		want := all(whole)
		total, dropped := whole.Rows()
		if want.Err != "" {
			continue // of arrays with cells that cannot be read
		}
		s := look(t, []string{path, path}, o, 50)
		if s.Rows != total || s.Kind != strings.ToLower(s.Kind) {
			t.Fatal(path, s.Rows, total)
		}
		compared[s.Kind]++
		for range 3 {
			cuts := cut(r, s.Rows)
			got, left := ranges(t, s, cuts, o)
			if total == 0 { // nobody has made the maps' entries
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" || left != dropped {
				t.Fatalf("%s cut at %v, %d of %d left out: %s", path, cuts, left, dropped, diff[:min(len(diff), 1500)])
			}
		}
	}
	if compared["parquet"] < 19 || compared["arrow"] < 10 || compared["csv"] < 3 || compared["numpy"] < 20 {
		t.Error("compared", compared)
	}
}

// csvText draws a CSV with all that makes finding rows hard.
func csvText(t *rapid.T, columns int) string {
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	var b strings.Builder
	if rapid.Bool().Draw(t, "mark") {
		b.WriteString("\xef\xbb\xbf")
	}
	b.WriteString(strings.Join([]string{"a", "\"b\n\"\"c\"", "d"}[:columns], ",") + end)
	cell := rapid.SampledFrom([]string{"1", "2.5", "", "NA", "x", "\"x\ny\"", "\"q\"\"\r\n,\n\n\"", "é", " 7 "})
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		if rapid.IntRange(0, 5).Draw(t, "blank") == 0 {
			b.WriteString(end)
		}
		for j := range columns {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cell.Draw(t, "cell"))
		}
		b.WriteString(end)
	}
	text := b.String()
	if rapid.Bool().Draw(t, "unfinished") {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

func TestRangesOfCSV(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		var paths []string
		for i := range rapid.IntRange(1, 3).Draw(t, "files") {
			content := []byte(csvText(t, columns))
			if rapid.IntRange(0, 3).Draw(t, "gzip") == 0 {
				content = zipped(content)
			}
			paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
			if err := os.WriteFile(paths[i], content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := &Options{NA: data.NADrop, BatchRows: 3, Factors: []string{"a"}}
		whole, err := Open(paths, o)
		if err != nil {
			t.Skip(err)
		}
		want := all(whole)
		if want.Err != "" {
			t.Fatal(want.Err)
		}
		total, dropped := whole.Rows()
		s, err := Look(context.Background(), paths, o, rapid.Int64Range(1, 12).Draw(t, "piece"))
		if err != nil {
			t.Fatal(err)
		}
		if s.Rows != total {
			t.Fatalf("%d rows, want %d", s.Rows, total)
		}
		cuts := rapid.SliceOfN(rapid.Int64Range(0, total), 0, 5).Draw(t, "cuts")
		cuts = append(cuts, 0, total)
		slices.Sort(cuts)
		got, left := ranges(t, s, cuts, o)
		if diff := cmp.Diff(want.Rows, got.Rows); diff != "" || left != dropped {
			t.Fatal(left, dropped, diff)
		}
		if len(got.Rows) > 0 {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func zipped(content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// A cell at fault is named by the same file, line and row, in whatever range it lies.
func TestRangeErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "x,\"y\nz\"\n" + strings.Repeat("1,\"a\nb\"\n\n", 5000) + "no,k\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := all(mustOpen(t, nil, path)).Err
	s := look(t, []string{path}, nil, 100)
	got, _ := ranges(t, s, []int64{0, 30, 4990, 5001}, nil)
	if want == "" || got.Err != want {
		t.Errorf("%s\nwant %s", got.Err, want)
	}
	for _, r := range [][2]int64{{-1, 2}, {3, 2}, {0, 5002}} {
		if _, err := s.Open(t.Context(), r[0], r[1], nil); err == nil {
			t.Error(r)
		}
	}
	if _, err := Look(t.Context(), []string{"-"}, nil, 0); err == nil {
		t.Error("a stream was surveyed")
	}
}

// Whatever byte of a CSV changes is noticed by ranges that read its piece, and by no other.
func TestChangedSinceSurvey(t *testing.T) {
	dir := t.TempDir()
	text := []byte("x,y\n" + strings.Repeat("1,2\n3,4\n", 100))
	for _, compress := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprint(compress))
		write := func(b []byte) {
			if compress {
				b = zipped(b)
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(text)
		s := look(t, []string{path}, nil, 20)
		if compress {
			s.Files[0].Size = -1
		}
		if s.Files[0].Gzip != compress || len(s.Files[0].Pieces) != 10 {
			t.Fatal(s)
		}
		for _, at := range []int{0, 4, 83, 84, len(text) - 2} {
			other := bytes.Clone(text)
			other[at] ^= 1
			write(other)
			if info, err := os.Stat(path); compress && err == nil {
				s.Files[0].Size = info.Size()
			}
			for piece := range int64(10) {
				src, err := s.Open(t.Context(), 20*piece+3, 20*piece+4, nil)
				if err != nil {
					t.Fatal(err)
				}
				message := ""
				var changed *data.ChangedError
				for _, err := range src.Batches(t.Context(), []string{"x"}) {
					if errors.As(err, &changed) {
						message = changed.Error()
					} else if err != nil {
						t.Error(err)
					}
				}
				hit := at < 4 || piece == int64(at-4)/80
				if hit != (message != "") {
					t.Errorf("byte %d, piece %d, gzip %v: %q", at, piece, compress, message)
				}
			}
		}
		write(append(text, '\n'))
		if _, err := s.Open(t.Context(), 0, 1, nil); !errors.As(err, new(*data.ChangedError)) && !compress {
			t.Error(err)
		}
	}
	// Other formats are known by what says where the values are.
	path := filepath.Join(dir, "p")
	for _, name := range [][2]string{{"rows_zstd.parquet", "rows_snappy.parquet"}, {"rows_file.arrow", "rows_zstd.arrow"}} {
		if err := os.WriteFile(path, content(t, name[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		s := look(t, []string{path}, nil, 0)
		if err := os.WriteFile(path, content(t, name[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Files[0].Size = int64(len(content(t, name[1])))
		_, err := s.Open(t.Context(), 0, 5, nil)
		if want := fmt.Sprintf("data: %q is not what it was when it was surveyed: its columns, rows or pages are others: survey the data again", path); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

// An Arrow stream on standard input is read as a file is, with the numbers that are given.
func TestArrowFromStandardInput(t *testing.T) {
	for _, name := range []string{"rows_stream.arrows", "rows_zstd.arrow", "rows.csv"} {
		o := &Options{BatchRows: 40, FirstRow: 1000, Stdin: bytes.NewReader(content(t, name))}
		s, err := Open([]string{"-"}, o)
		if err != nil {
			t.Fatal(err)
		}
		want := all(mustOpen(t, nil, name))
		for i := range want.Rows {
			want.Rows[i] += 1000
		}
		for range 2 {
			if diff := cmp.Diff(want, all(s)); diff != "" {
				t.Error(name, diff[:min(len(diff), 500)])
			}
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open([]string{"-"}, &Options{Stdin: bytes.NewReader(content(t, "rows_stream.arrows")[:100])}); err == nil {
		t.Error("a stream that is cut off was opened")
	}
}

// FuzzSurvey reads surveys of anybody: none makes a range panic, or read what is not there.
func FuzzSurvey(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("x,y\n1,a\n2,\"b\nc\"\n3,d\n4,e\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	s, err := Look(context.Background(), []string{path}, nil, 2)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.ReplaceAll(raw, []byte(path), []byte("FILE")), int64(1), int64(3))
	f.Fuzz(func(t *testing.T, raw []byte, first, next int64) {
		s, err := Decode(raw)
		if err != nil {
			return
		}
		for i := range s.Files {
			s.Files[i].Path = path
		}
		s.Digest(first, next)
		src, err := s.Open(context.Background(), first, next, nil)
		if err != nil {
			return
		}
		defer src.Close()
		p := all(src)
		if p.Err == "" && int64(len(p.Rows)) != next-first {
			t.Errorf("%d rows for %d to %d", len(p.Rows), first, next)
		}
	})
}
