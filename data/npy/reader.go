package npy

import (
	"errors"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data/internal/columnar"
)

// reader reads one array in one pass.
type reader struct {
	*entry
	items  *io.SectionReader // nil: a stream
	stream io.ReadCloser
	block  []byte // the items of the block's rows, unless in Fortran order
}

func (r *reader) close() {
	if r != nil && r.stream != nil {
		_ = r.stream.Close()
	}
}

// next reads the next n rows.
func (r *reader) next(n int) error {
	if r == nil || r.fortran {
		return nil
	}
	size := n * int(r.width) * r.array.size
	if cap(r.block) < size {
		r.block = make([]byte, size)
	}
	r.block = r.block[:size]
	source := io.Reader(r.stream)
	if r.stream == nil {
		source = r.items
	}
	_, err := io.ReadFull(source, r.block)
	return err
}

// finish reads to the end of an entry of an archive, which compares checksums there.
func (r *reader) finish() error {
	if r == nil || r.stream == nil {
		return nil
	}
	var more [1]byte
	if n, err := r.stream.Read(more[:]); n > 0 || err != io.EOF {
		if err == nil || err == io.EOF {
			err = errors.New("the archive holds more than it says: it is damaged")
		}
		return err
	}
	return nil
}

// read decodes a column of the block, or all of them.
func (r *reader) read(row int64, n, column int, v *columnar.Values) error {
	width := int(r.width)
	if column >= 0 {
		v.Numbers = make([]float64, n)
		b, from, stride, err := r.place(row, n, column)
		if err != nil {
			return err
		}
		v.Fault = r.array.column(v.Numbers, b, from, stride)
		return nil
	}
	v.Tensor = mat.NewDense(n, width, nil)
	items := v.Tensor.RawMatrix().Data
	if !r.fortran {
		if v.Fault = r.array.column(items, r.block, 0, 1); v.Fault != nil {
			v.Fault.Row /= width
		}
		r.layout().Turn(items)
		return nil
	}
	one := make([]float64, n)
	for j := range width {
		b, from, stride, err := r.place(row, n, j)
		if err != nil {
			return err
		}
		if fault := r.array.column(one, b, from, stride); fault != nil && (v.Fault == nil || fault.Row < v.Fault.Row) {
			v.Fault = fault
		}
		for i, x := range one {
			items[i*width+j] = x
		}
	}
	return nil
}

// place is where a column's items of the block are: b[from], b[from+stride]...
func (r *reader) place(row int64, n, column int) (b []byte, from, stride int, err error) {
	if !r.fortran {
		return r.block, column, int(r.width), nil
	}
	size := n * r.array.size
	if cap(r.block) < size {
		r.block = make([]byte, size)
	}
	r.block = r.block[:size]
	_, err = r.items.ReadAt(r.block, (int64(column)*r.rows+row)*int64(r.array.size))
	return r.block, 0, 1, err
}
