package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/adapters/onnx/internal/graph"
)

// Beside is the folder of a file, for LoadOptions.External. Links that lead out of it are
// not followed. It is opened with each file that is read.
func Beside(path string) fs.FS { return beside(filepath.Dir(path)) }

type beside string

func (b beside) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(b))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.FS().Open(name)
}

// Stat tells of a file without opening it: to open a pipe could wait for ever.
func (b beside) Stat(name string) (fs.FileInfo, error) {
	root, err := os.OpenRoot(string(b))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.Stat(root.FS(), name)
}

// externalFiles are the files that a model has data in, each read once and whole.
type externalFiles struct {
	folder  fs.FS
	left    int64 // bytes that may be read
	max     int64
	content map[string][]byte
}

// newExternalFiles: a max of 0 is the default of LoadOptions.MaxMemory.
func newExternalFiles(folder fs.FS, max int64) *externalFiles {
	if max == 0 {
		max = graph.DefaultMemory
	}
	return &externalFiles{folder, max, max, map[string][]byte{}}
}

func (e *externalFiles) reader() graph.External {
	if e.folder == nil {
		return nil
	}
	return e.read
}

func (e *externalFiles) read(location string) ([]byte, error) {
	if b, ok := e.content[location]; ok {
		return b, nil
	}
	info, err := fs.Stat(e.folder, location)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it must lie in the folder of the model, which alone is read", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", location)
	case info.Size() > e.left:
		return nil, graph.MemoryError(fmt.Sprintf("%q has %d bytes: such files together need more than %d bytes (MaxMemory)", location, info.Size(), e.max))
	}
	e.left -= info.Size()
	f, err := e.folder.Open(location)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("reading %q: %w", location, err)
	}
	e.content[location] = b
	return b, nil
}

// digest: see Graph.SHA256.
func (e *externalFiles) digest(file []byte) string {
	sum := sha256.New()
	sum.Write(file)
	for _, location := range slices.Sorted(maps.Keys(e.content)) {
		own := sha256.Sum256(e.content[location])
		sum.Write(own[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}
