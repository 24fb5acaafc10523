package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/drift"
	"github.com/pho-go/pho/internal/base/durable"
)

// monitorFlags are the flags of pho monitor.
type monitorFlags struct {
	state                      string
	time, by, zone, period     string
	weights, cluster, response string
	block                      rowCount
	merge                      []string
	reference, rollUp, out     string
	asJSON                     bool
	model, maxMemory           string
	computing                  computing
	data                       dataFlags
}

func newMonitor(s streams) *cobra.Command {
	var m monitorFlags
	cmd := &cobra.Command{
		Use:   "monitor [DIR --data FILE...] --state FILE",
		Short: "Follow a network from period to period: which terms its predictions drift through",
		Long: `Add new rows to what the state file knows of every hour, day, week or other period: how the
parts of the decomposition in DIR are distributed there. Then compare all periods with a
reference: the change of the prediction's mean, and of its variance, is split by
terms exactly, and each change is tested against chance. The state is a few numbers a period,
not rows; 'pho compare STATE --periods A..B' compares two periods of it.

Additions to one state at the same time wait for each other, by a lock in FILE.lock beside it.

--time and --by, or --period, say in which period a row is; --block or --cluster which rows
depend on each other, as neighbours in a time series do: without, rows are taken as
independent, and of dependent ones far too much looks like drift. All of these are kept in the
state, and need not be given again.`,
		Example: `  pho monitor result --data january.csv --time when --by day --cluster day --state drift.json
  pho monitor result --data february.csv --state drift.json
  pho monitor --state drift.json --roll-up month --out drift
  pho monitor --state all.json --merge 'hour-*.json'
  pho compare drift.json --periods 2026-01..2026-02`,
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), s, cmd.Flags(), args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&m.state, "state", "", "`FILE` that keeps what is known of the periods; it is made if it is not there")
	m.data.add(f)
	m.data.addUnseen(f)
	f.StringVar(&m.time, "time", "", "`COLUMN` with the time of a row: ISO 8601, or seconds since 1970")
	f.StringVar(&m.by, "by", string(drift.Day), "periods of --time: hour, day, week, month, quarter, year, or label to take the cells as they are")
	f.StringVar(&m.zone, "zone", "UTC", "time zone of periods, and of times that name none: UTC, +02:00 or Europe/Berlin")
	f.StringVar(&m.period, "period", "", "`LABEL` of the one period of all rows, in place of --time")
	f.StringVar(&m.weights, "weights", "", "`COLUMN` of the rows' weights")
	f.StringVar(&m.response, "response", "", "`COLUMN` of the response, if it is known already: how well it is predicted is followed too")
	f.Var(&m.block, "block", "so many consecutive `ROWS` of a period depend on each other")
	f.StringVar(&m.cluster, "cluster", "", "rows with one value of `COLUMN` depend on each other; or those of one hour, day, week or month of --time")
	f.StringArrayVar(&m.merge, "merge", nil, "`FILE` of another state, or a quoted glob, whose rows are added to --state (repeatable)")
	f.StringVar(&m.reference, "reference", "", "`PERIOD` that the others are compared with; of days also their month or year (default the first)")
	f.StringVar(&m.rollUp, "roll-up", "", "`UNIT` by which periods are put together for the report: day, week, month, quarter or year")
	f.StringVar(&m.out, "out", "", "`DIR` for monitor.html, with pictures, and monitor.json")
	f.BoolVar(&m.asJSON, "json", false, "write the report as JSON")
	f.StringVar(&m.model, "model", "", "the network's `FILE`, or the folder of several, if it is not where it was")
	m.computing.add(f, again)
	f.StringVar(&m.maxMemory, "max-memory", "4GiB", "bound on a network's tensors")
	return cmd
}

func (m *monitorFlags) run(ctx context.Context, s streams, f *pflag.FlagSet, args []string) error {
	dir, further, err := m.check(args)
	if err != nil {
		return err
	}
	changes := len(m.data.paths) > 0 || len(m.merge) > 0
	if changes { // from reading the state to replacing it
		unlock, err := durable.Lock(ctx, m.state, func() {
			fmt.Fprintf(s.err, "another pho adds to %s; this one waits for it\n", m.state)
		})
		if err != nil {
			return fmt.Errorf("--state: %w", err)
		}
		defer unlock()
	}
	state, err := readStateIfThere(m.state)
	if err != nil {
		return err
	}
	if len(m.data.paths) > 0 {
		if state, err = m.add(ctx, s, f, dir, further, state); err != nil {
			return err
		}
	}
	if len(m.merge) > 0 {
		if state, err = m.mergeInto(state); err != nil {
			return err
		}
	}
	if state == nil {
		return fmt.Errorf("there is no state %q: name rows to add, with DIR and --data, or other states, with --merge", m.state)
	}
	report, err := m.report(state)
	if err != nil {
		return err
	}
	if changes {
		if err := s.unfinished().WriteFile(m.state, func(f *os.File) error { return state.Write(f) }); err != nil {
			return err
		}
	}
	return showDrift(s, report, m.out, m.asJSON, m.files(dir))
}

// check reports wrong usage, and tells the decomposition's directory from data files behind the flags.
func (m *monitorFlags) check(args []string) (dir string, further []string, err error) {
	if len(args) > 0 {
		dir, further = args[0], args[1:]
	}
	switch {
	case m.state == "":
		return "", nil, usagef("--state is missing: name the file that keeps what is known of the periods")
	case m.state == "-":
		return "", nil, usagef("--state -: the state is a file, which is read and replaced")
	case dir == "" && len(m.data.paths) > 0:
		return "", nil, usagef("DIR is missing: name the directory that decompose wrote")
	case dir != "" && len(m.data.paths) == 0:
		return "", nil, usagef("--data is missing: name the rows to add to the state")
	case m.time != "" && m.period != "":
		return "", nil, usagef("--time and --period both say in which period a row is: give one")
	case m.block > 0 && m.cluster != "":
		return "", nil, usagef("--block and --cluster both say which rows depend on each other: give one")
	}
	return dir, further, m.computing.check()
}

// report compares the periods of a state.
func (m *monitorFlags) report(state *drift.State) (*drift.Report, error) {
	if m.rollUp != "" {
		rolled, err := state.Rolled(drift.Unit(m.rollUp))
		if err != nil {
			return nil, fmt.Errorf("--roll-up %s: %w", m.rollUp, err)
		}
		state = rolled
	}
	report, err := state.Report(m.reference)
	if err != nil && m.reference != "" {
		return nil, fmt.Errorf("--reference: %w", err)
	}
	return report, err
}

// mergeInto adds the states that --merge names.
func (m *monitorFlags) mergeInto(state *drift.State) (*drift.State, error) {
	paths, err := data.Expand(m.merge)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		other, err := readState(path)
		if err != nil {
			return nil, err
		}
		if state == nil {
			if state, err = drift.New(other.Decomposition(), other.Settings()); err != nil {
				return nil, err
			}
		}
		if err := state.Merge(other); err != nil {
			return nil, fmt.Errorf("state %q: %w", path, err)
		}
	}
	return state, nil
}

// files are those that the command reads or keeps.
func (m *monitorFlags) files(dir string) sources {
	var in sources
	in.add("the state", m.state)
	in.add("a state", m.merge...)
	in.add("a data file", m.data.paths...)
	if dir != "" {
		in.addResult(dir)
	}
	return in
}

// readState reads the state in a file.
func readState(path string) (*drift.State, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("state %q cannot be read: %w", path, durable.Reason(err))
	}
	defer f.Close()
	state, err := drift.Read(f)
	if err != nil {
		return nil, fmt.Errorf("state %q: %w", path, err)
	}
	return state, nil
}

// readStateIfThere is nil where there is no such file.
func readStateIfThere(path string) (*drift.State, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return readState(path)
}
