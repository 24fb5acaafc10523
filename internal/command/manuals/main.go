// Command manuals writes manual pages of pho, one for each of its commands, to a directory: for releases. The
// program itself does without the libraries that it takes.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/internal/command"
)

func main() {
	date := flag.String("date", "1970-01-01", "`DATE` that the pages bear: that of the release")
	flag.Parse()
	if err := write(flag.Arg(0), *date); err != nil {
		fmt.Fprintln(os.Stderr, "manuals:", err)
		os.Exit(1)
	}
}

// write writes the pages. The day of today would make equal builds differ.
func write(dir, date string) error {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return fmt.Errorf("-date %q: it is a date as 2026-01-31", date)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := command.Root()
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Title: "PHO", Section: "1", Date: &at, Source: revision.Maker, Manual: "pho"}, dir)
}
