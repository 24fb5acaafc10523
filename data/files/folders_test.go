package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// Names of folders such as year=2024 are columns: numbers, or text where one is none, and factors if asked
// for. Rows that are left out shift nothing.
func TestFolders(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "golden", "ordered.parquet")) // six rows, g of the third is missing
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var paths []string
	for _, part := range []string{"year=2023/zone=a%20b", "year=2024/zone=7"} {
		at := filepath.Join(dir, filepath.FromSlash(part))
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(at, "part.parquet"))
		if err := os.WriteFile(paths[len(paths)-1], golden, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []files.Options{{NA: data.NADrop}, {NA: data.NADrop, BatchRows: 4, FirstRow: 100, Factors: []string{"year"}}, {NA: data.NADrop, Texts: []string{"year"}}} {
		src, err := files.Open(paths, &o)
		if err != nil {
			t.Fatal(err)
		}
		year, _ := src.Schema().Lookup("year")
		zone, _ := src.Schema().Lookup("zone")
		if year.Numeric != (o.Texts == nil) || year.Categorical != (o.Factors != nil || o.Texts != nil) || zone.Numeric || !zone.Categorical {
			t.Errorf("%+v: %+v, %+v", o, year, zone)
		}
		var got strings.Builder
		for b, err := range data.Rebatch(src.Batches(context.Background(), []string{"zone", "g", "year"}), 5) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Rows() {
				for _, name := range []string{"year", "zone"} {
					text, err := b.Texts(name)
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&got, "%s ", text(i))
				}
			}
		}
		if want := strings.Repeat("2023 a b ", 5) + strings.Repeat("2024 7 ", 5); got.String() != want {
			t.Errorf("%+v: %s, want %s", o, got.String(), want)
		}
	}
	null := filepath.Join(dir, "year=__HIVE_DEFAULT_PARTITION__", "part.parquet")
	if err := os.MkdirAll(filepath.Dir(null), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(null, golden, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Open([]string{null}, nil); err == nil || !strings.Contains(err.Error(), `the rows without a value of "year"`) {
		t.Errorf("a partition of missing values: %v", err)
	}
}
