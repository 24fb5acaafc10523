package command

import (
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/internal/base/revision"
)

// Root is the command with all its commands, for who writes manuals of them: it is not to be executed.
func Root() *cobra.Command { return newRoot(streams{}) }

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "pho",
		Short: "Open trained networks: post-hoc orthogonalization of additive models",
		Long: `pho splits the predictor of a trained network into an identifiable structured
part (linear effects, factors, smooths, learned bases) and a deep remainder that is
orthogonal to it. Predictions stay exactly as they are.

Exit status: 0 done, 1 the work failed, 2 wrong call, 130 interrupted.`,
		Example: `  pho demo                                       see it work; needs nothing else
  pho inspect model.onnx                         what the network holds
  pho decompose --model model.onnx --data rows.csv --response y --out result
  pho apply --decomposition result --data new.csv --out new-contributions.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       aboutVersion(revision.Release, builtFrom()),
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("pho {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, s.args, err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemo(s), newInspect(s), newDecompose(s), newApply(s), newReport(s), newSummary(s), newExplain(s), newTrain(s), newVerify(s), newCompare(s), newMonitor(s), newServe(s), newPlan(s), newAccumulate(s), newMerge(s), newSolve(s))
	if len(s.args) > 0 && strings.HasPrefix(s.args[0], cobra.ShellCompRequestCmd) {
		complete(root) // only then: cobra keeps what completes a flag in a global map, and the whole command with it
	}
	return root
}

// aboutVersion is "0.1.0 (commit)", without a commit if there is none.
func aboutVersion(release, commit string) string {
	if commit == "" {
		return release
	}
	return release + " (" + commit + ")"
}

// builtFrom is the commit that the binary was built from, "" where that is not known.
func builtFrom() string {
	info, _ := debug.ReadBuildInfo() // nil where there is none
	return revision.Name(info)
}

// exactArgs is cobra.ExactArgs as a usage error that names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef("%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
