package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// input is one file of a CSV: one that a store opens, or the temporary copy of a stream.
type input struct {
	name  string // as given
	store Store
	stamp stamp     // of a file of the store
	part  *csvRange // the rows to read; nil: all

	spool *os.File // the copy of a stream; nil for a file of the store
	size  int64    // of the copy
	left  string   // path of the copy if it has to be removed at the end; "": it is unlinked
}

// newInput looks at the path and, if it is a pipe, copies its content. stdin is what "-"
// stands for.
func newInput(path string, stdin io.Reader, store Store) (*input, error) {
	if path == "-" {
		if stdin == nil {
			return nil, fmt.Errorf(`data: "-" stands for standard input, but there is none`)
		}
		return spool(path, stdin)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return stored(path, store)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil, fmt.Errorf("data: %q is a directory: name the files in it", path)
	case mode&os.ModeDevice != 0:
		return nil, fmt.Errorf("data: %q is a device: name a file, a pipe or -", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("data: cannot read %q: %w", path, cause(err))
	}
	defer f.Close()
	return spool(path, f)
}

// stored looks at a file of a store.
func stored(path string, store Store) (*input, error) {
	f, err := store.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("data: cannot read %q: %w", path, cause(err))
	}
	return &input{name: path, store: store, stamp: stampOf(f)}, f.Close()
}

// spool copies r to a temporary file that only this user can read. It is
// unlinked at once where the system allows that, so that nothing stays behind
// even if the process is killed.
func spool(name string, r io.Reader) (*input, error) {
	f, err := os.CreateTemp("", "pho-*.csv") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("data: no room for a temporary copy of %q: %w", name, err)
	}
	in := &input{name: name, spool: f}
	if os.Remove(f.Name()) != nil {
		in.left = f.Name()
	}
	if in.size, err = io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("data: copying %q to a temporary file: %w", name, err), in.close())
	}
	return in, nil
}

// close removes the copy of a stream.
func (in *input) close() error {
	if in.spool == nil {
		return nil
	}
	err := in.spool.Close()
	if in.left != "" {
		err = errors.Join(err, os.Remove(in.left))
	}
	return err
}

// raw opens the file or the copy, from the first byte on.
func (in *input) raw(ctx context.Context) (File, error) {
	if in.spool != nil {
		return spooled{io.NewSectionReader(in.spool, 0, in.size)}, nil
	}
	f, err := in.store.Open(ctx, in.name)
	if err != nil {
		return nil, fmt.Errorf("data: cannot read %q: %w", in.name, cause(err))
	}
	if err := in.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// open starts reading at the first byte: text, decompressed, without byte order
// mark. check, to be called at the end of the text, says whether the file
// stayed as it was; closer releases it.
func (in *input) open(ctx context.Context) (r *bufio.Reader, check, closer func() error, err error) {
	f, err := in.raw(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	section := Section(f, 0, f.Size())
	closer = func() error { return errors.Join(section.Close(), f.Close()) }
	if r, err = decode(section); err != nil {
		closer()
		return nil, nil, nil, fmt.Errorf("data: reading %q: %w", in.name, err)
	}
	return r, func() error { return in.unchanged(f) }, closer, nil
}

// zipped tells whether the file is gzip, or cannot be read.
func (in *input) zipped() bool {
	f, err := in.raw(context.Background())
	if err != nil {
		return true
	}
	defer f.Close()
	var head [2]byte
	_, err = f.ReadAt(head[:], 0)
	return err != nil || isGzip(head[:])
}

func isGzip(head []byte) bool { return head[0] == 0x1f && head[1] == 0x8b }

func nothing() error { return nil }

// unchanged compares the open file with what it was when the CSV was opened.
func (in *input) unchanged(f File) error {
	if in.spool != nil {
		return nil
	}
	s, err := now(f)
	if err != nil {
		return fmt.Errorf("data: cannot read %q: %w", in.name, cause(err))
	}
	if !s.equal(in.stamp) {
		return fmt.Errorf("data: %q changed while it was in use (%d bytes then, %d now): start again when it is complete", in.name, in.stamp.size, s.size)
	}
	return nil
}

// spooled is the copy of a stream as a File, which stays open.
type spooled struct{ *io.SectionReader }

func (spooled) Modified() time.Time { return time.Time{} }
func (spooled) Version() string     { return "" }
func (spooled) Close() error        { return nil }

const bufferSize = 64 << 10

// decode undoes gzip, recognised by its first bytes, and drops a UTF-8 byte
// order mark.
func decode(raw io.Reader) (*bufio.Reader, error) {
	r, _, err := inflate(raw)
	if err != nil {
		return nil, err
	}
	_, err = dropMark(r)
	return r, err
}

// inflate undoes gzip, recognised by its first bytes.
func inflate(raw io.Reader) (r *bufio.Reader, zipped bool, err error) {
	r = bufio.NewReaderSize(raw, bufferSize)
	if head, err := r.Peek(2); err != nil || !isGzip(head) {
		return r, false, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, true, damaged(err)
	}
	return bufio.NewReaderSize(gunzip{z}, bufferSize), true, nil
}

// dropMark drops a UTF-8 byte order mark and says how many bytes that were.
func dropMark(r *bufio.Reader) (int, error) {
	head, err := r.Peek(3)
	if err != nil && err != io.EOF {
		return 0, err
	}
	switch {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		return r.Discard(3)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return 0, errors.New("the text is UTF-16: save it as UTF-8")
	}
	return 0, nil
}

// gunzip says of any fault of the compressed data that the file is damaged.
type gunzip struct{ z *gzip.Reader }

func (g gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("the gzip data is cut off or damaged (%w): fetch or compress the file again", err)
}

// cause drops the path that file system errors repeat.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
