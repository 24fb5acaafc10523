package formula

import (
	"errors"
	"strings"
	"testing"
)

// order is a table of columns a to e.
func order(name string) ([]string, bool, error) {
	first, last, ok := strings.Cut(name, "..")
	if !ok || name == "x..y" { // a column
		return nil, false, nil
	}
	i, j := strings.Index("abcde", first), strings.Index("abcde", last)
	if i < 0 || j < i {
		return nil, true, errors.New("no such range")
	}
	return strings.Split("abcde"[i:j+1], ""), true, nil
}

func TestRangesAreWrittenOut(t *testing.T) {
	for text, want := range map[string]string{
		"~ a..c":                               "~ a + b + c",
		"y ~ z + b..d - 1":                     "y ~ z + b + c + d - 1",
		"sigma = ~ a..b":                       "sigma = ~ a + b",
		"~ onehot(a..c, contr = \"sum\")":      `~ onehot(a, b, c, contr = "sum")`,
		"~ onehot(z, a..b, e)":                 "~ onehot(z, a, b, e)",
		"~ onehot(a..b):z":                     "~ onehot(a, b):z",
		"~ . - a..b":                           "~ . - a - b",
		"~ `b..c`":                             "~ b + c",
		"~ x..y + s(x..y)":                     "", // a column of that name
		"~ s(a) + te(b, c, k = c(3, 4)) + d:e": "",
		"~ s(a, by = b) + s(c, by = x..y)":     "", // by a column
		"~ .":                                  "",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		g, err := f.WithRanges(order)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want == "" && g != f {
			t.Errorf("%s: it is made anew, as %s", text, g)
		}
		if want != "" && g.String() != want {
			t.Errorf("%s: %s, want %s", text, g, want)
		}
	}
}

func TestRangesWhereTheyCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"~ s(a..c)":        "formula, character 5: a range stands for several terms, as in ~ first..last, or for the columns of onehot() and ridge(): write the columns of this term one by one",
		"~ te(a..b)":       "write the columns of this term one by one",
		"~ factor(a..b)":   "write the columns of this term one by one",
		"~ a..b:c":         "write the columns of this term one by one",
		"~ c:a..b":         "write the columns of this term one by one",
		"~ s(a, by=b..c)":  "by takes one column, not a range",
		"~ z + q..a":       "formula, character 7: no such range",
		"~ onehot(a..a)":   "two or more",
		"~ onehot(x..y)":   "two or more",
		"~ . - q..a":       "no such range",
		"~ onehot(a, q..)": "no such range",
	} {
		f, err := Parse(text)
		if err == nil {
			_, err = f.WithRanges(order)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
