package serve

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// What is written is read again, and a bad frame does not hide the next.
func TestFrames(t *testing.T) {
	var b bytes.Buffer
	if err := writeFrame(&b, request{ID: 7, Op: "apply", Rows: 2}, [][]float64{{1, 2}, {3, 4}}); err != nil {
		t.Fatal(err)
	}
	good := bytes.Clone(b.Bytes())
	for name, bad := range map[string][]byte{
		"no JSON":           append(binary.LittleEndian.AppendUint64(nil, 1), 'x'),
		"another type":      append(binary.LittleEndian.AppendUint64(nil, 8), `{"id":-1}`[:8]...),
		"too long a header": append(binary.LittleEndian.AppendUint64(nil, 1000), make([]byte, 1000)...),
		"too large":         append(binary.LittleEndian.AppendUint64(nil, 2000<<32), make([]byte, 2000)...),
	} {
		r := bytes.NewReader(append(bytes.Clone(bad), good...))
		var q request
		if _, err := readFrame(r, &q, 500, 1000); !errors.As(err, new(frameError)) {
			t.Errorf("%s: %v", name, err)
		}
		payload, err := readFrame(r, &q, 500, 1000)
		if err != nil || q.ID != 7 || len(payload) != 32 {
			t.Errorf("behind %s: %v %+v", name, err, q)
		}
		if _, err := readFrame(r, &q, 500, 1000); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
	for cut := 1; cut < len(good); cut++ {
		var q request
		if _, err := readFrame(bytes.NewReader(good[:cut]), &q, 500, 1000); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d bytes: %v", cut, err)
		}
	}
}

// Whatever comes, frames are read without panics, in bounded memory, and what has rows has
// as many bytes as these take.
func FuzzFrames(f *testing.F) {
	var b bytes.Buffer
	q := request{ID: 1, Op: "apply", Rows: 1, Columns: []string{"a", "b"}, Texts: map[string][]string{"b": {"x"}}}
	if err := writeFrame(&b, q, [][]float64{{1}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(append(b.Bytes(), b.Bytes()[:9]...))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		for {
			var q request
			payload, err := readFrame(r, &q, 1<<10, 1<<12)
			if errors.As(err, new(frameError)) {
				continue
			}
			if err != nil {
				return
			}
			if rows, err := q.rows([]Column{{Name: "a"}, {Name: "b", Shape: []int{2, 3}}}, payload, 3); err == nil {
				for _, c := range rows.columns {
					if len(c.numbers)/c.width()+len(c.codes) != q.Rows {
						t.Fatalf("%+v", c)
					}
				}
			}
		}
	})
}
