package served

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"

	"github.com/pho-go/pho/data"
)

// Kept holds answers in a file, by the numbers of rows (data.Batch.Row), so that a row is asked once however often
// and by however many processes, one after the other, it is needed. It is safe for concurrent use.
type Kept struct {
	file *os.File
	k    int
}

// Keep opens the file, or makes it. k is how many numbers a row is answered with. Answers of another model or other rows
// must not be in it.
func Keep(path string, k int) (*Kept, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the answers of the model cannot be kept: %w", err)
	}
	return &Kept{f, k}, nil
}

// Close closes the file.
func (c *Kept) Close() error { return c.file.Close() }

// record overwrites dst with one row of the file: its answers, and their digest with the row's number. What was not written
// whole has another digest, and is asked again.
func (c *Kept) record(dst []byte, row int64, values []float64) []byte {
	raw := dst[:0]
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(row)))
	_, _ = h.Write(raw)
	return binary.LittleEndian.AppendUint64(raw, h.Sum64())
}

// load reads the answers of the rows of b that are there, and says which are not.
func (c *Kept) load(dst []float64, b *data.Batch) (missing []int, err error) {
	stride := int64(8 * (c.k + 1))
	raw, want := make([]byte, stride), make([]byte, stride)
	for i := range b.Rows() {
		row, own := b.Row(i), dst[i*c.k:(i+1)*c.k]
		n, err := c.file.ReadAt(raw, row*stride)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the answers of the model that were kept: %w", err)
		}
		for j := range own {
			own[j] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*j:]))
		}
		if n < len(raw) || !bytes.Equal(c.record(want, row, own), raw) {
			missing = append(missing, i)
		}
	}
	return missing, nil
}

// Predict is the server's, of rows that are not kept yet.
func (c *Kept) Predict(ctx context.Context, s *Server, dst []float64, f *Form, b *data.Batch) error {
	missing, err := c.load(dst, b)
	if err != nil || len(missing) == 0 {
		return err
	}
	var raw []byte
	for len(missing) > 0 { // as many as one request holds, so that little is lost if the next one fails
		some := missing[:min(len(missing), s.atOnce(f))]
		missing = missing[len(some):]
		part := b.Pick(some)
		values := make([]float64, c.k*len(some))
		if err := s.Predict(ctx, values, f, part); err != nil {
			return err
		}
		for j, i := range some {
			own := values[j*c.k : (j+1)*c.k]
			copy(dst[i*c.k:], own)
			raw = c.record(raw, part.Row(j), own)
			if _, err := c.file.WriteAt(raw, part.Row(j)*int64(len(raw))); err != nil {
				return fmt.Errorf("the answers of the model cannot be kept: %w", err)
			}
		}
	}
	return nil
}
