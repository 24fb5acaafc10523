package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestPage: the tables of tables.md are those of the outcomes beside this test.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("tables.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, s := range map[string]study{"coverage.csv": &coverage{}, "stability.csv": &stability{}} {
		done, rows, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(done) < 20 {
			t.Errorf("%s has %d samples", file, len(done))
		}
		var want bytes.Buffer
		if err := s.table(&want, rows); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), want.String()) {
			t.Errorf("tables.md does not hold the table of %s:\n%s", file, &want)
		}
	}
}
