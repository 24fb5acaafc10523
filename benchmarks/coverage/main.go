// Command coverage counts how often standard errors and bands hold the truth: over samples
// of rows of a network that is known, whose remainder is a function of the features and no
// noise. What was counted is kept in a folder in blocks of samples, so that an interrupted
// run goes on where it was:
//
//	coverage -dir D -samples 1000            all scenarios, then the table
//	coverage -dir D -table                   the table of what is there
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
)

// blockSamples is how many samples a file of counts has.
const blockSamples = 20

func main() {
	log.SetFlags(0)
	log.SetPrefix("coverage: ")
	dir := flag.String("dir", "", "folder of counts")
	samples := flag.Int("samples", 1000, "samples of each scenario, a multiple of 20")
	show := flag.Bool("table", false, "print the table of what is there, and no more")
	commit := flag.String("commit", "", "commit of the checkout, for the table")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "samples at a time")
	flag.Parse()
	if *dir == "" {
		log.Fatal("-dir is missing")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if !*show {
		if err := run(ctx, *dir, *samples, *workers); err != nil {
			log.Fatal(err)
		}
	}
	if err := table(os.Stdout, *dir, *commit); err != nil {
		log.Fatal(err)
	}
}

var scenarios = []scenario{{400, false}, {400, true}, {4000, false}, {4000, true}}

// block is a file of counts: those of samples First to First+blockSamples-1.
type block struct {
	Scenario scenario `json:"scenario"`
	First    int      `json:"first"`
	Terms    []counts `json:"terms"`
}

func (b *block) path(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%05d.json", b.Scenario, b.First))
}

// run makes the blocks that are not there.
func run(ctx context.Context, dir string, samples, workers int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	todo := make(chan *block)
	var group sync.WaitGroup
	faults := make(chan error, workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range workers {
		group.Go(func() {
			for b := range todo {
				if err := b.make(ctx, dir); err != nil {
					faults <- err
					cancel()
					return
				}
			}
		})
	}
hand:
	for first := 0; first < samples; first += blockSamples {
		for _, s := range scenarios {
			b := &block{Scenario: s, First: first}
			if _, err := os.Stat(b.path(dir)); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			select {
			case todo <- b:
			case <-ctx.Done():
				break hand
			}
		}
	}
	close(todo)
	group.Wait()
	select {
	case err := <-faults:
		return err
	default:
		return ctx.Err()
	}
}

// make counts the block's samples and writes its file.
func (b *block) make(ctx context.Context, dir string) error {
	b.Terms = make([]counts, len(terms))
	for i := range blockSamples {
		c, err := sample(ctx, b.Scenario, uint64(b.First+i))
		if err != nil {
			return fmt.Errorf("%s, sample %d: %w", b.Scenario, b.First+i, err)
		}
		for j := range c {
			b.Terms[j].add(c[j])
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	temporary := b.path(dir) + ".part"
	if err := os.WriteFile(temporary, text, 0o666); err != nil {
		return err
	}
	return os.Rename(temporary, b.path(dir))
}
