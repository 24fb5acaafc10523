package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/report"
)

// noContributions is the format that writes none.
const noContributions = "none"

// contributions are the file that holds the parts of every row, in a format: csv, parquet or none. Their
// file goes to the disk, which takes its time, while whoever calls goes on.
type contributions struct {
	format, id string // id names the column that names rows, "" none
	kept       *stored
	stop       func() error // the writer of Parquet, if its pass ended early
}

// begin makes the file, in dir, and puts the visitor that writes it before those that are there.
func (c *contributions) begin(ctx context.Context, dir *durable.Dir, rows files.Source, before []decompose.Visitor) ([]decompose.Visitor, error) {
	if c.format == noContributions {
		return before, nil
	}
	name := resultdir.Contributions
	if c.format == "parquet" {
		name = resultdir.Parquet
	}
	file, err := os.Create(dir.Path(name))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", name, durable.Reason(err))
	}
	c.kept = &stored{file: file, unfollow: durable.Follow(ctx, file)}
	c.kept.Visitor = report.NewContributions(file, totalRows(rows)).WithID(c.id)
	if c.format == "parquet" {
		writer := newParquetContributions(file, totalRows(rows))
		writer.id = c.id
		c.kept.Visitor, c.stop = writer, writer.stop
	}
	return slices.Concat([]decompose.Visitor{c.kept}, before), nil
}

// close waits until the file is on the disk, if its rows are all there. A second call does nothing.
func (c *contributions) close() error {
	kept := c.kept
	if kept == nil {
		return nil
	}
	c.kept = nil
	if c.stop != nil {
		_ = c.stop() // what it says is about a pass that ended early, which has its own error
	}
	return kept.close()
}

// stored is a visitor whose file goes to the disk while later visitors end.
type stored struct {
	decompose.Visitor
	file     *os.File
	unfollow func()
	synced   chan error // of the file's Sync; nil: it did not end
}

func (s *stored) End(r *decompose.Result) error {
	if err := s.Visitor.End(r); err != nil {
		return err
	}
	s.synced = make(chan error, 1)
	go func() { s.synced <- s.file.Sync() }()
	return nil
}

// close waits until the file is on the disk, if its rows are all there.
func (s *stored) close() error {
	s.unfollow()
	var err error
	if s.synced != nil {
		err = <-s.synced
	}
	return errors.Join(err, s.file.Close())
}

// totalRows tells, after a pass, how many rows the data have, those left out for
// missing cells included.
func totalRows(src files.Source) func() int64 {
	return func() int64 { total, _ := src.Rows(); return total }
}

// naDrop says which flag left rows out.
const naDrop = " (--na drop)"

// writeRun notes what must not be in the artifact: time, machine, the commit of the
// binary, "" where that is not known, and the digest of the contributions, which may be written elsewhere.
func writeRun(dir *durable.Dir, started time.Time, workers int, kernels string, arguments []string) error {
	contributions, err := resultdir.DigestContributions(dir.Path(""))
	if err != nil {
		return err
	}
	return durable.WriteFile(dir.Path(resultdir.Run), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{
			"created_by": revision.Maker, "commit": builtFrom(), "started": started.UTC().Format(time.RFC3339),
			"seconds": time.Since(started).Seconds(), "workers": workers, "kernel": kernels,
			"contributions_sha256": contributions, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "arguments": arguments,
		})
	})
}
