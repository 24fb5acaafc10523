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

	"github.com/klauspost/compress/zstd"
)

// input is one file of a CSV: one that a store opens, or the temporary copy of a stream.
type input struct {
	name  string // as given
	store Store
	stamp stamp     // of a file of the store
	part  *csvRange // the rows to read; nil: all
	latin bool      // the text is Windows-1252

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
	if r, _, err = in.text(section); err == nil {
		_, err = dropMark(r)
	}
	if err != nil {
		closer()
		return nil, nil, nil, fmt.Errorf("data: reading %q: %w", in.name, err)
	}
	return r, func() error { return in.unchanged(f) }, closer, nil
}

// zipped tells whether the file is compressed, or cannot be read.
func (in *input) zipped() bool {
	f, err := in.raw(context.Background())
	if err != nil {
		return true
	}
	defer f.Close()
	var head [4]byte
	_, err = f.ReadAt(head[:], 0)
	return err != nil && err != io.EOF || isGzip(head[:]) || isZstd(head[:])
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte("\x1f\x8b")) }
func isZstd(head []byte) bool { return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) }

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

// text is the file's text in UTF-8; coded tells that it is not the file's bytes.
func (in *input) text(raw io.Reader) (r *bufio.Reader, coded bool, err error) {
	r, coded, err = inflate(raw)
	if err == nil && in.latin {
		r, coded = bufio.NewReaderSize(&windows1252{r: r}, bufferSize), true
	}
	return r, coded, err
}

// inflate undoes gzip and zstd, recognised by their first bytes.
func inflate(raw io.Reader) (r *bufio.Reader, zipped bool, err error) {
	r = bufio.NewReaderSize(raw, bufferSize)
	head, _ := r.Peek(4)
	var text io.Reader
	switch {
	case isGzip(head):
		text, err = gzip.NewReader(r)
	case isZstd(head):
		var z *zstd.Decoder
		if z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30)); err == nil {
			text = z
		}
	default:
		return r, false, nil
	}
	kind := "gzip"
	if isZstd(head) {
		kind = "zstd"
	}
	if err != nil {
		return nil, true, damaged(kind, err)
	}
	return bufio.NewReaderSize(unzipped{text, kind}, bufferSize), true, nil
}

// dropMark drops what is before the header, a UTF-8 byte order mark and the line in which Excel
// names the delimiter (sep=;), and says how many bytes that were.
func dropMark(r *bufio.Reader) (int, error) {
	const most = len("\xef\xbb\xbfsep=;\r\n")
	head, _ := r.Peek(most) // what fails fails again where it is read
	bare := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	dropped := len(head) - len(bare)
	if _, line := separator(bare); line > 0 {
		dropped += line
	}
	switch {
	case dropped > 0:
		return r.Discard(dropped)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return 0, errors.New("the text is UTF-16: save it as UTF-8")
	}
	return 0, nil
}

// separator is the delimiter that a first line names, and the bytes of that line; 0: it names none.
func separator(head []byte) (mark byte, line int) {
	if len(head) < 6 || !bytes.HasPrefix(bytes.ToLower(head[:4]), []byte("sep=")) {
		return 0, 0
	}
	switch {
	case head[5] == '\n':
		return head[4], 6
	case head[5] == '\r' && len(head) > 6 && head[6] == '\n':
		return head[4], 7
	}
	return 0, 0
}

// separator is the delimiter that the file names itself; 0: it names none.
func (in *input) separator() byte {
	f, err := in.raw(context.Background())
	if err != nil {
		return 0
	}
	defer f.Close()
	section := Section(f, 0, f.Size())
	defer section.Close()
	r, _, err := in.text(section)
	if err != nil {
		return 0
	}
	head, _ := r.Peek(16)
	mark, _ := separator(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	return mark
}

// unzipped says of any fault of the compressed data that the file is damaged.
type unzipped struct {
	z    io.Reader
	kind string
}

func (g unzipped) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(g.kind, err)
	}
	return n, err
}

func damaged(kind string, err error) error {
	return fmt.Errorf("the %s data is cut off or damaged (%w): fetch or compress the file again", kind, err)
}

// cause drops the path that file system errors repeat.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
