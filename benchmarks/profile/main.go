// Command profile runs pho's command line in this process and keeps a CPU profile of it, for `go tool pprof`:
//
//	profile FILE decompose --model net.onnx --data rows.parquet --out result
package main

import (
	"context"
	"log"
	"os"
	"runtime/pprof"

	"github.com/pho-go/pho/internal/command"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: profile FILE COMMAND [flags]")
	}
	f, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		log.Fatal(err)
	}
	status := command.Run(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr, nil)
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	os.Exit(status)
}
