package files

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var writeFormats = flag.String("write-formats", "", "write the survey of this release to testdata/formats")

// The survey that each release wrote of its rows is that of this one, and its ranges are read.
func TestReleasedSurvey(t *testing.T) {
	releases := filepath.Join("..", "..", "testdata", "formats")
	if *writeFormats != "" {
		write(t, filepath.Join(releases, *writeFormats))
	}
	paths, err := filepath.Glob(filepath.Join(releases, "*", "survey.json"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		s.Files[0].Path = filepath.Join(filepath.Dir(path), s.Files[0].Path)
		if diff := cmp.Diff(look(t, []string{s.Files[0].Path}, nil, 30), s); diff != "" {
			t.Error(diff)
		}
		if got, _ := ranges(t, s, []int64{0, 45, s.Rows}, nil); got.Err != "" || int64(len(got.Rows)) != s.Rows {
			t.Error(len(got.Rows), got.Err)
		}
	}
}

// write surveys the rows of a release; it replaces nothing.
func write(t *testing.T, dir string) {
	t.Helper()
	s := look(t, []string{filepath.Join(dir, "rows.csv")}, nil, 30)
	s.Files[0].Path = "rows.csv"
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "survey.json"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(raw, '\n')); err != nil {
		t.Fatal(err)
	}
}
