package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/internal/base/spelling"
)

// insteadOf says what there is in place of a flag that people may expect; "" for others.
func insteadOf(flag string) string {
	if flag == "cache" {
		return "outputs of the network are kept in memory as far as they fit; --zeta-cache FILE takes the others"
	}
	return ""
}

// unknownCommand says which commands there are.
func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	there := "there are " + strings.Join(names, ", ")
	if near := nearest(name, names); near != "" {
		return usagef("unknown command %q; did you mean %s? (%s)", name, near, there)
	}
	return usagef("unknown command %q; %s", name, there)
}

// flagError makes a usage error of pflag's; for an unknown flag it says which
// there are, for one after an unknown command (arguments) which commands.
func flagError(cmd *cobra.Command, arguments []string, err error) error {
	if !cmd.HasParent() && len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		return unknownCommand(cmd, arguments[0])
	}
	var (
		missing *pflag.NotExistError
		invalid *pflag.InvalidValueError
		without *pflag.ValueRequiredError
	)
	switch {
	case errors.As(err, &invalid):
		return usagef("--%s %q: it is %s", invalid.GetFlag().Name, invalid.GetValue(), kindOf(invalid.GetFlag()))
	case errors.As(err, &without):
		return usagef("--%s is given without a value", without.GetSpecifiedName())
	case !errors.As(err, &missing):
		return usageError{err}
	}
	name := missing.GetSpecifiedName()
	if missing.GetSpecifiedShortnames() != "" {
		return usagef("unknown flag -%s; flags are written with two dashes, and data files as ./-name", name)
	}
	if reason := insteadOf(name); reason != "" {
		return usagef("unknown flag --%s: %s", name, reason)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	if len(names) == 0 {
		return usagef("unknown flag --%s; %s takes none", name, cmd.CommandPath())
	}
	hint := ""
	if near := nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean --%s?", near)
	}
	return usagef("unknown flag --%s%s (%s has --%s)", name, hint, cmd.CommandPath(), strings.Join(names, ", --"))
}

// kindOf says what values a flag takes.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number that is not negative"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	return "a " + f.Value.Type()
}

// nearest is the known name that a misspelt one probably means, or "".
func nearest(name string, known []string) string {
	best, least := "", max(1, len(name)/2)
	for _, k := range known {
		d := spelling.Distance(name, k)
		if strings.HasPrefix(k, name) && len(name) > 2 {
			d = 1
		}
		if d <= least && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}
