package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
)

// Check runs an experiment twice, with one worker and with three, into two
// directories below dir, and returns the records of its CSV files by name. It is
// an error if a file differs between the runs. For tests of the programs.
func Check(ctx context.Context, dir string, e Experiment, run func(context.Context, *Experiment) error) (map[string][][]string, error) {
	var outs []string
	var files []string
	for _, workers := range []int{1, 3} {
		again := e
		again.Workers, again.Out = workers, filepath.Join(dir, fmt.Sprint(workers))
		if err := run(ctx, &again); err != nil {
			return nil, err
		}
		outs, files = append(outs, again.Out), again.files
	}
	tables := map[string][][]string{}
	for _, name := range files {
		one, err := os.ReadFile(filepath.Join(outs[0], name))
		if err != nil {
			return nil, err
		}
		three, err := os.ReadFile(filepath.Join(outs[1], name))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(one, three) {
			return nil, fmt.Errorf("%s differs between two runs", name)
		}
		if filepath.Ext(name) == ".csv" {
			if tables[name], err = csv.NewReader(bytes.NewReader(one)).ReadAll(); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return tables, nil
}
