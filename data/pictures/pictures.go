// Package pictures joins to the rows of a table the pictures that a column names: PNG files, as a tensor.
package pictures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"iter"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/pho-go/pho/data"
)

// Options say what pictures should be, and how their samples are read.
type Options struct {
	Height, Width int
	// Channels is 1, grey; 3, red, green and blue, which a grey picture has equal; or 4, with alpha, which is no
	// factor of the others and is 1 where a picture has none.
	Channels int
	// ChannelsLast: a row is height x width x channels; else channels x height x width.
	ChannelsLast bool
	// White is the number that the largest sample becomes, whatever its bits, and 0 is the smallest. 0: 1.
	White float64
}

// Source is the rows of a table with the pictures beside them.
type Source struct {
	data.Source
	name   string // of the tensor
	column string // that names the files
	path   func(cell string) string
	o      Options
}

// Join adds the tensor name to rows: the pictures at the path pattern, in which the column of text in braces
// is put: "photos/{file}", "photos/{id}.png". Rows keep their order.
//
// Errors: a pattern without one column in braces, a column that is not there or no text, a name that is taken.
// While rows are read: a picture that is missing, damaged, no PNG, of another size, or that has colours or
// transparent places where Channels has no place for them; a JPEG, since decoders differ in its grey levels.
func Join(name string, rows data.Source, pattern string, o Options) (*Source, error) {
	before, rest, opened := strings.Cut(pattern, "{")
	column, after, closed := strings.Cut(rest, "}")
	if !opened || !closed || column == "" || strings.ContainsAny(after, "{}") {
		return nil, fmt.Errorf("data: pictures %q: name the column of the files once, in braces, as in photos/{file}", pattern)
	}
	schema := rows.Schema()
	c, ok := schema.Lookup(column)
	if !ok {
		return nil, fmt.Errorf("data: pictures %q: %w", pattern, &data.MissingColumnError{Column: column, Where: "the data", Columns: schema.Names()})
	}
	if !c.Categorical {
		return nil, fmt.Errorf("data: pictures %q: column %q holds numbers, and names of files are text: read it as text", pattern, column)
	}
	if _, taken := schema.Lookup(name); taken {
		return nil, fmt.Errorf("data: pictures %q: the data have a column %q already: rename it", pattern, name)
	}
	if o.White == 0 {
		o.White = 1
	}
	return &Source{rows, name, column, func(cell string) string { return before + cell + after }, o}, nil
}

// numbers is how many a row has.
func (s *Source) numbers() int { return s.o.Channels * s.o.Height * s.o.Width }

// Schema is that of the rows and the tensor.
func (s *Source) Schema() data.Schema {
	return append(s.Source.Schema(), data.Column{Name: s.name, Width: s.numbers()})
}

// Rows is that of the rows, 0 if they do not count.
func (s *Source) Rows() (total, dropped int64) {
	if c, ok := s.Source.(interface{ Rows() (total, dropped int64) }); ok {
		return c.Rows()
	}
	return 0, 0
}

// Batches reads the rows and, if the tensor is asked for, their pictures, a few rows at a time.
func (s *Source) Batches(ctx context.Context, columns []string) iter.Seq2[*data.Batch, error] {
	if !slices.Contains(columns, s.name) {
		return s.Source.Batches(ctx, columns)
	}
	read := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == s.name })
	if !slices.Contains(read, s.column) {
		read = append(read, s.column)
	}
	few := data.TensorRows(s.numbers(), 4096)
	return func(yield func(*data.Batch, error) bool) {
		for b, err := range s.Source.Batches(ctx, read) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := 0; i < b.Rows(); i += few {
				part, err := s.fill(ctx, b.Slice(i, min(i+few, b.Rows())))
				if !yield(part, err) || err != nil {
					return
				}
			}
		}
	}
}

// fill is b with its rows' pictures.
func (s *Source) fill(ctx context.Context, b *data.Batch) (*data.Batch, error) {
	files, err := b.Codes(s.column)
	if err != nil {
		return nil, err
	}
	t := mat.NewDense(b.Rows(), s.numbers(), nil)
	for i, level := range files.Index {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if files.Levels[level] == data.MissingLevel {
			return nil, fmt.Errorf("data: column %q, data row %d: %w: name a picture, or leave such rows out", s.column, b.Row(i)+1, data.ErrMissingValue)
		}
		path := s.path(files.Levels[level])
		if err := s.read(t.RawRowView(i), path); err != nil {
			return nil, fmt.Errorf("data: column %q, data row %d: picture %q: %w", s.column, b.Row(i)+1, path, err)
		}
	}
	return b, b.SetTensor(s.name, t)
}

func (s *Source) read(row []float64, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		if fault := (*os.PathError)(nil); errors.As(err, &fault) {
			err = fault.Err
		}
		return fmt.Errorf("%w: put it there, or leave the row out", err)
	}
	if bytes.HasPrefix(raw, []byte("\xff\xd8")) {
		return errors.New("it is a JPEG, of which decoders make different grey levels: save it as PNG with the program that read it in training, or all pictures as an array (.npy)")
	}
	if head, err := png.DecodeConfig(bytes.NewReader(raw)); err != nil {
		return fmt.Errorf("it cannot be read as PNG (%w): fetch it, or write it, again, or leave the row out", err)
	} else if head.Width != s.o.Width || head.Height != s.o.Height {
		return fmt.Errorf("it is %d x %d, height by width, and the network takes %d x %d: resize it as in training", head.Height, head.Width, s.o.Height, s.o.Width)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("it is cut off or damaged (%w): fetch it, or write it, again, or leave the row out", err)
	}
	at, most := samples(img)
	places := s.o.Height * s.o.Width
	for y := range s.o.Height {
		for x := range s.o.Width {
			p := at(x, y)
			if s.o.Channels < 3 && (p[0] != p[1] || p[1] != p[2]) {
				return errors.New("it has colours, and the network takes grey pictures: convert it as in training")
			}
			if s.o.Channels < 4 && float64(p[3]) != most {
				return errors.New("it has transparent places, and the network takes none: lay it on a background as in training")
			}
			place := y*s.o.Width + x
			for c := range s.o.Channels {
				v := float64(p[c]) / most * s.o.White
				if s.o.ChannelsLast {
					row[place*s.o.Channels+c] = v
				} else {
					row[c*places+place] = v
				}
			}
		}
	}
	return nil
}

// samples are red, green, blue and alpha of the places of a picture, as the file has them, and the largest that
// there can be: 255, or 65535 of 16 bits.
func samples(img image.Image) (at func(x, y int) [4]uint16, most float64) {
	switch m := img.(type) {
	case *image.Gray:
		return func(x, y int) [4]uint16 { v := uint16(m.GrayAt(x, y).Y); return [4]uint16{v, v, v, 255} }, 255
	case *image.Gray16:
		return func(x, y int) [4]uint16 { v := m.Gray16At(x, y).Y; return [4]uint16{v, v, v, 65535} }, 65535
	case *image.RGBA: // without alpha
		return func(x, y int) [4]uint16 {
			c := m.RGBAAt(x, y)
			return [4]uint16{uint16(c.R), uint16(c.G), uint16(c.B), uint16(c.A)}
		}, 255
	case *image.RGBA64:
		return func(x, y int) [4]uint16 { c := m.RGBA64At(x, y); return [4]uint16{c.R, c.G, c.B, c.A} }, 65535
	case *image.NRGBA:
		return func(x, y int) [4]uint16 {
			c := m.NRGBAAt(x, y)
			return [4]uint16{uint16(c.R), uint16(c.G), uint16(c.B), uint16(c.A)}
		}, 255
	case *image.NRGBA64:
		return func(x, y int) [4]uint16 { c := m.NRGBA64At(x, y); return [4]uint16{c.R, c.G, c.B, c.A} }, 65535
	}
	m := img.(*image.Paletted) // all else that png.Decode returns; its colours are color.RGBA or, with alpha, color.NRGBA
	return func(x, y int) [4]uint16 {
		if c, ok := m.At(x, y).(color.NRGBA); ok {
			return [4]uint16{uint16(c.R), uint16(c.G), uint16(c.B), uint16(c.A)}
		}
		r, g, b, a := m.At(x, y).RGBA()
		return [4]uint16{uint16(r >> 8), uint16(g >> 8), uint16(b >> 8), uint16(a >> 8)}
	}, 255
}
