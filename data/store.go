package data

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Store opens files by name: the disk's (Disk), or those of anything else that holds bytes,
// as an object store. It is safe for concurrent use.
type Store interface {
	// Open opens a file for reading; what is read ends with ctx. The error of a name that
	// cannot be opened is an *fs.PathError where more is known than that.
	Open(ctx context.Context, name string) (File, error)
	// List returns the sorted names that match a pattern (*, ?, [...] as in filepath.Match),
	// none if there are none. A malformed pattern is an error.
	List(ctx context.Context, pattern string) ([]string, error)
}

// File is an open file: bytes at places, safe for concurrent use. One that can read a long
// stretch in a better way than by ReadAt has a method Range, see Section.
type File interface {
	io.ReaderAt
	io.Closer
	// Size is the number of bytes when the file was opened.
	Size() int64
	// Modified is when the file was written last.
	Modified() time.Time
	// Version is the store's own name of this content, such as an ETag or a generation; ""
	// if it has none.
	Version() string
}

// Section reads n bytes of f from off on, in order. f's own method
//
//	Range(off, n int64) io.ReadCloser
//
// is called where there is one; else the bytes come by ReadAt. The caller closes it, which
// leaves f open.
func Section(f File, off, n int64) io.ReadCloser {
	if r, ok := f.(interface {
		Range(off, n int64) io.ReadCloser
	}); ok {
		return r.Range(off, n)
	}
	return io.NopCloser(io.NewSectionReader(f, off, n))
}

// IsURL reports whether a name begins as a URL does, with a scheme and "://". Such names
// are never those of files on the disk.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

var errNotRegular = errors.New("it is not a regular file")

// Disk is the Store of the file system.
type Disk struct{}

// Open opens a regular file. A name that is a URL is an error, which says what opens it.
func (Disk) Open(_ context.Context, name string) (File, error) {
	if IsURL(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrURL}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &diskFile{f, info}, nil
}

// List returns the files and directories that match.
func (Disk) List(_ context.Context, pattern string) ([]string, error) {
	if IsURL(pattern) {
		return nil, &fs.PathError{Op: "list", Path: pattern, Err: ErrURL}
	}
	names, err := filepath.Glob(pattern)
	slices.Sort(names)
	return names, err
}

// diskFile is an open file of the disk. Its method Stat, of os.File, tells whether it has
// changed since.
type diskFile struct {
	*os.File
	info fs.FileInfo
}

func (f *diskFile) Size() int64         { return f.info.Size() }
func (f *diskFile) Modified() time.Time { return f.info.ModTime() }
func (f *diskFile) Version() string     { return "" }
