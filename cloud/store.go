// Package cloud is a store of files in object stores: s3://, gs:// and azblob://, next to
// those of the disk (paths, and file:// URLs). Objects are read by ranges and written whole.
//
// Credentials come from where the libraries of these stores look for them: the environment,
// the files in the home directory that their own tools write, the machine's own identity.
// They are never part of a name, and no message repeats them.
//
// It is a module with a program of its own, pho-cloud, because the libraries of the stores are
// three times the size of pho.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gocloud.dev/blob"
	// The stores that URLs can name.
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/pho-go/pho/data"
	"github.com/pho-go/pho/internal/app/store"
)

// Store opens, lists and writes objects by URL, and files of the disk by path. It is safe for
// concurrent use; Close it after the last file.
type Store struct {
	disk store.Store
	open func(ctx context.Context, url string) (*blob.Bucket, error)

	mu      sync.Mutex
	buckets map[string]*blob.Bucket

	requests, bytes atomic.Int64 // reads asked for
}

// New is a store that takes files on the disk from disk. open opens a bucket by its URL;
// nil: the library's own openers do.
func New(disk store.Store, open func(ctx context.Context, url string) (*blob.Bucket, error)) *Store {
	if open == nil {
		open = blob.OpenBucket
	}
	return &Store{disk: disk, open: open, buckets: map[string]*blob.Bucket{}}
}

// Asked is how many reads of objects were asked for so far, and how many bytes.
func (s *Store) Asked() (requests, bytes int64) { return s.requests.Load(), s.bytes.Load() }

// Close closes all buckets.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, b := range s.buckets {
		errs = append(errs, b.Close())
	}
	clear(s.buckets)
	return errors.Join(errs...)
}

// place is where an object is.
type place struct {
	bucket *blob.Bucket
	key    string
	prefix string // of the bucket's names: scheme://host/
	query  string // with its question mark
}

// place finds the bucket of a URL; ok is false for a file of the disk, whose path it returns.
func (s *Store) place(ctx context.Context, name string) (at place, file string, ok bool, err error) {
	if !data.IsURL(name) {
		return place{}, name, false, nil
	}
	if err := store.CheckURL(name); err != nil {
		return place{}, "", true, err
	}
	base, query, asks := strings.Cut(name, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	if scheme == "file" {
		file, err := url.PathUnescape(rest)
		return place{}, file, false, err
	}
	host, key, _ := strings.Cut(rest, "/")
	at = place{key: key, prefix: scheme + "://" + host + "/"}
	if asks {
		at.query = "?" + query
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	where := scheme + "://" + host + at.query
	if at.bucket = s.buckets[where]; at.bucket == nil {
		if at.bucket, err = s.open(context.WithoutCancel(ctx), where); err != nil {
			return at, "", true, fault("open", store.Shown(name), err)
		}
		s.buckets[where] = at.bucket
	}
	return at, "", true, nil
}

// Open looks an object up. Its content is read later, and refused if it is another by then.
func (s *Store) Open(ctx context.Context, name string) (data.File, error) {
	at, file, ok, err := s.place(ctx, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return s.disk.Open(ctx, file)
	}
	if at.key == "" || strings.HasSuffix(at.key, "/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoKey}
	}
	attributes, err := at.bucket.Attributes(ctx, at.key)
	if err != nil {
		return nil, fault("open", name, err)
	}
	return newObject(ctx, s, at, name, attributes), nil
}

var errNoKey = fmt.Errorf("it names a bucket or a folder, not an object: %w", fs.ErrNotExist)

// List returns the URLs of objects whose keys match a pattern, with the pattern's query.
func (s *Store) List(ctx context.Context, pattern string) ([]string, error) {
	at, file, ok, err := s.place(ctx, pattern)
	if err != nil {
		return nil, err
	}
	if !ok {
		return s.disk.List(ctx, file)
	}
	if _, err := path.Match(at.key, ""); err != nil {
		return nil, err
	}
	fixed := at.key
	if i := strings.IndexAny(fixed, "*?["); i >= 0 {
		fixed = fixed[:i]
	}
	o := &blob.ListOptions{Prefix: fixed}
	if !strings.Contains(at.key[len(fixed):], "/") {
		o.Delimiter = "/"
	}
	var names []string
	for objects := at.bucket.List(o); ; {
		object, err := objects.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fault("list", pattern, err)
		}
		if match, _ := path.Match(at.key, object.Key); match && !object.IsDir {
			names = append(names, at.prefix+object.Key+at.query)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Write puts an object: it is there whole or not at all.
func (s *Store) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	at, file, ok, err := s.place(ctx, name)
	if err != nil {
		return err
	}
	if !ok {
		return s.disk.Write(ctx, file, write)
	}
	return at.write(ctx, name, &blob.WriterOptions{}, write)
}

// Replace puts an object if it is the version was, or of nil not there. Where the store cannot be asked for that, it
// refuses.
func (s *Store) Replace(ctx context.Context, name string, was data.File, write func(io.Writer) error) error {
	at, file, ok, err := s.place(ctx, name)
	if err != nil {
		return err
	}
	if !ok {
		return s.disk.Replace(ctx, file, was, write)
	}
	o := &blob.WriterOptions{IfNotExist: true}
	if was != nil {
		earlier, ok := was.(*object)
		if !ok {
			return fmt.Errorf("%q cannot be written: what was read is no object of a store", name)
		}
		o = &blob.WriterOptions{BeforeWrite: earlier.replace}
	}
	err = at.write(ctx, name, o, write)
	if errors.Is(err, errChanged) {
		return fmt.Errorf("%q: %w", name, store.ErrReplaced)
	}
	return err
}

func (at place) write(ctx context.Context, name string, o *blob.WriterOptions, write func(io.Writer) error) error {
	if at.key == "" || strings.HasSuffix(at.key, "/") {
		return fmt.Errorf("%q cannot be written: it names a bucket or a folder, not an object", name)
	}
	ctx, cancel := context.WithCancel(ctx) // before Close, this leaves the object as it was
	defer cancel()
	o.ContentType = "application/octet-stream"
	w, err := at.bucket.NewWriter(ctx, at.key, o)
	if err != nil {
		return fmt.Errorf("%q cannot be written: %w", name, reason(err))
	}
	if err := write(w); err != nil {
		cancel()
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("%q cannot be written: %w", name, reason(err))
	}
	return nil
}

// MakeDir makes a directory of the disk. Objects need none.
func (s *Store) MakeDir(ctx context.Context, name string) error {
	_, file, ok, err := s.place(ctx, name)
	if err != nil || ok {
		return err
	}
	return s.disk.MakeDir(ctx, file)
}

// Remove removes an object or a file.
func (s *Store) Remove(ctx context.Context, name string) error {
	at, file, ok, err := s.place(ctx, name)
	if err != nil {
		return err
	}
	if !ok {
		return s.disk.Remove(ctx, file)
	}
	if err := at.bucket.Delete(ctx, at.key); err != nil && !notThere(err) {
		return fmt.Errorf("%q cannot be removed: %w", name, reason(err))
	}
	return nil
}
