package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
)

// Levels that are named are text in their order, numbers in CSV and orders that a file declares among them, also in
// ranges of surveyed files.
func TestNamedLevels(t *testing.T) {
	t.Parallel()
	csv := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(csv, []byte("x,g\n1,10\n2,9\n3,10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		order []string
	}{
		{csv, []string{"9", "11", "10"}},
		{filepath.Join("testdata", "golden", "ordered.parquet"), []string{"mid", "low", "high"}},
	} {
		o := &files.Options{NA: data.NADrop, Levels: map[string][]string{"g": c.order}}
		whole, err := files.Open([]string{c.path}, o)
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		s, err := files.Look(context.Background(), []string{c.path}, o, 0)
		if err != nil {
			t.Fatal(err)
		}
		part, err := s.Open(context.Background(), 1, 2, o)
		if err != nil {
			t.Fatal(err)
		}
		defer part.Close()
		for _, src := range []files.Source{whole, part} {
			for b, err := range src.Batches(context.Background(), []string{"g"}) {
				if err != nil {
					t.Fatal(err)
				}
				codes, err := b.Codes("g")
				if err != nil || len(codes.Declared) != 1 || !slices.Equal(codes.Declared[0], c.order) {
					t.Errorf("%s: %q, %v", c.path, codes.Declared, err)
				}
			}
		}
	}
	src, err := files.Open([]string{csv}, &files.Options{Levels: map[string][]string{"g": {"10"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var unseen *data.UnseenLevelError
	for _, err := range src.Batches(context.Background(), []string{"x", "g"}) {
		if !errors.As(err, &unseen) || unseen.Level != "9" || unseen.Row != 1 {
			t.Errorf("a cell that is no level: %v", err)
		}
	}
	if _, err := files.Open([]string{csv}, &files.Options{Levels: map[string][]string{"h": {"10"}}}); err == nil {
		t.Error("levels of no column")
	}
}
