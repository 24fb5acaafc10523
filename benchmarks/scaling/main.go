// Command scaling says what a decomposition over many machines takes: it measures the pieces on
// this machine, and simulates workers, stragglers, failures and merges with them. docs/scaling.md
// has what it prints.
//
//	scaling -measure measured.json   the pieces, on one core; minutes
//	scaling                          tables of the simulation, from benchmarks/scaling/measured.json
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	to := flag.String("measure", "", "file for what is measured")
	most := flag.Int("most", 4000, "with -measure: the most columns")
	flag.Parse()
	if *to != "" {
		m, err := measure(ctx, *most)
		if err != nil {
			return err
		}
		raw, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(*to, append(raw, '\n'), 0o644)
	}
	return nil
}
