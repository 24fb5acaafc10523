package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// piece is how many bytes are taken at a time: what writers put into a page or a buffer.
const piece = 512 << 10

// limit prints what a case takes here at least, whoever does it: the file's bytes come from the
// file system's cache into memory that is there, what is compressed is decompressed by the libraries
// that we use, numbers that do not lie in the file as they are are written, and all are
// read. Each part is measured by itself, with so many goroutines.
func (t task) limit(p *peer, dir string, rows, workers int) error {
	if t.what != "sum" {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, t.file))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	memory := make([]byte, max(info.Size(), int64(8*12*rows)))
	copied := fastest(int(info.Size()), workers, func(from, to int) {
		if _, e := f.ReadAt(memory[from:to], int64(from)); e != nil && e != io.EOF {
			err = e
		}
	})
	inflated, e := t.decompression(p, dir, workers)
	if err = errors.Join(err, e); err != nil {
		return err
	}
	numbers, written := memory[:8*12*rows], 0.0
	if t.file != "uncompressed.arrow" {
		written = fastest(len(numbers), workers, func(from, to int) { clear(numbers[from:to]) })
	}
	read := fastest(len(numbers), workers, func(from, to int) {
		var sum [8]byte
		for ; from+64 <= to; from += 64 { // a cache line
			sum[from>>6&7] += numbers[from]
		}
	})
	fmt.Printf("%s: at least %.4f s with %d goroutines: %.4f s for %.0f MB from the file system's cache, %.4f s to decompress, %.4f s to write and read %.0f MB of numbers\n",
		t.name, copied+inflated+written+read, workers, copied, float64(info.Size())/1e6, inflated, written+read, float64(len(numbers))/1e6)
	return nil
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
func (t task) decompression(p *peer, dir string, workers int) (float64, error) {
	plain, codec := "plain.none.parquet", ""
	if strings.HasPrefix(t.file, "dictionary") {
		plain = "dictionary.none.parquet"
	}
	for _, name := range []string{"zstd", "snappy", "lz4"} {
		if strings.Contains(t.file, name) {
			codec = name
		}
	}
	if codec == "" {
		return 0, nil
	}
	out := filepath.Join(dir, "pieces")
	if _, err := p.ask("compress", codec, filepath.Join(dir, plain), out, strconv.Itoa(piece)); err != nil {
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
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers))
	if err != nil {
		return 0, err
	}
	defer d.Close()
	inflate := map[string]func(dst, src []byte) error{
		"zstd":   func(dst, src []byte) error { _, err := d.DecodeAll(src, dst[:0]); return err },
		"snappy": func(dst, src []byte) error { _, err := snappy.Decode(dst, src); return err },
		"lz4":    func(dst, src []byte) error { _, err := lz4.UncompressBlock(src, dst); return err },
	}[codec]
	faults, memory := make([]error, len(packed)), make([]byte, len(packed)*piece)
	seconds := fastest(len(memory), workers, func(from, to int) { faults[from/piece] = inflate(memory[from:to:to], packed[from/piece]) })
	return seconds, errors.Join(faults...)
}
