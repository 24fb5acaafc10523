package plan

import "fmt"

// ScanChunk is the number of rows at whose multiples shards of a scan begin.
const ScanChunk = 4096

// Range is the rows of a shard, [First, Next), and the chunk that they begin.
type Range struct {
	First, Next int64
	FirstChunk  int
}

// Range is that of a shard in a pass with chunks of so many rows. Shards of files are of about
// the same number of chunks, empty if there are fewer chunks than shards. Where rows are
// brought, a shard's begin a chunk of their own, and are numbered as if it began there.
func (p *Plan) Range(shard, chunk int) (Range, error) {
	if shard < 0 || shard >= p.Shards {
		return Range{}, fmt.Errorf("there is no shard %d: the plan has %d, 0 to %d", shard, p.Shards, p.Shards-1)
	}
	size := int64(chunk)
	if p.Counts != nil {
		first := int64(0)
		for _, n := range p.Counts[:shard] {
			first += (n + size - 1) / size
		}
		return Range{first * size, first*size + p.Counts[shard], int(first)}, nil
	}
	chunks := (p.Rows + size - 1) / size
	at := func(i int64) int64 { // without overflow, as i <= shards
		n := int64(p.Shards)
		return chunks/n*i + chunks%n*i/n
	}
	first, next := at(int64(shard)), at(int64(shard)+1)
	return Range{min(first*size, p.Rows), min(next*size, p.Rows), int(first)}, nil
}
