package native

import (
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/internal/kernel"
)

// lane is a place where a block of rows goes forward and backward: memory of its own
// around the shared parameters.
type lane[T kernel.Float] struct {
	net   *network[T]
	loss  loss[T]
	batch dataset[T]
}

// passRows is the number of rows that go forward and backward together, so that
// what the layers keep of them stays in the second cache: whole tiles. Gradients
// are summed in row order: no bit of them depends on it.
const passRows = 132

// stepWork is the number of multiplications of a step below which a second worker costs
// more than it saves: 4 million are 55 microseconds in float32.
const stepWork = 1 << 22

// gradients computes the loss of a batch of rows of weight norm, penalties included,
// and its gradients.
//
// Several workers take a block of rows each, forward and backward, and leave the
// gradients of the parameters; when all blocks are through, they share out the
// parameters and add the blocks' rows to each one's gradient in order. So no bit
// depends on the number of workers or on the blocks.
func (t *trainer[T]) gradients(rows []int, norm float64) float64 {
	t.opt.ZeroGrad()
	block, workers, lanes := t.plan(len(rows))
	t.open(lanes)
	mode := nn.Mode{Train: true, Step: uint64(t.opt.Steps), Workers: 1, Later: lanes > 1}
	if lanes == 1 { // workers share single products
		mode.Workers = t.cfg.Training.Workers
	}
	crew, done := t.workers(workers)
	defer done()
	nll, squares := 0.0, make([]float64, len(t.net.towers))
	for i := 0; i < len(rows); i += lanes * block {
		n := min(lanes, (len(rows)-i+block-1)/block)
		crew.Each(n, func(j int) {
			from := i + j*block
			t.lanes[j].pass(t.train, rows[from:min(from+block, len(rows))], from, len(rows), norm, mode)
		})
		if mode.Later {
			todo := left(t.lanes[:n])
			crew.Each(len(todo), func(j int) { todo[j]() })
		}
		for _, a := range t.lanes[:n] { // row by row: no bit depends on the blocks
			for _, v := range a.loss.rows {
				nll += v
			}
			a.net.addSquares(squares)
		}
	}
	t.net.finish()
	l := nll / norm
	for i, tower := range t.net.towers {
		l += tower.penaltyOf(squares[i], len(rows))
	}
	return l + t.net.penalise(t.train.sumW)
}

// plan says how n rows are cut into blocks, how many workers take them, and how many
// blocks are under way before the workers meet: more of them if there is little to do
// in each, but no more than needed, for what the layers keep of all of them should stay
// in the caches. One lane means that there are no blocks for several workers: they would
// cost more than they save, or the network looks at the whole batch.
func (t *trainer[T]) plan(n int) (block, workers, lanes int) {
	work := 3 * n * t.weights // forward, backward, gradients of the weights
	workers = min(t.cfg.Training.Workers, 2*work/t.minWork)
	switch {
	case t.pass == 0:
		return n, 1, 1
	case workers < 2:
		return t.pass, 1, 1
	}
	blocks := workers * ((n + workers*t.pass - 1) / (workers * t.pass))
	block = ((n+blocks-1)/blocks + 3) / 4 * 4
	blocks = (n + block - 1) / block
	rounds := max(1, min(work/t.minWork, (blocks+workers-1)/workers))
	lanes = (blocks + rounds - 1) / rounds
	return block, workers, min(blocks, (lanes+workers-1)/workers*workers)
}

// workers are the epoch's crew, or n of their own until done is called.
func (t *trainer[T]) workers(n int) (crew *nn.Crew, done func()) {
	if t.crew != nil {
		return t.crew, func() {}
	}
	c := nn.NewCrew(n)
	return c, c.Close
}

// open sees to it that there are n lanes.
func (t *trainer[T]) open(n int) {
	for len(t.lanes) < n {
		t.lanes = append(t.lanes, &lane[T]{net: t.net.replica(), loss: loss[T]{family: t.lanes[0].loss.family, workers: 1}})
	}
}

// pass takes rows of d, which begin at place from of a batch of size rows of weight
// norm, forward and backward.
func (a *lane[T]) pass(d *dataset[T], rows []int, from, size int, norm float64, mode nn.Mode) {
	b := &a.batch
	d.gather(b, rows)
	mode.Row = from
	a.loss.of(b.target, a.net.forward(&b.batch, mode, true), true, norm)
	a.net.backward(&b.batch, a.loss.grad, size, mode)
}

// left lists what the passes of lanes in mode Later left to do: see nn.Left.
func left[T kernel.Float](lanes []*lane[T]) []func() {
	each := func(f func(m *network[T])) func() {
		return func() {
			for _, a := range lanes {
				f(a.net)
			}
		}
	}
	layers := func(f func(m *network[T]) nn.Layer[T]) []func() {
		blocks := make([]nn.Layer[T], len(lanes))
		for i, a := range lanes {
			blocks[i] = f(a.net)
		}
		return nn.Left(blocks)
	}
	todo := []func(){each((*network[T]).interceptGradients)}
	for j, l := range lanes[0].net.lines {
		if l != nil {
			todo = append(todo, layers(func(m *network[T]) nn.Layer[T] { return m.lines[j] })...)
		}
	}
	for i, t := range lanes[0].net.towers {
		todo = append(todo, layers(func(m *network[T]) nn.Layer[T] { return m.towers[i].chain })...)
		todo = append(todo, layers(func(m *network[T]) nn.Layer[T] { return m.towers[i].head })...)
		if len(t.embed) > 0 {
			todo = append(todo, each(func(m *network[T]) { m.towers[i].embeddingGradients() }))
		}
	}
	return todo
}

// evaluated is the number of rows that are predicted together.
const evaluated = 1024

// evaluate is the mean negative log-likelihood of d, a row's own: of towers that are
// orthogonalized online the projection on the training rows' columns is taken away.
// Several workers take blocks of rows in turn.
func (t *trainer[T]) evaluate(d *dataset[T]) (float64, error) {
	away, err := t.net.projections(t.train, nn.Mode{Workers: t.cfg.Training.Workers})
	if err != nil {
		return 0, err
	}
	sums := make([]float64, (d.n+evaluated-1)/evaluated)
	mode := nn.Mode{Workers: 1}
	lanes := min(t.cfg.Training.Workers, len(sums), 2*d.n*t.weights/t.minWork)
	if lanes < 2 { // workers share single products
		lanes, mode.Workers = 1, t.cfg.Training.Workers
	}
	t.open(lanes)
	crew, done := t.workers(lanes)
	defer done()
	crew.Each(lanes, func(j int) {
		a := t.lanes[j]
		for k := j; k < len(sums); k += lanes {
			p := d.part(k*evaluated, min((k+1)*evaluated, d.n))
			eta := a.net.forward(&p.batch, mode, false)
			for _, b := range away {
				subtract(b, eta, len(a.net.free), p.lines[b.predictor], p.n)
			}
			sums[k] = a.loss.of(p.target, eta, false, 1)
		}
	})
	sum := 0.0
	for _, v := range sums {
		sum += v
	}
	return sum / d.sumW, nil
}
