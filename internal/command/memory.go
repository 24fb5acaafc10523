package command

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/interaction"
	"github.com/pho-go/pho/internal/app/wiring"
	"github.com/pho-go/pho/internal/base/machine"
)

// program is what the command itself and its libraries hold.
const program = 40 << 20

// parsedText is roughly the memory that a block of a CSV file takes with its numbers; there are two
// for each worker and one that is read.
const parsedText = 1 << 20

// Where more memory than muchMemory may be needed, garbage is collected when the heap has grown by muchKept percent, not when
// it has doubled: what is kept holds no pointers, so that a collection costs next to nothing.
const (
	muchMemory = 512 << 20
	muchKept   = 30

	hugeMemory = 4 << 30 // matrices of hundreds of MiB, which come and go
	hugeKept   = 10
)

// fitMemory says how much memory the run will take at its largest, and how long if that is long, and refuses it if that
// is more than --max-memory, or without it than the machine has. What is left of --max-memory decides how many
// of the network's outputs and, after these, of the rows are kept.
func (d *decomposeFlags) fitMemory(log *progress, m decompose.Model, ready *wiring.Ready, paths []string, o *decompose.Options) error {
	limit, rows := int64(0), int64(wiring.MaxCached)
	bound, name := machine.Memory(), "the memory of this machine"
	if d.network.maxMemory != "" {
		var err error
		if limit, err = parseSize(d.network.maxMemory); err != nil {
			return usagef("--max-memory: %w", err)
		}
		bound, name = limit, "--max-memory "+d.network.maxMemory
	}
	if bound > 0 {
		none := *o
		none.OutputMemory = -1
		need, err := d.memory(m, ready.Graph, ready.Rows, paths, &none, bound, 0)
		if err != nil {
			return err
		}
		if err := need.Check(bound); err != nil {
			if limit == 0 {
				err = fmt.Errorf("%w; --max-memory SIZE allows more", err)
			}
			return fmt.Errorf("%s: %w", name, err)
		}
		if limit > 0 {
			o.OutputMemory = (limit - need.Total()) * 4 / 5 // a fifth of it to the garbage collector
			if o.OutputMemory == 0 {
				o.OutputMemory = -1
			}
			if need, err = d.memory(m, ready.Graph, ready.Rows, paths, o, limit, 0); err != nil {
				return err
			}
			rows = min(wiring.MaxCached, max(0, limit-need.Total())*4/5)
		}
		debug.SetMemoryLimit(bound)
	}
	ready.Rows.Limit(rows)
	need, err := d.memory(m, ready.Graph, ready.Rows, paths, o, limit, rows)
	if err != nil {
		return err
	}
	if need.Total() > muchMemory && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(kept(need.Total()))
	}
	log.memory(need)
	work, err := decompose.EstimateWork(m, rowsOf(ready.Rows, paths), o)
	if err == nil {
		log.work(work, o.Goroutines(0))
	}
	return err
}

// kept is by how many percent the heap grows between collections where so much memory is needed.
func kept(need int64) int {
	if need > hugeMemory {
		return hugeKept
	}
	return muchKept
}

// cachedBeforehand bounds the rows kept by reading that comes before the rest of the run's memory
// is known.
func (d *decomposeFlags) cachedBeforehand() int64 {
	limit, err := parseSize(d.network.maxMemory)
	if d.network.maxMemory == "" || err != nil { // fitMemory says so
		return wiring.MaxCached
	}
	return min(wiring.MaxCached, limit/8)
}

// memory estimates the largest need of the run. With a limit the garbage collector
// keeps to it; without one it lets the heap double. rowsLimit bounds the rows kept.
func (d *decomposeFlags) memory(m decompose.Model, graph *onnx.Model, src *wiring.CachedRows, paths []string, o *decompose.Options, limit, rowsLimit int64) (decompose.Memory, error) {
	known := rowsOf(src, paths)
	need, err := decompose.EstimateMemory(m, known, o)
	if err != nil {
		return nil, err
	}
	chunk, err := decompose.ChunkRows(m)
	if err != nil {
		return nil, err
	}
	read := int64(max(int(d.data.batch), 1<<15)) // rows
	rows, workers := int64(chunk), int64(o.Goroutines((known+int64(chunk)-1)/int64(chunk)))
	if known > 0 {
		rows, read = min(rows, known), min(read, known)
	}
	columns := int64(0) // of the contributions
	for k := range m.Predictors() {
		columns += int64(len(m.Blocks(k))) + 3
	}
	written := 3 * workers * rows * columns * 3 * 8 // parts, and how they are written: text of up to 24 characters
	switch d.contributions {
	case noContributions:
		written = 0
	case "parquet":
		written += parquetMemory(columns, known) + freeBlocks*rows*columns*8
	}
	networks := int64(1)
	if joined, ok := m.(*decompose.Members); ok {
		networks = int64(len(joined.Networks()))
	}
	need = memoryInFlags(need).Add("network", networks*workers*graph.Memory(), "fewer --workers").
		Add("files being read", 3*int64(len(src.Schema()))*8*read+(2*workers+1)*parsedText, "a smaller --batch-size").
		Add("contributions being written", written, "fewer --workers, --contributions csv")
	if d.interactions != "none" {
		need = need.Add("pairs of columns", interaction.Memory(len(wiring.RowColumns(m, o)), len(m.Predictors()), heldChunks(workers, known, int64(chunk))), "--interactions none")
	}
	if known > 0 {
		rowsLimit = min(rowsLimit, known*wiring.RowSize(src.Schema(), wiring.RowColumns(m, o)))
	}
	need = need.Add("kept rows", rowsLimit, "")
	garbage := need.Total()
	if limit > 0 {
		garbage /= 5
	}
	return need.Add("garbage between collections", garbage, "").Add("program", program, ""), nil
}

// heldChunks is how many sums of chunks there are at a time, at work or merged: no more
// than chunks of the known rows (0: not known).
func heldChunks(workers, known, chunk int64) int64 {
	if known == 0 {
		return workers + 16
	}
	chunks := (known + chunk - 1) / chunk
	return min(chunks, workers+1+int64(bits.Len64(uint64(chunks))))
}

// rowsOf is about the number of rows of src, 0 if nothing tells it: as the files or
// an earlier pass have it, or by the length of the first lines of plain CSV files.
func rowsOf(src files.Source, paths []string) int64 {
	if s, ok := src.(interface{ Len() int64 }); ok && s.Len() >= 0 {
		return s.Len()
	}
	if total, _ := src.Rows(); total > 0 {
		return total
	}
	var rows int64
	for _, path := range paths {
		n := linesOf(path)
		if n == 0 {
			return 0
		}
		rows += n
	}
	return rows
}

// linesOf is about the number of lines of a text file, a fifth more than its first
// ones suggest; 0 for what is no plain text.
func linesOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	lines := bytes.Count(head, []byte{'\n'})
	if lines == 0 || bytes.IndexByte(head, 0) >= 0 { // compressed
		return 0
	}
	return int64(1.2*float64(lines)*float64(info.Size())/float64(n)) + 1
}

// memoryBound is the value of --max-memory, 0 if it is not given.
func memoryBound(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	bound, err := parseSize(text)
	if err != nil {
		return 0, usagef("--max-memory: %w", err)
	}
	return bound, nil
}

// parseSize reads 512MiB, 4GiB, 1000000.
func parseSize(text string) (int64, error) {
	units := []struct {
		suffix string
		bytes  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v > 0) || v*u.bytes > 1<<60 {
			break
		}
		return int64(v * u.bytes), nil
	}
	return 0, fmt.Errorf("%q is not a size; write 512MiB, 4GiB or a number of bytes", text)
}
