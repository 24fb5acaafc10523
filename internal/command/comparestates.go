package command

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/pho-go/pho/drift"
)

// isState tells states of pho monitor from decompositions, which are directories.
func isState(args []string) bool {
	if len(args) == 0 {
		return false
	}
	info, err := os.Stat(args[0])
	return err == nil && info.Mode().IsRegular()
}

// states compares two periods, of one state or of two.
func (f *compareFlags) states(s streams, flags *pflag.FlagSet, paths []string) error {
	if len(paths) > 2 {
		return usagef("unexpected argument %q", paths[2])
	}
	for _, name := range []string{"labels", "data", "model"} {
		if flags.Changed(name) {
			return usagef("--%s goes with decompositions: %q is a state of pho monitor", name, paths[0])
		}
	}
	var states []*drift.State
	var in sources
	for _, path := range paths {
		state, err := readState(path)
		if err != nil {
			return err
		}
		states = append(states, state)
		in.add("a state", path)
	}
	if f.periods == "" {
		if err := f.onlyPeriods(states, paths); err != nil {
			return err
		}
	}
	report, err := states[0].ReportOf(states[len(states)-1], f.periods)
	if err != nil {
		return err
	}
	return showDrift(s, report, f.out, f.asJSON, in)
}

// onlyPeriods are the periods of states that have as many as are compared.
func (f *compareFlags) onlyPeriods(states []*drift.State, paths []string) error {
	var all []string
	for i, state := range states {
		periods := state.Periods()
		if want := 3 - len(states); len(periods) != want {
			return usagef("--periods is missing: state %q has %d periods: name two, as A..B", paths[i], len(periods))
		}
		all = append(all, periods...)
	}
	f.periods = fmt.Sprintf("%s..%s", all[0], all[1])
	return nil
}
