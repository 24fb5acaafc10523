package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	batch "k8s.io/api/batch/v1"
)

// cluster runs Jobs as their controller does: pods in any order, as many at a time as they may
// be, those that fail again within the limits of the manifest.
type cluster struct {
	program string
	volumes map[string]string // the directory of each volume; what has none stays as it is
	log     io.Writer

	mu     sync.Mutex
	random *rand.Rand
	kills  int     // still to be done in the Job that runs
	usual  float64 // seconds that its processes take

	perPass                int // kills in each Indexed Job; in others a fifth
	started, killed, twice int
}

// passes is how many Indexed Jobs kills are shared out over, at least: those of a decomposition with one scan.
const passes = 4

// unkind lets at least n processes be killed over all Jobs.
func (c *cluster) unkind(n int) { c.perPass = (n + passes - 1) / passes }

// errFailed says that a Job failed for good.
var errFailed = errors.New("the Job failed")

// runJob runs a Job to its end and returns what the last container of its pod said; of an
// Indexed Job nothing.
func (c *cluster) runJob(ctx context.Context, job *batch.Job) (string, error) {
	if !indexed(job) {
		c.allow(c.perPass / 5)
		return c.pod(ctx, job, "", int(*job.Spec.BackoffLimit))
	}
	c.allow(c.perPass)
	indices := c.order(int(*job.Spec.Completions))
	if err := c.pods(ctx, job, indices); err != nil {
		return "", err
	}
	for range 100 * c.perPass { // whoever repeats what is done, and is killed at it, spoils nothing
		if c.allowed() <= 0 {
			return "", nil
		}
		if err := c.pods(ctx, job, indices[:1+len(indices)/4]); err != nil {
			return "", err
		}
		indices = c.order(len(indices))
	}
	return "", fmt.Errorf("%d kills are left: the processes end too soon", c.allowed())
}

// pods runs pods for indices, some of them twice at the same time.
func (c *cluster) pods(ctx context.Context, job *batch.Job, indices []int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	places := make(chan struct{}, parallelism(job))
	var pods sync.WaitGroup
	for _, index := range indices {
		for range c.copies() {
			pods.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				if _, err := c.pod(ctx, job, strconv.Itoa(index), int(*job.Spec.BackoffLimitPerIndex)); err != nil {
					cancel(fmt.Errorf("index %d: %w", index, err))
				}
			})
		}
	}
	pods.Wait()
	return context.Cause(ctx)
}

// allow sets how many processes may be killed from now on.
func (c *cluster) allow(kills int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills, c.usual = kills, 0
}

// allowed is how many may still be killed.
func (c *cluster) allowed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kills
}

// parallelism is how many pods run at a time.
func parallelism(job *batch.Job) int {
	if job.Spec.Parallelism == nil {
		return 1
	}
	return int(*job.Spec.Parallelism)
}

// order is the order in which indices start.
func (c *cluster) order(n int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.Perm(n)
}

// copies is how often an index is started at the same time: twice now and then, as happens
// when a node is lost whose pods go on.
func (c *cluster) copies() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.perPass > 0 && c.random.Float64() < 0.25 {
		c.twice++
		return 2
	}
	return 1
}

// pod runs the containers of a pod, and of those that replace it, until one succeeds.
func (c *cluster) pod(ctx context.Context, job *batch.Job, index string, limit int) (string, error) {
	for failures := 0; ; failures++ {
		last, err := c.attempt(ctx, job, index, failures < limit)
		switch {
		case err != nil:
			return "", err
		case last.status == 0:
			return last.out, nil
		case last.status == usageStatus:
			return "", fmt.Errorf("%w: wrong usage, which is not tried again: %s", errFailed, last.said)
		case failures >= limit:
			return "", fmt.Errorf("%w: %d pods failed, the last with status %d: %s", errFailed, failures+1, last.status, last.said)
		}
	}
}

// attempt runs one pod: its containers in turn, up to the first that fails.
func (c *cluster) attempt(ctx context.Context, job *batch.Job, index string, mayDie bool) (last *ended, err error) {
	containers := job.Spec.Template.Spec.InitContainers
	for _, container := range append(containers[:len(containers):len(containers)], job.Spec.Template.Spec.Containers...) {
		delay := c.delay(mayDie)
		last, err = c.runContainer(ctx, &container, environment(&container, index), delay)
		if err != nil {
			return nil, err
		}
		c.note(last, delay > 0)
		if last.status != 0 {
			break
		}
	}
	return last, nil
}

// delay is after which time a process is killed; 0: it is not.
func (c *cluster) delay(mayDie bool) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started++
	if !mayDie || c.kills <= 0 {
		return 0
	}
	c.kills-- // until it ends by itself
	usual := c.usual
	if usual == 0 {
		usual = 0.1
	}
	return time.Duration((0.02 + c.random.Float64()) * usual * float64(time.Second))
}

// note counts a process, and learns how long those of the Job take.
func (c *cluster) note(e *ended, aimedAt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.status == -1 {
		c.killed++
		return
	}
	if aimedAt {
		c.kills++
	}
	c.usual = max(c.usual, e.seconds)
}
