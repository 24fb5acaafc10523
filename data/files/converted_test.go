package files_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// cellsOf are the cells of a file's columns, as texts, by row.
func cellsOf(t *testing.T, path string, o *files.Options) (string, error) {
	t.Helper()
	src, err := files.Open([]string{path}, o)
	if err != nil {
		return "", err
	}
	defer src.Close()
	var out strings.Builder
	for _, c := range src.Schema() {
		fmt.Fprintf(&out, "%s:%v ", c.Name, c.Numeric)
	}
	for range 2 { // passes read it again
		for b, err := range src.Batches(context.Background(), src.Schema().Names()) {
			if err != nil {
				return "", err
			}
			for i := range b.Rows() {
				out.WriteString("|")
				for _, c := range src.Schema() {
					text, err := b.Texts(c.Name)
					if err != nil {
						return "", err
					}
					fmt.Fprintf(&out, " %s", text(i))
				}
			}
		}
	}
	return out.String(), nil
}

// Excel workbooks and JSON lines are read by their content: text stays text, though it may be digits.
func TestWorkbookAndJSONLines(t *testing.T) {
	row := `| 0.5 007 a, "b" 1 1| -2 7 é ü 0 NaN| 0.001 12 NA or not 1 3`
	want := "x:true code:false text:false yes:true gap:true " + row + row
	for _, name := range []string{"sheets.xlsx", "sheets.jsonl"} {
		got, err := cellsOf(t, filepath.Join("testdata", "golden", name), &files.Options{NA: data.NAKeep, Sheet: "rows"})
		if err != nil || got != want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, want)
		}
	}
	if got, err := cellsOf(t, filepath.Join("testdata", "golden", "sheets.xlsx"), nil); err != nil || got != "a:true b:true | 1 2| 1 2" {
		t.Errorf("the first sheet: %s, %v", got, err)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "pho-*.csv"))
	if len(left) > 0 {
		t.Errorf("copies are left: %q", left)
	}
}

// zipped is a ZIP archive of the entries.
func zipped(t *testing.T, entries ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		f, err := w.Create(entries[i])
		if err == nil {
			_, err = f.Write([]byte(entries[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is damaged, too deep or far larger than it seems is an error that says so.
func TestBadWorkbooksAndJSONLines(t *testing.T) {
	const (
		book  = `<workbook xmlns:r="r"><sheets><sheet name="s" r:id="a"/></sheets></workbook>`
		rels  = `<Relationships><Relationship Id="a" Target="worksheets/s.xml"/></Relationships>`
		types = "[Content_Types].xml"
	)
	sheet := func(xml string) []byte {
		return zipped(t, types, "<x/>", "xl/workbook.xml", book, "xl/_rels/workbook.xml.rels", rels, "xl/worksheets/s.xml", xml)
	}
	many := []string{types, "<x/>"}
	for i := range 10_001 {
		many = append(many, fmt.Sprint("xl/", i), "")
	}
	deep := strings.Repeat("<a>", 100)
	empty := strings.Repeat(`<c r="A2"/>`, 200) // cells without a value are not deep
	for name, c := range map[string]struct {
		file []byte
		o    files.Options
		want string
	}{
		"entries":   {file: zipped(t, many...), want: "its archive has 10002 entries"},
		"cut":       {file: sheet("<worksheet/>")[:300], want: "it is no whole Excel workbook"},
		"no sheet":  {file: zipped(t, types, "<x/>", "xl/workbook.xml", "<workbook/>"), want: "the workbook has no sheet"},
		"name":      {file: sheet("<worksheet/>"), o: files.Options{Sheet: "t"}, want: `no sheet "t"; it has ["s"]`},
		"empty":     {file: sheet("<worksheet>" + empty + "</worksheet>"), want: "the sheet is empty"},
		"deep":      {file: sheet(deep), want: "its XML is too deep"},
		"deep cell": {file: sheet(`<row><c r="A1">` + deep), want: "its XML is too deep"},
		"ratio":     {file: sheet("<worksheet>" + strings.Repeat(" ", 40<<20) + "</worksheet>"), want: "far larger than what it is compressed to"},
		"place":     {file: sheet(`<row r="1"><c r="ZZZZ1"><v>1</v></c></row>`), want: `row 1: "ZZZZ1" is the place of no cell`},
		"text":      {file: sheet(`<row r="1"><c r="A1" t="s"><v>3</v></c></row>`), want: `it points to text "3", and there are 0`},
		"wide":      {file: sheet(`<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="2"><c r="C2"><v>1</v></c></row>`), want: "row 2 has a value in column 3"},
		"json":      {file: []byte("{\"a\": 1}\n\n[1]\n"), want: "line 3: each line has to hold a JSON object"},
		"json two":  {file: []byte("{\"a\": 1} {\"a\": 2}\n"), want: "line 1: something follows the object"},
		"json name": {file: []byte("{\"a\": 1, \"a\": 2}\n"), want: `line 1: "a" has two values`},
		"json cut":  {file: []byte("{\"a\": 1}\n{\"a\": "), want: "line 2: "},
	} {
		path := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := cellsOf(t, path, &c.o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %s, %v, want %q", name, got, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte("{\"a\": 9007199254740993}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := cellsOf(t, path, nil); err != nil || got != "a:false | 9007199254740993| 9007199254740993" {
		t.Errorf("beyond 2^53: %s, %v", got, err)
	}
}
