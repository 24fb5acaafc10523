// Package experiment is what the programs of examples/paper share: flags, where
// data are found, seeded repetitions in a fixed order, and results as CSV, SVG
// and Markdown with a note of how they came about.
package experiment

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Experiment is one run of a program. Tests fill the fields themselves; Name and
// Out are needed, the rest may be zero.
type Experiment struct {
	Name    string // of the program, and of its provenance file
	Quick   bool   // a smaller setting, for a look
	Seed    uint64
	Out     string    // directory of the results
	Data    string    // directory of the data sets; see DataFile
	Workers int       // repetitions at a time; 0: 1
	Draw    bool      // only the figures, from the CSV files of an earlier run
	Log     io.Writer // progress and summaries; nil: nothing is said

	command  []string
	started  time.Time
	seconds  float64 // 0: since started
	settings map[string]any
	files    []string
}

// Directories of full and quick results, from the module's root.
const (
	fullResults  = "results"
	quickResults = "results/quick"
)

// Main parses the command line, runs the experiment and writes its provenance.
// about is a sentence for -help; more adds flags of the program's own. It exits with status 0 if all went well, 1 if
// not, 2 for wrong usage. A quick run without its data says that it is skipped and
// succeeds.
func Main(name, about string, run func(context.Context, *Experiment) error, more ...func(*flag.FlagSet)) {
	e := &Experiment{Name: name, Log: os.Stderr, command: os.Args[1:], started: time.Now()}
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: go run -C examples/paper ./%s [flags]\n\n%s\n\n", name, about)
		flags.PrintDefaults()
	}
	flags.BoolVar(&e.Quick, "quick", false, "a smaller setting, at most a minute")
	flags.Uint64Var(&e.Seed, "seed", 1, "of everything drawn at random")
	flags.StringVar(&e.Out, "out", "", "directory of the results (default "+fullResults+", with -quick "+quickResults+")")
	flags.StringVar(&e.Data, "data", dataDirectory(), "directory of the data sets; PHO_DATA sets its default")
	flags.IntVar(&e.Workers, "workers", runtime.GOMAXPROCS(0), "repetitions at a time; results do not depend on it")
	flags.BoolVar(&e.Draw, "draw", false, "run nothing: draw figures again from the CSV files in the directory of the results")
	for _, add := range more {
		add(flags)
	}
	_ = flags.Parse(os.Args[1:]) // ExitOnError
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%s: unexpected argument %q\n", name, flags.Arg(0))
		os.Exit(2)
	}
	if e.Out == "" {
		e.Out = fullResults
		if e.Quick {
			e.Out = quickResults
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, e)
	if err == nil && !e.Draw {
		err = e.writeProvenance()
	}
	switch {
	case errors.Is(err, ErrNoData) && e.Quick:
		fmt.Fprintf(os.Stderr, "%s: SKIPPED: %v\n", name, err)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Set records a setting of the run for its provenance.
func (e *Experiment) Set(name string, value any) {
	if e.settings == nil {
		e.settings = map[string]any{}
	}
	e.settings[name] = value
}

// Printf tells how far the run is.
func (e *Experiment) Printf(format string, a ...any) {
	if e.Log != nil {
		fmt.Fprintf(e.Log, e.Name+": "+format+"\n", a...)
	}
}

// WriteFile creates a file of the results and fills it by write.
func (e *Experiment) WriteFile(name string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(e.Out, 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(e.Out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !slices.Contains(e.files, name) {
		e.files = append(e.files, name)
	}
	return write(f)
}
