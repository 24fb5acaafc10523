// Command large times `pho` where a term has many levels or a table many columns: see benchmarks/large.sh.
//
//	large -pho PHO -keep DIR [-case TEXT]                   each case next to a small one of the same kind, a line each
//	large -pho PROFILE -keep DIR [-case TEXT] -flames DIR   where the time of the large ones goes
//
// What is measured is kept in DIR, and not measured again.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	pho := flag.String("pho", "", "the command to time")
	keep := flag.String("keep", "", "directory of tables and of what is measured")
	only := flag.String("case", "", "run the cases whose names hold this text")
	limit := flag.Duration("limit", 5*time.Minute, "end a run that takes longer")
	flames := flag.String("flames", "", "directory of flame graphs that are drawn of the large cases instead; -pho is benchmarks/profile then")
	flag.Parse()
	r := &runs{pho: *pho, dir: *keep, limit: *limit, flames: *flames, known: map[string]measured{}}
	if err := r.load(); err != nil {
		log.Fatal(err)
	}
	for _, c := range cases() {
		if !strings.Contains(c.name, *only) {
			continue
		}
		does := r.compare
		if *flames != "" {
			does = r.draw
		}
		if err := does(c); err != nil {
			log.Fatal(err)
		}
	}
}

// measured is what a call took: seconds of all processors, and MiB at its largest. ended: "" or why it gave no result.
type measured struct {
	cpu, wall, peak float64
	ended           string
}

// runs are the calls that were made, by the names of their tables and arguments.
type runs struct {
	pho, dir string
	flames   string
	limit    time.Duration
	known    map[string]measured
}

// draw draws where the large case's time goes (benchmarks/traces.py).
func (r *runs) draw(c comparison) error {
	rows, err := r.table(c.large.table)
	if err != nil {
		return err
	}
	cpu := filepath.Join(r.dir, "cpu.prof")
	arguments := append([]string{cpu, "decompose", "--data", rows, "--contributions", "none", "--out", filepath.Join(r.dir, "result-"+c.large.table.String())}, c.large.arguments...)
	if out, err := exec.Command(r.pho, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", c.name, err, out)
	}
	svg := filepath.Join(r.flames, c.large.table.String()+".svg")
	out, err := exec.Command("python3", "benchmarks/traces.py", r.pho, cpu, svg, c.name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", svg, err, out)
	}
	fmt.Println(svg)
	return nil
}

func (r *runs) file() string { return filepath.Join(r.dir, "measured.tsv") }

// load reads what was measured before.
func (r *runs) load() error {
	raw, err := os.ReadFile(r.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(raw)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			return fmt.Errorf("%s: a line has %d fields, not 5", r.file(), len(f))
		}
		var m measured
		for i, to := range []*float64{&m.cpu, &m.wall, &m.peak} {
			if *to, err = strconv.ParseFloat(f[i+1], 64); err != nil {
				return fmt.Errorf("%s: %w", r.file(), err)
			}
		}
		m.ended = f[4]
		r.known[f[0]] = m
	}
	return nil
}

// compare prints c next to the small case of its kind: seconds of processors, and memory.
func (r *runs) compare(c comparison) error {
	large, err := r.run(c.large)
	if err != nil {
		return err
	}
	small, err := r.run(c.small)
	if err != nil {
		return err
	}
	if large.ended != "" {
		fmt.Printf("row\t%s: CPU\t%s after %.2f s, %.0f MiB\t%.2f s\t-\t-\n", c.name, large.ended, large.cpu, large.peak, small.cpu)
		return nil
	}
	fmt.Printf("row\t%s: CPU\t%.2f s\t%.2f s\t%.2f\t-\n", c.name, large.cpu, small.cpu, large.cpu/small.cpu)
	fmt.Printf("row\t%s: peak memory\t%.0f MiB\t%.0f MiB\t%.2f\t-\n", c.name, large.peak, small.peak, large.peak/small.peak)
	return nil
}

// run measures a call, unless that was done before.
func (r *runs) run(c call) (measured, error) {
	if m, ok := r.known[c.String()]; ok {
		return m, nil
	}
	rows, err := r.table(c.table)
	if err != nil {
		return measured{}, err
	}
	out := filepath.Join(r.dir, "result-"+c.table.String())
	arguments := append([]string{"decompose", "--data", rows, "--contributions", "none", "--out", out}, c.arguments...)
	if c.reads != nil {
		if _, err := os.Stat(out); err != nil {
			if m, err := r.run(call{table: c.table, arguments: c.arguments}); err != nil || m.ended != "" {
				return m, err
			}
		}
		arguments = append(slices.Clone(c.reads), out)
		for i, a := range arguments {
			if a == "ROWS" {
				arguments[i] = rows
			}
		}
	}
	m := r.time(arguments)
	f, err := os.OpenFile(r.file(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return m, err
	}
	fmt.Fprintf(f, "%s\t%g\t%g\t%g\t%s\n", c, m.cpu, m.wall, m.peak, m.ended)
	r.known[c.String()] = m
	return m, f.Close()
}

// time runs the command.
func (r *runs) time(arguments []string) (m measured) {
	cmd := exec.Command(r.pho, arguments...)
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return measured{ended: err.Error()}
	}
	late := time.AfterFunc(r.limit, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	m.wall = time.Since(started).Seconds()
	m.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m.peak = float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	switch {
	case !late.Stop():
		m.ended = "ended"
	case err != nil:
		m.ended = "refused"
		fmt.Fprintln(os.Stderr, strings.TrimSpace(text.String()))
	}
	return m
}

// table is the file of t, made if it is not there.
func (r *runs) table(t table) (string, error) {
	path := filepath.Join(r.dir, t.String()+".csv")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	t.write(w)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(path+".part", path)
}
