package native

import (
	"github.com/pho-go/pho/adapters/native/internal/likelihood"
	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/base/kernel"
	"github.com/pho-go/pho/internal/base/taskpool"
)

// replica is what a worker takes a block of rows through: the shared parameters with
// memory of its own for rows, layers and losses.
type replica[T kernel.Float] struct {
	net  *network.Network[T]
	loss likelihood.Loss[T]
	rows batch[T]
	part batch[T] // of the rows that are evaluated
}

// blockRows is the number of rows that go forward and backward together, so that
// what the layers keep of them stays in the second cache. Gradients are summed in row
// order: no bit of them depends on it. Blocks are whole multiples of rowGrain, the rows of
// the longest vector.
const (
	blockRows = 128
	rowGrain  = 16
)

// minStepWork is the number of multiplications of a step below which a second worker
// costs more than it saves: 4 million are 55 microseconds in float32.
const minStepWork = 1 << 22

// gradients computes the loss of a batch of rows of weight norm, penalties included,
// and its gradients.
//
// Several workers take a block of rows each, forward and backward, and leave the
// gradients of the parameters; when all blocks are through, they share out the
// parameters and add the blocks' rows to each one's gradient in order. So no bit
// depends on the number of workers or on the blocks.
func (t *trainer[T]) gradients(rows []int, norm float64) float64 {
	t.opt.ZeroGrad()
	block, workers, blocks := t.share(len(rows))
	t.addReplicas(blocks)
	mode := nn.Mode{Train: true, Step: uint64(t.opt.Steps), Workers: 1, Defer: blocks > 1}
	pool := t.workers(workers)
	if pool != t.pool {
		defer pool.Close()
	}
	switch {
	case t.apart:
		if mode.Parts = t.cfg.Training.Workers; workers > 1 {
			mode.Pool = pool
		}
		t.takeBlocks(rows, block, mode.Pool)
	case blocks == 1: // workers share single products
		mode.Workers = t.cfg.Training.Workers
	}
	clear(t.squares)
	loss := 0.0
	for i := 0; i < len(rows); i += blocks * block {
		n := min(blocks, (len(rows)-i+block-1)/block)
		if n == 1 { // without a closure, which would take memory in every step
			t.block(rows, i, 0, block, blocks, norm, mode)
		} else {
			from, mode := i, mode
			pool.Each(n, func(j int) { t.block(rows, from, j, block, blocks, norm, mode) })
		}
		if mode.Defer {
			todo := t.deferred(n)
			pool.Each(len(todo), func(j int) { todo[j]() })
		}
		for _, r := range t.replicas[:n] { // row by row: no bit depends on the blocks
			for _, v := range r.loss.Rows {
				loss += v
			}
			r.net.AddSquares(t.squares)
		}
	}
	t.net.Finish()
	loss /= norm
	for i, tower := range t.net.Towers {
		loss += tower.OutputPenalty(t.squares[i], len(rows))
	}
	return loss + t.net.AddPenalties(t.train.SumW)
}

// block takes replica j through its block of rows, of some that are under way from row i on.
func (t *trainer[T]) block(rows []int, i, j, block, underWay int, norm float64, mode nn.Mode) {
	r, from := t.replicas[j], i+j*block
	if t.apart {
		r.gradients(&t.taken[from/block], from, len(rows), norm, mode)
		return
	}
	r.rows.take(t.train, rows[from:min(from+block, len(rows))])
	next := rows[min(from+underWay*block, len(rows)):] // where this replica goes on
	if len(next) == 0 {
		next = t.after[min(j*block, len(t.after)):]
	}
	t.train.Prefetch(next[:min(block, len(next))])
	r.gradients(&r.rows, from, len(rows), norm, mode)
}

// takeBlocks copies the rows of a step, which the workers of pool share out: they would wait
// for whoever copied the rows of one block after the other.
func (t *trainer[T]) takeBlocks(rows []int, block int, pool *taskpool.Pool) {
	n := (len(rows) + block - 1) / block
	for len(t.taken) < n {
		t.taken = append(t.taken, batch[T]{})
	}
	if pool == nil { // without a closure, which would take memory in every step
		for i := range n {
			t.takeBlock(i, rows, block)
		}
	} else {
		pool.Each(n, func(i int) { t.takeBlock(i, rows, block) })
	}
}

func (t *trainer[T]) takeBlock(i int, rows []int, block int) {
	rows = rows[i*block : min((i+1)*block, len(rows))]
	t.train.Prefetch(rows)
	t.taken[i].take(t.train, rows)
}

// share says how n rows are cut into blocks, how many workers take them, and how many
// blocks are under way before the workers meet: more of them if there is little to do
// in each, but no more than needed, for what the layers keep of all of them should stay
// in the caches. One block under way means that workers do not share out blocks: they
// would cost more than they save, or the network looks at the whole batch.
func (t *trainer[T]) share(n int) (block, workers, underWay int) {
	work := 3 * n * t.weights // forward, backward, gradients of the weights
	workers = min(t.cfg.Training.Workers, 2*work/t.minWork)
	switch {
	case t.blockRows == 0:
		return n, 1, 1
	case workers < 2:
		return t.blockRows, 1, 1
	case t.apart:
		return t.blockRows, workers, 1
	}
	blocks := workers * ((n + workers*t.blockRows - 1) / (workers * t.blockRows))
	block = ((n+blocks-1)/blocks + rowGrain - 1) / rowGrain * rowGrain
	blocks = (n + block - 1) / block
	rounds := max(1, min(work/t.minWork, (blocks+workers-1)/workers))
	underWay = (blocks + rounds - 1) / rounds
	return block, workers, min(blocks, (underWay+workers-1)/workers*workers)
}

// workers are the epoch's pool, or n of their own, which the caller closes.
func (t *trainer[T]) workers(n int) *taskpool.Pool {
	if t.pool != nil {
		return t.pool
	}
	return taskpool.New(n)
}

// addReplicas sees to it that there are n replicas.
func (t *trainer[T]) addReplicas(n int) {
	for len(t.replicas) < n {
		t.replicas = append(t.replicas, &replica[T]{net: t.net.Replica(), loss: likelihood.Loss[T]{Family: t.replicas[0].loss.Family, Workers: 1}})
	}
}

// deferred is what the first n replicas leave to do after their passes: always the same.
func (t *trainer[T]) deferred(n int) []func() {
	for len(t.todo) <= n {
		t.todo = append(t.todo, nil)
	}
	if t.todo[n] == nil {
		t.todo[n] = network.Deferred(networks(t.replicas[:n]))
	}
	return t.todo[n]
}

// gradients takes rows, which begin at place from of a batch of size rows of weight norm,
// forward and backward.
func (r *replica[T]) gradients(b *batch[T], from, size int, norm float64, mode nn.Mode) {
	mode.Row = from
	r.loss.Of(&b.Target, r.net.Forward(&b.Batch, mode, true), true, norm)
	r.net.Backward(&b.Batch, r.loss.Grad, size, mode)
}

func networks[T kernel.Float](replicas []*replica[T]) []*network.Network[T] {
	nets := make([]*network.Network[T], len(replicas))
	for i, r := range replicas {
		nets[i] = r.net
	}
	return nets
}

// evaluationRows is the number of rows that are predicted together.
const evaluationRows = 1024

// evaluate is the mean negative log-likelihood of d, a row's own: of towers that are
// orthogonalized online the projection on the training rows' columns is taken away.
// Several workers take blocks of rows in turn.
func (t *trainer[T]) evaluate(d *dataset[T]) (float64, error) {
	projections, err := t.projections()
	if err != nil {
		return 0, err
	}
	sums := make([]float64, (d.N+evaluationRows-1)/evaluationRows)
	mode := nn.Mode{Workers: 1}
	workers := min(t.cfg.Training.Workers, len(sums), 2*d.N*t.weights/t.minWork)
	if workers < 2 { // workers share single products
		workers, mode.Workers = 1, t.cfg.Training.Workers
	}
	t.addReplicas(workers)
	pool := t.workers(workers)
	if pool != t.pool {
		defer pool.Close()
	}
	pool.Each(workers, func(j int) {
		r := t.replicas[j]
		for k := j; k < len(sums); k += workers {
			p := &r.part
			d.part(p, k*evaluationRows, min((k+1)*evaluationRows, d.N))
			eta := r.net.Forward(&p.Batch, mode, false)
			for _, a := range projections {
				network.Subtract(a, eta, len(r.net.Free), p.Structured[a.Predictor], p.N)
			}
			sums[k] = r.loss.Of(&p.Target, eta, false, 1)
		}
	})
	sum := 0.0
	for _, v := range sums {
		sum += v
	}
	return sum / d.SumW, nil
}

// projections are those of the towers that are orthogonalized online, over the rows of
// training.
func (t *trainer[T]) projections() ([]*network.Projection, error) {
	return t.net.Projections(t.train.blocks(evaluationRows), nn.Mode{Workers: t.cfg.Training.Workers})
}
