// Command checkdocs keeps documents true: compares their output with the output on the page, and follows the links
// between files.
//
//	go run ./checkdocs -root ..                              the links, then the blocks of shell and Go
//	go run ./checkdocs -root .. -python python3 -r Rscript   those of Python and R too
//	go run ./checkdocs -root .. -page docs/tutorials/go.md   one page alone
//	go run ./checkdocs -root .. -update                      writes what was printed into the pages
//
// A mark is a line of its own right above a fenced block; a forge does not show it:
//
//	<!-- check -->            the block is run: sh, python and r, in the page's own folder. Blocks of
//	                          python share their variables, and so do those of r. Blocks of go are
//	                          statements that know context, fmt and pho; all of a page are compiled
//	                          as one program
//	<!-- file NAME -->        the block is written to the file NAME in that folder
//	<!-- output -->           the block is what the last block printed: numbers to the digits shown,
//	                          a line "..." for any lines, "..." in a line for the rest of it
//
// A block of sh may leave a process behind for those that follow, a server say, and its number in a file NAME.pid: it
// is ended if a later block fails; else a block of the page has to do it.
//
// Every page has an empty folder. What its blocks of Python or R would have made there lies in
// testdata/docs/PAGE, for machines without these; where they run, they make it anew, and the
// numbers of blocks after the first of them are not compared, since training ends elsewhere on
// another processor.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var s settings
	var only string
	flag.StringVar(&s.root, "root", ".", "root of the repository")
	flag.StringVar(&s.python, "python", "", "Python that runs the blocks of python; empty: they are skipped")
	flag.StringVar(&s.r, "r", "", "Rscript that runs the blocks of r; empty: they are skipped")
	flag.StringVar(&only, "page", "", "run this page alone")
	flag.BoolVar(&s.update, "update", false, "write what was printed into the pages")
	flag.BoolVar(&s.keep, "keep", false, "keep the pages' folders, and say where they are")
	flag.BoolVar(&s.onlyPython, "only-python", false, "run the pages alone that have blocks of python")
	links := flag.Bool("links", false, "follow the links alone")
	flag.Parse()
	if err := work(s, only, *links); err != nil {
		fmt.Fprintln(os.Stderr, "check-docs: FAILED:", err)
		os.Exit(1)
	}
}

// work checks links, then runs pages: all that have a marked block, or only.
func work(s settings, only string, linksAlone bool) error {
	root, err := filepath.Abs(s.root)
	if err != nil {
		return err
	}
	s.root = root
	files, err := tracked(root)
	if err != nil {
		return err
	}
	if only == "" {
		count, err := checkLinks(root, files)
		if err != nil {
			return err
		}
		fmt.Printf("check-docs: %d links lead somewhere\n", count)
	}
	if linksAlone {
		return nil
	}
	return s.runPages(files, only)
}
