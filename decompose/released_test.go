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

// released is what the sums of the last pass are of that releases have written.
func released(t *testing.T) (*decompose.Explanation, *decompose.Explaining) {
	tab, m := table(t, 200, 40), newFake(1).withTap()
	o := &decompose.Options{Columns: decompose.Columns{Cluster: "day"}, Visitors: []decompose.Visitor{&adding{}}}
	e, err := decompose.NewExplaining(m, decomposed(t, m, tab, o), o)
	must(t, err)
	s, err := e.Accumulate(t.Context(), tab)
	must(t, err)
	return s, e
}

// TestReleasedExplanationsAreRead: sums of the last pass that every release wrote are read and
// written again as they are.
func TestReleasedExplanationsAreRead(t *testing.T) {
	const formats = "../testdata/formats"
	if *writeStatistics != "" {
		path := filepath.Join(formats, *writeStatistics, "explanation")
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s is there: what a release wrote does not change", path)
		}
		today, _ := released(t)
		must(t, os.WriteFile(path, bytesOf(t, today), 0o666))
	}
	files, err := filepath.Glob(filepath.Join(formats, "*.*.*", "explanation"))
	if err != nil || len(files) == 0 {
		t.Fatal("no explanation in", formats, err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		must(t, err)
		s, err := decompose.DecodeExplanation(raw, decodeDeep)
		must(t, err)
		if s.Rows() != 200 || !bytes.Equal(bytesOf(t, s), raw) {
			t.Errorf("%s: %d rows, or other bytes when written again", path, s.Rows())
		}
	}
}
