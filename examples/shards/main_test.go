package main

import (
	"context"
	"log"
	"os"
)

func Example() {
	if err := run(context.Background(), os.Stdout, 30_000); err != nil {
		log.Fatal(err)
	}
	// Output:
	// shard 0: rows 1 to 8192, 10874 bytes
	// shard 1: rows 8193 to 20480, 20707 bytes
	// shard 2: rows 20481 to 30000, 20707 bytes
	// s(x0)  edf 17.2, sd 0.72
	// s(x1)  edf 14.3, sd 0.30
	// x2     edf 1.0, sd 0.58
	// last pass of shard 0: 29970 bytes
	// last pass of shard 1: 45574 bytes
	// last pass of shard 2: 35877 bytes
	// the bytes of one process: true
}
