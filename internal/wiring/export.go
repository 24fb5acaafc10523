package wiring

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/durable"
)

// exports refuses what cannot be written into the network's file, if it is to be.
func (q *Request) exports(network *onnx.Model, with decompose.Model) error {
	if !q.Export {
		return nil
	}
	return CheckExport(q.Network.Path, q.Network.SHA256, network, with)
}

// CheckExport refuses what Export could not write of a network and the terms of with. path
// and sum are of the network's file.
func CheckExport(path, sum string, network *onnx.Model, with decompose.Model) error {
	file, err := fileOf(path, sum)
	if err != nil {
		return err
	}
	if err := export.Check(file, network, with); err != nil {
		return fmt.Errorf("model %q: %w", path, err)
	}
	return nil
}

// Export writes the network's file with the parts of r to w (package export). path and sum
// are of the file that network was loaded from.
func Export(w io.Writer, path, sum string, network *onnx.Model, r *decompose.Result) error {
	file, err := fileOf(path, sum)
	if err != nil {
		return err
	}
	if err := export.Write(w, file, network, r); err != nil {
		return fmt.Errorf("model %q: %w", path, err)
	}
	return nil
}

// fileOf is what the file holds, as long as that has the digest.
func fileOf(path, sum string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	if now := sha256.Sum256(file); hex.EncodeToString(now[:]) != sum {
		return nil, fmt.Errorf("model %q is another file than when it was loaded: its sha256 is %x, want %q", path, now, sum)
	}
	return file, nil
}
