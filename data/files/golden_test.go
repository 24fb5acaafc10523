package files

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar/columnartest"
)

const golden = "testdata/golden"

type plain = columnartest.Rows

var flatten = columnartest.Read

func all(s data.Source) plain {
	return flatten(s.Batches(context.Background(), s.Schema().Names()), s.Schema())
}

func mustOpen(t testing.TB, o *Options, paths ...string) Source {
	t.Helper()
	for i, p := range paths {
		if !filepath.IsAbs(p) {
			paths[i] = filepath.Join(golden, p)
		}
	}
	s, err := Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNullInDictionary: a cell coded as a null value of the dictionary is missing, like a cell
// without a code.
func TestNullInDictionary(t *testing.T) {
	if got := all(mustOpen(t, &Options{NA: data.NADrop}, "dictionary.arrow")); !slices.Equal(got.Text["g"], []string{"a", "b"}) || !slices.Equal(got.Rows, []int64{0, 3}) {
		t.Errorf("%+v", got)
	}
	if got := all(mustOpen(t, nil, "dictionary.arrow")); !strings.Contains(got.Err, `row 2, column "g": cell "null" marks a missing value`) {
		t.Error(got.Err)
	}
}

// TestWholeNumbersAsLevels: what float64 would round is exact as a level, also where the column
// is one of numbers, which then has none there.
func TestWholeNumbersAsLevels(t *testing.T) {
	for _, name := range []string{"odd.parquet", "odd.arrow"} {
		for _, o := range []*Options{{Factors: []string{"big", "ubig"}}, {Texts: []string{"big", "ubig", "not there"}}} {
			s := mustOpen(t, o, name)
			got := flatten(s.Batches(t.Context(), []string{"big", "ubig"}), s.Schema())
			if got.Err != "" || !slices.Equal(got.Text["big"], []string{"1", "9007199254740993"}) || !slices.Equal(got.Text["ubig"], []string{"1", "18446744073709551615"}) {
				t.Errorf("%s: %+v", name, got)
			}
			if x := got.Numbers["big"]; (o.Texts == nil) != (len(x) == 2 && math.Float64frombits(x[0]) == 1 && math.IsNaN(math.Float64frombits(x[1]))) {
				t.Errorf("%s: numbers %v", name, x)
			}
			if c, _ := s.Schema().Lookup("big"); c.Numeric == (o.Texts != nil) || !c.Categorical {
				t.Errorf("%s: %+v", name, c)
			}
		}
		err := ""
		for _, e := range mustOpen(t, nil, name).Batches(t.Context(), []string{"big"}) {
			if !errors.Is(e, data.ErrRounded) {
				err = fmt.Sprint(e)
			}
		}
		if err != "" {
			t.Error(err)
		}
	}
}

// TestOtherOrder: the columns of later files are found by their names, whatever else these have.
func TestOtherOrder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := write("a.csv", "x,g,y\n1,a,2\n"), write("b.csv", "g,new,y,x\nb,-,4,3\n")
	for _, workers := range []int{1, 2} {
		got := all(mustOpen(t, &Options{Workers: workers}, a, b))
		if got.Err != "" || !slices.Equal(got.Text["g"], []string{"a", "b"}) || !slices.Equal(got.Numbers["x"], []uint64{math.Float64bits(1), math.Float64bits(3)}) || !slices.Equal(got.Numbers["y"], []uint64{math.Float64bits(2), math.Float64bits(4)}) {
			t.Errorf("%+v", got)
		}
	}
	if _, err := Look(t.Context(), []string{a, b}, nil, 0); err == nil || !strings.Contains(err.Error(), "need the same header") {
		t.Error(err)
	}
	s := mustOpen(t, nil, "empty.parquet", "rows_v2.parquet") // x, text and cat are not the first three
	want := all(mustOpen(t, nil, "rows_v2.parquet"))
	if got := all(s); got.Err != "" || len(got.Rows) != len(want.Rows) || !slices.Equal(got.Text["cat"], want.Text["cat"]) || !slices.Equal(got.Numbers["x"], want.Numbers["x"]) {
		t.Errorf("%.300v", got)
	}
}

// TestColumns requests single columns: what others hold must not matter.
func TestColumns(t *testing.T) {
	for _, name := range []string{"odd.parquet", "odd.arrow"} {
		s := mustOpen(t, nil, name)
		ext := filepath.Ext(name)
		path := filepath.Join(golden, name)
		got := map[string]string{}
		for _, c := range []string{"x", "when", "day", "price", "list", "struct", "big", "ubig", "inf", "nan", "null", "name", "bytes", "codes", "nul"} {
			p := flatten(s.Batches(context.Background(), []string{c}), s.Schema())
			got[c] = strings.ReplaceAll(p.Err, path, "F")
			if p.Err == "" {
				got[c] = fmt.Sprint(p.Rows)
			}
		}
		nested := "which is neither numbers nor text: store its parts as columns of their own"
		missing := "marks a missing value; fill it in, or leave such rows out"
		inexact := "is a whole number beyond 2^53, which would be rounded; store it as text if it is a name, else as double"
		want := map[string]string{
			"x":      "[0 1]",
			"when":   "[0 1]",
			"day":    "[0 1]",
			"price":  "[0 1]",
			"list":   `data: "F", row 2, column "list": cell "a list of 1 number" is a row of another shape than the first, of 2 numbers: all rows need one shape; fill shorter ones up, as the network was trained, or leave them out`,
			"struct": `data: column "struct" of "F" is a struct, ` + nested,
			"big":    `data: "F", row 2, column "big": cell "9007199254740993" ` + inexact,
			"ubig":   `data: "F", row 2, column "ubig": cell "18446744073709551615" ` + inexact,
			"inf":    `data: "F", row 2, column "inf": cell "-Inf" is not a finite number; correct it or remove the row`,
			"nan":    `data: "F", row 2, column "nan": cell "NaN" ` + missing,
			"null":   `data: "F", row 2, column "null": cell "null" ` + missing,
			"name":   `data: "F", row 2, column "name": cell "null" ` + missing,
			"bytes":  `data: "F", row 2, column "bytes": cell "\xff\xfe" is not UTF-8; convert the file first`,
			"codes":  `data: "F", row 1, column "codes": cell "null" ` + missing,
			"nul":    `data: no column "nul" in "F"; the nearest name is "null"`,
		}
		if ext == ".parquet" {
			want["struct"] = `data: column "struct" of "F" is nested, ` + nested
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSeveralFiles joins files and refuses those that do not fit.
func TestSeveralFiles(t *testing.T) {
	one := all(mustOpen(t, nil, "rows_zstd.parquet"))
	two := all(mustOpen(t, nil, "rows_zstd.parquet", "rows_v2.parquet"))
	for name, v := range one.Numbers {
		if !slices.Equal(two.Numbers[name], slices.Concat(v, v)) {
			t.Errorf("column %s", name)
		}
	}
	for i, row := range two.Rows {
		if row != int64(i) {
			t.Fatalf("row %d is %d", i, row)
		}
	}
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"rows_v2.parquet", "empty.parquet"}, `data: "2" has no column "f32", which "1" has: files of one table need the columns of the first`},
		{[]string{"odd.arrow", "odd.parquet"}, `data: "1" is Arrow, "2" is Parquet: files of one table need the same format`},
		{[]string{"rows.csv", "odd.parquet"}, `data: "1" is CSV, "2" is Parquet: files of one table need the same format`},
	} {
		var paths []string
		for _, p := range c.paths {
			paths = append(paths, filepath.Join(golden, p))
		}
		_, err := Open(paths, nil)
		got := strings.NewReplacer(paths[0], "1", paths[1], "2").Replace(fmt.Sprint(err))
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for _, name := range []string{"empty.parquet", "empty.arrow"} {
		if p := all(mustOpen(t, nil, name)); p.Err != "" || len(p.Rows) > 0 {
			t.Error(name, p)
		}
	}
}
