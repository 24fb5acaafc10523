package npy

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/data/internal/columnar"
)

// table is one file.
type table struct {
	*columnar.Input
	rows    int64
	entries []*entry
	fields  []columnar.Field
	parts   []part // by field
	digest  string
}

// entry is an array of the file.
type entry struct {
	*array
	name string // in the archive; "" for a .npy
	at   int64  // where the array begins in the file; -1: compressed
	size int64
	sum  uint32 // CRC-32, of an archive
}

// part is which column of which array a field is.
type part struct {
	entry  int
	column int // -1: all of them, as a tensor
}

func open(store data.Store, path string, names []string, tensor bool) (*table, error) {
	in, err := columnar.Stat(store, path, "NumPy")
	if err != nil {
		return nil, err
	}
	f, err := in.Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{Input: in}
	err = columnar.Guard(path, "", func() error {
		var head [6]byte
		if _, err := f.ReadAt(head[:], 0); err != nil {
			return err
		}
		if IsArchive(head[:]) {
			err = t.archive(f)
		} else {
			err = t.single(f)
		}
		if err != nil {
			return err
		}
		t.digest = t.describe()
		return t.setFields(names, tensor)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (t *table) single(f data.File) error {
	a, err := readHeader(io.NewSectionReader(f, 0, t.Size), t.Size)
	if err != nil {
		return err
	}
	t.rows = a.rows
	t.entries = []*entry{{array: a, size: t.Size}}
	return nil
}

// archive reads the headers of a .npz file.
func (t *table) archive(f data.File) error {
	z, err := zip.NewReader(f, t.Size)
	if err != nil {
		return err
	}
	if len(z.File) == 0 {
		return errors.New("the archive is empty")
	}
	if len(z.File) > maxArrays {
		return fmt.Errorf("the archive has %d arrays; %d are allowed", len(z.File), maxArrays)
	}
	for _, file := range z.File {
		if err := t.addEntry(file); err != nil {
			return fmt.Errorf("array %q: %w", columnar.Clip(file.Name), err)
		}
	}
	return nil
}

func (t *table) addEntry(file *zip.File) error {
	name, ok := strings.CutSuffix(file.Name, ".npy")
	if !ok {
		return errors.New("an archive of arrays holds .npy files only")
	}
	packed, size := file.CompressedSize64, file.UncompressedSize64
	if packed > uint64(t.Size) || size > math.MaxInt64 || file.Method == zip.Deflate && size/maxRatio > packed+1 {
		return fmt.Errorf("%d bytes should decompress to %d: the archive is damaged", packed, size)
	}
	e := &entry{name: name, at: -1, size: int64(size), sum: file.CRC32}
	if file.Method == zip.Store {
		if packed != size {
			return fmt.Errorf("%d bytes are stored in %d: the archive is damaged", size, packed)
		}
		at, err := file.DataOffset()
		if err != nil {
			return err
		}
		if at > t.Size-int64(size) {
			return io.ErrUnexpectedEOF
		}
		e.at = at
	}
	r, err := file.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if e.array, err = readHeader(r, e.size); err != nil {
		return err
	}
	if e.fortran && e.at < 0 {
		return errors.New("it is compressed and in Fortran order: save numpy.ascontiguousarray of it, or do not compress")
	}
	if len(t.entries) == 0 {
		t.rows = e.rows
	} else if first := t.entries[0]; e.rows != t.rows {
		return fmt.Errorf("it has %d rows, %q has %d: the arrays of a table need equally many", e.rows, columnar.Clip(first.name), t.rows)
	}
	t.entries = append(t.entries, e)
	return nil
}

// turn makes the last axis of a row its first.
func (t *table) turn() error {
	a := t.entries[0].array
	n := len(a.shape)
	if n < 3 {
		return fmt.Errorf("data: %q: its rows have the shape %v: channels come last in rows of two axes or more", t.Name(), a.shape[1:])
	}
	if a.fortran {
		return fmt.Errorf("data: %q: it is in Fortran order: save numpy.ascontiguousarray of it", t.Name())
	}
	a.turned = true
	return nil
}

// layout is how the numbers of a row lie.
func (a *array) layout() (l columnar.Layout) {
	n := len(a.shape) - 1
	for k, d := range a.shape[1:] {
		l.Shape = append(l.Shape, int(d))
		if a.turned {
			l.Order = append(l.Order, (k+n-1)%n) // the last, then the others
		}
	}
	return l
}

// setFields names the columns; tensor: all of them by the one name.
func (t *table) setFields(names []string, tensor bool) error {
	add := func(name string, entry, column int, f columnar.Field) {
		f.Name = name
		t.fields = append(t.fields, f)
		t.parts = append(t.parts, part{entry, column})
	}
	if names != nil && len(t.entries) > 1 {
		return fmt.Errorf("it holds %d arrays, where one is needed", len(t.entries))
	}
	for i, e := range t.entries {
		if e.width > columnar.MaxRow {
			return fmt.Errorf("its rows have %d items; %d are allowed", e.width, columnar.MaxRow)
		}
		name := e.name
		if name == "" {
			name = "x"
		}
		kind := fmt.Sprintf("an array of shape %v", e.shape)
		switch {
		case names != nil && !tensor:
			if int(e.width) != len(names) {
				return fmt.Errorf("it holds %d numbers a row, for %d columns", e.width, len(names))
			}
			for j, name := range names {
				add(name, i, j, columnar.Field{Type: kind})
			}
		case tensor:
			add(names[0], i, -1, columnar.Field{Kind: columnar.Tensor, Width: int(e.width), Type: kind})
		case len(e.shape) > 2:
			add(name, i, -1, columnar.Field{Kind: columnar.Tensor, Width: int(e.width), Type: kind})
		case len(e.shape) == 1 && e.name != "":
			add(name, i, 0, columnar.Field{Type: kind})
		default:
			if e.width > 100_000 {
				return fmt.Errorf("it has %d columns; 100000 are allowed: bind it as a tensor", e.width)
			}
			for j := range int(e.width) {
				add(name+strconv.Itoa(j), i, j, columnar.Field{Type: kind})
			}
		}
	}
	return nil
}

// Name is the path as given.
func (t *table) Name() string { return t.Input.Name }

// Fields lists the columns in file order.
func (t *table) Fields() []columnar.Field { return t.fields }

// Len is the number of rows.
func (t *table) Len() int64 { return t.rows }

// Digest is of the arrays' shapes and types, and of an archive's checksums; not of their values.
func (t *table) Digest() string { return t.digest }

// describe is the digest of the arrays' names, shapes, types, places and checksums.
func (t *table) describe() string {
	h := sha256.New()
	for _, e := range t.entries {
		fmt.Fprintf(h, "%q %v %v %d %d %d %08x\n", e.name, e.shape, *e.array, e.at, e.start, e.size, e.sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Blocks reads the arrays side by side.
func (t *table) Blocks(ctx context.Context, fields []int, rows int, first, next int64) iter.Seq2[*columnar.Block, error] {
	return func(yield func(*columnar.Block, error) bool) {
		f, err := t.Input.Open(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		readers, step, err := t.readers(f, fields, rows, first)
		for _, r := range readers {
			defer r.close()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		next = min(next, t.rows)
		for row := first; row < next; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			n := int(min(next-row, int64(step)))
			block := &columnar.Block{Rows: n, Values: make([]columnar.Values, len(fields))}
			err := columnar.Guard(t.Name(), "", func() error {
				for _, r := range readers {
					if err := r.next(n); err != nil {
						return err
					}
				}
				for j, field := range fields {
					p := t.parts[field]
					if err := readers[p.entry].read(row, n, p.column, &block.Values[j]); err != nil {
						return err
					}
				}
				if row += int64(n); row < t.rows {
					return nil
				}
				for _, r := range readers {
					if err := r.finish(); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(block, nil) {
				return
			}
		}
	}
}

// readers opens the arrays that fields need at the first row, nil for others; step is how many
// rows to read at a time.
func (t *table) readers(f data.File, fields []int, rows int, first int64) (readers []*reader, step int, err error) {
	readers, step = make([]*reader, len(t.entries)), rows
	err = columnar.Guard(t.Name(), "", func() error {
		for _, field := range fields {
			i := t.parts[field].entry
			if readers[i] != nil {
				continue
			}
			e := t.entries[i]
			r := &reader{entry: e}
			readers[i] = r
			step = max(1, min(step, int(blockBytes/max(1, e.width*int64(e.array.size)))))
			switch {
			case e.name == "" || e.fortran:
				r.items = io.NewSectionReader(f, e.at+e.start, e.size-e.start)
				if !e.fortran {
					if _, err := r.items.Seek(first*e.width*int64(e.array.size), io.SeekStart); err != nil {
						return err
					}
				}
			default:
				z, err := zip.NewReader(f, t.Size)
				if err != nil {
					return err
				}
				if i >= len(z.File) {
					return io.ErrUnexpectedEOF
				}
				stream, err := z.File[i].Open()
				if err != nil {
					return err
				}
				r.stream = stream
				if _, err := io.CopyN(io.Discard, stream, e.start+first*e.width*int64(e.array.size)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return readers, step, err
}
