// Command flights fits an additive model with factors of many levels to flight
// delays, streamed from Parquet files of any length: see benchmarks/flights.sh.
//
//	flights -generate DIR -rows N     draws flights and writes Parquet files
//	flights -convert DIR FILE.csv.gz  the real flights as such a file
//	flights -binary FILE -rows N      draws flights and writes int32 columns, for R
//	flights [-truth] FILES...         fits; -truth: to flights that were drawn here
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "flights:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir := flag.String("generate", "", "directory for flights that are drawn")
	real := flag.String("convert", "", "directory for the real flights")
	binary := flag.String("binary", "", "file for flights that are drawn, as int32 columns")
	rows := flag.Int("rows", 1_000_000, "rows to draw")
	var f fit
	flag.BoolVar(&f.truth, "truth", false, "compare with the effects that the flights were drawn with")
	flag.IntVar(&f.workers, "workers", 0, "0: as many as processors")
	flag.StringVar(&f.values, "values", "", "file for the values of the terms at the first rows")
	flag.StringVar(&f.profile, "cpuprofile", "", "file for a CPU profile")
	flag.StringVar(&f.formula, "formula", formula, "the model")
	flag.Parse()
	switch {
	case *dir != "":
		return generate(*dir, *rows)
	case *real != "":
		return convert(ctx, *real, flag.Args())
	case *binary != "":
		return integers(*binary, *rows)
	case flag.NArg() == 0:
		return errors.New("no data files")
	}
	return f.run(ctx, flag.Args())
}
