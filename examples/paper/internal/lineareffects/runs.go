package lineareffects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// runsFile holds all runs of a study, so that the two experiments train once.
const runsFile = "lineareffects.json"

// runs are the repetitions of every setting, in order.
type runs struct {
	Seed        uint64
	Study       Study
	Repetitions [][]Repetition
}

// Run returns the repetitions of all settings, in order. Runs of the same study and
// seed that the directory of the results has are read; the others are trained, and
// kept there after each setting, so that an interrupted study goes on.
func (s Study) Run(ctx context.Context, e *experiment.Experiment) ([][]Repetition, error) {
	all := runs{Seed: e.Seed, Study: s}
	raw, err := os.ReadFile(filepath.Join(e.Out, runsFile))
	switch {
	case err == nil:
		var known runs
		if err := json.Unmarshal(raw, &known); err != nil {
			return nil, fmt.Errorf("%s: %w: delete it", filepath.Join(e.Out, runsFile), err)
		}
		if known.Seed == e.Seed && reflect.DeepEqual(known.Study, s) && len(known.Repetitions) <= len(s.Settings) {
			all = known
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	e.Set("settings read from "+runsFile, len(all.Repetitions))
	for _, at := range s.Settings[len(all.Repetitions):] {
		reps, err := s.run(ctx, e, at)
		if err != nil {
			return nil, err
		}
		all.Repetitions = append(all.Repetitions, reps)
		if err := e.WriteFile(runsFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(all) }); err != nil {
			return nil, err
		}
		e.Printf("n %d, p/q %s: trained", at.N, at.Ratio())
	}
	return all.Repetitions, nil
}
