package decompose

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/base/wire"
)

// Scans is how rows are looked at before a fit: by each process all of them (RowScans), or by
// many processes some each, whose sums are merged and told to all (Recorded).
type Scans interface {
	// Scan shows the columns of all rows to the scanners, or restores their totals. The name tells the looks of an
	// analysis apart; the same request has the same names. A total that is not there yet is a
	// *ScanNeeded.
	Scan(ctx context.Context, name string, columns []string, scanners []SummingScanner) error
}

// RowScans are the looks at rows that one process holds all of.
func RowScans(src data.Source) Scans { return rowScans{src} }

// ScansOf is scans, whose *ScanNeeded then have the rows src, unless they have others; nil: RowScans(src).
func ScansOf(scans Scans, src data.Source) Scans {
	switch own := scans.(type) {
	case nil:
		return RowScans(src)
	case rowScans:
		return own
	}
	return scansOf{scans, src}
}

type scansOf struct {
	Scans
	rows data.Source
}

// Scan looks at the rows.
func (s scansOf) Scan(ctx context.Context, name string, columns []string, scanners []SummingScanner) error {
	err := s.Scans.Scan(ctx, name, columns, scanners)
	var needed *ScanNeeded
	if errors.As(err, &needed) && needed.Rows == nil {
		needed.Rows = s.rows
	}
	return err
}

type rowScans struct{ src data.Source }

// Scan shows the rows to the scanners.
func (r rowScans) Scan(ctx context.Context, _ string, columns []string, scanners []SummingScanner) error {
	return scanRows(ctx, r.src, columns, plain(scanners))
}

func plain(scanners []SummingScanner) (all []Scanner) {
	for _, s := range scanners {
		all = append(all, s)
	}
	return all
}

// scanRows shows the rows to the scanners, each in its own goroutine. Of several that fail the one that does so
// at the first batch tells.
func scanRows(ctx context.Context, src data.Source, columns []string, scanners []Scanner) error {
	shown, scanned, failed := make([]chan *data.Batch, len(scanners)), make([]int, len(scanners)), make([]error, len(scanners))
	var enough atomic.Bool
	var wait sync.WaitGroup
	for i, s := range scanners {
		shown[i] = make(chan *data.Batch, 1)
		wait.Go(func() {
			for b := range shown[i] {
				if failed[i] != nil {
					continue
				}
				if failed[i] = s.Scan(b); failed[i] != nil {
					enough.Store(true)
				}
				scanned[i]++
			}
		})
	}
	var unread error
	for b, err := range ahead(src.Batches(ctx, columns), 4) {
		if unread = err; err != nil || enough.Load() {
			break
		}
		for _, show := range shown {
			show <- b
		}
	}
	for _, show := range shown {
		close(show)
	}
	wait.Wait()
	first := -1
	for i, err := range failed {
		if err != nil && (first < 0 || scanned[i] < scanned[first]) {
			first = i
		}
	}
	if first >= 0 {
		return failed[first]
	}
	return cmp.Or(unread, ctx.Err())
}

// Recorded are totals of looks by their names. It reads no rows.
type Recorded map[string]*Scanned

// Scan restores the total of the look, or is a *ScanNeeded.
func (r Recorded) Scan(_ context.Context, name string, columns []string, scanners []SummingScanner) error {
	total := r[name]
	if total == nil {
		return &ScanNeeded{Name: name, Columns: columns, Scanners: scanners}
	}
	if err := total.Restore(scanners); err != nil {
		return fmt.Errorf("decompose: what was seen of the rows for the %s: %w", name, err)
	}
	return nil
}

// ScanNeeded is the error of a look whose total is not there yet. Whoever has some of the
// rows makes its share of it by Accumulate.
type ScanNeeded struct {
	Name     string   // of the look
	Columns  []string // that are read
	Scanners []SummingScanner
	// Rows are those of the request as this look sees them (rounded as the network's inputs, say), if the
	// one who looks knows of any; nil otherwise.
	Rows data.Source
}

// Error names the look.
func (e *ScanNeeded) Error() string {
	return fmt.Sprintf("decompose: the rows have not been looked at for the %s: scan the columns %.200q on every shard, merge what was seen, and record it", e.Name, e.Columns)
}

// Accumulate shows all rows of src, some of those of the analysis and perhaps none, to the scanners, which
// are not used afterwards. Row numbers are those of the analysis.
func (e *ScanNeeded) Accumulate(ctx context.Context, src data.Source) (*Scanned, error) {
	if err := scanRows(ctx, src, e.Columns, plain(e.Scanners)); err != nil {
		return nil, err
	}
	seen := new(Scanned)
	for _, s := range e.Scanners {
		sums, err := s.Sums()
		if err != nil {
			return nil, err
		}
		seen.Sums = append(seen.Sums, sums)
	}
	return seen, nil
}

// Scanned is what the scanners of one look have seen of some rows: the sums of each, in order.
type Scanned struct{ Sums []Sums }

// Merge adds the sums of other rows, before or behind those of s; next is not used afterwards.
// After an error s is undefined.
func (s *Scanned) Merge(next *Scanned) error {
	if len(s.Sums) != len(next.Sums) {
		return fmt.Errorf("decompose: scans of %d and %d terms do not merge: they are of different analyses", len(s.Sums), len(next.Sums))
	}
	for i, sums := range s.Sums {
		if err := sums.Add(next.Sums[i]); err != nil {
			return err
		}
	}
	return nil
}

// Restore gives the scanners the sums of all rows in place of the rows, and leaves s as it is.
func (s *Scanned) Restore(scanners []SummingScanner) error {
	if len(scanners) != len(s.Sums) {
		return fmt.Errorf("it is of %d terms, and there are %d: it belongs to another analysis", len(s.Sums), len(scanners))
	}
	for i, scanner := range scanners {
		if err := scanner.Restore(s.Sums[i]); err != nil {
			return err
		}
	}
	return nil
}

const scannedMagic = "pho.scanned/1\n"

// MarshalBinary encodes s; equal sums have equal bytes.
func (s *Scanned) MarshalBinary() ([]byte, error) {
	b := wire.AppendInt([]byte(scannedMagic), len(s.Sums))
	for _, sums := range s.Sums {
		raw, err := sums.MarshalBinary()
		if err != nil {
			return nil, err
		}
		b = wire.AppendText(wire.AppendText(b, sums.Kind()), raw)
	}
	return b, nil
}

// DecodeScanned reads what MarshalBinary wrote, its sums by decode. Damaged bytes are errors. raw is not kept
// unless decode keeps it.
func DecodeScanned(raw []byte, decode DecodeSums) (*Scanned, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(scannedMagic))
	if !ok {
		return nil, fmt.Errorf("decompose: the data begin with %q, not %q: this is no scan of rows, or of another version", raw[:min(len(raw), len(scannedMagic))], scannedMagic)
	}
	r := wire.NewReader(rest)
	s := new(Scanned)
	for range r.Count(16) {
		kind, own := r.Text(), r.Bytes()
		if r.Err() != nil {
			break
		}
		sums, err := decode(kind, own)
		if err != nil {
			return nil, err
		}
		s.Sums = append(s.Sums, sums)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("decompose: the scan of rows is damaged: %w", err)
	}
	return s, nil
}
