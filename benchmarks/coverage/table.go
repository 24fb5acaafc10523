package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// table prints what the files of dir hold, as Markdown.
func table(w io.Writer, dir, commit string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	sums := map[scenario][]counts{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var b block
		if err := json.Unmarshal(text, &b); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if sums[b.Scenario] == nil {
			sums[b.Scenario] = make([]counts, len(terms))
		}
		for j := range b.Terms {
			sums[b.Scenario][j].add(b.Terms[j])
		}
	}
	if commit != "" {
		fmt.Fprintf(w, "Commit %s.\n\n", commit)
	}
	fmt.Fprintln(w, "| rows | term | samples | pointwise mean (MC error) | lowest point | edges | simultaneous (MC error) | over the range | projection: mean | lowest | edges |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range scenarios {
		for j, c := range sums[s] {
			if c.Samples == 0 {
				continue
			}
			n := float64(c.Samples)
			mean := c.Share / n
			fmt.Fprintf(w, "| %s | %s | %d | %.1f (%.1f) | %.1f | %.1f | %.1f (%.1f) | %.1f | %.1f | %.1f | %.1f |\n", s, terms[j].name, c.Samples,
				100*mean, 100*math.Sqrt(math.Max(c.Square/n-mean*mean, 0)/n),
				percent(slices.Min(c.Robust), n), edges(j, c.Robust, n),
				percent(c.Simultaneous, n), 100*binomialError(c.Simultaneous, n), percent(c.Range, n),
				average(c.Projection, n), percent(slices.Min(c.Projection), n), edges(j, c.Projection, n))
		}
	}
	return nil
}

func percent(c int, n float64) float64 { return 100 * float64(c) / n }

func average(c []int, n float64) float64 {
	sum := 0
	for _, v := range c {
		sum += v
	}
	return percent(sum, n*float64(len(c)))
}

func binomialError(c int, n float64) float64 {
	p := float64(c) / n
	return math.Sqrt(p * (1 - p) / n)
}

// edges is the mean over the points of the grid beyond |x| = 1.6 in a feature, or over all
// levels.
func edges(j int, c []int, n float64) float64 {
	if terms[j].name == "g" {
		return average(c, n)
	}
	beyond := func(name string, i, points int) bool {
		lo, hi := quantile(name, 0.01), quantile(name, 0.99)
		return math.Abs(lo+(hi-lo)*float64(i)/float64(points-1)) > 1.6
	}
	var at []int
	for i := range c {
		f := terms[j].features
		if len(f) == 1 && beyond(f[0], i, curvePoints) || len(f) == 2 && (beyond(f[0], i/sidePoints, sidePoints) || beyond(f[1], i%sidePoints, sidePoints)) {
			at = append(at, c[i])
		}
	}
	return average(at, n)
}
