package wiring

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/pho-go/pho/adapters/boosters"
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
	if s.graph() == nil || q.Network.Predictions != nil {
		return export.CheckSurrogate(with)
	}
	return q.Network.checkExport(s.graph(), s.contrasts, with)
}

// CheckExport refuses what Export could not write of the network and the terms of with.
func (d *Ready) CheckExport(with decompose.Model) error {
	if d.Graph == nil || d.network.Predictions != nil {
		return export.CheckSurrogate(with)
	}
	own, _ := d.Base.(*classes.Model)
	return d.network.checkExport(d.Graph, own, with)
}

func (n *Network) checkExport(m *onnx.Model, c *classes.Model, with decompose.Model) error {
	file, err := n.file()
	if err != nil {
		return err
	}
	if err := export.Check(file, m, with, mixtures(c)); err != nil {
		return fmt.Errorf("%s: %w", n, err)
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

// HasFile reports whether the model is one of a file, to which parts can be added: of ONNX, or of a booster, which is written as such.
func (o *Opened) HasFile() bool { return len(o.Networks) > 0 && o.Files[0].Predictions == nil }

// Export writes the network's file with the parts of r to w; of a model that is no file a surrogate, its structured part alone
// (package export).
func (o *Opened) Export(w io.Writer, r *decompose.Result) error {
	if !o.HasFile() {
		c := o.Classes
		return export.Surrogate(w, r, c != nil && len(c.Heads) == 1 && len(c.Heads[0].Classes) == len(r.Predictors))
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

// file is n as a file of ONNX.
func (n *Network) file() (export.File, error) {
	f, err := n.loaded()
	if err != nil || n.Library == "" {
		return f, err
	}
	if f.Model, err = boosters.ONNX(bytes.NewReader(f.Model)); err != nil {
		return f, fmt.Errorf("%s: %w", n, err)
	}
	return f, nil
}

// loaded is what n was loaded from, as long as that has the digest: see onnx.Graph.SHA256.
func (n *Network) loaded() (f export.File, err error) {
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
