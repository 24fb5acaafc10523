package data

import (
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	write(t, map[string]string{"b2.csv": "", "b1.csv": "", "a.csv": "", "odd[1].csv": "", "_b.csv": "", ".b.csv": "", "_SUCCESS": ""})
	for patterns, want := range map[string]string{
		"":                 "",
		"missing.csv -":    "missing.csv -", // opening it will tell
		"b*.csv":           "b1.csv b2.csv",
		"b?.csv a.csv":     "b1.csv b2.csv a.csv",
		"[ab]*.csv":        "a.csv b1.csv b2.csv",
		"odd[1].csv":       "odd[1].csv",
		"*b.csv":           `error: data: no file matches "*b.csv"`, // notes of programs
		"_*.csv .b*":       "_b.csv .b.csv",
		"a.csv z*":         `error: data: no file matches "z*"`,
		"b*.csv [a-":       `error: data: the pattern "[a-" is malformed: syntax error in pattern`,
		"*.parquet? a.csv": `error: data: no file matches "*.parquet?"`,
	} {
		names, err := Expand(strings.Fields(patterns))
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", patterns, got, want)
		}
	}
}
