package native

import (
	"context"
	"slices"
	"strings"

	"github.com/pho-go/pho/adapters/native/internal/rows"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/decompose"
)

// buildTerms scans the training rows and returns the blocks of each predictor and
// whether it has an intercept.
func (c *Config) buildTerms(ctx context.Context, formulas []*basis.Formula, train *rows.Frame) ([][]decompose.Block, []bool, error) {
	var specs []decompose.Spec
	for _, f := range formulas {
		specs = append(specs, f.Specs...)
	}
	prepared, err := decompose.PrepareEach(ctx, train, specs, nil)
	if err != nil {
		return nil, nil, err
	}
	names := c.predictorNames()
	blocks, intercept := make([][]decompose.Block, len(names)), make([]bool, len(names))
	for k := range names {
		intercept[k] = true
	}
	for _, f := range formulas {
		var b []decompose.Block
		for range f.Specs {
			b = append(b, prepared[0].Blocks...)
			prepared = prepared[1:]
		}
		for k, name := range names {
			if f.Predictor == "" || f.Predictor == name {
				blocks[k] = append(blocks[k], b...)
				intercept[k] = intercept[k] && f.Intercept
			}
		}
	}
	return blocks, intercept, nil
}

// factorFeatures are the factors among the feature columns as terms of every
// predictor; nil: none.
func (c *Config) factorFeatures(schema data.Schema) *basis.Formula {
	f := &basis.Formula{Intercept: true}
	for _, name := range c.FeatureNetworks.Columns {
		if c.FeatureNetworks.factor(schema, name) {
			f.Specs = append(f.Specs, basis.Factor(name, nil))
		}
	}
	if f.Specs == nil {
		return nil
	}
	return f
}

// knownTerms refuses smoothing parameters of terms that are not there.
func (c *Config) knownTerms(blocks [][]decompose.Block) error {
	var f faults
	for name := range c.Structured.SP {
		found := false
		for _, b := range blocks {
			found = found || slices.ContainsFunc(b, func(b decompose.Block) bool { return b.Term.Name() == name })
		}
		if !found {
			f.add("smoothing parameters for term %q, which no formula has", name)
		}
	}
	slices.SortFunc(f, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return f.err()
}
