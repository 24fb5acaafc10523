package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/pho-go/pho/data"
)

// Guard calls f, which runs a decoder that may panic on a damaged file, and
// makes its panics and errors name the file and, unless it is "", the column.
func Guard(file, column string, f func() error) (err error) {
	where := func() string {
		if column == "" {
			return fmt.Sprintf("data: %q", file)
		}
		return fmt.Sprintf("data: %q, column %q", file, Clip(column))
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
			if err != nil {
				err = fmt.Errorf("%s: %w", where(), err)
			}
		case *LimitError:
			err = fmt.Errorf("%s: %w", where(), r)
		default:
			err = fmt.Errorf("%s: the file is damaged, or holds what the decoder cannot read: %v", where(), r)
		}
	}()
	err = f()
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("the file ends too early, or is damaged: %w", err)
	}
	return err
}

// LimitError is a decoder that asked for more memory than it may have.
type LimitError struct{ Asked, Limit int64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("decoding needs %d bytes at once, of which %d are allowed: write the file with smaller row groups, batches or pages", e.Asked, e.Limit)
}

// Budget allocates memory for a decoder, up to Limit bytes at a time, and panics
// with a *LimitError beyond; see Guard.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

// padding is how many bytes lie behind what is allocated: decoders read the last few
// bytes as a number of eight.
const padding = 8

// Reset makes the budget whole again: decoders do not give back all that they took.
func (b *Budget) Reset() { b.used.Store(0) }

// Allocate returns size bytes, all zero.
func (b *Budget) Allocate(size int) []byte {
	b.Take(int64(size))
	return make([]byte, size, (size+padding+63)&^63) // 64: aligned for any type
}

// Take counts size bytes that the caller allocates itself.
func (b *Budget) Take(size int64) {
	if size < 0 {
		panic(&LimitError{size, b.Limit})
	}
	if used := b.used.Add(size); used > b.Limit || used < 0 {
		b.used.Add(-size)
		panic(&LimitError{used, b.Limit})
	}
}

// Reallocate returns size bytes that begin with those of old.
func (b *Budget) Reallocate(size int, old []byte) []byte {
	if size >= 0 && size+padding <= cap(old) {
		b.used.Add(int64(size - len(old)))
		return old[:size]
	}
	v := b.Allocate(size)
	copy(v, old)
	b.Free(old)
	return v
}

// Free gives back what Allocate returned.
func (b *Budget) Free(v []byte) { b.used.Add(-int64(len(v))) }

// Input is a file that every pass opens anew.
type Input struct {
	Name    string // the path as given
	Size    int64
	Version string // as data.File has it

	store    data.Store
	modified time.Time
}

// Stat looks at a file of the store; nil: the disk. format names what it should be in
// messages.
func Stat(store data.Store, path, format string) (*Input, error) {
	if store == nil {
		store = data.Disk{}
	}
	if err := onDisk(store, path, format); err != nil {
		return nil, err
	}
	f, err := store.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("data: cannot read %q: %w", path, cause(err))
	}
	defer f.Close()
	return &Input{Name: path, Size: f.Size(), Version: f.Version(), store: store, modified: f.Modified()}, nil
}

// onDisk says what is wrong with a name that is no regular file of the disk.
func onDisk(store data.Store, path, format string) error {
	if _, ok := store.(data.Disk); !ok {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case path == "-":
		return fmt.Errorf("data: standard input is read as CSV; write the %s data to a file first", format)
	case err != nil: // to open it says so
	case info.IsDir():
		return fmt.Errorf("data: %q is a directory: name the files in it", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("data: %q is not a regular file: pipes and devices are read as CSV; write the %s data to a file first", path, format)
	}
	return nil
}

// Open opens the file. It is an error if size, time or version are not those that Stat saw.
func (in *Input) Open(ctx context.Context) (data.File, error) {
	f, err := in.store.Open(ctx, in.Name)
	if err != nil {
		return nil, fmt.Errorf("data: cannot read %q: %w", in.Name, cause(err))
	}
	if f.Size() != in.Size || f.Version() != in.Version || !f.Modified().Equal(in.modified) {
		f.Close()
		return nil, fmt.Errorf("data: %q has changed since it was opened", in.Name)
	}
	return f, nil
}

func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
