// Command mutants changes operators in code that a package's own tests cover, one at a time, and tells which changes these
// tests do not notice (mutation testing).
//
//	go run ./mutants -root .. -n 9 -seed 1 ./penalty ./basis ...
//
// A mutant is one operator that is replaced: == by !=, < by >=, > by <=, && by ||, + by -, * by /, ++ by --, and back; or a ! that
// is left out. (< by <= changes nothing where numbers are continuous.) n of them are drawn for each package from what its short tests run through. Files on disk are not touched: the compiler
// reads the changed one in place of the file (go test -overlay). A mutant is killed if tests fail or take ten times as long.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/cover"
)

var replaced = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.INC: token.DEC, token.DEC: token.INC,
}

// mutant is the operator old at a place of a file, and what takes its place.
type mutant struct {
	file     string
	at       token.Position
	old, new string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s becomes %q", m.file, m.at.Line, m.at.Column, m.old, m.new)
}

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "`DIR` of the module")
	n := flag.Int("n", 10, "mutants of each package")
	seed := flag.Uint64("seed", 1, "of the draw")
	flag.Parse()
	random := rand.New(rand.NewPCG(*seed, 0))
	var killed, tested int
	for _, dir := range flag.Args() {
		k, of, err := mutate(*root, dir, *n, random)
		if err != nil {
			log.Fatalf("%s: %v", dir, err)
		}
		fmt.Printf("%s: %d of %d killed\n", dir, k, of)
		killed, tested = killed+k, tested+of
	}
	fmt.Printf("all: %d of %d killed (%.0f%%)\n", killed, tested, 100*float64(killed)/float64(tested))
}

// mutate tests n mutants of the package in dir and prints those that live.
func mutate(root, dir string, n int, random *rand.Rand) (killed, tested int, err error) {
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(work)
	profile := filepath.Join(work, "cover")
	began := time.Now()
	if out, err := test(root, "-coverprofile", profile, dir); err != nil {
		return 0, 0, fmt.Errorf("tests fail without a mutant: %w\n%s", err, out)
	}
	limit := time.Minute + 10*time.Since(began)
	all, err := covered(filepath.Join(root, dir), profile)
	if err != nil {
		return 0, 0, err
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, m := range all {
		if tested == n {
			break
		}
		switch lives, compiled, err := survives(root, dir, work, m, limit); {
		case err != nil:
			return 0, 0, err
		case !compiled:
		case lives:
			tested++
			fmt.Println("lives:", m)
		default:
			tested++
			killed++
		}
	}
	return killed, tested, nil
}

// survives tells whether the tests of dir pass with m, and whether it can be compiled.
func survives(root, dir, work string, m mutant, limit time.Duration) (lives, compiled bool, err error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return false, false, err
	}
	changed := filepath.Join(work, "changed.go")
	source = bytes.Join([][]byte{source[:m.at.Offset], []byte(m.new), source[m.at.Offset+len(m.old):]}, nil)
	if err := os.WriteFile(changed, source, 0o600); err != nil {
		return false, false, err
	}
	absolute, err := filepath.Abs(m.file)
	if err != nil {
		return false, false, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {absolute: changed}})
	if err != nil {
		return false, false, err
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return false, false, err
	}
	out, err := test(root, "-timeout", limit.String(), "-overlay", list, dir)
	if bytes.Contains(out, []byte("[build failed]")) {
		return false, false, nil
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return false, false, err
	}
	return err == nil, true, nil
}

func test(root string, arguments ...string) ([]byte, error) {
	c := exec.Command("go", append([]string{"test", "-short", "-vet=off", "-failfast"}, arguments...)...)
	c.Dir = root
	return c.CombinedOutput()
}

// covered are the mutants of the package in dir in the blocks that profile counts.
func covered(dir, profile string) ([]mutant, error) {
	profiles, err := cover.ParseProfiles(profile)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, p := range profiles {
		file := filepath.Join(dir, filepath.Base(p.FileName))
		own, err := mutants(file)
		if err != nil {
			return nil, err
		}
		for _, m := range own {
			for _, b := range p.Blocks {
				from, to := b.StartLine<<16|b.StartCol, b.EndLine<<16|b.EndCol
				if at := m.at.Line<<16 | m.at.Column; b.Count > 0 && from <= at && at < to {
					all = append(all, m)
					break
				}
			}
		}
	}
	return all, nil
}

// mutants are all of a file.
func mutants(file string) (all []mutant, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		return nil, err
	}
	add := func(at token.Pos, old token.Token) {
		if r, ok := replaced[old]; ok {
			all = append(all, mutant{file, files.Position(at), old.String(), r.String()})
		}
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.BinaryExpr:
			if literal, ok := x.Y.(*ast.BasicLit); !ok || literal.Kind != token.STRING || !strings.Contains("+-", x.Op.String()) {
				add(x.OpPos, x.Op)
			}
		case *ast.IncDecStmt:
			add(x.TokPos, x.Tok)
		case *ast.AssignStmt:
			add(x.TokPos, x.Tok)
		case *ast.UnaryExpr:
			if x.Op == token.NOT {
				all = append(all, mutant{file, files.Position(x.OpPos), "!", ""})
			}
		}
		return true
	})
	return all, nil
}
