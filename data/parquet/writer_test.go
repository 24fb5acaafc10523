package parquet

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pho-go/pho/data"
)

// TestWriter writes rows and nulls in cuts of two kinds and reads them back.
func TestWriter(t *testing.T) {
	const n = 2*groupRows + 1000
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = math.Sin(float64(i)), -float64(i)
	}
	make := func(step int) []byte {
		var out bytes.Buffer
		w, err := NewWriter(&out, []string{"s(x)", "eta"})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < n; i += step {
			j := min(n, i+step)
			if err := w.Write([][]float64{x[i:j], y[i:j]}); err != nil {
				t.Fatal(err)
			}
			if j == n || j%(groupRows/2) == 0 {
				if err := w.WriteNull(3); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	whole := make(groupRows / 2)
	if !bytes.Equal(whole, make(1024)) {
		t.Error("the cuts show in the file")
	}
	path := filepath.Join(t.TempDir(), "c.parquet")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open([]string{path}, &Options{NA: data.NADrop})
	if err != nil {
		t.Fatal(err)
	}
	i, nulls := 0, int64(0)
	for b, err := range s.Batches(context.Background(), []string{"s(x)", "eta"}) {
		if err != nil {
			t.Fatal(err)
		}
		gotX, err := b.Numeric("s(x)")
		if err != nil {
			t.Fatal(err)
		}
		gotY, err := b.Numeric("eta")
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.Rows() {
			if gotX[k] != x[i] || gotY[k] != y[i] || b.Row(k) != int64(i)+nulls {
				t.Fatalf("row %d is row %d: %v, %v", i, b.Row(k), gotX[k], gotY[k])
			}
			if i++; i%(groupRows/2) == 0 {
				nulls += 3
			}
		}
	}
	total, dropped := s.Rows()
	if i != n || total != n+5*3 || dropped != 5*3 {
		t.Fatal(i, total, dropped)
	}
}

func TestWriterBad(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, `data: a Parquet file needs a column`},
		{[]string{"a", ""}, `data: column 2 has no name`},
		{[]string{"a", "a"}, `data: two columns are named "a"`},
	} {
		if _, err := NewWriter(&bytes.Buffer{}, c.names); err == nil || err.Error() != c.want {
			t.Error(err)
		}
	}
	if _, err := NewWriter(&failing{}, []string{"a"}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	w, err := NewWriter(&failing{left: 4}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([][]float64{{1}, {2}}); err == nil || err.Error() != `data: 2 columns for a Parquet file of 1` {
		t.Error(err)
	}
	if err := w.Write([][]float64{{1}}); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err == nil || err.Error() != "data: writing Parquet: no space left on device" || !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := w.Write([][]float64{{1}}); !errors.Is(err, errFull) {
		t.Error("rows are taken after a failure:", err)
	}
}

var errFull = errors.New("no space left on device")

// failing takes a few bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, errFull
	}
	f.left -= len(b)
	return len(b), nil
}

// written is what testdata/written.parquet holds: squares and negatives of eighths,
// with single nulls and pairs of them between.
func written(t *testing.T) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, []string{"s(x)", "η"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		x := float64(i) / 8
		err := w.Write([][]float64{{x * x}, {-x}})
		if err == nil && (i%3 == 0 || i > 300) {
			err = w.WriteNull(int64(1 + i%2))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestWritten compares with a file that pyarrow has read; see
// testdata/read_written.py.
func TestWritten(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("Snappy's encoder may cut otherwise on other machines")
	}
	want, err := os.ReadFile("testdata/written.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t); !bytes.Equal(got, want) {
		path := filepath.Join(os.TempDir(), "written.parquet")
		_ = os.WriteFile(path, got, 0o600)
		t.Errorf("other bytes than those that pyarrow has read: if that is meant, check %s with testdata/read_written.py and keep it", path)
	}
}
