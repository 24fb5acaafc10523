package cloud

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

const (
	pageBytes  = 64 << 10 // what ReadAt asks for at once
	pagesKept  = 128      // of an open object
	firstRange = 1 << 20  // what Range asks for at first,
	lastRange  = 32 << 20 // and at most
	tries      = 3        // of a stretch whose stream breaks off
)

// object is an open object: one version of it.
type object struct {
	ctx   context.Context // of the pass that opened it
	store *Store
	at    place
	name  string
	size  int64
	time  time.Time
	etag  string
	gen   int64 // the generation, of Google's store; else 0

	mu    sync.Mutex
	pages map[int64][]byte
	order []int64 // of the pages, the oldest first
}

func newObject(ctx context.Context, s *Store, at place, name string, a *blob.Attributes) *object {
	o := &object{ctx: ctx, store: s, at: at, name: name, size: a.Size, time: a.ModTime, etag: a.ETag, pages: map[int64][]byte{}}
	var google storage.ObjectAttrs
	if a.As(&google) {
		o.gen = google.Generation
	}
	return o
}

func (o *object) Size() int64         { return o.size }
func (o *object) Modified() time.Time { return o.time }
func (o *object) Version() string     { return o.etag }
func (o *object) Close() error        { return nil }

// request begins to read n bytes. Another version than o's is an error.
func (o *object) request(off, n int64) (*blob.Reader, error) {
	o.store.requests.Add(1)
	o.store.bytes.Add(n)
	r, err := o.at.bucket.NewRangeReader(o.ctx, o.at.key, off, n, &blob.ReaderOptions{BeforeRead: o.require})
	if err != nil {
		return nil, fault("read", o.name, err)
	}
	if o.differs(r) {
		r.Close()
		return nil, fault("read", o.name, errChanged)
	}
	return r, nil
}

// require asks the store for o's version only, where it can be asked.
func (o *object) require(as func(any) bool) error {
	var amazon *s3.GetObjectInput
	var google **storage.ObjectHandle
	var microsoft *azblob.DownloadStreamOptions
	switch {
	case as(&amazon):
		if o.etag != "" {
			amazon.IfMatch = &o.etag
		}
	case as(&google):
		if o.gen != 0 {
			*google = (*google).If(storage.Conditions{GenerationMatch: o.gen})
		}
	case as(&microsoft):
		if etag := azcore.ETag(o.etag); etag != "" {
			microsoft.AccessConditions = &azure.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: &etag}}
		}
	}
	return nil
}

// differs compares the object that is read with the one that was opened: not every store does so
// when asked.
func (o *object) differs(r *blob.Reader) bool {
	var amazon s3.GetObjectOutput
	if r.As(&amazon) && amazon.ETag != nil && *amazon.ETag != o.etag {
		return true
	}
	var google *storage.Reader
	if r.As(&google) && google.Attrs.Generation != 0 && o.gen != 0 && google.Attrs.Generation != o.gen {
		return true
	}
	return r.Size() != o.size || !r.ModTime().IsZero() && r.ModTime().Unix() != o.time.Unix()
}

// ReadAt reads by pages, some of which are kept: for what is short, and asked for again.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off >= o.size {
		return 0, io.EOF
	}
	if int64(len(p)) > pageBytes {
		n := min(int64(len(p)), o.size-off)
		r := o.Range(off, n)
		defer r.Close()
		got, err := io.ReadFull(r, p[:n])
		if err == nil && n < int64(len(p)) {
			err = io.EOF
		}
		return got, err
	}
	done := 0
	for done < len(p) {
		at := off + int64(done)
		if at >= o.size {
			return done, io.EOF
		}
		page, err := o.page(at / pageBytes)
		if err != nil {
			return done, err
		}
		done += copy(p[done:], page[at%pageBytes:])
	}
	return done, nil
}

// page is one of the object's pages.
func (o *object) page(k int64) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if page, ok := o.pages[k]; ok {
		return page, nil
	}
	n := min(pageBytes, o.size-k*pageBytes)
	r := o.Range(k*pageBytes, n)
	defer r.Close()
	page := make([]byte, n)
	if _, err := io.ReadFull(r, page); err != nil {
		return nil, err
	}
	if len(o.order) == pagesKept {
		delete(o.pages, o.order[0])
		o.order = o.order[1:]
	}
	o.pages[k], o.order = page, append(o.order, k)
	return page, nil
}

// Range reads a stretch by requests that grow, so that whoever stops early has not asked for
// much more than was read.
func (o *object) Range(off, n int64) io.ReadCloser {
	return &stretch{object: o, off: off, left: n, ask: firstRange}
}

// stretch is what is left of a range.
type stretch struct {
	*object
	off, left int64
	ask       int64 // bytes of the next request
	reader    *blob.Reader
	open      int64 // bytes that reader has still to give
	failed    int   // times that a stream broke off since the last byte
}

func (s *stretch) Read(p []byte) (int, error) {
	for {
		if s.left == 0 || len(p) == 0 {
			return 0, s.end()
		}
		if s.reader == nil {
			n := min(s.ask, s.left)
			r, err := s.request(s.off, n)
			if err != nil {
				return 0, err
			}
			s.reader, s.open, s.ask = r, n, min(2*s.ask, lastRange)
		}
		n, err := s.reader.Read(p[:min(int64(len(p)), s.open)])
		s.off, s.left, s.open = s.off+int64(n), s.left-int64(n), s.open-int64(n)
		if err != nil || s.open == 0 {
			s.reader.Close()
			s.reader = nil
		}
		if n > 0 {
			s.failed = 0
			return n, nil
		}
		if err == io.EOF && s.open > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err == nil || err == io.EOF {
			continue
		}
		if s.failed++; s.failed == tries || s.ctx.Err() != nil || errors.Is(err, errChanged) {
			return 0, fault("read", s.name, err)
		}
	}
}

func (s *stretch) end() error {
	if s.left == 0 {
		return io.EOF
	}
	return nil
}

// Close ends the request at hand; the object stays open.
func (s *stretch) Close() error {
	if s.reader == nil {
		return nil
	}
	err := s.reader.Close()
	s.reader = nil
	return err
}

// replace lets the store put an object in the place of o's version only, or is an error where it cannot be asked to.
func (o *object) replace(as func(any) bool) error {
	var amazon *transfermanager.UploadObjectInput
	var google **storage.ObjectHandle
	var microsoft *azblob.UploadStreamOptions
	switch etag := azcore.ETag(o.etag); {
	case as(&amazon) && o.etag != "":
		amazon.IfMatch = &o.etag
	case as(&google) && o.gen != 0:
		*google = (*google).If(storage.Conditions{GenerationMatch: o.gen})
	case as(&microsoft) && o.etag != "":
		microsoft.AccessConditions = &azblob.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: &etag}}
	default:
		return errors.New("the store cannot be asked to write only over the version that was read: keep this file on a disk")
	}
	return nil
}
