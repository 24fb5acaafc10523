package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Merge adds up the parts in the files at paths: of one plan and pass, each shard in one of them, in
// any order and with any gaps. The sum is a part again. One part after the other is read, those of the first
// rows first, so that parts without gaps need the memory of a few, however many there are.
func Merge(ctx context.Context, paths []string) (*Part, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("there are no parts to merge")
	}
	sorted, err := inOrder(ctx, paths)
	if err != nil {
		return nil, err
	}
	var total *Part
	var sum Payload
	for _, f := range sorted {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := ReadPart(f.path)
		if err != nil {
			return nil, err
		}
		if p.Stage != f.stage || !slices.Equal(p.Shards, f.shards) {
			return nil, fmt.Errorf("part %q changed while it was read", f.path)
		}
		value, err := decodePayload(p.Kind, p.Payload)
		if err != nil {
			return nil, fmt.Errorf("part %q: %w", f.path, err)
		}
		p.Payload = nil
		if total == nil {
			total, sum = p, value
			continue
		}
		total.Shards = append(total.Shards, p.Shards...)
		if p.Kernel != total.Kernel {
			total.Kernel = mixedKernels
		}
		if err := add(sum, value); err != nil {
			return nil, fmt.Errorf("parts %q and %q do not merge: %w", sorted[0].path, f.path, err)
		}
	}
	slices.SortFunc(total.Shards, func(a, b Shard) int { return cmp.Compare(a.Shard, b.Shard) })
	if total.Payload, err = sum.MarshalBinary(); err != nil {
		return nil, err
	}
	return total, nil
}

// partFile is what has to be known of a part before any is read whole.
type partFile struct {
	path   string
	stage  string
	shards []Shard
}

// inOrder are the parts by their first shards. Parts of different passes, and shards in two
// parts, are errors that name both files.
func inOrder(ctx context.Context, paths []string) ([]partFile, error) {
	holder := map[int]string{}
	var out []partFile
	var first *Header
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := ReadHeader(path)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = h
		}
		if err := first.same(h); err != nil {
			return nil, fmt.Errorf("parts %q and %q do not merge: %w", paths[0], path, err)
		}
		for _, s := range h.Shards {
			if other, ok := holder[s.Shard]; ok {
				return nil, fmt.Errorf("shard %d is in %q and in %q: leave one of them out", s.Shard, other, path)
			}
			holder[s.Shard] = path
		}
		out = append(out, partFile{path, h.Stage, h.Shards})
	}
	slices.SortFunc(out, func(a, b partFile) int { return cmp.Compare(a.shards[0].Shard, b.shards[0].Shard) })
	return out, nil
}

// same says why the parts of two headers do not merge, nil if they may.
func (h *Header) same(o *Header) error {
	switch {
	case o.Plan != h.Plan || o.Of != h.Of:
		return fmt.Errorf("they are of different plans")
	case o.Pass != h.Pass || o.Round != h.Round:
		return fmt.Errorf("the first is of %s, the second of %s", h.title(), o.title())
	case o.Stage != h.Stage:
		return fmt.Errorf("the totals of earlier passes that they go by are different: accumulate again what is older")
	case o.Kind != h.Kind:
		return fmt.Errorf("the first holds %s, the second %s: they are of different versions of the program", h.Kind, o.Kind)
	case !slices.Equal(o.Networks, h.Networks):
		return fmt.Errorf("they are of different networks")
	}
	return nil
}

// title names the pass for messages.
func (h *Header) title() string { return Stage{Pass: h.Pass, Round: h.Round}.String() }

// mixedKernels is the kernel family of a sum of parts of several.
const mixedKernels = "mixed"
