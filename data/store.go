package data

import (
	"context"
	"errors"
	"fmt"
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

// storeOf is the store that options name, Disk for nil.
func storeOf(s Store) Store {
	if s == nil {
		return Disk{}
	}
	return s
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
	info, err := os.Stat(name) // to open a pipe could wait for ever
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
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

// stamp is what an open file is known by for as long as a source is open.
type stamp struct {
	size    int64
	mtime   time.Time
	version string
}

func stampOf(f File) stamp { return stamp{f.Size(), f.Modified(), f.Version()} }

// now is the stamp of a file as it is now, where its store can tell.
func now(f File) (stamp, error) {
	s, ok := f.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return stampOf(f), nil
	}
	info, err := s.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime(), f.Version()}, nil
}

func (s stamp) equal(t stamp) bool {
	return s.size == t.size && s.version == t.version && s.mtime.Equal(t.mtime)
}

// StoredFile is what a file of rows is known by.
type StoredFile struct {
	Path    string // as given
	Size    int64  // bytes
	Version string // as File.Version has it
	Rows    int64
	Digest  string // SHA-256, in hex, of what tells where the rows are
}

// ChangedError is the error for a file that is not the one that was surveyed.
type ChangedError struct {
	File string // as given
	What string // what differs
}

// Error prints for example:
//
//	data: "a.csv" is not what it was when it was surveyed: it has 5 bytes now, 7 then: survey the data again
func (e *ChangedError) Error() string {
	return fmt.Sprintf("data: %q is not what it was when it was surveyed: %s: survey the data again", e.File, e.What)
}
