package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// tables.md has the tables that the program prints of what was measured.
func TestPage(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors may round products and sums together")
	}
	page, err := os.ReadFile("tables.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- scaling -->\n")
	got, _, ok := strings.Cut(rest, "\n<!-- /scaling -->")
	m, err := readMeasured("measured.json")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	if err := tables(&want, m); err != nil {
		t.Fatal(err)
	}
	if !ok || strings.TrimSpace(got) != strings.TrimSpace(want.String()) {
		t.Error("tables.md has other tables than `go run -C benchmarks ./scaling` prints: put those between its marks")
	}
}

// A piece that is not known does not become the least.
func TestLesser(t *testing.T) {
	for _, c := range [][3]float64{{0, 2, 2}, {3, 2, 2}, {2, 3, 2}, {2, 0, 2}, {2, -1, 2}, {-1, 2, 2}} {
		if got := lesser(c[0], c[1]); got != c[2] {
			t.Errorf("lesser(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
