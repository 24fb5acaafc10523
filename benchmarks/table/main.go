// Command table keeps what a script of benchmarks/ has printed, and writes the tables of
// docs/benchmarks.md from all that is kept:
//
//	bash benchmarks/bam.sh | table -script bam -machine zen5
//
// A script prints a line for each case, its fields separated by tabs,
//
//	row  case  ours  peer  ratio  answer difference
//
// and a line for each program that it calls, `version  NAME VERSION`. Other lines are for
// people. They are kept in RESULTS/MACHINE.tsv, in place of those of the script's last run on
// that machine. The commit is the one that this program was built from, and must hold all of
// it: .ci/bench-compare.sh builds it, and what is measured, in a clone. Without -script the
// page alone is written. The exit status is 1 if an answer differs by more than its target
// allows: being fast does not help then.
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
	script := flag.String("script", "", "name of the script, without .sh; none: the page alone")
	name := flag.String("machine", "", "name of the machine's file of results")
	targets := flag.String("targets", "benchmarks/targets.txt", "file of targets")
	results := flag.String("results", "benchmarks/results", "folder of results")
	page := flag.String("page", "docs/benchmarks.md", "page whose tables are written")
	flag.Parse()
	if flag.NArg() > 0 || (*script == "") != (*name == "") {
		return errors.New("usage: table [-script NAME -machine NAME < what the script has printed]")
	}
	text, err := os.ReadFile(*targets)
	if err != nil {
		return err
	}
	wanted, err := parseTargets(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", *targets, err)
	}
	var faults error
	if *script != "" {
		r, err := measured(*script)
		if err != nil {
			return fmt.Errorf("%s: %w", *script, err)
		}
		if err := keep(filepath.Join(*results, *name+".tsv"), r); err != nil {
			return err
		}
		if faults, err = wrong(*script, r.rows, wanted); err != nil {
			return err
		}
	}
	machines, err := readResults(*results)
	if err != nil {
		return err
	}
	details := filepath.Join(*results, "README.md")
	before, err := os.ReadFile(*page)
	if err != nil {
		return err
	}
	detailsBefore, err := os.ReadFile(details)
	if err != nil {
		return err
	}
	after, detailsAfter, err := tables(string(before), string(detailsBefore), machines, wanted)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", *page, details, err)
	}
	return errors.Join(write(*page, after), write(details, detailsAfter), faults)
}

// measured is the run of a script whose output comes in by standard input.
func measured(script string) (run, error) {
	info, _ := debug.ReadBuildInfo()
	commit, err := revision.Clean(info)
	if err != nil {
		return run{}, fmt.Errorf("figures are kept with the commit that they were measured on: %w", err)
	}
	out, err := io.ReadAll(os.Stdin)
	if err != nil {
		return run{}, err
	}
	rows, versions, err := parse(string(out))
	if err != nil {
		return run{}, err
	}
	if len(rows) == 0 {
		return run{}, errors.New("no row was printed: what is kept stays as it is")
	}
	return run{
		script: script, date: time.Now().UTC().Format("2006-01-02 15:04"), commit: commit, machine: processor(),
		versions: strings.Join(append([]string{runtime.Version()}, versions...), "; "), rows: rows,
	}, nil
}

// wrong names the rows whose answers differ too much.
func wrong(script string, rows []row, targets []target) (faults, err error) {
	for _, r := range rows {
		v, err := judge(script, r, targets)
		if err != nil {
			return nil, err
		}
		if v.met == failed {
			faults = errors.Join(faults, fmt.Errorf("%s: the answers differ by %s, more than %s", r.name, r.difference, v.target.allowed))
		}
	}
	return faults, nil
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

// processor is the processor, how many there are, and the system.
func processor() string {
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
