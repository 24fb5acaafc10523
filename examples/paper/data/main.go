// Command data downloads the data sets of the paper's benchmark, from the UCI
// Machine Learning Repository (diabetes from the page of its authors' article), and
// writes them as the programs of examples/paper read them:
//
//	go run -C examples/paper ./data [-out DIR]
//
// DIR/NAME.csv holds named columns, DIR/paper_folds/NAME.csv the columns as the
// authors have them with the test fold of each row, which is drawn again. What the
// COVID-19 and flights programs read is not at UCI: README.md of examples/paper says where it is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	out := flag.String("out", directory(), "directory of the data sets; PHO_DATA sets its default")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "data: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := download(ctx, &http.Client{Timeout: 5 * time.Minute}, sources(), *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func directory() string {
	if d := os.Getenv("PHO_DATA"); d != "" {
		return d
	}
	return filepath.Join("..", "..", "..", "shared", "data")
}

// download fetches every source that is not there yet; what fails is told at the
// end, so that one server that is down does not keep the others' files away.
func download(ctx context.Context, client *http.Client, list []source, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "paper_folds"), 0o777); err != nil {
		return err
	}
	var failed []error
	for i := range list {
		s := &list[i]
		if s.complete(dir) {
			fmt.Printf("data: %s is there\n", s.name)
			continue
		}
		note, err := s.get(ctx, client, dir)
		if err != nil {
			failed = append(failed, fmt.Errorf("data: %s: %w", s.name, err))
			continue
		}
		fmt.Printf("data: %s%s\n", s.name, note)
	}
	return errors.Join(failed...)
}
