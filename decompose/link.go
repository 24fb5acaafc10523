package decompose

import "github.com/pho-go/pho/family"

// SetHeads notes the function that the network applies to each predictor, as inspect names
// it ("": none, or not known), and the link that this spells. Predictors without a head keep the
// link that the family states; those beyond the heads keep all.
func (r *Result) SetHeads(heads []string) {
	for k := range min(len(heads), len(r.Predictors)) {
		d := &r.Predictors[k]
		d.Head = heads[k]
		var own family.Link
		if d.Link != nil {
			own = *d.Link
		}
		d.Link = known(own.Ending(d.Head))
	}
}

// Hazards reports whether the predictor is the logarithm of a hazard ratio.
func (r *Result) Hazards() bool {
	return len(r.Predictors) == 1 && r.Predictors[0].Link != nil && r.Predictors[0].Link.Of == family.HazardRatio
}

// state gives predictors the links that the family of the response states; nil: there is none.
func (r *Result) state(f family.Family) {
	for k := range r.Predictors {
		if f != nil && k < f.Predictors() {
			r.Predictors[k].Link = known(f.Link(k))
		}
	}
}

// findLinks finds the links of a result that was written without.
func (r *Result) findLinks() {
	heads := make([]string, len(r.Predictors))
	for k, d := range r.Predictors {
		if heads[k] = d.Head; d.Link != nil {
			return
		}
	}
	if f, err := family.Parse(r.Family, heads); err == nil {
		r.state(f)
	}
	r.SetHeads(heads)
}

// known is l, nil for the zero value.
func known(l family.Link) *family.Link {
	if l.Name == "" {
		return nil
	}
	return &l
}
