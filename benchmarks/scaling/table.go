package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
)

// assumed is the cluster of the tables, of so many workers.
func assumed(workers int) *Cluster {
	return &Cluster{Workers: workers, Start: 2, Bandwidth: 5e8, FanIn: 8, Straggle: 0.1, Failures: 0.01, Price: 0.04, Cost: 0.004}
}

// reach is how long the smallest shard may take, in seconds: longer ones hardly end before their worker fails.
const reach = 24 * 3600

// repeats is how often a case is simulated; tables have the median.
const repeats = 5

func tables(w io.Writer, m *Measured) error {
	for _, k := range kinds {
		fmt.Fprintf(w, "\n%s: time (times as fast as one worker), bytes of parts that are moved, cost\n\n| rows | p | 1 worker | 10 | 100 | 1,000 | chunks |\n|---|---|---|---|---|---|---|\n", k)
		for _, rows := range []float64{1e8, 1e9, 1e10} {
			for _, p := range []int{200, 2000, 20000} {
				if err := line(w, m, k, rows, p); err != nil {
					return err
				}
			}
		}
	}
	if err := sparseTable(w, m); err != nil {
		return err
	}
	return pieces(w, m)
}

// shares of cells that are stored in the table of sparse statistics: between those of real tables
// (sparsity), and all.
var shares = []float64{1, 0.2, 0.01}

// sparseTable is 20,000 columns of factors over 1e9 rows, were no more than a share of the cells stored.
func sparseTable(w io.Writer, m *Measured) error {
	fmt.Fprint(w, "\nfactors, p = 20,000, 1e9 rows, by the share of cells that are stored: time without the solution, bytes moved\n\n| share | statistics | rows of a chunk | 10 workers | 100 | 1,000 | memory of a worker |\n|---|---|---|---|---|---|---|\n")
	for _, share := range shares {
		c, err := m.costs(factors, 20000)
		if err != nil {
			return err
		}
		c.thin(share)
		fmt.Fprintf(w, "| %g %% | %s | %d |", 100*share, size(c.Bytes), c.Chunk)
		for _, workers := range []int{10, 100, 1000} {
			out := median(1e9, c, assumed(workers))
			fmt.Fprintf(w, " %s, %s |", duration(out.Seconds-c.Solve), size(out.Moved))
		}
		fmt.Fprintf(w, " %s |\n", size(c.Memory))
	}
	return nil
}

func line(w io.Writer, m *Measured, k kind, rows float64, p int) error {
	c, err := m.costs(k, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| %.0e | %d |", rows, p)
	if longest := float64(c.Chunk) * c.Explain; longest > reach {
		fmt.Fprintf(w, " a chunk takes %s: out of reach | | | | %.0f |\n", duration(longest), max(1, rows/float64(c.Chunk)))
		return nil
	}
	var one float64
	for _, workers := range []int{1, 10, 100, 1000} {
		out := median(rows, c, assumed(workers))
		if workers == 1 {
			one = out.Seconds
		}
		fmt.Fprintf(w, " %s (%.3g), %s, $%.3g |", duration(out.Seconds), one/out.Seconds, size(out.Moved), out.Price)
	}
	fmt.Fprintf(w, " %.0f |\n", max(1, rows/float64(c.Chunk)))
	return nil
}

// median simulates some times and returns the outcome of median length.
func median(rows float64, c *Costs, cl *Cluster) *Outcome {
	var all []*Outcome
	for i := range repeats {
		all = append(all, simulate(rows, c, cl, rand.New(rand.NewPCG(uint64(i), 9))))
	}
	slices.SortFunc(all, func(a, b *Outcome) int {
		if a.Seconds < b.Seconds {
			return -1
		}
		return 1
	})
	return all[repeats/2]
}

// pieces prints what the simulation takes for each design.
func pieces(w io.Writer, m *Measured) error {
	fmt.Fprint(w, "\n| design | p | a row, fit | a row, explain | rows of a chunk | statistics | taking one part | solve | memory of a worker |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		for _, p := range []int{200, 2000, 20000} {
			c, err := m.costs(k, p)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %d | %s | %s | %d | %s | %s | %s | %s |\n", k, p, duration(c.Row), duration(c.Explain), c.Chunk, size(c.Bytes), duration(c.Take), duration(c.Solve), size(c.Memory))
		}
	}
	return nil
}

// duration writes seconds as people read them.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return fmt.Sprintf("%.3g µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	case seconds < 300:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.3g min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.3g h", seconds/3600)
	case seconds < 365*86400:
		return fmt.Sprintf("%.3g days", seconds/86400)
	}
	return fmt.Sprintf("%.3g years", seconds/86400/365)
}
