package data

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sharedData is the folder of cleaned benchmark data next to the module, or
// below PHO_SHARED.
func sharedData(t *testing.T) string {
	t.Helper()
	root := os.Getenv("PHO_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	dir := filepath.Join(root, "data")
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		t.Skipf("no benchmark data: %v", err)
	}
	return dir
}

// TestCSVSharedData reads every file of the table in the data's README: all of
// its rows, all columns numeric.
func TestCSVSharedData(t *testing.T) {
	dir := sharedData(t)
	readme, err := os.Open(filepath.Join(dir, "README.md"))
	check(t, err)
	defer readme.Close()
	files := 0
	for lines := bufio.NewScanner(readme); lines.Scan(); {
		cell := strings.Split(lines.Text(), "|")
		if len(cell) < 5 || !strings.Contains(cell[1], ".csv") {
			continue
		}
		name := strings.TrimSpace(cell[1])
		want, err := strconv.ParseInt(strings.TrimSpace(cell[2]), 10, 64)
		check(t, err)
		files++
		t.Run(name, func(t *testing.T) {
			source := mustOpen(t, nil, filepath.Join(dir, name))
			rows := int64(0)
			for b, err := range source.Batches(context.Background(), source.Schema().Names()) {
				check(t, err)
				rows += int64(b.Rows())
			}
			if total, _ := source.Rows(); rows != want || total != want {
				t.Errorf("%d rows (%d in all), the README says %d", rows, total, want)
			}
			for _, c := range source.Schema() {
				if !c.Numeric || c.Categorical {
					t.Errorf("column %q is not numeric", c.Name)
				}
			}
		})
	}
	if files < 19 {
		t.Errorf("only %d files in the table", files)
	}
}
