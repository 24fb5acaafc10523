package native

import (
	"fmt"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/family"
)

// A proportional hazards model has a baseline that is no parameter of the network, and so
// have ordered classes thresholds. In training they are always those of largest likelihood at
// the training rows: found without predictors for the additive model, and again after every
// epoch, which until the next are held. So at the end neither the network nor they can be
// improved alone, which is the maximum of their joint likelihood and, with the intervals, of
// the profile.

// nullBaseline gives such a family those of rows without predictors, with the cuts that a
// baseline keeps. Rows held out may not have a level that training has not.
func (j *job) nullBaseline() error {
	t := j.trainTarget
	eta := make([]float64, len(t.Y))
	copy(eta, t.Offset)
	f, err := family.Estimate(j.family, family.Sample{Y: t.Y, W: t.W, Event: t.Event, Eta: eta})
	if err != nil {
		return fmt.Errorf("native: response %q: %w", j.cfg.Response, err)
	}
	j.family = f.(family.Differentiable)
	if j.validTarget == nil {
		return nil
	}
	for i, y := range j.validTarget.Y {
		if err := j.family.Check(y); err != nil {
			return fmt.Errorf("native: response %q, data row %d, which is held out: %w of the training rows", j.cfg.Response, j.valid.Batch.Row(i)+1, err)
		}
	}
	return nil
}

// rebase finds them at the present parameters; nothing for other families.
func (t *trainer[T]) rebase() error {
	f, ok := t.job.family.(family.Profiled)
	if !ok {
		return nil
	}
	eta, err := t.trainingEta()
	if err != nil {
		return err
	}
	d := t.train
	refitted, err := f.Refit(family.Sample{Y: d.Y, W: d.W, Event: d.Event, Eta: eta})
	if err != nil {
		return err
	}
	t.job.family = refitted
	for _, r := range t.replicas {
		r.loss.Family = t.job.family
	}
	return nil
}

// trainingEta is the one predictor at the training rows, offset included.
func (t *trainer[T]) trainingEta() ([]float64, error) {
	projections, err := t.projections()
	if err != nil {
		return nil, err
	}
	d, net := t.train, t.replicas[0].net
	all := make([]float64, 0, d.N)
	for i := 0; i < d.N; i += evaluationRows {
		p := &t.replicas[0].part
		d.part(p, i, min(i+evaluationRows, d.N))
		eta := net.Forward(&p.Batch, nn.Mode{Workers: t.cfg.Training.Workers}, false)
		for _, a := range projections {
			network.Subtract(a, eta, 1, p.Structured[a.Predictor], p.N)
		}
		for r := range p.N {
			at := []float64{0}
			p.At(at, []float64{float64(eta[r])}, r)
			all = append(all, at[0])
		}
	}
	return all, nil
}
