package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whole numbers beyond 2^53 in Parquet and Arrow are exact where a formula or --cluster takes them as
// categories, by one call and by a plan; as numbers they are refused.
func TestLongNumbers(t *testing.T) {
	var want []string
	for i := range 6 {
		want = append(want, "900719925474099"+string(rune('3'+i)))
	}
	for _, name := range []string{"long.parquet", "long.arrow"} {
		data := filepath.Join("..", "..", "data", "files", "testdata", "golden", name)
		flags := func(more ...string) []string {
			return append([]string{"--model", golden("ssn_op13"), "--data", data, "--input", "x=x0..x4"}, more...)
		}
		for _, formula := range []string{"~ factor(id)", "~ s(x1, k=4, by=id)", "~ s(id, bs='re')"} {
			dir := filepath.Join(t.TempDir(), "result")
			done(t, append([]string{"decompose", "--out", dir}, flags("--formula", formula)...)...)
			header, records := table(t, dir, "effects.csv")
			level, term := slices.Index(header, "x"), slices.Index(header, "term")
			seen := map[string]bool{}
			for _, row := range records {
				for _, id := range want {
					seen[id] = seen[id] || row[level] == id || strings.Contains(row[term], id)
				}
			}
			for _, id := range want {
				if !seen[id] {
					t.Errorf("%s, %s: no level %s", name, formula, id)
				}
			}
		}
		dir := filepath.Join(t.TempDir(), "result")
		done(t, append([]string{"decompose", "--out", dir, "--cluster", "id"}, flags("--formula", "~ x1")...)...)
		if doc := read(t, dir, "decomposition.json"); !strings.Contains(doc, `"clusters": 6`) {
			t.Errorf("%s: there are not 6 clusters", name)
		}
		o := call(t, append([]string{"decompose", "--out", filepath.Join(t.TempDir(), "result")}, flags("--formula", "~ id")...)...)
		if o.status != exitFailed || !strings.Contains(o.err, `cell "9007199254740993" is a whole number beyond 2^53`) {
			t.Errorf("%s: as numbers: %d, %s", name, o.status, o.err)
		}
	}
}
