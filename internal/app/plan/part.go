package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"github.com/pho-go/pho/internal/base/durable"
)

// PartFormat names the version of a part's file.
const PartFormat = "pho.part/1"

// partMagic begins a part. Behind it come the header (JSON) and the payload, each behind its length in
// eight bytes, the lowest first, and the SHA-256 of everything before.
const partMagic = PartFormat + "\n"

// Header says what a part is of.
type Header struct {
	Format string `json:"format"`
	Plan   string `json:"plan"`  // digest of the plan
	Stage  string `json:"stage"` // digest of the plan and of all passes before
	Pass   string `json:"pass"`
	Round  string `json:"round"`
	Kind   string `json:"kind"` // of the payload
	Kernel string `json:"kernel"`
	// Networks are the SHA-256 of the networks that ran.
	Networks []string `json:"networks"`
	Shards   []Shard  `json:"shards"` // in order
	Of       int      `json:"of"`     // shards of the plan
	// Checkpoint says how far a part is that is not finished; nil: it is.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

// Checkpoint is where a pass over a shard goes on.
type Checkpoint struct {
	Next   int64    `json:"next"`             // row
	Digest []uint64 `json:"digest,omitempty"` // of the rows before
}

// Shard is one that a part holds.
type Shard struct {
	Shard   int    `json:"shard"`
	Rows    int64  `json:"rows"`              // read
	Dropped int64  `json:"dropped,omitempty"` // of these, left out for missing cells
	Digest  string `json:"digest,omitempty"`  // of what was read
}

// Rows counts the rows of all shards of h, and those left out.
func (h *Header) Rows() (total, dropped int64) {
	for _, s := range h.Shards {
		total, dropped = total+s.Rows, dropped+s.Dropped
	}
	return total, dropped
}

// Missing are the runs [first, next) of shards that h lacks.
func (h *Header) Missing() [][2]int {
	var runs [][2]int
	at := 0
	for _, s := range append(slices.Clone(h.Shards), Shard{Shard: h.Of}) {
		if s.Shard > at {
			runs = append(runs, [2]int{at, s.Shard})
		}
		at = s.Shard + 1
	}
	return runs
}

// check finds what a damaged or foreign header says that cannot be.
func (h *Header) check() error {
	if h.Format != PartFormat {
		return fmt.Errorf("format %q is not readable here, this is %q; is the part from another version?", h.Format, PartFormat)
	}
	last := -1
	for _, s := range h.Shards {
		if s.Shard <= last || s.Shard >= h.Of || s.Rows < 0 || s.Dropped < 0 || s.Dropped > s.Rows {
			return errors.New("its list of shards is damaged")
		}
		last = s.Shard
	}
	if len(h.Shards) == 0 || h.Stage == "" || h.Kind == "" {
		return errors.New("its header is damaged")
	}
	return nil
}

// Part is a header and what it is of, encoded.
type Part struct {
	Header
	Payload []byte
	SHA256  string // of its file
}

// WriteTo writes the part, whose SHA256 it sets; equal parts have equal bytes.
func (p *Part) WriteTo(w io.Writer) (int64, error) {
	header, err := json.Marshal(&p.Header)
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	var n int64
	for _, b := range [][]byte{[]byte(partMagic), sized(header), header, sized(p.Payload), p.Payload} {
		sum.Write(b)
		m, err := w.Write(b)
		if n += int64(m); err != nil {
			return n, err
		}
	}
	end := sum.Sum(nil)
	m, err := w.Write(end)
	sum.Write(end)
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return n + int64(m), err
}

func sized(b []byte) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(len(b))) }

// WriteFile writes the part to the file at path, whole or not at all. u may be nil.
func (p *Part) WriteFile(u *durable.Unfinished, path string) error {
	return u.WriteFile(path, func(f *os.File) error {
		_, err := p.WriteTo(f)
		return err
	})
}

// ReadHeader reads the header of a part's file; the rest of it may be damaged.
func ReadHeader(path string) (*Header, error) {
	f, size, err := openPart(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, _, err := readHeader(&hashing{r: f, h: sha256.New(), left: size})
	if err != nil {
		return nil, fmt.Errorf("part %q: %w", path, err)
	}
	return h, nil
}

// ReadPart reads a part's file and checks that it is as it was written, and finished.
func ReadPart(path string) (*Part, error) {
	p, err := ReadCheckpoint(path)
	if err == nil && p.Checkpoint != nil {
		return nil, fmt.Errorf("part %q is a checkpoint of one that is not finished: accumulate it", path)
	}
	return p, err
}

// ReadCheckpoint is ReadPart of a part that need not be finished.
func ReadCheckpoint(path string) (*Part, error) {
	f, size, err := openPart(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := readPart(f, size)
	if err != nil {
		return nil, fmt.Errorf("part %q: %w", path, err)
	}
	return p, nil
}

func openPart(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // to open a pipe could wait for ever
		return nil, 0, fmt.Errorf("part %q is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("part %q: %w", path, durable.Reason(err))
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("part %q: %w", path, durable.Reason(err))
	}
	return f, info.Size(), nil
}

// readPart reads a part of size bytes.
func readPart(r io.Reader, size int64) (*Part, error) {
	in := &hashing{r: r, h: sha256.New(), left: size}
	h, _, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	p := &Part{Header: *h}
	if p.Payload, err = in.sized(); err != nil {
		return nil, err
	}
	want := in.h.Sum(nil)
	got, err := in.next(sha256.Size)
	switch {
	case err != nil:
		return nil, err
	case in.left != 0:
		return nil, fmt.Errorf("%w: there are %d bytes behind its end", errDamaged, in.left)
	case !bytes.Equal(got, want):
		return nil, fmt.Errorf("%w: its bytes are not those that were written", errDamaged)
	}
	p.SHA256 = hex.EncodeToString(in.h.Sum(nil))
	return p, nil
}

// readHeader reads up to the payload.
func readHeader(in *hashing) (h *Header, raw []byte, err error) {
	magic, err := in.next(int64(len(partMagic)))
	if err != nil || string(magic) != partMagic {
		return nil, nil, fmt.Errorf("it is no part: it does not begin with %q", PartFormat)
	}
	if raw, err = in.sized(); err != nil {
		return nil, nil, err
	}
	h = new(Header)
	if err := json.Unmarshal(raw, h); err != nil {
		return nil, nil, fmt.Errorf("%w: its header: %w", errDamaged, err)
	}
	return h, raw, h.check()
}

var errDamaged = errors.New("it is truncated or damaged; accumulate it again")

// hashing reads from r, of which left bytes are there, and hashes what it reads.
type hashing struct {
	r    io.Reader
	h    hash.Hash
	left int64
}

// next reads n bytes, no more than there are.
func (in *hashing) next(n int64) ([]byte, error) {
	if n < 0 || n > in.left {
		return nil, fmt.Errorf("%w: it ends too early", errDamaged)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(in.r, b); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, durable.Reason(err))
	}
	in.left -= n
	in.h.Write(b)
	return b, nil
}

// sized reads bytes behind their length.
func (in *hashing) sized() ([]byte, error) {
	b, err := in.next(8)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(in.left) {
		return nil, fmt.Errorf("%w: it ends too early", errDamaged)
	}
	return in.next(int64(n))
}

// NewPart is what a pass came to in the shards of h.
func NewPart(h Header, value Payload) (*Part, error) {
	var err error
	h.Format = PartFormat
	if h.Kind, err = kindOf(value); err != nil {
		return nil, err
	}
	p := &Part{Header: h}
	p.Payload, err = value.MarshalBinary()
	return p, err
}

// Value is what the part holds.
func (p *Part) Value() (Payload, error) { return decodePayload(p.Kind, p.Payload) }

// Add adds b, of other rows, to a. b is not used afterwards.
func Add(a, b Payload) error { return add(a, b) }
