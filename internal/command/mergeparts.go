package command

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/base/durable"
)

func newMerge(s streams) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge PART... --out FILE",
		Short: "Add up what shards of a plan's rows came to",
		Long: `Add up parts that 'pho accumulate' or 'pho merge' wrote, in any order and grouping: the sum is
the same bytes. It may have gaps; those who use it need all shards. @FILE stands for the
names in FILE, one a line; quoted globs are expanded.`,
		Example: `  pho merge part-*.pho --out total.pho
  pho merge @parts.txt --out total.pho`,
		RunE: func(cmd *cobra.Command, args []string) error { return mergeParts(cmd.Context(), s, args, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` of the sum")
	return cmd
}

func mergeParts(ctx context.Context, s streams, args []string, out string) error {
	switch {
	case len(args) == 0:
		return usagef("the parts are missing: name files that accumulate wrote, or @FILE with their names")
	case out == "":
		return usagef("--out is missing: name the file of the sum")
	}
	paths, err := partFiles(args)
	if err != nil {
		return err
	}
	var in sources
	in.add("a part", paths...)
	if err := in.spareFile("--out", out); err != nil {
		return err
	}
	total, err := plan.Merge(ctx, paths)
	if err != nil {
		return err
	}
	if err := total.WriteFile(s.unfinished(), out); err != nil {
		return err
	}
	if missing := total.Missing(); len(missing) > 0 {
		fmt.Fprintf(s.out, "%d of %d shards; missing: %s\n", len(total.Shards), total.Of, plan.RunsText(missing))
	}
	return nil
}

// partFiles expands globs and lists of names.
func partFiles(args []string) ([]string, error) {
	var paths []string
	for _, arg := range args {
		list, ok := strings.CutPrefix(arg, "@")
		if !ok {
			found, err := data.Expand([]string{arg})
			if err != nil {
				return nil, err
			}
			paths = append(paths, found...)
			continue
		}
		f, err := os.Open(list)
		if err != nil {
			return nil, fmt.Errorf("the list of parts %q: %w", list, durable.Reason(err))
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if name := strings.TrimRight(lines.Text(), "\r"); name != "" {
				paths = append(paths, name)
			}
		}
		f.Close()
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("the list of parts %q: %w", list, err)
		}
	}
	return paths, nil
}
