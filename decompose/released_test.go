package decompose_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pho-go/pho/decompose"
)

var writeStatistics = flag.String("write-formats", "", "`VERSION` whose statistics to write into testdata/formats, if they are not there")

// TestReleasedStatisticsAreRead: statistics that every release wrote are read, solved as
// those of the same rows are today, and merge with today's.
func TestReleasedStatisticsAreRead(t *testing.T) {
	const formats = "../testdata/formats"
	today, m := statistics(t, table(t, 200, 40), "day", 0)
	if *writeStatistics != "" {
		path := filepath.Join(formats, *writeStatistics, "statistics")
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s is there: what a release wrote does not change", path)
		}
		if err := os.WriteFile(path, bytesOf(t, today), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(formats, "*.*.*", "statistics"))
	if err != nil || len(files) == 0 {
		t.Fatal("no statistics in", formats, err)
	}
	want, err := decompose.Solve(context.Background(), m, today, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var s decompose.Statistics
		if err := s.UnmarshalBinary(text); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := decompose.Solve(context.Background(), m, &s, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for j, term := range got.Predictors[0].Terms {
			for i, alpha := range term.Alpha {
				near(t, fmt.Sprintf("%s: term %q: coefficient %d", path, term.Name, i), alpha, want.Predictors[0].Terms[j].Alpha[i], 1e-8)
			}
		}
		if again := bytesOf(t, &s); !bytes.Equal(again[:17], text[:17]) {
			t.Logf("%s is of an earlier version: %q", path, text[:17])
		} else if !bytes.Equal(again, text) {
			t.Errorf("%s is written again as other bytes", path)
		}
	}
}
