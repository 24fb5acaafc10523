package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"

	"github.com/pho-go/pho/benchmarks/internal/dialog"
)

// piece is how many bytes are taken at a time: what writers put into a page or a buffer.
const piece = 512 << 10

// limit is the seconds that a case takes here at least, whoever does it, and prints its parts: the
// file's bytes come from the file system's cache into memory that is used again and again; what is
// compressed is decompressed by the libraries that we use; and a copy of the file goes to the file
// system. Each part is measured by itself, with so many goroutines (writing a file with one). What
// text takes to be parsed and formed, positions in dictionaries to be looked up, and Zstandard to be
// decompressed (pieces by themselves take longer than a file's pages) has no such measure; sums cost next to nothing while the numbers are in a cache.
func (t task) limit(p *dialog.Program, dir string, workers int) (float64, error) {
	f, err := os.Open(filepath.Join(dir, t.file))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	memory := make([]byte, workers*piece)
	copied := fastest(int(info.Size()), workers, func(from, to int) {
		own := memory[from/piece%workers*piece:]
		if _, e := f.ReadAt(own[:to-from], int64(from)); e != nil && e != io.EOF {
			err = e
		}
	})
	inflated, e := t.decompression(p, dir, workers)
	if err = errors.Join(err, e); err != nil {
		return 0, err
	}
	written := 0.0
	if t.what == "copy" {
		if written, err = writing(filepath.Join(dir, "copied"), info.Size()); err != nil {
			return 0, err
		}
	}
	fmt.Printf("%s, at least: %.4f s for %.0f MB from the file system's cache, %.4f s to decompress, %.4f s to write a file\n",
		t.name, copied, float64(info.Size())/1e6, inflated, written)
	return copied + inflated + written, nil
}

// writing is the seconds of the fastest of three times in which a file of so many bytes is written.
func writing(path string, n int64) (float64, error) {
	best, b := time.Hour, make([]byte, piece)
	for range 3 {
		began := time.Now()
		f, err := os.Create(path)
		for left := n; left > 0 && err == nil; left -= piece {
			_, err = f.Write(b[:min(left, piece)])
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
		best = min(best, time.Since(began))
	}
	return best.Seconds(), os.Remove(path)
}

// fastest is the seconds of the fastest of several times in which all of n bytes are taken.
func fastest(n, workers int, take func(from, to int)) float64 {
	best := time.Hour
	for range 15 {
		began := time.Now()
		var others sync.WaitGroup
		for w := range workers {
			others.Go(func() {
				for from := w * piece; from < n; from += workers * piece {
					take(from, min(from+piece, n))
				}
			})
		}
		others.Wait()
		best = min(best, time.Since(began))
	}
	return best.Seconds()
}

// decompression is the seconds in which the bytes of the same table, written without compression,
// are decompressed once the peer has compressed them, a piece at a time.
func (t task) decompression(p *dialog.Program, dir string, workers int) (float64, error) {
	plain, codec := "plain.none.parquet", ""
	if strings.HasPrefix(t.file, "dictionary") {
		plain = "dictionary.none.parquet"
	}
	for _, name := range []string{"snappy", "lz4"} {
		if strings.Contains(t.file, name) {
			codec = name
		}
	}
	if codec == "" {
		return 0, nil
	}
	out := filepath.Join(dir, "pieces")
	if _, err := p.Ask("compress\t%s\t%s\t%s\t%d", codec, filepath.Join(dir, plain), out, piece); err != nil {
		return 0, err
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return 0, err
	}
	var packed [][]byte
	for len(b) >= 8 {
		n := 8 + binary.LittleEndian.Uint64(b)
		packed, b = append(packed, b[8:n]), b[n:]
	}
	inflate := map[string]func(dst, src []byte) error{
		"snappy": func(dst, src []byte) error { _, err := snappy.Decode(dst, src); return err },
		"lz4":    func(dst, src []byte) error { _, err := lz4.UncompressBlock(src, dst); return err },
	}[codec]
	faults, memory := make([]error, len(packed)), make([]byte, len(packed)*piece)
	seconds := fastest(len(memory), workers, func(from, to int) { faults[from/piece] = inflate(memory[from:to:to], packed[from/piece]) })
	return seconds, errors.Join(faults...)
}
