package native

import (
	"fmt"

	"github.com/pho-go/pho/adapters/native/internal/network"
	"github.com/pho-go/pho/adapters/native/internal/nn"
	"github.com/pho-go/pho/family"
)

// A proportional hazards model has a baseline that is no parameter of the network. In
// training it is always that of largest likelihood at the training rows: found without
// predictors for the additive model, and again after every epoch, which until the next is
// held. So at the end neither the network nor the baseline can be improved alone, which is
// the maximum of their joint likelihood and, with the intervals, of the profile.

// nullBaseline gives such a family the baseline of rows without predictors, with the cuts
// that it keeps.
func (j *job) nullBaseline() error {
	t := j.trainTarget
	eta := make([]float64, len(t.Y))
	copy(eta, t.Offset)
	f, err := family.Estimate(j.family, family.Sample{Y: t.Y, W: t.W, Event: t.Event, Eta: eta})
	if err != nil {
		return fmt.Errorf("native: response %q: %w", j.cfg.Response, err)
	}
	j.family = f.(family.Cox)
	return nil
}

// rebase finds the baseline at the present parameters; nothing for other families.
func (t *trainer[T]) rebase() error {
	cox, ok := t.job.family.(family.Cox)
	if !ok {
		return nil
	}
	projections, err := t.projections()
	if err != nil {
		return err
	}
	e, d, net := cox.Exposure(), t.train, t.replicas[0].net
	for i := 0; i < d.N; i += evaluationRows {
		p := d.part(i, min(i+evaluationRows, d.N))
		eta := net.Forward(&p.Batch, nn.Mode{Workers: t.cfg.Training.Workers}, false)
		for _, a := range projections {
			network.Subtract(a, eta, 1, p.Structured[a.Predictor], p.N)
		}
		for r, y := range p.Y {
			at := []float64{0}
			p.At(at, []float64{float64(eta[r])}, r)
			e.Add(y, p.W[r], at[0], p.Event == nil || p.Event[r] != 0)
		}
	}
	if cox.Baseline, err = e.Hazard(); err != nil {
		return err
	}
	t.job.family = cox
	for _, r := range t.replicas {
		r.loss.Family = cox
	}
	return nil
}
