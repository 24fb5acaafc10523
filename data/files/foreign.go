package files

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/data"
)

// lookedAt is how many of a file's first bytes tell what it is.
const lookedAt = 512

// foreign is a format that is not read here, and how a file of it becomes a Parquet file.
type foreign struct {
	is   func(head []byte) bool
	name string
	how  string
}

func begins(marks ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, mark := range marks {
			if bytes.HasPrefix(head, []byte(mark)) {
				return true
			}
		}
		return false
	}
}

// inZip tells whether a ZIP archive begins with an entry of this name, or in this folder.
func inZip(names ...string) func([]byte) bool {
	return func(head []byte) bool {
		if !bytes.HasPrefix(head, []byte("PK\x03\x04")) || len(head) < 30 {
			return false
		}
		for _, name := range names {
			if bytes.HasPrefix(head[30:], []byte(name)) {
				return true
			}
		}
		return false
	}
}

// foreigners are the formats that people have tables in.
func foreigners() []foreign {
	pandas := func(read string) string { return "in Python: pandas." + read + ".to_parquet(\"rows.parquet\")" }
	return []foreign{
		{inZip("mimetypeapplication/vnd.oasis"), "an OpenDocument table", "save the sheet as CSV, or " + pandas(`read_excel("FILE", engine="odf")`)},
		{begins("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "an Excel workbook of before 2007", "save the sheet as CSV, or " + pandas(`read_excel("FILE")`)},
		{isStata, "a Stata file", pandas(`read_stata("FILE")`)},
		{begins("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60\xb3\x14\x11\xcf"), "a SAS data set", pandas(`read_sas("FILE", format="sas7bdat")`)},
		{begins("HEADER RECORD*******LIB"), "a SAS transport file", pandas(`read_sas("FILE", format="xport")`)},
		{begins("$FL2", "$FL3"), "an SPSS file", pandas(`read_spss("FILE")`)},
		{isR, "a file of R's own", `in R: arrow::write_parquet(readRDS("FILE"), "rows.parquet")`},
		{begins("SQLite format 3\x00"), "an SQLite database", `in DuckDB: ATTACH 'FILE' AS db (TYPE sqlite); COPY db.TABLE TO 'rows.parquet'`},
		{func(head []byte) bool { return len(head) > 12 && string(head[8:12]) == "DUCK" }, "a DuckDB database", `in DuckDB: COPY TABLE TO 'rows.parquet'`},
		{isORC, "an ORC file", pandas(`read_orc("FILE")`)},
		{begins("Obj\x01"), "an Avro file", `in DuckDB: INSTALL avro; LOAD avro; COPY (FROM read_avro('FILE')) TO 'rows.parquet'`},
		{begins("\x89HDF\r\n\x1a\n"), "an HDF5 file", pandas(`read_hdf("FILE")`)},
		{begins("\x80\x04\x95", "\x80\x05\x95"), "a pickle of Python's", pandas(`read_pickle("FILE")`)},
		{begins("{\n", "{\r\n", "[{", "[\n", "[ {"), "JSON that is not an object in each line", `in DuckDB: COPY (FROM read_json('FILE')) TO 'rows.parquet'`},
		{begins("BZh", "\xfd7zXZ\x00"), "compressed by bzip2 or xz", "decompress it, or compress it by gzip or zstd"},
	}
}

// isORC knows what follows the mark in a file that is no text.
func isORC(head []byte) bool {
	return bytes.HasPrefix(head, []byte("ORC")) && len(head) > 3 && (head[3] < '\t' || head[3] > '~')
}

// isStata knows the formats since 2003.
func isStata(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<stata_dta>")) ||
		len(head) > 3 && head[0] >= 113 && head[0] <= 115 && (head[1] == 1 || head[1] == 2) && head[2] == 1 && head[3] == 0
}

// isR knows what saveRDS and save write, compressed by gzip or not.
func isR(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		var inner [16]byte
		n, _ := io.ReadFull(z, inner[:])
		head = inner[:n]
	}
	return begins("RDX2\n", "RDX3\n", "RDA3\n", "RDA2\n", "X\n\x00\x00\x00", "A\n2\n", "A\n3\n")(head)
}

// foreignError is the error for a file of a format that is not read; nil: it is none.
func foreignError(path string, head []byte) error {
	for _, f := range foreigners() {
		if f.is(head) {
			return fmt.Errorf("data: %q is %s, which is not read here: %s", path, f.name, strings.ReplaceAll(f.how, "FILE", filepath.Base(path)))
		}
	}
	return nil
}

// lakeError is the error for a folder that a table format keeps, or a file in one: its files hold
// rows of all versions, deleted ones too.
func lakeError(path string) error {
	if data.IsURL(path) || path == "-" {
		return nil
	}
	dir := filepath.Clean(path)
	if info, err := os.Stat(dir); err != nil {
		return nil
	} else if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	for up := 0; up < 8; up++ {
		for _, lake := range []struct{ beside, name, how string }{
			{"_delta_log", "a Delta table", `in Python: deltalake.DeltaTable("DIR").to_pandas().to_parquet("rows.parquet")`},
			{"_versions", "a Lance data set", `in Python: pyarrow.parquet.write_table(lance.dataset("DIR").to_table(), "rows.parquet")`},
			{"metadata/version-hint.text", "an Iceberg table", `in DuckDB: INSTALL iceberg; LOAD iceberg; COPY (FROM iceberg_scan('DIR')) TO 'rows.parquet'`},
		} {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(lake.beside))); err == nil {
				return fmt.Errorf("data: %q is of %s, whose files hold rows that are deleted too, so they are not read one by one: %s", path, lake.name, strings.ReplaceAll(lake.how, "DIR", dir))
			}
		}
		base := filepath.Base(dir)
		if !strings.Contains(base, "=") && base != "data" { // partitions lie below a table, and Iceberg's data
			return nil
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
