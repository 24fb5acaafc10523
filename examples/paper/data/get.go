package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pho-go/pho/examples/paper/data/folds"
)

// largest is more than any of the files has, in bytes.
const largest = 64 << 20

func (s *source) paths(dir string) []string {
	p := []string{filepath.Join(dir, "paper_folds", s.name+".csv")}
	if s.file != "" {
		p = append(p, filepath.Join(dir, s.file+".csv"))
	}
	return p
}

// complete tells whether the files are there: they are left as they are.
func (s *source) complete(dir string) bool {
	for _, p := range s.paths(dir) {
		if _, err := os.Stat(p); err != nil {
			return false
		}
	}
	return true
}

// get downloads, checks and writes the set; note says what is unusual.
func (s *source) get(ctx context.Context, client *http.Client, dir string) (note string, err error) {
	text, err := s.fetch(ctx, client)
	if err != nil {
		return "", err
	}
	rows, err := s.parse(string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.url, err)
	}
	if note, err = s.check(rows); err != nil {
		return "", fmt.Errorf("%s: %w", s.url, err)
	}
	of := slices.Clone(s.folds(rows)) // rows get a further column
	y := make([]float64, len(of))
	names := make([]string, 0, len(of[0])+1)
	for j := range of[0] {
		names = append(names, fmt.Sprintf("V%d", j+1))
	}
	for i, r := range of {
		y[i] = r[len(r)-1]
	}
	for i, k := range folds.Create(y, 10, 1) {
		of[i] = append(of[i], float64(k))
	}
	paths := s.paths(dir)
	if err := write(paths[0], append(names, "fold"), of); err != nil {
		return "", err
	}
	if len(paths) > 1 && !exists(paths[1]) {
		err = write(paths[1], s.names, s.named(rows))
	}
	return note, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fetch returns the file, out of its archive.
func (s *source) fetch(ctx context.Context, client *http.Client) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server says %q", s.url, response.Status)
	}
	body, err := limited(response.Body)
	if err != nil || s.member == "" {
		return body, err
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.url, err)
	}
	f, err := z.Open(s.member)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.url, err)
	}
	defer f.Close()
	return limited(f)
}

func limited(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err == nil && len(b) > largest {
		err = fmt.Errorf("more than %d bytes: this is not the file", largest)
	}
	return b, err
}

// parse reads the rows; blank lines are passed over.
func (s *source) parse(text string) ([][]float64, error) {
	var rows [][]float64
	for i, line := range strings.Split(text, "\n") {
		line = strings.Trim(line, "\r\ufeff \t")
		if line == "" || i == 0 && s.header {
			continue
		}
		cells := strings.Fields(line)
		if !s.tabs {
			cells = strings.Split(line, ",")
		}
		var row []float64
		for _, c := range cells {
			v, err := s.number(strings.Trim(c, `" `))
			if err != nil {
				return nil, fmt.Errorf("line %d: cell %q is no number", i+1, c)
			}
			row = append(row, v)
		}
		if len(row) != len(s.means) {
			return nil, fmt.Errorf("line %d: %d cells, want %d", i+1, len(row), len(s.means))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// check compares with the file that this was written with.
func (s *source) check(rows [][]float64) (note string, err error) {
	if len(rows) != s.rows {
		return "", fmt.Errorf("%d rows, want %d", len(rows), s.rows)
	}
	if digest(rows, s.leftOut) == s.sha256 {
		return "", nil
	}
	for j, want := range s.means {
		mean := 0.0
		for _, r := range rows {
			mean += r[j] / float64(len(rows))
		}
		if !(math.Abs(mean-want) <= 1e-3*math.Max(math.Abs(want), 1e-3)) {
			return "", fmt.Errorf("the mean of column %d is %g, want %g: the file has other data than the results were made with", j+1, mean, want)
		}
	}
	return ": not the same digits as the file that the results were made with, but the same means", nil
}

// digest is the sha256 of the numbers, some columns left out.
func digest(rows [][]float64, leftOut []int) string {
	h := sha256.New()
	for _, r := range rows {
		for j, v := range r {
			if slices.Contains(leftOut, j) {
				continue
			}
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			h.Write(b[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// write replaces the file.
func write(path string, names []string, rows [][]float64) error {
	var b bytes.Buffer
	b.WriteString(strings.Join(names, ",") + "\n")
	for _, r := range rows {
		for j, v := range r {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	part := path + ".part"
	if err := os.WriteFile(part, b.Bytes(), 0o666); err != nil {
		return err
	}
	return os.Rename(part, path)
}
