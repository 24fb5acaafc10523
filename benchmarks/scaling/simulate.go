package main

import (
	"container/heap"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Cluster is what the simulation assumes of machines.
type Cluster struct {
	Workers   int     // processes, each with one core
	Start     float64 // seconds until a task runs: scheduling, a process, plan and network opened
	Bandwidth float64 // bytes a second into one worker
	FanIn     int     // parts that one merge adds up
	// Straggling: the time of a task is multiplied by one plus a log-normal number: median
	// Straggle, of standard deviation 1 on the log scale.
	Straggle float64
	Failures float64 // of a worker, an hour; its task begins again elsewhere
	Price    float64 // of a core-hour
	Cost     float64 // of a GiB-hour of memory
}

// Outcome of a simulated decomposition.
type Outcome struct {
	Seconds float64
	Busy    float64 // worker-seconds, those lost to failures included
	Moved   float64 // bytes of parts over the network
	Retried int     // tasks that failed
	Shards  int     // of pass fit
	Solve   float64 // of Seconds, while all but one worker wait
	Merge   float64 // of Seconds: merging after the last shard
	Memory  float64 // bytes of a worker
	Price   float64
}

// simulate runs the passes scan, fit and explain over rows rows, each a pool of workers that
// take shards, and merges as soon as FanIn parts wait.
func simulate(rows float64, c *Costs, cl *Cluster, random *rand.Rand) *Outcome {
	return simulateShards(rows, c, cl, 4*cl.Workers, random)
}

// simulateShards is simulate with that many shards wanted.
func simulateShards(rows float64, c *Costs, cl *Cluster, wanted int, random *rand.Rand) *Outcome {
	out := &Outcome{Memory: c.Memory}
	out.Shards = shards(int(math.Ceil(rows/float64(c.Chunk))), wanted)
	scans := shards(int(math.Ceil(rows/4096)), wanted)
	small := 64e3 // levels, quantiles, means: bytes of a scan's part
	for _, p := range []pass{
		{shards: scans, seconds: rows / float64(scans) * c.Scan, bytes: small, take: 1e-3},
		{shards: out.Shards, seconds: rows / float64(out.Shards) * c.Row, bytes: c.Bytes, take: c.Take, end: c.Solve},
		{shards: out.Shards, seconds: rows / float64(out.Shards) * c.Explain, bytes: c.Bytes, take: c.Take},
	} {
		p.run(cl, random, out)
	}
	out.Price = (float64(cl.Workers)*out.Seconds*cl.Price + float64(cl.Workers)*out.Seconds*c.Memory/(1<<30)*cl.Cost) / 3600
	return out
}

// shards is the number of shards of equal powers of two of chunks, so that each is one node of
// the tree: at least as many as are wanted, if there are as many chunks, and less than twice that.
func shards(chunks, wanted int) int {
	if wanted >= chunks {
		return chunks
	}
	each := 1 << (bits.Len(uint((chunks+wanted-1)/wanted)) - 1)
	return (chunks + each - 1) / each
}

// pass is one pass over the rows.
type pass struct {
	shards  int
	seconds float64 // of a shard
	bytes   float64 // of a part
	take    float64 // seconds to add a part
	end     float64 // seconds of one process after the last merge
}

// event is a worker that has ended a task.
type event struct {
	at     float64
	failed bool
	task   task
}

// task is a shard, or a merge of parts.
type task struct{ parts int } // 0: a shard

type queue []event

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)        { *q = append(*q, e.(event)) }
func (q *queue) Pop() any          { e := (*q)[len(*q)-1]; *q = (*q)[:len(*q)-1]; return e }

func (p *pass) run(cl *Cluster, random *rand.Rand, out *Outcome) {
	var now, lastShard float64
	left, running, parts, free := p.shards, 0, 0, cl.Workers // shards to begin; tasks that run; parts that wait
	var ends queue
	begin := func(t task) {
		seconds := p.length(t, cl, random)
		failed := false
		if fails := random.ExpFloat64() / cl.Failures * 3600; cl.Failures > 0 && fails < seconds {
			seconds, failed = fails, true
		}
		out.Busy += seconds
		free--
		running++
		heap.Push(&ends, event{now + seconds, failed, t})
	}
	assign := func() {
		for free > 0 {
			switch {
			case parts >= cl.FanIn || parts > 1 && left == 0 && running == 0:
				n := min(parts, cl.FanIn)
				parts -= n
				out.Moved += float64(n) * p.bytes
				begin(task{n})
			case left > 0:
				left--
				begin(task{})
			default:
				return
			}
		}
	}
	for assign(); len(ends) > 0; assign() {
		e := heap.Pop(&ends).(event)
		now = e.at
		free++
		running--
		switch {
		case e.failed:
			out.Retried++
			if e.task.parts == 0 {
				left++
			} else {
				parts += e.task.parts
			}
		default:
			parts++
			if e.task.parts == 0 {
				lastShard = now
			}
		}
	}
	out.Moved += p.bytes // the total, to the one that solves
	last := p.end + cl.Start + p.bytes/cl.Bandwidth
	out.Solve += last
	out.Merge += now - lastShard
	out.Busy += last
	out.Seconds += now + last
}

// length is how long a task takes, without failure.
func (p *pass) length(t task, cl *Cluster, random *rand.Rand) float64 {
	seconds := p.seconds + p.bytes/cl.Bandwidth // its part is written
	if t.parts > 0 {
		seconds = float64(t.parts)*(p.bytes/cl.Bandwidth+p.take) + p.bytes/cl.Bandwidth
	}
	return cl.Start + seconds*(1+cl.Straggle*math.Exp(random.NormFloat64()))
}
