package wiring

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/export"
	"github.com/pho-go/pho/classes"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// exports refuses what cannot be written into the network's file, if it is to be.
func (q *Request) exports(network *onnx.Model, c *classes.Model, with decompose.Model) error {
	if !q.Export {
		return nil
	}
	return checkExport(q.Network.Path, q.Network.SHA256, network, c, with)
}

// CheckExport refuses what Export could not write of the network and the terms of with.
func (d *Ready) CheckExport(with decompose.Model) error {
	own, _ := d.Base.(*classes.Model)
	return checkExport(d.reference.Path, d.reference.SHA256, d.Graph, own, with)
}

func checkExport(path, sum string, network *onnx.Model, c *classes.Model, with decompose.Model) error {
	file, err := fileOf(path, sum, network.Graph())
	if err != nil {
		return err
	}
	if err := export.Check(file, network, with, mixtures(c)); err != nil {
		return fmt.Errorf("model %q: %w", path, err)
	}
	return nil
}

// mixtures are how predictors are made of the network's; nil: they are these.
func mixtures(c *classes.Model) *export.Options {
	if c == nil {
		return nil
	}
	o := &export.Options{Joined: c.Joined()}
	for k := range c.Predictors() {
		o.Mixtures = append(o.Mixtures, c.Mixture(k))
	}
	return o
}

// Export writes the network's file with the parts of r to w (package export). path and sum
// are of the file that network was loaded from.
func Export(w io.Writer, path, sum string, network *onnx.Model, r *decompose.Result) error {
	ref := ReferenceOf(r)
	contrasts, err := ref.contrasted(network)
	if err != nil {
		return err
	}
	file, err := fileOf(path, sum, network.Graph())
	if err != nil {
		return err
	}
	if err := export.Write(w, file, network, r, mixtures(contrasts)); err != nil {
		return fmt.Errorf("model %q: %w", path, err)
	}
	return nil
}

// fileOf is what the network g was loaded from, as long as that has the digest: see
// onnx.Graph.SHA256.
func fileOf(path, sum string, g *onnx.Graph) (f export.File, err error) {
	if f.Model, err = os.ReadFile(path); err != nil {
		return f, fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	digest := sha256.New()
	digest.Write(f.Model)
	f.External = g.External()
	for _, location := range slices.Sorted(maps.Keys(f.External)) {
		content, err := fs.ReadFile(onnx.Beside(path), location)
		if err != nil {
			return f, fmt.Errorf("model %q: data of its tensors: %w", path, err)
		}
		f.External[location] = content
		own := sha256.Sum256(content)
		digest.Write(own[:])
	}
	if now := hex.EncodeToString(digest.Sum(nil)); now != sum {
		return f, fmt.Errorf("model %q, or a file beside it with data of its tensors, is another one than when it was loaded: the sha256 is %s, want %q", path, now, sum)
	}
	return f, nil
}
