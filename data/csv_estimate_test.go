package data

import (
	"strings"
	"testing"
)

// TestCSVEstimate: of rows that look alike the number is about right; of gzip it is not known.
func TestCSVEstimate(t *testing.T) {
	text := "x,y\n" + strings.Repeat("1.25,2\n", 50_000)
	write(t, map[string]string{"a": text, "b": text, "z": zip(t, text), "none": "x,y\n"})
	for paths, want := range map[string]int64{"a": 50_000, "a b": 100_000, "z": 0, "a z": 0, "none": 0} {
		c := mustOpen(t, nil, strings.Fields(paths)...)
		if got := c.Estimate(); got < want || got > want+want/100 {
			t.Errorf("%s: about %d rows, want %d", paths, got, want)
		}
	}
}
