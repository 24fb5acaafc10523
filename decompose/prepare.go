package decompose

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/pho-go/pho/data"
)

// Prepare makes terms of specs by the rows of src (pass 0): levels, ranges, knots. It
// returns their blocks in order. Every call begins anew, so that the same specs can
// be prepared on one fold after another, or in several goroutines, and know of
// nothing but the rows they are given.
//
// The rows are read only if a spec needs to see them; a Rescanner may ask for further
// passes. Columns names what all passes of the analysis read, so that rows left out
// for missing values are the same in each; the specs' own are read anyway.
func Prepare(ctx context.Context, src data.Source, specs []Spec, columns []string) ([]Block, error) {
	each, err := PrepareEach(ctx, src, specs, columns)
	if err != nil {
		return nil, err
	}
	var blocks []Block
	for _, p := range each {
		blocks = append(blocks, p.Blocks...)
	}
	return blocks, nil
}

// Prepared is what one spec has become.
type Prepared struct {
	Blocks []Block  // one, or one for each level of a factor by
	Notes  []string // what was done that the reader should know (Noter)
}

// PrepareEach is Prepare that tells the specs apart: entry i is of specs[i].
func PrepareEach(ctx context.Context, src data.Source, specs []Spec, columns []string) ([]Prepared, error) {
	return PrepareFrom(ctx, RowScans(src), "terms", specs, columns)
}

// PrepareFrom is PrepareEach with rows that this process may not hold. The look at them is called
// name, further ones that Rescanners ask for name + " 2", " 3", ... Unless scans is RowScans, a scanner
// that is no SummingScanner is an error.
func PrepareFrom(ctx context.Context, scans Scans, name string, specs []Spec, columns []string) ([]Prepared, error) {
	scanners := make([]Scanner, len(specs))
	reads := slices.Clone(columns)
	for i, s := range specs {
		scanners[i] = s.Scanner()
		reads = union(reads, s.Columns())
	}
	if err := scan(ctx, scans, name, scanners, reads); err != nil {
		return nil, err
	}
	return build(scanners)
}

// scan shows the rows to those that need them, as often as they ask.
func scan(ctx context.Context, scans Scans, name string, scanners []Scanner, reads []string) error {
	var scanning []Scanner
	for _, s := range scanners {
		if s.NeedsScan() {
			scanning = append(scanning, s)
		}
	}
	look := name
	for n := 2; len(scanning) > 0; n++ {
		if err := scanOnce(ctx, scans, look, scanning, reads); err != nil {
			return err
		}
		var again []Scanner
		for _, s := range scanning {
			r, ok := s.(Rescanner)
			if !ok {
				continue
			}
			more, err := r.Again()
			if err != nil {
				return err
			}
			if more {
				again = append(again, s)
			}
		}
		scanning, look = again, fmt.Sprintf("%s %d", name, n)
	}
	return nil
}

func scanOnce(ctx context.Context, scans Scans, name string, scanners []Scanner, reads []string) error {
	if rows, ok := scans.(rowScans); ok {
		return scanRows(ctx, rows.src, reads, scanners)
	}
	var summing []SummingScanner
	for _, s := range scanners {
		own, ok := s.(SummingScanner)
		if !ok {
			return fmt.Errorf("decompose: the scanner %T can look at all rows in one process only: for rows in several shards it must be a decompose.SummingScanner", s)
		}
		summing = append(summing, own)
	}
	return scans.Scan(ctx, name, reads, summing)
}

// build makes the blocks, several at a time: some take as long as an
// eigendecomposition. All faults are reported at once.
func build(scanners []Scanner) ([]Prepared, error) {
	built := make([]Prepared, len(scanners))
	faults := make([]error, len(scanners))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i, s := range scanners {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			if built[i].Blocks, faults[i] = s.Build(); faults[i] != nil {
				return
			}
			if n, ok := s.(Noter); ok {
				built[i].Notes = n.Notes()
			}
		})
	}
	wait.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return built, nil
}
