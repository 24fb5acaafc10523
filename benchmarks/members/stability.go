package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/pho-go/pho/decompose"
)

// stability is the study of what the projection is for: how far the structured curves of
// semi-structured networks differ between trainings, before and after it.
type stability struct {
	cases    []situation
	networks int
}

// situation is one way in which networks are trained and decomposed.
type situation struct {
	name    string
	world   world
	rows    int
	formula string // of the decomposition; "": the networks' own terms
	recipe  recipe
}

func newStability() *stability {
	smooth := "~ "
	linear := "~ "
	for j := range 4 {
		if j > 0 {
			smooth, linear = smooth+" + ", linear+" + "
		}
		smooth += fmt.Sprintf(`s(x%d, bs="ps")`, j)
		linear += fmt.Sprintf("x%d", j)
	}
	at := func(rho float64) world { return world{features: 4, correlation: rho, noise: 0.5, interaction: 0.8} }
	ssn := func(formula string, from decompose.MembersFrom) recipe {
		return recipe{hidden: []int{16}, epochs: 60, from: from, formula: "y " + formula}
	}
	blackBox := recipe{hidden: []int{16}, epochs: 60, from: decompose.Seeds}
	additive := blackBox
	additive.features = true
	return &stability{networks: 10, cases: []situation{
		{"linear terms, correlation 0, seeds", at(0), 1000, linear, ssn(linear, decompose.Seeds)},
		{"linear terms, correlation 0.5, seeds", at(0.5), 1000, linear, ssn(linear, decompose.Seeds)},
		{"linear terms, correlation 0.9, seeds", at(0.9), 1000, linear, ssn(linear, decompose.Seeds)},
		{"linear terms, correlation 0.9, resamples", at(0.9), 1000, linear, ssn(linear, decompose.Resamples)},
		{"smooth terms, correlation 0.5, seeds", at(0.5), 1000, smooth, ssn(smooth, decompose.Seeds)},
		{"smooth terms, correlation 0.9, seeds", at(0.9), 1000, smooth, ssn(smooth, decompose.Seeds)},
		{"smooth terms, correlation 0.9, resamples", at(0.9), 1000, smooth, ssn(smooth, decompose.Resamples)},
		{"feature networks, correlation 0.9, seeds", at(0.9), 1000, "", additive},
		{"black boxes, correlation 0.9, seeds", at(0.9), 1000, smooth, blackBox},
		{"near copies: smooth, correlation 0.999, seeds", at(0.999), 1000, smooth, ssn(smooth, decompose.Seeds)},
		{"near copies: linear, correlation 0.999, seeds", at(0.999), 1000, linear, ssn(linear, decompose.Seeds)},
		{"100 rows, smooth, correlation 0.9, resamples", at(0.9), 100, smooth, ssn(smooth, decompose.Resamples)},
	}}
}

func (s *stability) header() string { return "sample;case;sd before;sd after" }

// lines are, for each case, the between-network sd of the curves over the sd of the mean
// curve after the projection, the root of the mean square over the terms.
func (s *stability) lines(ctx context.Context, sample uint64) ([]string, error) {
	var lines []string
	for _, c := range s.cases {
		rows, _, err := c.world.draw(rand.New(rand.NewPCG(sample, 2)), c.rows)
		if err != nil {
			return nil, err
		}
		var blocks []decompose.Block
		if c.formula != "" {
			if blocks, err = terms(ctx, rows, c.formula); err != nil {
				return nil, err
			}
		}
		members, err := c.recipe.joined(ctx, c.world, rows, sample, s.networks, blocks)
		if err != nil {
			return nil, err
		}
		m, err := decompose.Join(members, c.recipe.from)
		if err != nil {
			return nil, err
		}
		r, err := decompose.Decompose(ctx, m, rows, &decompose.Options{Resources: decompose.Resources{Workers: 1}})
		if err != nil {
			return nil, err
		}
		if m.Shared() == c.recipe.features {
			return nil, fmt.Errorf("%s: whether columns differ between networks is not as it should be", c.name)
		}
		var before, after, own float64
		for _, t := range r.Predictors[0].Terms {
			before += t.BetweenSD.Before * t.BetweenSD.Before
			after += t.BetweenSD.After * t.BetweenSD.After
			own += t.After.Variance
		}
		lines = append(lines, fmt.Sprintf("%d;%s;%.4f;%.4f", sample, c.name, math.Sqrt(before/own), math.Sqrt(after/own)))
	}
	return lines, nil
}

func (s *stability) table(w io.Writer, rows [][]string) error {
	fmt.Fprintln(w, "| networks | before | after |\n|---|---|---|")
	return grouped(rows, 1, 1, func(key []string, columns [][]float64) {
		fmt.Fprintf(w, "| %s | %.3f | %.3f |\n", key[0], median(columns[0]), median(columns[1]))
	})
}
