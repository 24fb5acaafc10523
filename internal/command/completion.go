package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/family"
)

// flagValues are the values of flags that take one of a few, by the flag's name.
func flagValues() map[string][]string {
	return map[string][]string{
		"activation":     inText(activations()),
		"bands":          {"robust", "rows", "projection", "none"},
		"by":             {"hour", "day", "week", "month", "quarter", "year", "label"},
		"contributions":  {"csv", "parquet", "none"},
		"family":         family.Names(),
		"initialization": inText(initializations()),
		"interactions":   {"auto", "none", "0", "1", "2", "3", "5"},
		"kind":           {"ssn", "nam", "gam", "mlp"},
		"link":           onnx.PredictionLinks(),
		"log":            {"json"},
		"members-from":   {"resamples", "seeds"},
		"method":         {"pho", "phogam"},
		"na":             {"error", "drop", "keep"},
		"optimizer":      inText(optimizers()),
		"orthogonalize":  {"online"},
		"phonam":         {"learned", "spline"},
		"engine":         {"go", "onnxruntime"},
		"precision":      {"float64", "float32"},
		"refit":          {"total"},
		"roll-up":        {"day", "week", "month", "quarter", "year"},
		"route":          {"gram", "qr"},
		"schedule":       inText(schedules()),
		"smoothing":      {"reml", "ml", "gcv", "cv", "df", "fixed"},
		"terms":          {"hierarchical", "fitted"},
		"unseen":         {"error", "drop", "zero"},
	}
}

// Of these flags and arguments the values are files of such endings, or directories.
var (
	dataFiles  = []string{"csv", "gz", "parquet", "arrow", "feather", "npy", "npz", "jsonl", "xlsx"}
	modelFiles = []string{"onnx"}
)

// complete has shells complete the values of flags and the arguments of all commands.
func complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { completeFlag(cmd, f.Name) })
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeArgument(cmd.Use)
		}
	}
}

// completeFlag completes the values of one flag. A command has each of its flags once, so
// registering one cannot fail.
func completeFlag(cmd *cobra.Command, name string) {
	values, few := flagValues()[name]
	switch {
	case few:
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	case name == "data":
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(dataFiles, cobra.ShellCompDirectiveFilterFileExt))
	case name == "model":
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(modelFiles, cobra.ShellCompDirectiveFilterFileExt))
	case name == "decomposition":
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	}
}

// completeArgument completes arguments by the name that a command's usage gives them.
func completeArgument(use string) cobra.CompletionFunc {
	switch {
	case strings.Contains(use, " STATE"): // or directories
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		}
	case strings.Contains(use, "[DIR"), strings.Contains(use, " DIR") && !strings.Contains(use, "--out DIR"), strings.Contains(use, " A B"):
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case strings.Contains(use, " MODEL") && !strings.Contains(use, "--model"):
		return cobra.FixedCompletions(modelFiles, cobra.ShellCompDirectiveFilterFileExt)
	case strings.Contains(use, "--data FILE..."):
		return cobra.FixedCompletions(dataFiles, cobra.ShellCompDirectiveFilterFileExt)
	}
	return cobra.NoFileCompletions
}
