package native

import (
	"context"
	"fmt"

	"github.com/pho-go/pho/data"
)

// TrainEnsemble trains size networks with the seeds Seed, Seed+1, ...: they differ in their
// start, in the order of rows and, unless Validation is given, in the rows held out. How
// much a term differs between them tells how stable it is. Checkpoint must be empty: the
// members would overwrite each other's file. The first error ends it.
func TrainEnsemble(ctx context.Context, cfg Config, src data.Source, size int) ([]*Model, []*Fit, error) {
	switch {
	case size < 1:
		return nil, nil, fmt.Errorf("native: an ensemble of %d networks: at least 1 is needed", size)
	case cfg.Training.Checkpoint != "":
		return nil, nil, fmt.Errorf("native: the networks of an ensemble have one checkpoint file, %q, among them: train them one by one to keep checkpoints", cfg.Training.Checkpoint)
	case cfg.Architecture == GAM:
		return nil, nil, fmt.Errorf("native: a gam is solved and not trained: all members of an ensemble would be equal")
	}
	var models []*Model
	var fits []*Fit
	first := cfg.Training.Seed
	for i := range size {
		cfg.Training.Seed = first + uint64(i)
		m, fit, err := Train(ctx, cfg, src)
		if err != nil {
			return nil, nil, fmt.Errorf("network %d of %d (seed %d): %w", i+1, size, cfg.Training.Seed, err)
		}
		models, fits = append(models, m), append(fits, fit)
	}
	return models, fits, nil
}
