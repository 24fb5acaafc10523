package npy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
)

const golden = "testdata/golden/"

// columns reads all columns of a source, by name; tensors flattened.
func columns(t *testing.T, s *Source, names ...string) (map[string][]float64, []int64) {
	t.Helper()
	got := map[string][]float64{}
	var rows []int64
	for b, err := range s.Batches(context.Background(), names) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows() {
			rows = append(rows, b.Row(i))
		}
		for _, name := range names {
			if v, err := b.Numeric(name); err == nil {
				got[name] = append(got[name], v...)
			} else if m, err := b.Tensor(name); err == nil {
				for i := range b.Rows() {
					got[name] = append(got[name], m.RawRowView(i)...)
				}
			} else {
				t.Fatal(err)
			}
		}
	}
	return got, rows
}

func mustOpen(t *testing.T, o *Options, names ...string) *Source {
	t.Helper()
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = golden + n
	}
	s, err := Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// matrix reads what numpy says an array holds.
func matrix(t *testing.T, name string) (rows [][]float64) {
	t.Helper()
	text, err := os.ReadFile(golden + name)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var row []float64
		for _, cell := range strings.Fields(line) {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestTypes reads every type in both byte orders, single columns and all.
func TestTypes(t *testing.T) {
	texts, err := filepath.Glob(golden + "matrix_*.txt")
	if err != nil || len(texts) != 21 {
		t.Fatal(texts, err)
	}
	for _, text := range texts {
		name := strings.TrimSuffix(filepath.Base(text), ".txt")
		want := matrix(t, name+".txt")
		for _, rows := range []int{0, 1, 3} {
			s := mustOpen(t, &Options{BatchRows: rows}, name+".npy")
			for _, request := range [][]string{{"x0", "x1", "x2"}, {"x1"}} {
				got, _ := columns(t, s, request...)
				for _, c := range request {
					j := int(c[1] - '0')
					for i := range want {
						if len(got[c]) != len(want) || got[c][i] != want[i][j] {
							t.Fatalf("%s, column %s: %v, want %v", name, c, got[c], want)
						}
					}
				}
			}
		}
	}
}

// TestLayouts reads the same numbers from all ways to store them.
func TestLayouts(t *testing.T) {
	want := matrix(t, "matrix_le_f8.txt")
	flat := slices.Concat(want...)
	for _, name := range []string{"matrix_le_f8.npy", "fortran.npy", "version2.npy", "version3.npy", "parts_fortran.npz"} {
		for _, rows := range []int{0, 2} {
			got, _ := columns(t, mustOpen(t, &Options{BatchRows: rows}, name), "x0", "x2")
			for i := range want {
				if got["x0"][i] != want[i][0] || got["x2"][i] != want[i][2] {
					t.Fatal(name, got)
				}
			}
			s, err := OpenTensor("in", []string{golden + name}, &Options{BatchRows: rows})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := columns(t, s, "in"); !slices.Equal(got["in"], flat) {
				t.Fatal(name, got)
			}
			if c, ok := s.Schema().Lookup("in"); !ok || c.Width != 3 || c.Numeric || s.Len() != 7 {
				t.Fatal(c, s.Len())
			}
		}
	}
	for _, name := range []string{"parts.npz", "parts_deflated.npz"} {
		s := mustOpen(t, &Options{BatchRows: 2}, name)
		got, _ := columns(t, s, "image", "y", "x1")
		for i := range want {
			if got["x1"][i] != want[i][1] || got["y"][i] != float64(i) || got["image"][4*i+3] != float64(4*i+3) {
				t.Fatal(name, got)
			}
		}
		if names := s.Schema().Names(); !slices.Equal(names, []string{"x0", "x1", "x2", "y", "image"}) {
			t.Fatal(names)
		}
	}
	two, rows := columns(t, mustOpen(t, nil, "line.npy", "line.npy"), "x0")
	if fmt.Sprint(two["x0"]) != "[0 1 2 3 4 5 6 0 1 2 3 4 5 6]" || rows[13] != 13 {
		t.Fatal(two, rows)
	}
	cube, _ := columns(t, mustOpen(t, nil, "cube.npy"), "x")
	for i, v := range cube["x"] {
		if v != float64(i) {
			t.Fatal(cube)
		}
	}
	if got, rows := columns(t, mustOpen(t, nil, "empty.npy"), "x0"); len(got["x0"]) != 0 || rows != nil {
		t.Fatal(got)
	}
}

func TestMissing(t *testing.T) {
	s := mustOpen(t, &Options{NA: data.NADrop}, "nan.npy")
	got, rows := columns(t, s, "x0", "x1")
	if fmt.Sprint(got, rows) != "map[x0:[1 4] x1:[2 5]] [0 2]" {
		t.Fatal(got, rows)
	}
	if total, dropped := s.Rows(); total != 3 || dropped != 1 {
		t.Fatal(total, dropped)
	}
	kept, rows := columns(t, mustOpen(t, &Options{NA: data.NAKeep}, "nan.npy"), "x0", "x1")
	if fmt.Sprint(kept, rows) != "map[x0:[1 NaN 4] x1:[2 3 5]] [0 1 2]" {
		t.Fatal(kept, rows)
	}
	tensor, err := OpenTensor("t", []string{golden + "nan.npy"}, &Options{NA: data.NADrop})
	if err != nil {
		t.Fatal(err)
	}
	if got, rows := columns(t, tensor, "t"); fmt.Sprint(got, rows) != "map[t:[1 2 4 5]] [0 2]" {
		t.Fatal(got, rows)
	}
}

// TestBad compares whole messages.
func TestBad(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(golden + "matrix_le_f8.npy")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("cut.npy", whole[:len(whole)-1])
	write("long.npy", append(slices.Clone(whole), 0))
	write("head.npy", whole[:8])
	write("shape.npy", []byte(strings.Replace(string(whole), "(7, 3)", "(7, x)", 1)))
	write("version.npy", append([]byte("\x93NUMPY\x09\x00"), whole[8:]...))
	zipped, err := os.ReadFile(golden + "parts_deflated.npz")
	if err != nil {
		t.Fatal(err)
	}
	write("cut.npz", zipped[:len(zipped)/2])
	flipped := slices.Clone(zipped)
	flipped[len(flipped)/4] ^= 0x55
	write("flipped.npz", flipped)

	for _, c := range []struct{ file, want string }{
		{"cut.npy", `data: "F": its shape [7 3] needs 168 bytes, it has 167: it is cut off; fetch it, or write it, again`},
		{"long.npy", `data: "F": its shape [7 3] needs 168 bytes, it has 169: save one array to a file`},
		{"head.npy", `data: "F": the file ends too early, or is damaged: unexpected EOF`},
		{"shape.npy", `data: "F": its header is malformed at "x), }"`},
		{"version.npy", `data: "F": it is in version 9 of the format; 1 to 3 are known`},
		{"cut.npz", `data: "F": zip: not a valid zip file`},
		{"none.npy", `data: cannot read "F": no such file or directory`},
		{golden + "scalar.npy", `data: "F": it is a single number: its first axis should be the rows`},
		{golden + "complex.npy", `data: "F": its items are of type "<c16": arrays of floating point numbers up to 8 bytes, integers and truth values can be read`},
		{golden + "text.npy", `data: "F": its items are of type "<U2": arrays of floating point numbers up to 8 bytes, integers and truth values can be read`},
		{golden + "record.npy", `data: "F": its items are records of several fields: save each field as an array of its own`},
		{golden + "cube_fortran.npy", `data: "F": it is in Fortran order and has more than two axes: save numpy.ascontiguousarray of it`},
		{golden + "parts_fortran_deflated.npz", `data: "F": array "x.npy": it is compressed and in Fortran order: save numpy.ascontiguousarray of it, or do not compress`},
		{golden + "unequal.npz", `data: "F": array "b.npy": it has 4 rows, "a" has 3: the arrays of a table need equally many`},
		{golden + "big.npy", `data: "F", row 3, column "x0": cell "9007199254740993" is a whole number beyond 2^53, which would be rounded; store it as text if it is a name, else as double`},
		{golden + "nan.npy", `data: "F", row 2, column "x0": cell "NaN" marks a missing value; fill it in, or leave such rows out`},
		{golden + "inf.npy", `data: "F", row 2, column "x1": cell "+Inf" is not a finite number; correct it or remove the row`},
	} {
		path := c.file
		if !strings.HasPrefix(path, golden) {
			path = filepath.Join(dir, c.file)
		}
		if got := strings.ReplaceAll(failure(path), path, "F"); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.file, got, c.want)
		}
	}
	if got := failure(filepath.Join(dir, "flipped.npz")); got == "" {
		t.Error("a flipped byte goes unnoticed")
	}
}

// failure opens a file and reads it.
func failure(path string) string {
	s, err := Open([]string{path}, nil)
	if err != nil {
		return err.Error()
	}
	for _, err := range s.Batches(context.Background(), s.Schema().Names()) {
		if err != nil {
			return err.Error()
		}
	}
	return ""
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range mustOpen(t, &Options{BatchRows: 1}, "line.npy").Batches(ctx, []string{"x0"}) {
		n++
		last = err
		cancel()
	}
	if n != 2 || last != context.Canceled {
		t.Fatal(n, last)
	}
}

// The last axis of a row comes first where channels come last, and an array has columns of given names.
func TestChannelsLastAndNames(t *testing.T) {
	s, err := OpenTensor("img", []string{golden + "cube.npy"}, &Options{ChannelsLast: true}) // 7 x 2 x 3: 0, 1, 2, ...
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := columns(t, s, "img"); fmt.Sprint(got["img"][:6]) != "[0 3 1 4 2 5]" || fmt.Sprint(s.RowShape()) != "[3 2]" {
		t.Errorf("row %v of shape %v", got["img"][:6], s.RowShape())
	}
	if _, err := OpenTensor("img", []string{golden + "matrix_le_f8.npy"}, &Options{ChannelsLast: true}); err == nil || !strings.Contains(err.Error(), "its rows have the shape [3]: channels come last in rows of two axes or more") {
		t.Error(err)
	}
	named, err := OpenColumns([]string{"a", "b", "c", "d", "e", "f"}, []string{golden + "cube.npy"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := columns(t, named, "e", "b"); fmt.Sprint(got["e"][:2], got["b"][:2]) != "[4 10] [1 7]" {
		t.Error(got)
	}
	if _, err := OpenColumns([]string{"a"}, []string{golden + "cube.npy"}, nil); err == nil || !strings.Contains(err.Error(), "it holds 6 numbers a row, for 1 columns") {
		t.Error(err)
	}
}
