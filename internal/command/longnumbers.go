package command

import (
	"context"
	"errors"
	"slices"

	"github.com/pho-go/pho/basis/formula"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
)

// longNumbers are the columns that formulas and --cluster take as categories and that hold whole
// numbers beyond 2^53, such as customers' numbers: they are read as text, since numbers would be
// rounded. It reads these columns of Parquet and Arrow files; CSV's are judged by their cells anyway.
// Standard input, which cannot be read twice, is not looked at.
func (d *decomposeFlags) longNumbers(ctx context.Context, paths []string, reading *files.Options, o *decompose.Options) ([]string, error) {
	columns := append(categories(d.formulas), o.Columns.Cluster)
	if len(paths) == 0 || slices.Contains(paths, "-") {
		return nil, nil
	}
	if format, err := files.DetectIn(ctx, reading.Store, paths[0]); err != nil || format != files.Parquet && format != files.Arrow {
		return nil, nil // whoever opens the rows says what is wrong
	}
	src, err := files.Open(paths, reading)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var found []string
	slices.Sort(columns)
	for _, name := range slices.Compact(columns) {
		c, there := src.Schema().Lookup(name)
		if !there || !c.Numeric || c.Categorical || c.Width > 0 || slices.Contains(d.data.texts, name) {
			continue
		}
		for _, err := range src.Batches(ctx, []string{name}) {
			if errors.Is(err, data.ErrRounded) {
				found = append(found, name)
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		} // other faults are told by the pass that needs the column
	}
	return found, nil
}

// categories are the columns that formulas take as categories if they are whole numbers: those in
// factor() and ordered(), of by=, and of random effects.
func categories(formulas []string) []string {
	var names []string
	for _, text := range formulas {
		f, err := formula.Parse(text)
		if err != nil {
			continue // it is refused elsewhere
		}
		for _, s := range f.Summands {
			for _, c := range s.Calls {
				bs, _ := c.Arg("bs")
				if c.Func == "factor" || bs.Value.Text == "re" || bs.Value.Text == "fs" {
					for _, v := range c.Vars {
						names = append(names, v.Text)
					}
				}
				if by, ok := c.Arg("by"); ok && by.Value.Kind == formula.Identifier {
					names = append(names, by.Value.Text)
				}
			}
		}
	}
	return names
}
