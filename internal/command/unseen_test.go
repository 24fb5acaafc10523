package command

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/serve"
)

// --unseen: rows with a level that training did not have are errors, left out, or split so that terms
// of the column add nothing and the parts still sum to the network's own output.
func TestUnseen(t *testing.T) {
	temp := t.TempDir()
	result, data, known := filepath.Join(temp, "result"), filepath.Join(temp, "new.csv"), filepath.Join(temp, "known.csv")
	write(t, filepath.Join(temp, "rows.csv"), rows(300))
	done(t, "decompose", "--model", golden("ssn_op13"), "--data", filepath.Join(temp, "rows.csv"), "--input", "x=x0..x4",
		"--formula", "~ s(x0, k=5, by=g) + g + x1 + g:x2", "--out", result)
	const header = "x0,x1,x2,x3,x4,g\n"
	write(t, data, header+"1,2,.3,.4,.5,a\n.1,.2,.3,.4,.5,zebra\n.2,.2,.3,.4,.5,b\n.1,.2,.3,.4,.5,yak\n.1,.7,.3,.4,.5,zebra\n")
	write(t, known, header+"1,2,.3,.4,.5,a\n.1,.2,.3,.4,.5,a\n.2,.2,.3,.4,.5,b\n.1,.2,.3,.4,.5,a\n.1,.7,.3,.4,.5,a\n")
	apply := func(t *testing.T, path string, more ...string) ([]string, [][]string, string) {
		out := filepath.Join(t.TempDir(), "parts.csv")
		o := done(t, append([]string{"apply", "--decomposition", result, "--data", path, "--out", out, "--se"}, more...)...)
		header, records := table(t, out)
		return header, records, o.err
	}
	names, want, _ := apply(t, known)
	const levels = `3 rows have levels of column "g" that the decomposition does not know ("zebra", "yak")`

	t.Run("drop", func(t *testing.T) {
		_, got, warned := apply(t, data, "--unseen", "drop")
		for i, row := range got {
			if left := i == 1 || i >= 3; left != (row[0] == "") || !left && !slices.Equal(row, want[i]) {
				t.Errorf("row %d: %q, want %q", i+1, row, want[i])
			}
		}
		if len(got) != 5 || !strings.Contains(warned, "warning: "+levels+": they were left out (--unseen)") {
			t.Errorf("%d rows, %s", len(got), warned)
		}
	})
	t.Run("zero", func(t *testing.T) {
		_, got, warned := apply(t, data, "--unseen", "zero")
		if !strings.Contains(warned, "warning: "+levels+": terms of the column add nothing there") {
			t.Error(warned)
		}
		for i, row := range got {
			sum := 0.0
			for j, name := range names {
				unseen := (i == 1 || i >= 3) && strings.Contains(name, "g")
				switch {
				case strings.HasSuffix(name, ".se"):
					if unseen && row[j] != "" || !unseen && row[j] != want[i][j] {
						t.Errorf("row %d: %s is %q", i+1, name, row[j])
					}
				case name == "eta":
					if v := number(t, row[j]); math.Abs(sum-v) > 1e-12 || row[j] != want[i][j] {
						t.Errorf("row %d: the parts sum to %g, eta is %s, the network's %s", i+1, sum, row[j], want[i][j])
					}
				case unseen:
					if row[j] != "0" {
						t.Errorf("row %d: %s is %s", i+1, name, row[j])
					}
				default:
					sum += number(t, row[j])
					if row[j] != want[i][j] && (name != "unstructured" || i == 0 || i == 2) {
						t.Errorf("row %d: %s is %s, want %s", i+1, name, row[j], want[i][j])
					}
				}
			}
		}
	})
	t.Run("monitor", func(t *testing.T) {
		for policy, rows := range map[string]string{"drop": `"rows":2,`, "zero": `"rows":5,`} {
			dir := t.TempDir()
			o := done(t, "monitor", result, "--data", data, "--state", filepath.Join(dir, "state.json"), "--period", "new", "--unseen", policy)
			if state := read(t, dir, "state.json"); !strings.Contains(state, rows) || !strings.Contains(o.err, levels) {
				t.Errorf("%s: %s%s", policy, state, o.err)
			}
		}
	})
	t.Run("serve", func(t *testing.T) { servesUnseen(t, result) })
}

// servesUnseen asks a resident process for a row with a level that training did not have.
func servesUnseen(t *testing.T, result string) {
	e, err := serve.Open(result, &serve.Options{Model: golden("ssn_op13"), Unseen: data.UnseenZero})
	if err != nil {
		t.Fatal(err)
	}
	split := func(policy data.UnseenPolicy) (*serve.Split, error) {
		rows := serve.NewRows(2)
		err := rows.AddCodes("g", data.Codes{Index: []int32{0, 1}, Levels: []string{"a", "zebra"}})
		for _, c := range []string{"x0", "x1", "x2", "x3", "x4"} {
			err = errors.Join(err, rows.AddNumeric(c, []float64{.1, .2}))
		}
		if err != nil {
			t.Fatal(err)
		}
		return e.Split(context.Background(), rows, serve.How{Unseen: policy})
	}
	zebra := []data.UnseenLevel{{Column: "g", Level: "zebra", Rows: 1}}
	at := slices.Index(e.Parts(false), "g")
	if _, err := split(data.UnseenError); !errors.As(err, new(*data.UnseenLevelError)) {
		t.Errorf("error: %v", err)
	}
	s, err := split(data.UnseenDrop)
	if err != nil || s.Dropped != 1 || !slices.Equal(s.Unseen, zebra) || !math.IsNaN(s.Parts[at][1]) {
		t.Errorf("drop: %+v, %v", s, err)
	}
	s, err = split(e.Unseen())
	if err != nil || s.Dropped != 0 || !slices.Equal(s.Unseen, zebra) || s.Parts[at][1] != 0 || s.Parts[at][0] == 0 {
		t.Errorf("zero: %+v, %v", s, err)
	}
}
