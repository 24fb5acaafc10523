package wiring

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pho-go/pho/adapters/onnx"
	"github.com/pho-go/pho/adapters/onnx/onnxruntime"
	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/data/files"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// Opened is what a result was made of, opened again.
type Opened struct {
	Model    decompose.Model // the network, its classes made unique, or all of them as one; or a model that is no file
	Networks []*onnx.Model   // one at least; none of a model that is no file
	Files    []*Network      // that they were loaded from
	*Reference
	Notes []string // what is to be said of this opening
}

// Seen are the rows of src as the model, and the terms of r, see them.
func (o *Opened) Seen(r *decompose.Result, src files.Source) files.Source {
	enters := o.Model
	if len(o.Networks) > 0 { // of several, which round alike, the first
		enters = o.Networks[0]
	}
	rows := seen(enters, o.Rounded, TermColumns(r), nil, linked(src, o.Files))
	rows.fault = o.sameUnits(src.Schema())
	return rows
}

// Reopen opens the network that r, read from dir, was made of; path overrides the
// recorded one, by what the result says of how the network is computed. maxMemory as in Load.
//
// Errors: a network that is not there, or another one (*MovedError if path is ""), or
// that cannot be read.
func Reopen(r *decompose.Result, dir, path string, maxMemory int64, by Computing) (*Opened, error) {
	var ref Reference
	if err := json.Unmarshal(r.Model, &ref); err != nil {
		return nil, fmt.Errorf("the decomposition does not say which network it is of: %w", err)
	}
	if ref.Kind == Columns && len(ref.Members) == 0 {
		return ref.openedPredictions(0, path, ref.computing(by))
	}
	if ref.Kind == Address {
		return ref.openedAddress(path, ref.computing(by))
	}
	if err := ref.ofOneFile(); err != nil {
		return nil, err
	}
	moved := func(err error) error { return err }
	if path == "" {
		moved = func(err error) error { return &MovedError{err} }
		if ref.Path == "" {
			return nil, moved(fmt.Errorf("the decomposition is of a network that was read from a stream, so it names no file: give the network, whose sha256 is %s", ref.SHA256))
		}
		path = ref.find(dir)
	}
	by = ref.computing(by)
	n, err := LoadWith(path, ref.loading(maxMemory, by))
	if err != nil {
		return nil, moved(err)
	}
	if err := ref.is(n); err != nil {
		return nil, moved(err)
	}
	return ref.openedBy(n, by)
}

// loading are the options that a network of ref is read with.
func (ref *Reference) loading(maxMemory int64, by Computing) *onnx.LoadOptions {
	return &onnx.LoadOptions{MaxMemory: maxMemory, Constants: ref.Constants, KeepFile: by.Engine == ONNXRuntime}
}

// ReopenNetwork opens n, which somebody brings, as r has it. Another network than r's is an error.
func ReopenNetwork(r *decompose.Result, n *Network) (*Opened, error) {
	ref := ReferenceOf(r)
	if err := ref.ofOneFile(); err != nil {
		return nil, err
	}
	if err := ref.is(n); err != nil {
		return nil, err
	}
	return ref.openedBy(n, ref.computing(Computing{}))
}

// openedBy is n as the reference has it, computed so.
func (ref *Reference) openedBy(n *Network, by Computing) (*Opened, error) {
	h, err := start(by.Engine)
	if err != nil {
		return nil, err
	}
	return ref.opened(n, h, by.Precision)
}

// opened is n as the reference has it, computed by h unless that is nil.
func (ref *Reference) opened(n *Network, h *onnxruntime.Helper, precision string) (*Opened, error) {
	m, err := ref.model(n, h, precision)
	if err != nil {
		return nil, err
	}
	own := *ref
	own.Path = n.Path
	o := &Opened{Networks: []*onnx.Model{m}, Files: []*Network{n}, Reference: &own, Notes: present(ref.elsewhere(engineOf(h)))}
	if o.Model, err = ref.Contrasted(m); err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	return o, nil
}

// ReopenModel refuses m if it cannot be the model, no file, that r was made of.
func ReopenModel(r *decompose.Result, m decompose.Model) (*Opened, error) {
	ref := ReferenceOf(r)
	if ref.Kind != Function {
		return nil, errors.New("the decomposition is of an ONNX network: read it with that")
	}
	if own := m.Columns(); !slices.Equal(own, ref.Columns) {
		return nil, fmt.Errorf("the model reads the columns %.300q, and the one that was decomposed %.300q: give the model that was decomposed", own, ref.Columns)
	}
	if _, err := r.Applier(m); err != nil {
		return nil, err
	}
	return &Opened{Model: m, Reference: &ref}, nil
}

// ofOneFile refuses a reference that is not to a file.
func (ref *Reference) ofOneFile() error {
	switch {
	case ref.Kind == Function:
		return errors.New("the decomposition is of a model that is no file, but a value of the Go program that decomposed it: only a program that has the model can open it (pho.ReadModel)")
	case ref.Kind == Columns && len(ref.Members) == 0:
		return errors.New("the decomposition is of a model that is known by its predictions, columns of the data, and not of a file")
	case ref.Kind == Address:
		return fmt.Errorf("the decomposition is of a model behind an address, %q, and not of a file", ref.Address)
	case ref.Kind != "" && ref.Kind != Columns:
		return fmt.Errorf("the decomposition is of a model of kind %q, which this version does not know: use a newer one", ref.Kind)
	case len(ref.Members) > 0:
		return fmt.Errorf("the decomposition is of %d networks, not of one", len(ref.Members))
	case ref.SHA256 == "":
		return errors.New("the decomposition does not say which network it is of: it has no sha256")
	}
	return nil
}

// is refuses another network than the one that was decomposed.
func (ref *Reference) is(n *Network) error {
	if n.SHA256 == ref.SHA256 {
		return nil
	}
	return fmt.Errorf("%s is not the network of this decomposition: its sha256 is %s, want %q", n, n.SHA256, ref.SHA256)
}

// ReopenAll is Reopen for results of one network or several. path, if it is not "", is the
// file of the one, or the folder below which the several lie as they did below the folder
// that they have in common.
func ReopenAll(r *decompose.Result, dir, path string, maxMemory int64, by Computing) (*Opened, error) {
	ref := ReferenceOf(r)
	if len(ref.Members) == 0 {
		return Reopen(r, dir, path, maxMemory, by)
	}
	if r.Networks == nil || len(r.Networks.Names) != len(ref.Members) {
		return nil, fmt.Errorf("the decomposition names %d files of its networks, and is of another number", len(ref.Members))
	}
	by = ref.computing(by)
	h, err := start(by.Engine)
	if err != nil {
		return nil, err
	}
	o := &Opened{Reference: &ref, Notes: present(ref.elsewhere(engineOf(h)))}
	var members []decompose.Member
	var faults []error
	for i, member := range ref.Members {
		own, err := ref.reopenMember(i, dir, path, maxMemory, h, by)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		o.Networks, o.Files = append(o.Networks, own.Networks...), append(o.Files, own.Files...)
		members = append(members, decompose.Member{Name: member.Name, Model: own.Model})
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	joined, err := decompose.Join(members, r.Networks.From)
	if err != nil {
		return nil, err
	}
	o.Model = joined
	return o, nil
}

// reopenMember opens the i-th of several networks.
func (ref *Reference) reopenMember(i int, dir, folder string, maxMemory int64, h *onnxruntime.Helper, by Computing) (*Opened, error) {
	if ref.Kind == Columns {
		return ref.openedPredictions(i, folder, by)
	}
	member := ref.Members[i]
	own := Reference{Path: member.Path}
	file, moved := own.find(dir), func(err error) error { return &MovedError{err} }
	if folder != "" {
		rel, err := filepath.Rel(filepath.FromSlash(ref.Path), filepath.FromSlash(member.Path))
		if err != nil {
			rel = filepath.Base(member.Path)
		}
		file, moved = filepath.Join(folder, rel), func(err error) error { return err }
	}
	n, err := LoadWith(file, ref.loading(maxMemory, by))
	if err != nil {
		return nil, moved(err)
	}
	if n.SHA256 != member.SHA256 {
		return nil, moved(fmt.Errorf("model %q is not the network %q of this decomposition: its sha256 is %s, want %q", file, member.Name, n.SHA256, member.SHA256))
	}
	return ref.opened(n, h, by.Precision)
}

// model is the network as it was bound and read.
func (ref *Reference) model(n *Network, h *onnxruntime.Helper, precision string) (*onnx.Model, error) {
	g := n.run()
	p, err := Precision(precision)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	engine, err := n.engine(h, p)
	if err != nil {
		return nil, err
	}
	bind := make(onnx.Binding, len(g.Inputs()))
	for i, in := range g.Inputs() {
		bind[i] = onnx.BoundInput{Input: in.Name, Columns: ref.Inputs[in.Name]}
	}
	if n.Asked != nil {
		bind = n.Predictions.bound()
	}
	m, err := onnx.NewModel(g, bind, &onnx.Options{
		Derived:  n.derived(),
		MaxOrder: ref.MaxOrder, TreeOrder: cmp.Or(ref.TreeOrder, ref.MaxOrder, 3), Deep: ref.Deep, Learned: ref.Learned, Predictor: ref.Predictor, NoStructure: ref.NoStructure, Clip: ref.Clip, Missing: ref.Missing,
		Engine: engine, Decode: basis.Decode,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	return m, nil
}

// find is where the network is: the recorded path, seen from dir (earlier versions
// recorded absolute ones), or, if there is nothing, its file name beside dir. The
// hash decides whether it is the right one.
func (ref *Reference) find(dir string) string {
	recorded := filepath.FromSlash(ref.Path)
	if followed, err := durable.Resolve(dir); err == nil && !filepath.IsAbs(recorded) {
		recorded = filepath.Join(followed, recorded)
	}
	if _, err := os.Stat(recorded); err == nil {
		return recorded
	}
	beside := filepath.Join(dir, "..", filepath.Base(recorded))
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	return recorded
}
