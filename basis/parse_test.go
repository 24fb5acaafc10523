package basis

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/decompose"
)

var update = flag.Bool("update", false, "rewrite the expected messages")

// TestBadFormulas compares whole messages with testdata/bad_formulas.txt: blocks
// of a quoted formula and the message it gets, apart by empty lines.
func TestBadFormulas(t *testing.T) {
	path := filepath.Join("testdata", "bad_formulas.txt")
	file, err := os.ReadFile(path)
	must(t, err)
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		quoted, want, _ := strings.Cut(block, "\n")
		text, err := strconv.Unquote(quoted)
		must(t, err)
		f, err := Parse(text, &Options{Schema: sampleSchema(), Factors: []string{"h"}})
		if err == nil {
			t.Errorf("Parse(%s) is no error", quoted)
			continue
		}
		if f != nil {
			t.Errorf("Parse(%s) returns a formula with its error", quoted)
		}
		var at *formula.Error
		if !errors.As(err, &at) || at.Pos < 0 || at.Pos > len(text) {
			t.Errorf("Parse(%s): %#v has no place in the formula", quoted, err)
		}
		if got := err.Error(); got != want && !*update {
			t.Errorf("Parse(%s):\n%s\nwant\n%s", quoted, got, want)
		}
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(&out, "%s\n%v\n", quoted, err)
	}
	if *update {
		must(t, os.WriteFile(path, []byte(out.String()), 0o666))
	}
}

func TestParseGivesSpecs(t *testing.T) {
	f, err := Parse("sigma = both ~ x + g + h + s(x, bs='ps', k=7, m=c(1,1)) + s(z, bs='cr', k=5, sp=0.3) + s(x, bs='ps', by=g, fx=TRUE) + s(x, bs='cr', by=z, k=4) + factor(z)",
		&Options{Schema: sampleSchema(), Factors: []string{"h"}})
	must(t, err)
	if f.Predictor != "sigma" || f.Response != "both" || !f.Intercept {
		t.Errorf("%+v", f)
	}
	b := sample(t, 99, 1)
	var got []string
	for _, s := range f.Specs {
		blocks := mustBuild(t, s, b)
		for _, k := range blocks {
			got = append(got, fmt.Sprintf("%s %s %d %v penalties %d %v base %d reads %v", k.Term.Name(), k.Term.Kind(), k.Term.Dim(), k.Constraint, len(k.Penalty.S), k.Penalty.SP, len(k.Base), k.Term.Columns()))
		}
		for _, k := range blocks {
			if !slices.Equal(k.Term.Columns(), s.Columns()) {
				t.Errorf("%s: the term reads %v, its spec %v", k.Term.Name(), k.Term.Columns(), s.Columns())
			}
		}
	}
	free, centred, treatment := decompose.Free().String(), decompose.SumToZero().String(), decompose.Treatment().String()
	want := []string{
		"x linear 1 " + free + " penalties 0 [] base 0 reads [x]",
		"g factor 3 " + treatment + " penalties 0 [] base 0 reads [g]",
		"h factor 4 " + treatment + " penalties 0 [] base 0 reads [h]",
		"s(x) smooth 7 " + centred + " penalties 1 [] base 0 reads [x]",
		"s(z) smooth 5 " + centred + " penalties 1 [0.3] base 0 reads [z]",
		"s(x):ghigh smooth 10 " + centred + " penalties 0 [] base 3 reads [x g]",
		"s(x):glow smooth 10 " + centred + " penalties 0 [] base 3 reads [x g]",
		"s(x):gmid smooth 10 " + centred + " penalties 0 [] base 3 reads [x g]",
		"s(x):z smooth 4 " + free + " penalties 1 [] base 1 reads [x z]",
		"factor(z) factor 99 " + treatment + " penalties 0 [] base 0 reads [z]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestParseWithoutIntercept: the first factor then has all levels, as in R.
func TestParseWithoutIntercept(t *testing.T) {
	f, err := Parse("~ x + g + factor(h) - 1", &Options{Schema: sampleSchema()})
	must(t, err)
	if f.Intercept {
		t.Error("there is an intercept")
	}
	b := sample(t, 20, 1)
	first, second := mustBuild(t, f.Specs[1], b), mustBuild(t, f.Specs[2], b)
	if !first[0].Constraint.Equal(decompose.Free()) || !second[0].Constraint.Equal(decompose.Treatment()) {
		t.Errorf("constraints %v, %v", first[0].Constraint, second[0].Constraint)
	}
}

func TestParseWithoutSchema(t *testing.T) {
	f, err := Parse("anything ~ whatever + s(`odd name`, bs='cr')", nil)
	must(t, err)
	if got := f.Specs[1].Columns(); len(f.Specs) != 2 || got[0] != "odd name" {
		t.Errorf("%v", got)
	}
	for _, text := range []string{"~ s(x, g, bs='fs') + g:x", "~ te(x, g, bs=c('cr', 're'))"} {
		if _, err := Parse(text, nil); err != nil {
			t.Errorf("%s without a schema: %v", text, err)
		}
	}
	if _, err := Parse("~ x", &Options{Schema: sampleSchema(), Factors: []string{"hh"}}); err == nil || err.Error() != `basis: there is no column "hh" to treat as a factor; did you mean "h"?` {
		t.Errorf("unknown factor: %v", err)
	}
}

// FuzzParse: whatever the text, there is a formula or an error that shows its
// place, and specs that say what they read.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"both ~ x + g + factor(h) - 1", "s = ~ s(x, bs='ps', k=7, m=c(1,1), by=g)", "~ s(z, bs='cr', k=5, sp=0.3, knots=c(1,2,3,4,5))",
		"~ s(x, bs='ps', fx=TRUE, by=z)", "~ te(x, z)", "~ x:g", "~ s(x)", "~ s(x, bs='ps', k=1e9)", "~ s(x, bs='ps', m=-3)",
		"~ s(x, z, k=9, by=g)", "~ s(x, z, h, m=2, k=9, bs='ts')", "~ s(x, k=4, knots=c(1,2,3,4,5))", "~ s(x, bs='cr', k=5, cuts=c(1,2))", "~ s(x, z, cuts=1)", "~ s(x, z, bs='rbf', knots=c(0,0,1,1), sp=2)",
	} {
		f.Add(text)
	}
	b := sample(f, 30, 1)
	f.Fuzz(func(t *testing.T, text string) {
		formulas, err := Parse(text, &Options{Schema: sampleSchema(), Factors: []string{"h"}})
		if err != nil {
			if at := new(formula.Error); !errors.As(err, &at) || len(err.Error()) > 8000 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, s := range formulas.Specs {
			if len(s.Columns()) == 0 {
				t.Fatal("a term that reads nothing")
			}
			if slices.Contains(s.Columns(), "both") {
				continue // not in the rows at hand
			}
			scan := s.Scanner()
			must(t, scan.Scan(b))
			if _, err := scan.Build(); err != nil {
				continue // k may not suit the rows
			}
		}
	})
}
