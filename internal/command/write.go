package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/internal/base/revision"
	"github.com/pho-go/pho/report"
)

// noContributions is the format that writes none.
const noContributions = "none"

// decomposeInto runs the passes, writing contributions as they come, with further visitors
// behind them. id names the column that names rows there, "" none. The contributions go to the disk, which takes
// its time, while whoever calls goes on: onDisk waits for that. Without contributions the
// result holds no rows of the data either: no examples, and no sample of features' values.
func decomposeInto(ctx context.Context, dir *durable.Dir, m decompose.Model, src files.Source, o *decompose.Options, format, id string) (r *decompose.Result, onDisk func() error, err error) {
	if format == noContributions {
		r, err := decompose.Decompose(ctx, m, src, o)
		if err != nil {
			return nil, nil, err
		}
		withoutRows(r)
		return r, func() error { return nil }, nil
	}
	name := resultdir.Contributions
	if format == "parquet" {
		name = resultdir.Parquet
	}
	file, err := os.Create(dir.Path(name))
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be written: %w", name, durable.Reason(err))
	}
	kept := &stored{file: file, unfollow: durable.Follow(ctx, file)}
	onDisk = sync.OnceValue(kept.close)
	defer func() {
		if err != nil {
			_ = onDisk()
		}
	}()
	kept.Visitor = report.NewContributions(file, totalRows(src)).WithID(id)
	if format == "parquet" {
		writer := newParquetContributions(file, totalRows(src))
		writer.id = id
		defer func() { _ = writer.stop() }() // of a pass that ended early
		kept.Visitor = writer
	}
	o.Visitors = append([]decompose.Visitor{kept}, o.Visitors...)
	r, err = decompose.Decompose(ctx, m, src, o)
	return r, onDisk, err
}

// stored is a visitor whose file goes to the disk while those behind it end.
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

// summing are the visitors of the last pass whose outcomes add up.
func summing(ctx context.Context, made *prepared, o *decompose.Options, d *decomposeFlags) []decompose.Visitor {
	all := append([]decompose.Visitor{importance.New(o.Family), diagnostics.NewKCheck(d.seed).WithContext(ctx)}, made.Ranking()...)
	if d.contributions != noContributions {
		all = append(all, report.NewExamples(made.model.Columns()).WithID(d.id))
	}
	return all
}

// withoutRows takes values of single rows out of r.
func withoutRows(r *decompose.Result) {
	for i := range r.Features {
		r.Features[i].Sample = nil
	}
}

// totalRows tells, after a pass, how many rows the data have, those left out for
// missing cells included.
func totalRows(src files.Source) func() int64 {
	return func() int64 { total, _ := src.Rows(); return total }
}

// droppedNote says how many rows were left out for missing cells, if any.
func droppedNote(src files.Source) string { return wiring.Dropped(src, " (--na drop)") }

// writeRun notes what must not be in the artifact: time, machine, and the commit of the
// binary, "" where that is not known.
func writeRun(dir *durable.Dir, started time.Time, workers int, kernels string, arguments []string) error {
	return durable.WriteFile(dir.Path(resultdir.Run), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{
			"created_by": revision.Maker, "commit": builtFrom(), "started": started.UTC().Format(time.RFC3339),
			"seconds": time.Since(started).Seconds(), "workers": workers, "kernel": kernels,
			"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "arguments": arguments,
		})
	})
}
