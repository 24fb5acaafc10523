package pho_test

import (
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update-docs", false, "write the measured places into CONTRIBUTING.md")

// What a change touches is measured on one that was made: the files whose code names it. So the
// table in CONTRIBUTING.md cannot be a memory of how the house once was.
func TestPlacesOfChanges(t *testing.T) {
	const page, heading, columns = "CONTRIBUTING.md", "## Where does a change belong", 5
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, section, found := strings.Cut(string(text), heading)
	section, after, more := strings.Cut(section, "\n## ")
	if !found || !more {
		t.Fatalf("%s has no section %q with one behind it", page, heading)
	}
	sources, known, rows := code(t), rooms(t), 0
	lines := strings.Split(section, "\n")
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !strings.HasPrefix(line, "| ") || len(cells) != columns || cells[0] == "change" {
			continue
		}
		rows++
		words := quoted(cells[2])
		places := named(sources, words)
		if len(places) == 0 {
			t.Errorf("%s: no code has %s, by which %q is found", page, strings.Join(words, " or "), cells[0])
			continue
		}
		cells[3], cells[4] = fmt.Sprintf("%d in %d", len(places), countRooms(known, places)), grouped(places)
		lines[i] = "| " + strings.Join(cells, " | ") + " |"
		if lines[i] != line && !*updateDocs {
			t.Errorf("%s says\n%s\nand it is\n%s\nIf the change is to touch more or fewer files now: go test . -run PlacesOfChanges -update-docs", page, line, lines[i])
		}
	}
	if rows != 10 {
		t.Errorf("%s has %d measured changes, not ten", page, rows)
	}
	if *updateDocs {
		if err := os.WriteFile(page, []byte(before+heading+strings.Join(lines, "\n")+"\n## "+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// code has the source of the program, its reports and its packages, without Go's comments, by path: no
// tests, no generated code, and nothing of other modules.
func code(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(place string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		place = filepath.ToSlash(place)
		if d.IsDir() {
			if place != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), "test") || isModule(place) || slices.Contains([]string{"testdata", "tests", "examples", "demo", "docs", "bin", "dist", "site"}, d.Name())) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".py", ".js", ".R", ".html", ".css"}, path.Ext(place)) || strings.HasSuffix(place, "_test.go") || strings.HasSuffix(place, ".pb.go") {
			return nil
		}
		text, err := os.ReadFile(place)
		if path.Ext(place) == ".go" {
			text = uncommented(text)
		}
		out[place] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// uncommented are the tokens of Go source, a space between them.
func uncommented(source []byte) []byte {
	var out []byte
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), source, nil, 0)
	for {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return out
		}
		if text == "" {
			text = tok.String()
		}
		out = append(append(out, text...), ' ')
	}
}

// named are the files, in order, whose code has one of the words: whole words, in any case.
func named(sources map[string]string, words []string) (out []string) {
	var any []string
	for _, w := range words {
		any = append(any, regexp.QuoteMeta(w))
	}
	pattern := regexp.MustCompile(`(?:^|[^\w])(?:` + strings.Join(any, "|") + `)(?:$|[^\w])`)
	for place, text := range sources {
		if pattern.MatchString(text) {
			out = append(out, place)
		}
	}
	slices.Sort(out)
	return out
}

// rooms are the folders that DESIGN.md calls rooms, the longest first.
func rooms(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)/` \\|").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// countRooms counts the rooms in which files are; what is in none, as Python's package, is one by its first folder.
func countRooms(known, places []string) int {
	in := map[string]bool{}
	for _, place := range places {
		room, _, _ := strings.Cut(place, "/")
		if i := slices.IndexFunc(known, func(r string) bool { return strings.HasPrefix(place, r+"/") }); i >= 0 {
			room = known[i]
		}
		in[room] = true
	}
	return len(in)
}

// quoted are the words in backquotes.
func quoted(cell string) (out []string) {
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 1 {
			out = append(out, part)
		}
	}
	return out
}

// grouped writes paths in order, those of one folder together: `family/{parse,zip}.go`.
func grouped(places []string) string {
	var out []string
	for i := 0; i < len(places); {
		dir, ext := path.Dir(places[i]), path.Ext(places[i])
		var names []string
		for ; i < len(places) && path.Dir(places[i]) == dir && path.Ext(places[i]) == ext; i++ {
			names = append(names, strings.TrimSuffix(path.Base(places[i]), ext))
		}
		name := names[0]
		if len(names) > 1 {
			name = "{" + strings.Join(names, ",") + "}"
		}
		out = append(out, "`"+path.Join(dir, name+ext)+"`")
	}
	return strings.Join(out, ", ")
}
