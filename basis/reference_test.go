package basis_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

var updateDocs = flag.Bool("update-docs", false, "write the tables of docs/reference/formula.md")

// TestFormulaPage: docs/reference/formula.md has the terms and arguments that the parser takes.
func TestFormulaPage(t *testing.T) {
	const path = "../docs/reference/formula.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(page)
	for name, table := range map[string]string{"arguments": argumentsTable(), "classes": classesTable(t)} {
		want = between(t, want, name, table)
	}
	if *updateDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Fatal("docs/reference/formula.md has other tables than the parser: go test ./basis -run FormulaPage -update-docs")
	}
	for _, word := range slices.Concat(formula.Functions(), formula.Arguments()) {
		if !strings.Contains(want, "`"+word) {
			t.Errorf("docs/reference/formula.md does not tell %q", word)
		}
	}
}

// between puts a table between two lines of the page.
func between(t *testing.T, page, name, table string) string {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the page has no lines %s and %s", begin, end)
	}
	return before + begin + table + end + after
}

// termsWithArguments are the kinds of terms that have arguments, %s in place of these.
var termsWithArguments = []struct{ title, text string }{
	{"`s(x)`", `~ s(x%s)`},
	{"`s(x, z)`", `~ s(x, z%s)`},
	{"`bs=\"re\"`", `~ s(g, bs = "re"%s)`},
	{"`bs=\"fs\"`", `~ s(x, g, bs = "fs"%s)`},
	{"`te()`", `~ te(x, z%s)`},
	{"`ti()`", `~ ti(x, z%s)`},
	{"`factor()`", `~ factor(g%s)`},
	{"`onehot()`", `~ onehot(a, b%s)`},
	{"`ridge()`", `~ ridge(a, b%s)`},
}

// argumentValues are values of an argument, of which a term that has it takes one.
var argumentValues = map[string][]string{
	"bs": {`"ps"`, `"tp"`, `"re"`, `"fs"`}, "k": {"5"}, "m": {"2"}, "by": {"z", "g"}, "id": {`"a"`}, "sp": {"1", "c(1, 1)"}, "fx": {"TRUE"},
	"pc": {"0.5", "c(0.5, 0.5)"}, "knots": {`c(0, 1), bs = "ps"`, `c(0, 0, 1, 1), bs = "rbf"`, `c(0, 1), xt = "ps"`}, "cuts": {"c(0, 1)"}, "period": {`c(0, 1), bs = "cc"`, `c(0, 1), bs = c("cc", "cr")`}, "d": {"c(1, 1)"}, "np": {"FALSE"},
	"mc": {"c(TRUE, FALSE)"}, "xt": {`"cr"`}, "contr": {`"sum"`},
}

var schema = data.Schema{
	{Name: "x", Numeric: true}, {Name: "z", Numeric: true}, {Name: "a", Numeric: true}, {Name: "b", Numeric: true}, {Name: "g", Categorical: true},
}

func parses(text string) bool {
	_, err := basis.Parse(text, &basis.Options{Schema: schema})
	return err == nil
}

// takes reports whether a term takes an argument.
func takes(term, argument string) bool {
	for _, v := range argumentValues[argument] {
		if argument == "bs" && strings.Contains(term, "bs = ") {
			return true
		}
		if parses(fmt.Sprintf(term, ", "+argument+" = "+v)) {
			return true
		}
	}
	return false
}

// argumentsTable says which term takes which argument.
func argumentsTable() string {
	var table strings.Builder
	table.WriteString("| argument |")
	for _, term := range termsWithArguments {
		table.WriteString(" " + term.title + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(termsWithArguments)) + "\n")
	for _, argument := range append(formula.Arguments(), "contr") {
		table.WriteString("| `" + argument + "` |")
		for _, term := range termsWithArguments {
			table.WriteString(map[bool]string{true: " yes |", false: " |"}[takes(term.text, argument)])
		}
		table.WriteString("\n")
	}
	return table.String()
}

// classNames are the bases as the parser lists them when it is asked for one that is none.
func classNames(t *testing.T) []string {
	var names []string
	for _, name := range []string{"tp", "ts", "cr", "cs", "cc", "ps", "cp", "bs", "rbf", "re", "fs", "ad", "gp", "sos", "mrf"} {
		if parses(`~ s(x, bs = "`+name+`")`) && name != "re" {
			names = append(names, name)
		}
	}
	_, err := basis.Parse(`~ s(x, bs = "none")`, &basis.Options{Schema: schema})
	for _, name := range names {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the parser does not list %s: %v", name, err)
		}
	}
	return names
}

// classesTable says of every basis what it takes, and how many columns it has by default.
func classesTable(t *testing.T) string {
	var table strings.Builder
	table.WriteString("| `bs` | columns of the basis | of several columns | `m` | `period` |\n|---|---|---|---|---|\n")
	mark := map[bool]string{true: "yes", false: ""}
	for _, name := range classNames(t) {
		bs := `bs = "` + name + `"`
		fmt.Fprintf(&table, "| `%s` | %d | %s | %s | %s |\n", name, columns(t, `~ s(x, `+bs+`)`), mark[parses(`~ s(x, z, `+bs+`)`)],
			mark[parses(`~ s(x, m = 2, `+bs+`)`)], mark[parses(`~ s(x, period = c(0, 1), `+bs+`)`)])
	}
	return table.String()
}

// columns are those of a smooth's basis, before its constraint.
func columns(t *testing.T, text string) int {
	rows := data.NewTable(500)
	x := make([]float64, 500)
	for i := range x {
		x[i] = float64(i) / 499
	}
	if err := rows.AddNumeric("x", x); err != nil {
		t.Fatal(err)
	}
	f, err := basis.Parse(text, &basis.Options{Schema: rows.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := decompose.Prepare(context.Background(), rows, f.Specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return blocks[0].Term.Dim()
}
