package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/diagnostics"
	"github.com/pho-go/pho/importance"
	"github.com/pho-go/pho/internal/durable"
	"github.com/pho-go/pho/report"
)

// decomposeInto runs the passes, writing contributions as they come.
func decomposeInto(ctx context.Context, dir *resultDir, m decompose.Model, src files.Source, o *decompose.Options, seed uint64, parquet bool) (*decompose.Result, error) {
	name := fileContributions
	if parquet {
		name = fileParquet
	}
	file, err := os.Create(dir.path(name))
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", name, durable.Reason(err))
	}
	defer file.Close()
	var contributions decompose.Visitor = report.NewContributions(file, totalRows(src))
	if parquet {
		writer := newParquetContributions(file, totalRows(src))
		defer func() { _ = writer.stop() }() // of a pass that ended early
		contributions = writer
	}
	o.Visitors = []decompose.Visitor{contributions, importance.New(o.Family), diagnostics.NewKCheck(seed).WithContext(ctx)}
	r, err := decompose.Decompose(ctx, m, src, o)
	if err != nil {
		return nil, err
	}
	return r, errors.Join(file.Sync(), file.Close())
}

// totalRows tells, after a pass, how many rows the data have, those left out for
// missing cells included.
func totalRows(src files.Source) func() int64 {
	return func() int64 { total, _ := src.Rows(); return total }
}

// droppedNote says how many rows were left out for missing cells, if any.
func droppedNote(src files.Source) string {
	total, dropped := src.Rows()
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d rows hold missing cells and were left out (--na drop); their cells are empty in the contributions", dropped, total)
}

// rowDiagnostics counts where rows went.
func rowDiagnostics(src files.Source, used int64) (json.RawMessage, error) {
	total, dropped := src.Rows()
	return json.Marshal(map[string]any{"rows": map[string]int64{
		"read": total, "with_missing_cells": dropped, "without_weight": total - dropped - used, "used": used,
	}})
}

// writeResult writes everything but the contributions, and reads back what apply
// needs. Effects and report are made meanwhile: they do not use the moments' hash,
// which writing them notes in r.
func writeResult(ctx context.Context, dir *resultDir, m decompose.Model, r *decompose.Result) error {
	reported := make(chan error, 1)
	go func() { reported <- writeReport(ctx, nil, dir.path, m, r) }()
	err := writeDecomposition(dir, r)
	if other := <-reported; err == nil {
		err = other
	}
	return err
}

// writeDecomposition writes the moments and the decomposition and reads both.
func writeDecomposition(dir *resultDir, r *decompose.Result) error {
	if err := durable.WriteFile(dir.path(fileMoments), func(f *os.File) error { return r.EncodeMoments(f) }); err != nil {
		return err
	}
	if err := durable.WriteFile(dir.path(fileDecomposition), func(f *os.File) error { return r.Encode(f) }); err != nil {
		return err
	}
	if _, err := readResult(dir.temp); err != nil {
		return fmt.Errorf("the result cannot be read back and was not kept: %w", err)
	}
	return nil
}

// writeReport writes the effects and the report.
func writeReport(ctx context.Context, u *durable.Unfinished, path func(string) string, m decompose.Model, r *decompose.Result) error {
	a, err := r.Applier(m)
	if err != nil {
		return err
	}
	effects, err := report.Effects(ctx, r, a)
	if err != nil {
		return err
	}
	if err := u.WriteFile(path(fileEffects), func(f *os.File) error { return report.WriteEffects(f, effects) }); err != nil {
		return err
	}
	return u.WriteFile(path(fileReport), func(f *os.File) error { return report.Write(f, r, effects) })
}

// writeRun notes what must not be in the artifact: time, machine, and the commit of the
// binary, "" where that is not known.
func writeRun(dir *resultDir, started time.Time, workers int, arguments []string) error {
	return durable.WriteFile(dir.path(fileRun), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{
			"created_by": createdBy(), "commit": builtFrom(), "started": started.UTC().Format(time.RFC3339),
			"seconds": time.Since(started).Seconds(), "workers": workers,
			"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "arguments": arguments,
		})
	})
}
