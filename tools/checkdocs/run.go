package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// settings say where the repository is, and what there is to run blocks with.
type settings struct {
	root, python, r string
	update, keep    bool
	onlyPython      bool   // pages without blocks of python are left out
	bin             string // folder of the command of this tree
}

// runPages runs all pages with marked blocks, two at a time.
func (s settings) runPages(files []string, only string) error {
	scratch, err := os.MkdirTemp("", "check-docs-")
	if err != nil {
		return err
	}
	if s.keep {
		fmt.Println("check-docs: folders are kept in", scratch)
	} else {
		defer os.RemoveAll(scratch)
	}
	if s.r != "" && exec.Command(s.r, "-e", "library(mgcv)").Run() != nil {
		s.r = ""
	}
	s.bin = filepath.Join(scratch, "bin")
	if out, err := s.command(s.root, "go", "build", "-o", s.bin+"/", "./cmd/pho").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	var pages []*page
	for _, name := range files {
		if path.Ext(name) != ".md" || only != "" && name != only {
			continue
		}
		all, err := read(filepath.Join(s.root, name))
		if err != nil {
			return err
		}
		p := &page{settings: s, name: name, blocks: all, dir: filepath.Join(scratch, strings.ReplaceAll(name, "/", "_"))}
		if len(all) > 0 && (!s.onlyPython || p.has("python", "python")) {
			pages = append(pages, p)
		}
	}
	if len(pages) == 0 {
		return errors.New("no page has a marked block")
	}
	errs := make([]error, len(pages))
	var group sync.WaitGroup
	turns := make(chan struct{}, 2)
	for i, p := range pages {
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			start := time.Now()
			errs[i] = p.run()
			fmt.Printf("check-docs: %s: %d blocks run, %d outputs compared, %d skipped, %.1f s\n%s", p.name, p.ran, p.compared, p.skipped, time.Since(start).Seconds(), &p.log)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// page is one Markdown file with its folder.
type page struct {
	settings
	name, dir              string
	blocks                 []block
	python, r              *session
	lacks                  string // why blocks of python are skipped
	ran, compared, skipped int
	log                    bytes.Buffer // of blocks that are skipped
}

// run does what the blocks say, in their order, until one fails.
func (p *page) run() (err error) {
	defer func() {
		if err != nil {
			p.end()
		}
	}()
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		return err
	}
	if err := p.prepare(); err != nil {
		return err
	}
	defer func() { p.python.close(); p.r.close() }()
	printed := map[int]string{}
	var last string           // what the last block printed
	var lastRun, trained bool // it ran; a block of python has run
	var statements strings.Builder
	for _, b := range p.blocks {
		at := fmt.Sprintf("%s:%d", p.name, b.line)
		switch {
		case b.mark == "file":
			if tidy, err := format.Source([]byte(b.text)); path.Ext(b.name) == ".go" && (err != nil || string(tidy) != b.text) {
				return fmt.Errorf("%s: %s is not gofmt-ed (%v)", at, b.name, err)
			}
			if err := p.write(b.name, b.text); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		case b.mark == "output" && !lastRun || b.mark == "output" && trained && b.language != "python":
			p.skipped++
		case b.mark == "output":
			different := compare(b.text, last)
			if different != "" && !p.update {
				return fmt.Errorf("%s: %s\nall that was printed:\n%s", at, different, last)
			}
			if different != "" || b.text == "...\n" {
				printed[b.line] = last
			}
			p.compared++
		case b.language == "go":
			statements.WriteString(b.text)
			lastRun = false
		default:
			out, err := p.execute(b)
			lastRun = !errors.Is(err, errSkipped)
			if !lastRun {
				p.skipped++
				fmt.Fprintf(&p.log, "check-docs: SKIPPED %s: %v\n", at, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w\n%s%s", at, err, b.text, out)
			}
			trained = trained || b.language == "python"
			p.ran++
			last = out
		}
	}
	if statements.Len() > 0 {
		if err := p.compile(statements.String()); err != nil {
			return fmt.Errorf("%s: its blocks of go: %w", p.name, err)
		}
		p.ran++
	}
	if p.update {
		return rewrite(filepath.Join(p.root, p.name), printed)
	}
	return nil
}

// end ends the processes that blocks have left behind, whose numbers are in files NAME.pid: the block that would have
// done it was not reached.
func (p *page) end() {
	files, _ := filepath.Glob(filepath.Join(p.dir, "*.pid")) // the pattern is fine
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
			if left, err := os.FindProcess(pid); err == nil {
				left.Kill()
			}
		}
	}
}

var errSkipped = errors.New("skipped")

// prepare copies what blocks of Python and R would make, unless they are run, and makes the
// folder a module that takes pho from this tree.
func (p *page) prepare() error {
	p.lacks = "no Python is named"
	if missing := p.missing(); missing != "" {
		p.lacks, p.settings.python = missing, ""
	}
	stored := filepath.Join(p.root, "testdata", "docs", strings.TrimSuffix(path.Base(p.name), ".md"))
	if _, err := os.Stat(stored); err == nil && !p.has("python", p.settings.python) {
		if err := os.CopyFS(p.dir, os.DirFS(stored)); err != nil {
			return err
		}
	}
	if !p.has("go", "go") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(p.root, "go.mod"))
	if err != nil {
		return err
	}
	mod := strings.Replace(string(text), "module github.com/pho-go/pho\n", "module example.com/page\n", 1) +
		"\nrequire github.com/pho-go/pho v0.0.0\nreplace github.com/pho-go/pho => " + p.root + "\n"
	sum, err := os.ReadFile(filepath.Join(p.root, "go.sum"))
	if err != nil {
		return err
	}
	return errors.Join(p.write("go.mod", mod), p.write("go.sum", string(sum)))
}

// missing names a module that the page's blocks import and Python does not have.
func (p *page) missing() string {
	if !p.has("python", p.settings.python) {
		return ""
	}
	var lines []string
	for _, b := range p.blocks {
		if b.language == "python" && b.mark == "check" {
			lines = append(lines, imports.FindAllString(b.text, -1)...)
		}
	}
	out, err := p.command(p.dir, p.settings.python, "-c", strings.Join(lines, "\n")).CombinedOutput()
	if err != nil {
		said := strings.Split(strings.TrimSpace(string(out)), "\n")
		return said[len(said)-1]
	}
	return ""
}

// imports are the lines that import modules.
var imports = regexp.MustCompile(`(?m)^(import|from) .*$`)

// has reports whether the page has blocks of a language and there is a program for it.
func (p *page) has(language, program string) bool {
	for _, b := range p.blocks {
		if b.language == language && b.mark != "output" && program != "" {
			return true
		}
	}
	return false
}

func (p *page) write(name, text string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s leads out of the page's folder", name)
	}
	full := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	return os.WriteFile(full, []byte(text), 0o644)
}

// execute runs a block of sh, python or r and returns what it printed.
func (p *page) execute(b block) (string, error) {
	switch b.language {
	case "sh":
		out, err := p.command(p.dir, "bash", "-euo", "pipefail", "-c", b.text).CombinedOutput()
		return string(out), err
	case "python":
		if p.settings.python == "" {
			return "", fmt.Errorf("%w: %s", errSkipped, p.lacks)
		}
		if p.python == nil {
			p.python = start(p.command(p.dir, p.settings.python, "-c", pythonDriver))
		}
		return p.python.run(b.text)
	case "r":
		if p.settings.r == "" {
			return "", fmt.Errorf("%w: no Rscript with mgcv", errSkipped)
		}
		if p.r == nil {
			p.r = start(p.command(p.dir, p.settings.r, "--vanilla", "-e", rDriver))
		}
		return p.r.run(b.text)
	}
	return "", fmt.Errorf("a block of %q cannot be run: sh, python, r and go can", b.language)
}

// compile builds the page's Go statements.
func (p *page) compile(statements string) error {
	program := "package main\n\nimport (\n\"context\"\n\"fmt\"\n\"github.com/pho-go/pho\"\n)\n\nfunc main() {\nctx := context.Background()\n" + statements + "_, _ = fmt.Print, err\n}\n"
	if err := p.write("statements/main.go", program); err != nil {
		return err
	}
	if out, err := p.command(p.dir, "go", "vet", "./statements").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// command runs in dir, with this tree's pho first in PATH and its Python package.
func (s settings) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GOWORK=off", "GOFLAGS=-mod=mod",
		"PHO_BINARY="+filepath.Join(s.bin, "pho"), "PYTHONPATH="+filepath.Join(s.root, "python", "src"), "OMP_NUM_THREADS=1", "COLUMNS=100")
	return cmd
}
