package command

import (
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/compare"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/report"
)

//go:generate go test . -run TestCommandPage -update-docs

var updateDocs = flag.Bool("update-docs", false, "write docs/reference/command.md")

// TestCommandPage: docs/reference/command.md tells every command and flag as it is.
func TestCommandPage(t *testing.T) {
	const path = "../../docs/reference/command.md"
	page := commandPage(newRoot(streams{out: io.Discard, err: io.Discard}))
	if *updateDocs {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(shown) != page {
		t.Fatal("docs/reference/command.md is not what the commands say: go test ./internal/command -run CommandPage -update-docs")
	}
}

// commandPage is the reference of all commands below root.
func commandPage(root *cobra.Command) string {
	var page strings.Builder
	page.WriteString("# The command\n\n<!-- written by: go test ./internal/command -run CommandPage -update-docs -->\n\n")
	page.WriteString(prose(root.Long) + "\n\n| command | |\n|---|---|\n")
	var commands []*cobra.Command
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			commands = append(commands, c)
		}
	}
	for _, c := range commands {
		fmt.Fprintf(&page, "| [`%s`](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), cell(c.Short))
	}
	for _, c := range commands {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n```sh\n%s\n", c.CommandPath(), prose(c.Long+c.Short[:shortIfAlone(c)]), c.UseLine())
		if c.Example != "" {
			page.WriteString("\n" + unindented(c.Example) + "\n")
		}
		page.WriteString("```\n\n| flag | default | |\n|---|---|---|\n")
		rows, shared := flagRows(c), ""
		for _, name := range []string{"decompose", "apply"} {
			if other, _, err := root.Find([]string{name}); err != nil {
				panic(err)
			} else if other == c {
				break // and apply refers to decompose alone
			} else {
				var more string
				rows, more = withoutShared(rows, flagRows(other), name)
				shared += more
			}
		}
		page.WriteString(strings.Join(rows, "") + shared)
	}
	return page.String()
}

// flagRows are the rows of c's flags.
func flagRows(c *cobra.Command) (rows []string) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			rows = append(rows, flagRow(f))
		}
	})
	return rows
}

// withoutShared takes from rows those that another command has too, if they are four or more, and names them in a paragraph.
func withoutShared(rows, others []string, command string) (own []string, shared string) {
	var names []string
	for _, row := range rows {
		if !slices.Contains(others, row) {
			own = append(own, row)
			continue
		}
		names = append(names, strings.TrimSpace(strings.SplitN(row, "|", 3)[1]))
	}
	if len(names) < 4 {
		return rows, ""
	}
	return own, fmt.Sprintf("\nAs in [`pho %s`](#pho-%[1]s): %s.\n", command, strings.Join(names, ", "))
}

// shortIfAlone is how much of Short stands for a Long that is missing.
func shortIfAlone(c *cobra.Command) int {
	if c.Long == "" {
		return len(c.Short)
	}
	return 0
}

// flagRow is a flag's row of the table.
func flagRow(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	standard := f.DefValue
	switch standard {
	case "", "[]", "0", "false":
		standard = ""
	default:
		standard = "`" + standard + "`"
	}
	return fmt.Sprintf("| `--%s` | %s | %s |\n", strings.TrimSpace(f.Name+" "+value), standard, cell(usage))
}

// prose is a text as paragraphs of Markdown.
func prose(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;").Replace(text)
}

// cell is a text in a table of Markdown.
func cell(text string) string { return strings.ReplaceAll(prose(text), "|", `\|`) }

// unindented are lines without the two spaces that examples begin with.
func unindented(example string) string {
	lines := strings.Split(example, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

// TestFilesPage: docs/reference/files.md tells every field of the files in JSON, and every
// column of effects.csv.
func TestFilesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/files.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		heading string
		of      reflect.Type
	}{
		{"## decomposition.json", reflect.TypeFor[decompose.Result]()},
		{"## decomposition.json", reflect.TypeFor[wiring.Reference]()},
		{"## comparison", reflect.TypeFor[compare.Comparison]()},
	} {
		_, section, _ := strings.Cut(string(page), "\n"+part.heading)
		section, _, _ = strings.Cut(section, "\n## ")
		for _, field := range jsonFields(part.of, map[reflect.Type]bool{}) {
			if !strings.Contains(section, "`"+field+"`") && !strings.Contains(section, "`"+field+"[]`") {
				t.Errorf("docs/reference/files.md, %s: the field %q is missing", part.heading, field)
			}
		}
	}
	var effects strings.Builder
	if err := report.WriteEffects(&effects, nil); err != nil {
		t.Fatal(err)
	}
	for column := range strings.SplitSeq(strings.TrimSpace(effects.String()), ",") {
		if !strings.Contains(string(page), "`"+column+"`") {
			t.Errorf("docs/reference/files.md does not tell the column %q of effects.csv", column)
		}
	}
}
