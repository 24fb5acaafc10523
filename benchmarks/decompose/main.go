// Command decompose times `pho decompose` as a whole next to its own network run
// once over the same rows: see benchmarks/decompose.sh.
//
//	decompose -write DIR -rows N          writes rows.parquet and the networks
//	decompose -forward NET -data FILE [-copy OUT]    reads the rows and runs the network, nothing else,
//	                                                 or writes as many columns as CSV besides
//	decompose -pho PHO -dir DIR           compares, one line a case
//	decompose -pho PHO -dir DIR -apply    compares pho apply: see benchmarks/apply.sh
//	decompose -bound -dir DIR             what rows, products and bytes of each case must cost here
package main

import (
	"flag"
	"log"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "rows")
	out := flag.String("write", "", "directory to write the data and the networks to")
	network := flag.String("forward", "", "network to run")
	file := flag.String("data", "", "its rows")
	text := flag.String("copy", "", "CSV file to write, of as many numbers as contributions have")
	dir := flag.String("dir", "", "directory that -write wrote")
	pho := flag.String("pho", "", "the command to time")
	workers := flag.Int("workers", 2, "goroutines, of both")
	rounds := flag.Int("rounds", 3, "turns of each")
	only := flag.String("case", "", "the one case to run")
	applies := flag.Bool("apply", false, "time pho apply next to pho decompose")
	memory := flag.String("memory", "", "directory without a disk behind it, for the cases of -apply that write text there")
	bounds := flag.Bool("bound", false, "print what each part must cost on this machine")
	flag.Parse()
	var err error
	switch {
	case *out != "":
		err = write(*out, *rows)
	case *network != "" && *text != "":
		err = copied(*network, *file, *text, *workers)
	case *network != "":
		_, err = forward(*network, *file, *workers, nil)
	case *bounds:
		err = bound(*dir, *workers, *rows)
	case *applies:
		err = compareApply(*pho, *dir, *memory, *only, *workers, *rounds)
	default:
		err = compare(*pho, *dir, *only, *workers, *rounds)
	}
	if err != nil {
		log.Fatal(err)
	}
}
