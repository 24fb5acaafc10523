package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// input is one file of a CSV: a regular file, or the temporary copy of a stream.
type input struct {
	name  string // as given
	size  int64
	mtime time.Time // of a regular file

	spool *os.File // the copy of a stream; nil for a regular file
	left  string   // path of the copy if it has to be removed at the end; "": it is unlinked
}

// newInput looks at the path and, unless it is a regular file, copies its
// content. stdin is what "-" stands for.
func newInput(path string, stdin io.Reader) (*input, error) {
	if path == "-" {
		if stdin == nil {
			return nil, fmt.Errorf(`data: "-" stands for standard input, but there is none`)
		}
		return spool(path, stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("data: cannot read %q: %w", path, cause(err))
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return &input{name: path, size: info.Size(), mtime: info.ModTime()}, nil
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

// open starts reading at the first byte: text, decompressed, without byte order
// mark. check, to be called at the end of the text, says whether the file
// stayed as it was; closer releases it.
func (in *input) open() (r *bufio.Reader, check, closer func() error, err error) {
	raw := io.Reader(nil)
	check, closer = nothing, nothing
	if in.spool != nil {
		raw = io.NewSectionReader(in.spool, 0, in.size)
	} else {
		f, err := os.Open(in.name)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("data: cannot read %q: %w", in.name, cause(err))
		}
		raw, check, closer = f, func() error { return in.unchanged(f) }, f.Close
		if err := check(); err != nil {
			closer()
			return nil, nil, nil, err
		}
	}
	r, err = decode(raw)
	if err != nil {
		closer()
		return nil, nil, nil, fmt.Errorf("data: reading %q: %w", in.name, err)
	}
	return r, check, closer, nil
}

func nothing() error { return nil }

// unchanged compares the open file with what it was when the CSV was opened.
func (in *input) unchanged(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("data: cannot read %q: %w", in.name, cause(err))
	}
	if info.Size() != in.size || !info.ModTime().Equal(in.mtime) {
		return fmt.Errorf("data: %q changed while it was in use (%d bytes then, %d now): start again when it is complete", in.name, in.size, info.Size())
	}
	return nil
}

const bufferSize = 64 << 10

// decode undoes gzip, recognised by its first bytes, and drops a UTF-8 byte
// order mark.
func decode(raw io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(raw, bufferSize)
	if head, err := r.Peek(2); err == nil && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, damaged(err)
		}
		r = bufio.NewReaderSize(gunzip{z}, bufferSize)
	}
	head, err := r.Peek(3)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.Equal(head, []byte("\xef\xbb\xbf")):
		_, err = r.Discard(3)
		return r, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, errors.New("the text is UTF-16: save it as UTF-8")
	}
	return r, nil
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
