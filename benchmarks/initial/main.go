// Command initial compares how weights are drawn with what PyTorch does, by the error on
// test rows of regression sets that are not the paper's. Its three steps are those of
// benchmarks/initial.sh:
//
//	initial -write -dir D            splits of the data sets, for both sides
//	initial -train -dir D            ours
//	python3 peer.py D                PyTorch on the same files
//	initial -table -dir D            differences
//
// Runs are appended to D one by one: an interrupted comparison goes on where it was.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("initial: ")
	var (
		dir   = flag.String("dir", "", "folder of splits and runs")
		from  = flag.String("data", "../shared/data", "folder of the data sets (results.md names the files)")
		write = flag.Bool("write", false, "write the splits")
		fit   = flag.Bool("train", false, "train ours")
		show  = flag.Bool("table", false, "print the comparison")
		first = flag.Int("first", 11, "first split")
		last  = flag.Int("last", 20, "last split")
		which = flag.String("kinds", strings.Join(kinds, ","), "networks")
		arms  = flag.String("arms", "narrow,pytorch,he,glorot", "our initialisations; the first is compared with PyTorch's")
		s     settings
	)
	flag.IntVar(&s.Batch, "batch", 256, "batch size")
	flag.Float64Var(&s.Rate, "rate", 0.003, "learning rate of Adam")
	flag.IntVar(&s.Epochs, "epochs", 500, "most epochs")
	flag.IntVar(&s.Patience, "patience", 25, "epochs without a better validation loss")
	flag.IntVar(&s.Seeds, "seeds", 3, "networks for each split")
	deep := flag.String("deep", "64,32", "hidden layers of MLP and SSN")
	feature := flag.String("feature", "32,32", "hidden layers of each network of a NAM")
	flag.Parse()
	for _, w := range []struct {
		text string
		to   *[]int
	}{{*deep, &s.Deep}, {*feature, &s.Feature}} {
		if err := json.Unmarshal([]byte("["+w.text+"]"), w.to); err != nil {
			log.Fatalf("widths %q: %v", w.text, err)
		}
	}
	ctx := context.Background()
	steps := func() error {
		if *write {
			if err := writeSplits(ctx, *from, *dir, *first, *last); err != nil {
				return err
			}
		}
		if *write || *fit {
			if err := s.hold(*dir); err != nil {
				return err
			}
		}
		if *fit {
			if err := train(ctx, *dir, &s, strings.Split(*which, ","), strings.Split(*arms, ","), *first, *last); err != nil {
				return err
			}
		}
		if *show {
			return print(os.Stdout, *dir, strings.Split(*which, ","), strings.Split(*arms, ","), *first, *last)
		}
		return nil
	}
	if *dir == "" || flag.NArg() > 0 {
		log.Fatal("a folder is needed: -dir D")
	}
	if err := steps(); err != nil {
		log.Fatal(err)
	}
}

// hold writes the settings for the peer, and refuses others than those of the runs that
// are there.
func (s *settings) hold(dir string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "settings.json")
	before, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.WriteFile(path, text, 0o644)
	case err != nil:
		return err
	case !bytes.Equal(before, text):
		return fmt.Errorf("the runs in %s have the settings %s, not %s: take another folder", dir, before, text)
	}
	return nil
}
