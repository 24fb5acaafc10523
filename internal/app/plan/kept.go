package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pho-go/pho/basis"
	"github.com/pho-go/pho/decompose"
	"github.com/pho-go/pho/internal/base/durable"
)

// The coordinator keeps results of fits and terms beside the totals, so that workers need not make
// them again: with other kernels they would come to other last digits.

// keepSolved keeps what the i-th pass, a fit, came to; nil: it lost too many digits.
func (p *Plan) keepSolved(i int, r *decompose.Result) error {
	d := &p.Done[i]
	if d.Solved != "" || d.Lost {
		return nil
	}
	if r == nil {
		d.Lost = true
		return p.write()
	}
	name := strings.TrimSuffix(d.Total, ".pho") + "-solved"
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := durable.WriteFile(path+".bin", func(f *os.File) error { return r.EncodeMoments(f) }); err != nil {
		return err
	}
	if err := durable.WriteFile(path+".json", func(f *os.File) error { return r.Encode(f) }); err != nil {
		return err
	}
	d.Solved = name
	return p.write()
}

// solved is what the i-th pass came to; nil: it is not kept.
func (p *Plan) solved(i int) (*decompose.Result, error) {
	if p.Done[i].Solved == "" {
		return nil, nil
	}
	path := filepath.Join(p.dir, filepath.FromSlash(p.Done[i].Solved))
	doc, err := os.ReadFile(path + ".json")
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", p.dir, durable.Reason(err))
	}
	f, err := os.Open(path + ".bin")
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", p.dir, durable.Reason(err))
	}
	defer f.Close()
	r, err := decompose.Read(bytes.NewReader(doc), f, basis.Decode)
	if err != nil {
		return nil, fmt.Errorf("plan %q: %s: %w", p.dir, p.Done[i].Solved, err)
	}
	return r, nil
}

// keptTerms are the terms of one look, of every spec.
type keptTerms struct {
	Format string          `json:"format"`
	Stage  string          `json:"stage"` // behind the look
	Blocks json.RawMessage `json:"blocks"`
}

// termsFormat names its version.
const termsFormat = "pho.terms/1"

// Terms keeps the terms that were made after a look at the rows; who has other kernels than the plan's
// gets those that are kept in their place.
func (p *Passes) Terms(look string, made []decompose.Prepared) ([]decompose.Prepared, error) {
	path := filepath.Join(p.Plan.dir, totalsFolder, strings.ReplaceAll(look, " ", "-")+".json")
	stage := p.Plan.stage(p.at, "terms", look).Digest
	if !p.Coordinates && !p.OtherKernel {
		return made, nil
	}
	raw, err := os.ReadFile(path)
	var kept keptTerms
	there := err == nil && json.Unmarshal(raw, &kept) == nil && kept.Format == termsFormat && kept.Stage == stage
	switch {
	case p.Coordinates && !there && p.Plan.dir != "":
		return made, keepTerms(path, stage, made)
	case !p.OtherKernel:
		return made, nil
	case !there:
		return nil, fmt.Errorf("plan %q: the terms are not kept there, and this machine's own differ in their last digits: let whoever made the plan look at it first", p.Plan.dir)
	}
	blocks, err := decompose.DecodeBlocks(kept.Blocks, basis.Decode)
	if err != nil || len(blocks) != len(made) {
		return nil, fmt.Errorf("plan %q: the terms of %q are damaged: %w", p.Plan.dir, look, err)
	}
	for i := range made {
		made[i].Blocks = blocks[i]
	}
	return made, nil
}

func keepTerms(path, stage string, made []decompose.Prepared) error {
	blocks := make([][]decompose.Block, len(made))
	for i := range made {
		blocks[i] = made[i].Blocks
	}
	doc, err := decompose.EncodeBlocks(blocks)
	if err != nil {
		return err
	}
	return durable.WriteFile(path, func(f *os.File) error {
		return json.NewEncoder(f).Encode(keptTerms{termsFormat, stage, doc})
	})
}
