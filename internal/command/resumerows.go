package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/app/plan"
	"github.com/pho-go/pho/internal/app/recipe"
	"github.com/pho-go/pho/internal/app/resultdir"
	"github.com/pho-go/pho/internal/base/durable"
	"github.com/pho-go/pho/report"
)

// writtenFile is how far the contributions are, beside those that are written.
const writtenFile = "contributions.json"

// linesDone says it.
type linesDone struct {
	Next   int64  `json:"next"`   // row
	Bytes  int64  `json:"bytes"`  // of the file
	Totals string `json:"totals"` // digest of the last pass's total: of the result that they are of
}

// contribute writes the contributions of all rows into dir: CSV a stretch of rows after the
// other, kept meanwhile in the directory that outlives a kill, Parquet in one go.
func (w *planned) contribute(ctx context.Context, dir *durable.Dir, kept string, made *recipe.Made, every time.Duration) error {
	if w.flags.contributions == noContributions {
		return nil
	}
	applier, err := made.Result.Applier(made.Model)
	if err != nil {
		return err
	}
	src := &alsoRead{made.Rows, rolesOf(made.Result, w.request.Options)}
	if w.flags.contributions == "parquet" {
		w.rows.rows = &plan.Range{Next: w.plan.Rows}
		w.rows.begin(nil)
		return durable.WriteFile(dir.Path(resultdir.Parquet), func(f *os.File) error {
			return writeParquet(ctx, f, applier, src, 0, func() int64 { return w.plan.Rows }, w.flags.id)
		})
	}
	path := filepath.Join(kept, resultdir.Contributions)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, durable.Reason(err))
	}
	defer f.Close()
	if err := w.contributions(ctx, f, kept, made.Result, applier, src, every); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%q cannot be written: %w", path, durable.Reason(err))
	}
	return os.Rename(path, dir.Path(resultdir.Contributions))
}

// contributions writes what f lacks of the lines.
func (w *planned) contributions(ctx context.Context, f *os.File, kept string, r *decompose.Result, a *decompose.Applier, src *alsoRead, every time.Duration) error {
	at := w.written(f, kept)
	if err := f.Truncate(at.Bytes); err != nil {
		return fmt.Errorf("%q cannot be written: %w", f.Name(), durable.Reason(err))
	}
	if _, err := f.Seek(at.Bytes, io.SeekStart); err != nil {
		return fmt.Errorf("%q cannot be written: %w", f.Name(), durable.Reason(err))
	}
	rows := int64(1 << 16)
	for at.Next < w.plan.Rows || at.Bytes == 0 {
		now := plan.Range{First: at.Next, Next: min(w.plan.Rows, at.Next+rows)}
		if every == 0 {
			now.Next = w.plan.Rows
		}
		w.rows.rows = &now
		began := time.Now()
		err := report.NewContributions(f, func() int64 { return now.Next }).From(now.First, now.First == 0).WithID(w.flags.id).Apply(ctx, a, src)
		if err != nil {
			return err
		}
		rows = max(plan.ScanChunk, int64(float64(rows)*min(4, float64(every)/float64(time.Since(began)+1)))/plan.ScanChunk*plan.ScanChunk)
		if at.Bytes, err = f.Seek(0, io.SeekCurrent); err != nil {
			return fmt.Errorf("%q cannot be written: %w", f.Name(), durable.Reason(err))
		}
		if at.Next = now.Next; at.Next == w.plan.Rows {
			return nil
		}
		if err := f.Sync(); err != nil {
			return fmt.Errorf("%q cannot be brought to the disk: %w", f.Name(), durable.Reason(err))
		}
		err = durable.WriteFile(filepath.Join(kept, writtenFile), func(g *os.File) error { return json.NewEncoder(g).Encode(at) })
		if err != nil {
			return err
		}
	}
	return nil
}

// written is how far an earlier call came with the lines of this result.
func (w *planned) written(f *os.File, kept string) linesDone {
	none := linesDone{Totals: w.plan.Done[len(w.plan.Done)-1].SHA256}
	raw, err := os.ReadFile(filepath.Join(kept, writtenFile))
	if err != nil {
		return none
	}
	at := none
	info, err := f.Stat()
	if json.Unmarshal(raw, &at) != nil || err != nil || at.Totals != none.Totals || at.Next < 0 || at.Next > w.plan.Rows || at.Bytes < 0 || at.Bytes > info.Size() {
		return none
	}
	return at
}
