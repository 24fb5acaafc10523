package files

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeign: files of other formats are named, with the way to a Parquet file, and what is CSV,
// Parquet or an archive of arrays is none of them.
func TestForeign(t *testing.T) {
	var rds bytes.Buffer
	z := gzip.NewWriter(&rds)
	z.Write([]byte("X\n\x00\x00\x00\x03\x00\x04\x03\x00"))
	z.Close()
	zipped := func(name string) string { return "PK\x03\x04" + strings.Repeat("\x00", 26) + name }
	dir := t.TempDir()
	for _, c := range []struct{ content, want string }{
		{zipped("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument table"},
		{"s\x02\x01\x00", "a Stata file"},
		{"<stata_dta><header>", "a Stata file"},
		{strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60\xb3\x14\x11\xcf", "a SAS data set"},
		{"$FL2@(#) SPSS", "an SPSS file"},
		{rds.String(), "a file of R's own"},
		{"SQLite format 3\x00", "an SQLite database"},
		{"\x01\x02\x03\x04\x05\x06\x07\x08DUCK\x40", "a DuckDB database"},
		{"ORC\x01", "an ORC file"},
		{"Obj\x01\x04", "an Avro file"},
		{"[{\"x\": 1},\n{\"x\": 2}]\n", "JSON that is not an object in each line"},
	} {
		path := filepath.Join(dir, "rows.dat")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open([]string{path}, nil); err == nil || !strings.Contains(err.Error(), "is "+c.want+", which is not read here: ") || !strings.Contains(err.Error(), "rows.") {
			t.Errorf("%q: %v", c.content[:4], err)
		}
	}
	for _, text := range []string{"s,x\n1,2\n", "q\n1\n", "ORCID\n1\n", "$x\n1\n", "\"a\"\n1\n"} {
		if err := foreignError("a", []byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLakes: a file of a table whose folder keeps older versions is refused, also below partitions;
// one beside it is not.
func TestLakes(t *testing.T) {
	dir := t.TempDir()
	raw, err := os.ReadFile(filepath.Join(golden, "empty.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	place := func(name string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	place("delta/_delta_log/00000000000000000000.json")
	place("lance/_versions/1.manifest")
	place("iceberg/metadata/version-hint.text")
	for name, want := range map[string]string{
		"delta/part-0.parquet":                   "a Delta table",
		"delta/year=2024/month=1/part-0.parquet": "a Delta table",
		"lance/data/x.lance":                     "a Lance data set",
		"iceberg/data/year=2024/x.parquet":       "an Iceberg table",
		"plain/year=2024/x.parquet":              "",
	} {
		_, err := Open([]string{place(name)}, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "is of "+want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open([]string{filepath.Join(dir, "delta")}, nil); err == nil || !strings.Contains(err.Error(), "a Delta table") {
		t.Error(err)
	}
}
