package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pho-go/pho/data"
)

// openStream reads standard input: an Arrow stream or file, told by its first bytes, or CSV.
// It is copied to a private temporary file, since passes read it again and again.
func openStream(o *Options) (Source, error) {
	stdin := bufio.NewReader(o.Stdin)
	head, err := stdin.Peek(lookedAt)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("data: reading standard input: %w", err)
	}
	if err := foreignError("-", head); err != nil {
		return nil, err
	}
	if f := formatBy(head); f == JSONLines || f == Excel {
		return nil, fmt.Errorf("data: standard input is %s, which is read from files alone: write it to one first", f)
	}
	own := *o
	if !bytes.HasPrefix(head, []byte("\xff\xff\xff\xff")) && !bytes.HasPrefix(head, []byte("ARROW1\x00\x00")) {
		own.Stdin = stdin
		return open(CSV, []string{"-"}, &own)
	}
	copied, err := spoolStream(stdin)
	if err != nil {
		return nil, err
	}
	own.Store = copied
	s, err := open(Arrow, []string{"-"}, &own)
	if err != nil {
		return nil, errors.Join(err, copied.remove())
	}
	return &streamed{s, copied}, nil
}

// streamed is a source of a stream's copy, which Close removes.
type streamed struct {
	Source
	copied *streamCopy
}

// Len is the number of rows.
func (s *streamed) Len() int64 { return s.Source.(interface{ Len() int64 }).Len() }

// Close removes the copy.
func (s *streamed) Close() error { return errors.Join(s.Source.Close(), s.copied.remove()) }

// streamCopy is the store of the one file that a stream was copied to.
type streamCopy struct {
	file *os.File
	size int64
	left string // path to remove at the end; "": it is gone already
}

func spoolStream(r io.Reader) (*streamCopy, error) {
	f, err := os.CreateTemp("", "pho-*.arrow") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("data: no room for a temporary copy of standard input: %w", err)
	}
	c := &streamCopy{file: f}
	if os.Remove(f.Name()) != nil { // a system that does not remove open files
		c.left = f.Name()
	}
	if c.size, err = io.Copy(f, r); err != nil {
		return nil, errors.Join(fmt.Errorf("data: copying standard input to a temporary file: %w", err), c.remove())
	}
	return c, nil
}

func (c *streamCopy) remove() error {
	err := c.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if c.left != "" {
		err = errors.Join(err, os.Remove(c.left))
	}
	return err
}

// Open is the copy, whatever the name.
func (c *streamCopy) Open(context.Context, string) (data.File, error) {
	return openCopy{io.NewSectionReader(c.file, 0, c.size)}, nil
}

// List finds nothing.
func (c *streamCopy) List(context.Context, string) ([]string, error) { return nil, nil }

type openCopy struct{ *io.SectionReader }

func (openCopy) Modified() time.Time { return time.Time{} }
func (openCopy) Version() string     { return "" }
func (openCopy) Close() error        { return nil }
