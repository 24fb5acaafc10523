// Command kubernetes runs the Jobs of manifests/ on this machine, as processes: what a cluster
// would do with them, without a cluster. With -kill it is an unkind one.
//
//	go run -C examples/kubernetes . -pho bin/pho -data DIR -work DIR [-kill 100]
//
// DIR of -data is mounted as /data in the manifests (ssn.onnx and data.csv of `pho demo`),
// DIR of -work, which is to be empty, as /shards.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	program := flag.String("pho", "pho", "the program that the image holds")
	manifests := flag.String("manifests", "manifests", "directory of the Jobs")
	data := flag.String("data", "", "directory of the network and the rows")
	work := flag.String("work", "", "directory for what is computed")
	kill := flag.Int("kill", 0, "processes to be killed at some moment")
	seed := flag.Uint64("seed", 1, "of the moments and of the order")
	flag.Parse()
	jobs, err := readJobs(*manifests)
	if err != nil {
		return err
	}
	c := &cluster{program: *program, volumes: map[string]string{}, random: rand.New(rand.NewPCG(*seed, 1)), log: os.Stderr}
	for volume, dir := range map[string]string{"data": *data, "work": *work} {
		if c.volumes[volume], err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(*work, 0o777); err != nil {
		return err
	}
	c.unkind(*kill)
	if err := c.workflow(ctx, jobs); err != nil {
		return err
	}
	fmt.Printf("%d processes, %d of them killed, %d started twice; the result is in %s\n", c.started, c.killed, c.twice, filepath.Join(*work, "result"))
	return nil
}
