package data

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// columnsOf reads a text in both ways, block by block and record by record.
func columnsOf(t *testing.T, text string, o CSVOptions, names ...string) (Schema, plain) {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	c, err := OpenCSV([]string{"-"}, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := flatten(c.Batches(context.Background(), names))
	if got.Err != "" {
		t.Fatal(got.Err)
	}
	return c.Schema(), got
}

// TestBlanksOfText: the blanks of a text are its own, those around a number are not, and a
// mark of missing cells has none, as pandas, DuckDB and polars read them.
func TestBlanksOfText(t *testing.T) {
	_, got := columnsOf(t, "g,x\n Private, 1\nState,2 \nState ,\" 3\"\n\" a\r\nb \",4\n NA,5\r\n\t,6\r\n", CSVOptions{}, "g", "x")
	if want := []string{" Private", "State", "State ", " a\r\nb ", " NA", "\t"}; !slices.Equal(got.Text["g"], want) {
		t.Errorf("texts %q, want %q", got.Text["g"], want)
	}
	if want := []float64{1, 2, 3, 4, 5, 6}; !slices.Equal(got.Numbers["x"], bitsOf(want...)) {
		t.Errorf("numbers %v, want %v", got.Numbers["x"], want)
	}
}

// TestLineEndsInSurvey: where pieces begin does not depend on the line ends inside cells.
func TestLineEndsInSurvey(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "\"g\r\nh\",x\r\n\"a\r\r\n\r\nb\",1\r\n\"\r\n\",2\r\nc,3\r\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := OpenCSV([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Survey(ctx, 1)
	if err != nil || len(files[0].Pieces) != 3 {
		t.Fatal(files, err)
	}
	for row, want := range []string{"a\r\r\n\r\nb", "\r\n", "c"} {
		r, err := OpenCSVRange(ctx, files, c.Schema(), int64(row), int64(row)+1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := flatten(r.Batches(ctx, []string{"g\r\nh"})); got.Err != "" || !slices.Equal(got.Text["g\r\nh"], []string{want}) {
			t.Errorf("row %d: %q %s", row, got.Text, got.Err)
		}
	}
}

// TestWholeNumbersBeyond: whole numbers that float64 would round are text, exact as such, and
// an error where a column is one of numbers before they come.
func TestWholeNumbersBeyond(t *testing.T) {
	schema, got := columnsOf(t, "id,x\n9007199254740993,1\n9007199254740992,1e300\n-9007199254740993,9007199254740992\n", CSVOptions{}, "id")
	if want := []string{"9007199254740993", "9007199254740992", "-9007199254740993"}; !slices.Equal(got.Text["id"], want) {
		t.Errorf("%q, want %q", got.Text["id"], want)
	}
	if id, _ := schema.Lookup("id"); id.Numeric || !strings.Contains(id.HoldsText(), "beyond 2^53") {
		t.Errorf("%+v", id)
	}
	if x, _ := schema.Lookup("x"); !x.Numeric {
		t.Errorf("%+v", x)
	}
	late := "id\n" + strings.Repeat("1\n", kindRows) + "9007199254740993\n+009007199254740995\n"
	c, err := OpenCSV([]string{"-"}, &CSVOptions{Stdin: strings.NewReader(late)})
	if err != nil {
		t.Fatal(err)
	}
	if got := flatten(c.Batches(context.Background(), []string{"id"})); !strings.Contains(got.Err, "line 4098 (row 4097), column \"id\": cell \"9007199254740993\" is a whole number beyond 2^53") {
		t.Error(got.Err)
	}
	_, levels := columnsOf(t, late, CSVOptions{Factors: []string{"id"}}, "id")
	if got := levels.Text["id"][kindRows:]; !slices.Equal(got, []string{"9007199254740993", "9007199254740995"}) {
		t.Errorf("%q", got)
	}
}

// TestTruthValues: columns of truth values are 1 and 0, unless they have numbers too.
func TestTruthValues(t *testing.T) {
	schema, got := columnsOf(t, "a,b,c\nTrue,TRUE,True\nFalse,false,0\nTrue,true,1\n", CSVOptions{}, "a", "b", "c")
	if a, _ := schema.Lookup("a"); !a.Numeric || !a.Truth || !slices.Equal(got.Numbers["a"], bitsOf(1, 0, 1)) || !slices.Equal(got.Numbers["b"], bitsOf(1, 0, 1)) {
		t.Errorf("%+v %v", a, got.Numbers)
	}
	if c, _ := schema.Lookup("c"); c.Numeric || c.Truth || !slices.Equal(got.Text["c"], []string{"True", "0", "1"}) {
		t.Errorf("%+v %v", c, got.Text)
	}
}

// TestNotation: decimal commas and further marks of missing cells.
func TestNotation(t *testing.T) {
	o := CSVOptions{Delimiter: ';', Decimal: ',', NAValues: []string{"?", "-999"}, NA: NADrop}
	schema, got := columnsOf(t, "x;y;z\n1,5;1.5;1\n?;2;1\n-2,25;1.250,5;3\n4;a;-999\n", o, "x", "y", "z")
	if y, _ := schema.Lookup("y"); y.Numeric || !slices.Equal(got.Text["y"], []string{"1.5", "1.250,5"}) || !slices.Equal(got.Numbers["x"], bitsOf(1.5, -2.25)) {
		t.Errorf("%+v %+v", y, got)
	}
	if _, err := OpenCSV([]string{"-"}, &CSVOptions{Decimal: ',', Stdin: strings.NewReader("x,y\n")}); err == nil || !strings.Contains(err.Error(), "name the delimiter") {
		t.Error(err)
	}
}

// TestUnnamedColumn: the names of rows that pandas and R write have a name.
func TestUnnamedColumn(t *testing.T) {
	for _, text := range []string{",x\n0,1\n1,2\n", "\"\",\"x\"\n\"a\",1\n\"b\",2\n"} {
		schema, got := columnsOf(t, text, CSVOptions{}, "x")
		if !slices.Equal(schema.Names(), []string{unnamed, "x"}) || !NamesRows(schema[0].Name) || !slices.Equal(got.Numbers["x"], bitsOf(1, 2)) {
			t.Errorf("%v %v", schema, got.Numbers)
		}
	}
}

// bitsOf are the numbers as flatten has them.
func bitsOf(v ...float64) (bits []uint64) {
	for _, x := range v {
		bits = append(bits, math.Float64bits(x))
	}
	return bits
}

// TestTextAsItComes: compressed by zstd, in Windows-1252, and with the line in which Excel names
// the delimiter, in passes and in ranges.
func TestTextAsItComes(t *testing.T) {
	ctx := context.Background()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	long := "g,x\n" + strings.Repeat("a,1\nb,2\n", 50_000)
	for name, c := range map[string]struct {
		text string
		o    CSVOptions
		want []string
	}{
		"zstd":         {string(z.EncodeAll([]byte("g,x\na,1\nb,2\n"), nil)), CSVOptions{}, []string{"a", "b"}},
		"much zstd":    {string(z.EncodeAll([]byte(long), nil)), CSVOptions{}, []string{"a", "b"}},
		"windows-1252": {"g,x\nGr\xf6\xdfe,1\n\x80 \x96,2\n", CSVOptions{Encoding: Windows1252}, []string{"Größe", "€ –"}},
		"sep":          {"sep=;\r\ng;x\r\na;1\r\nb,c;2\r\n", CSVOptions{}, []string{"a", "b,c"}},
		"sep and mark": {"\xef\xbb\xbfSEP=|\ng|x\na|1\nb|2\n", CSVOptions{}, []string{"a", "b"}},
	} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenCSV([]string{path}, &c.o)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := flatten(s.Batches(ctx, []string{"g", "x"})); got.Err != "" || !slices.Equal(got.Text["g"][:2], c.want) || !slices.Equal(got.Numbers["x"][:2], bitsOf(1, 2)) {
			t.Errorf("%s: %q %s", name, got.Text["g"][:2], got.Err)
		}
		files, err := s.Survey(ctx, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		o := c.o
		o.Delimiter = s.Delimiter()
		r, err := OpenCSVRange(ctx, files, s.Schema(), 1, 2, &o)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := flatten(r.Batches(ctx, []string{"g"})); got.Err != "" || !slices.Equal(got.Text["g"], c.want[1:]) {
			t.Errorf("%s, second row: %q %s", name, got.Text, got.Err)
		}
	}
	if _, err := OpenCSV([]string{"-"}, &CSVOptions{Encoding: "latin-9", Stdin: strings.NewReader("x\n")}); err == nil || !strings.Contains(err.Error(), `the encoding "latin-9" is not known`) {
		t.Error(err)
	}
}
