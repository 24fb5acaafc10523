package wiring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/decompose"
)

// withLevels is a result of a factor, a smooth by a factor and combinations of levels.
func withLevels(t *testing.T, levels ...string) *decompose.Result {
	t.Helper()
	list, err := json.Marshal(levels)
	if err != nil {
		t.Fatal(err)
	}
	var r decompose.Result
	for _, spec := range []string{
		fmt.Sprintf(`{"column": "g", "levels": %s}`, list),
		fmt.Sprintf(`{"column": "x", "by": {"column": "h", "levels": %s, "level": "a"}}`, list),
		fmt.Sprintf(`{"factors": [{"column": "k", "levels": %s}], "levels": ["a:b"]}`, list),
	} {
		r.Predictors = append(r.Predictors, decompose.Predictor{Terms: []decompose.TermResult{{Spec: json.RawMessage(spec)}}})
	}
	return &r
}

// TestTermTexts: columns with a level that is no number held text.
func TestTermTexts(t *testing.T) {
	for _, c := range []struct {
		levels []string
		want   []string
	}{
		{[]string{"01", "02"}, []string{"g", "h", "k"}},
		{[]string{"a", "2"}, []string{"g", "h", "k"}},
		{[]string{"1", "2.5", "-3"}, nil},
	} {
		if got := termTexts(withLevels(t, c.levels...)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.levels, got, c.want)
		}
	}
}

// TestLevelWarnings: levels that are none in all likelihood are told of, others are not.
func TestLevelWarnings(t *testing.T) {
	var numbers, dates, marked []string
	for i := range 59 {
		numbers = append(numbers, fmt.Sprint(i))
		dates = append(dates, fmt.Sprintf("2024-%02d-%02d", 1+i/28, 1+i%28))
	}
	marked = append([]string{"?"}, numbers...)
	for _, c := range []struct {
		levels []string
		want   string
	}{
		{[]string{"State", "State ", "Private"}, `column "g" has levels that differ by blanks only, as "State" and "State ": `},
		{marked, `column "g" is a factor of 60 levels, of which 59 are numbers, since "?" is none: `},
		{dates, `column "g" is a factor of 59 levels, which are dates, as "2024-01-01": `},
		{numbers, ""},
		{[]string{"a", "b", "1"}, ""},
	} {
		got := levelWarnings(withLevels(t, c.levels...))
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 3 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%q: %q", c.levels, got)
		}
	}
}
