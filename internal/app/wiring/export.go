package wiring

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
func (q *Request) exports(s *subject, with decompose.Model) error {
	if !q.Export {
		return nil
	}
	return q.Network.checkExport(s.graph(), s.contrasts, with)
}

// CheckExport refuses what Export could not write of the network and the terms of with.
func (d *Ready) CheckExport(with decompose.Model) error {
	own, _ := d.Base.(*classes.Model)
	return d.network.checkExport(d.Graph, own, with)
}

func (n *Network) checkExport(m *onnx.Model, c *classes.Model, with decompose.Model) error {
	if n.Library != "" {
		return errNoFile
	}
	file, err := n.file()
	if err != nil {
		return err
	}
	if err := export.Check(file, m, with, mixtures(c)); err != nil {
		return fmt.Errorf("%s: %w", n, err)
	}
	return nil
}

// errNoFile is a model that is no ONNX file, which is to be written as one.
var errNoFile = errors.New("the model is no ONNX file to which the parts could be added")

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

// Export writes the network's file with the parts of r to w (package export). A model that is no
// file is an error.
func (o *Opened) Export(w io.Writer, r *decompose.Result) error {
	if len(o.Networks) == 0 || o.Files[0].Predictions != nil || o.Files[0].Library != "" {
		return errNoFile
	}
	n, m := o.Files[0], o.Networks[0]
	contrasts, _ := o.Model.(*classes.Model)
	file, err := n.file()
	if err != nil {
		return err
	}
	if err := export.Write(w, file, m, r, mixtures(contrasts)); err != nil {
		return fmt.Errorf("%s: %w", n, err)
	}
	return nil
}

// file is what n was loaded from, as long as that has the digest: see onnx.Graph.SHA256.
func (n *Network) file() (f export.File, err error) {
	if n.Path == "" {
		return export.File{Model: n.raw}, nil
	}
	path := n.Path
	if f.Model, err = os.ReadFile(n.place); err != nil {
		return f, fmt.Errorf("model %q: %w", path, durable.Reason(err))
	}
	digest := sha256.New()
	digest.Write(f.Model)
	f.External = n.Graph.External()
	for _, location := range slices.Sorted(maps.Keys(f.External)) {
		content, err := fs.ReadFile(onnx.Beside(n.place), location)
		if err != nil {
			return f, fmt.Errorf("model %q: data of its tensors: %w", path, err)
		}
		f.External[location] = content
		own := sha256.Sum256(content)
		digest.Write(own[:])
	}
	if now := hex.EncodeToString(digest.Sum(nil)); now != n.SHA256 {
		return f, fmt.Errorf("model %q, or a file beside it with data of its tensors, is another one than when it was loaded: the sha256 is %s, want %q", path, now, n.SHA256)
	}
	return f, nil
}
