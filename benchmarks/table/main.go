// Command table collects what a script of benchmarks/ has printed into
// docs/benchmarks.md:
//
//	bash benchmarks/bam.sh | table -script bam -targets benchmarks/targets.txt -page docs/benchmarks.md
//
// A script prints a line for each case, its fields separated by tabs,
//
//	row  case  ours  peer  ratio  answer difference
//
// and a line for each program that it calls, `version  NAME VERSION`. Other lines
// are for people. What the page holds of other scripts, and what is written by
// hand, stays as it is. The commit is the one that this program was built from, and
// must hold all of it: .ci/bench-compare.sh builds it, and what is measured, in a
// clone. The exit status is 1 if an answer differs by more than
// its target allows: being fast does not help then.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pho-go/pho/internal/base/revision"
)

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func command() error {
	script := flag.String("script", "", "name of the script, without .sh")
	targets := flag.String("targets", "benchmarks/targets.txt", "file of targets")
	page := flag.String("page", "docs/benchmarks.md", "file to write the table to")
	flag.Parse()
	if *script == "" || flag.NArg() > 0 {
		return errors.New("usage: table -script NAME < what the script has printed")
	}
	info, _ := debug.ReadBuildInfo()
	commit, err := revision.Clean(info)
	if err != nil {
		return fmt.Errorf("figures are kept with the commit that they were measured on: %w", err)
	}
	out, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	rows, versions, err := parse(string(out))
	if err != nil {
		return fmt.Errorf("%s: %w", *script, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s printed no row: the page stays as it is", *script)
	}
	text, err := os.ReadFile(*targets)
	if err != nil {
		return err
	}
	wanted, err := parseTargets(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", *targets, err)
	}
	if rows, err = judge(*script, rows, wanted); err != nil {
		return err
	}
	before, err := os.ReadFile(*page)
	if err != nil {
		return err
	}
	after, err := replace(string(before), *script, rows, run{
		date: time.Now().UTC().Format("2006-01-02 15:04"), commit: commit, machine: machine(),
		versions: append([]string{runtime.Version()}, versions...),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", *page, err)
	}
	if err := write(*page, after); err != nil {
		return err
	}
	return wrong(rows)
}

// wrong names the rows whose answers differ too much.
func wrong(rows []row) error {
	var faults []error
	for _, r := range rows {
		if strings.HasPrefix(r.met, failed) {
			faults = append(faults, fmt.Errorf("%s: the answers differ by %s, more than %s", r.name, r.difference, r.allowed))
		}
	}
	return errors.Join(faults...)
}

// write replaces the file as a whole.
func write(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".table")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Chmod(0o644), f.Close(), os.Rename(f.Name(), path))
}

// machine is the processor, how many there are, and the system.
func machine() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	system := runtime.GOOS
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		system = "Linux " + strings.TrimSpace(string(release))
	}
	return fmt.Sprintf("%s, %d cores, %s", model, runtime.NumCPU(), system)
}
