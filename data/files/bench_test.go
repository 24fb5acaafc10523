package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/pho-go/pho/data/parquet"
)

const benchRows, benchColumns = 200_000, 10

// benchFiles writes the same ten columns of float64 as Parquet (Snappy), .npy and
// CSV.
func benchFiles(b *testing.B) map[string]string {
	dir := b.TempDir()
	columns := make([][]float64, benchColumns)
	names := make([]string, benchColumns)
	for j := range columns {
		names[j] = "x" + strconv.Itoa(j)
		columns[j] = make([]float64, benchRows)
		for i := range columns[j] {
			columns[j][i] = math.Sin(float64(i*benchColumns + j))
		}
	}
	var pq, text, npy bytes.Buffer
	w, err := parquet.NewWriter(&pq, names)
	if err == nil {
		err = w.Write(columns)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	for j, name := range names {
		text.WriteString(name)
		text.WriteByte(",\n"[j/(benchColumns-1)])
	}
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }\n", benchRows, benchColumns)
	npy.WriteString("\x93NUMPY\x01\x00")
	npy.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	npy.WriteString(header)
	for i := range benchRows {
		for j := range columns {
			text.WriteString(strconv.FormatFloat(columns[j][i], 'g', -1, 64))
			text.WriteByte(",\n"[j/(benchColumns-1)])
			npy.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(columns[j][i])))
		}
	}
	files := map[string]string{}
	for name, content := range map[string][]byte{"rows.parquet": pq.Bytes(), "rows.csv": text.Bytes(), "rows.npy": npy.Bytes()} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return files
}

// BenchmarkRead reads ten columns of float64, and two of them.
func BenchmarkRead(b *testing.B) {
	paths := benchFiles(b)
	if dir := os.Getenv("PHO_BENCH_FILES"); dir != "" { // further files, of other writers
		more, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range more {
			paths[filepath.Base(path)] = path
		}
	}
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		path := paths[name]
		for _, columns := range []int{benchColumns, 2} {
			b.Run(fmt.Sprintf("%s/columns=%d", name, columns), func(b *testing.B) {
				s, err := Open([]string{path}, nil)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					for batch, err := range s.Batches(context.Background(), s.Schema().Names()[:min(columns, len(s.Schema()))]) {
						if err != nil {
							b.Fatal(err)
						}
						rows += batch.Rows()
					}
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
