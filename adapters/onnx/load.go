package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
	"github.com/pho-go/pho/adapters/onnx/internal/operator"
	"github.com/pho-go/pho/adapters/onnx/internal/parts"
)

// LoadOptions bounds what a file may ask for. The zero value (and nil) holds
// the defaults.
type LoadOptions struct {
	// MaxMemory bounds, in bytes, the constants of the graph together (as
	// loaded and folded) and any tensor the engine would allocate for one row,
	// before it is allocated. 0: 4 GiB.
	MaxMemory int64
	// MaxFileSize bounds the file, in bytes. 0: 2 GiB less one byte, the limit
	// of the format.
	MaxFileSize int64
	// MaxElements bounds nodes, tensors, attributes and the other parts of the
	// file together, and likewise what loops, branches and functions expand to.
	// 0: 1,000,000.
	MaxElements int
	// MaxWork bounds the multiply-adds of constant folding, and those of one
	// row. 0: 1e11.
	MaxWork int64
	// Constants are the values, row-major, of graph inputs that are constants in truth, which
	// exporters may leave without their values (the mean and variance of Keras' Normalization
	// by tf2onnx). Errors: a name of no input, or values that do not fit its shape and type.
	Constants map[string][]float64
	// KeepFile keeps the bytes of the file for Graph.File, and of the files beside it for
	// Graph.External, which engines other than this package's need.
	KeepFile bool
	// External is the folder of the model, in which a model may keep the data of its
	// tensors in files of their own, together of at most MaxMemory bytes. Only regular
	// files are read. nil: LoadFile takes Beside(path), Load refuses such models.
	External fs.FS
}

func (o *LoadOptions) withDefaults() (LoadOptions, error) {
	var r LoadOptions
	if o != nil {
		r = *o
	}
	if r.MaxMemory < 0 || r.MaxFileSize < 0 || r.MaxElements < 0 || r.MaxWork < 0 {
		return r, errors.New("onnx: negative limit in LoadOptions")
	}
	if r.MaxFileSize == 0 {
		r.MaxFileSize = 1<<31 - 1
	}
	return r, nil
}

// LoadFile reads, checks and folds the network in the file. Data of its tensors in other
// files is read from the file's own folder: see Beside.
func LoadFile(path string, o *LoadOptions) (*Graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	defer f.Close()
	var opts LoadOptions
	if o != nil {
		opts = *o
	}
	if opts.External == nil {
		opts.External = Beside(path)
	}
	g, err := Load(f, &opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

// readAll reads up to so many bytes. Of a file, whose size is known, they are read into their place at once.
func readAll(r io.Reader, most int64) ([]byte, error) {
	var b bytes.Buffer
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
		}
	}
	_, err := b.ReadFrom(io.LimitReader(r, most))
	return b.Bytes(), err
}

// Load reads a network, expands control flow, functions and sequences, checks every
// shape and type along the batch axis, folds what is constant and keeps the nodes its
// outputs need. Opsets 7 to 28 of ai.onnx. Outputs that cannot be computed are left out as
// long as one remains that may be decomposed. Errors name the node, its operator and the
// reason; an operator that is not supported is an *UnsupportedOperatorError, a bound of
// memory that is exceeded wraps ErrMemory.
func Load(r io.Reader, o *LoadOptions) (*Graph, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	b, err := readAll(r, opts.MaxFileSize+1)
	if err != nil {
		return nil, fmt.Errorf("onnx: reading the model: %w", err)
	}
	if int64(len(b)) > opts.MaxFileSize {
		return nil, fmt.Errorf("onnx: the model is larger than %d bytes (MaxFileSize)", opts.MaxFileSize)
	}
	beside := newExternalFiles(opts.External, opts.MaxMemory)
	g, err := graph.ReadExternal(b, beside.reader(), graph.Limits{MaxMemory: opts.MaxMemory, MaxElements: opts.MaxElements, MaxWork: opts.MaxWork, Constants: opts.Constants}, operator.NewFloat64())
	if err != nil {
		return nil, typed(err)
	}
	loaded := &Graph{g: g, sha256: beside.digest(b), external: beside.content}
	switch {
	case opts.KeepFile && g.Parts != nil: // an engine asks for all inputs
		if loaded.file, err = parts.Without(b); err != nil {
			return nil, err
		}
	case opts.KeepFile:
		loaded.file = b
	default:
		for location := range beside.content {
			beside.content[location] = nil
		}
	}
	return loaded, nil
}
