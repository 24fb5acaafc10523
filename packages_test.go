package pho_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/pho-go/pho"

// house is the source of the library packages of this module, by import path: all but
// commands, examples, benchmarks and tools.
type house map[string]*room

// room is a package: its files, and those of its tests, by their paths.
type room struct {
	files, tests map[string]*ast.File
}

// readHouse parses all of them.
func readHouse(t *testing.T) house {
	t.Helper()
	h := house{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(place string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if place != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"cmd", "examples", "benchmarks", "tools", "testdata", "bin", "dist"}, d.Name()) || isModule(place) || filepath.ToSlash(place) == "internal/command") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(place) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(fset, place, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Name.Name == "main" {
			return nil
		}
		at := path.Join(modulePath, filepath.ToSlash(filepath.Dir(place)))
		if h[at] == nil {
			h[at] = &room{map[string]*ast.File{}, map[string]*ast.File{}}
		}
		if strings.HasSuffix(place, "_test.go") {
			h[at].tests[place] = f
		} else {
			h[at].files[place] = f
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(h) < 20 || h[modulePath+"/data"] == nil {
		t.Fatalf("only %d packages were found", len(h))
	}
	return h
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// public lists the packages that other modules can import, in order.
func (h house) public() []string {
	var out []string
	for at, r := range h {
		if !isInternal(at) && len(r.files) > 0 {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

func isInternal(at string) bool { return slices.Contains(strings.Split(at, "/"), "internal") }

// A message of a library speaks of options, not of flags: it may be read by a program's
// users, who have typed none.
func TestLibrariesNameNoFlags(t *testing.T) {
	for _, r := range readHouse(t) {
		for place, f := range r.files {
			place = filepath.ToSlash(place)
			flag := ""
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && flag == "" {
						flag = flagIn(text)
					}
				}
				return true
			})
			if flag != "" {
				t.Errorf("%s: a message names the flag %s: say what option helps, and let the command add the flag (internal/command/advice.go)", place, flag)
			}
		}
	}
}

// flagIn is the first flag, as --data, in text; "" if there is none.
func flagIn(text string) string {
	for rest := text; ; {
		at := strings.Index(rest, "--")
		if at < 0 || at+2 >= len(rest) {
			return ""
		}
		if c := rest[at+2]; c >= 'a' && c <= 'z' && (at == 0 || rest[at-1] != '-') {
			name, _, _ := strings.Cut(rest[at:], " ")
			return name
		}
		rest = rest[at+2:]
	}
}

// The documentation of every public package has an example program with tested output.
func TestPublicPackagesHaveExamples(t *testing.T) {
	h := readHouse(t)
	for _, at := range h.public() {
		shown := false
		for _, f := range h[at].tests {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") && hasOutput(f, fn) {
					shown = true
				}
			}
		}
		if !shown {
			t.Errorf("package %s has no Example whose output is tested", at)
		}
	}
}

// hasOutput tells whether an example says what it prints.
func hasOutput(f *ast.File, fn *ast.FuncDecl) bool {
	for _, c := range f.Comments {
		if c.Pos() > fn.Body.Lbrace && c.End() < fn.Body.Rbrace && strings.Contains(strings.ToLower(c.Text()), "output:") {
			return true
		}
	}
	return false
}
