package drift

import (
	"errors"
	"slices"
)

// Report compares all periods with a reference.
type Report struct {
	Reference string    `json:"reference"`
	Counted   string    `json:"counted"` // how rows were counted, in words
	Changes   []*Change `json:"changes"` // of the other periods, in order
	// Periods are all periods in order, With is the reference: one of them, or several together.
	Periods []*Period     `json:"-"`
	With    *Period       `json:"-"`
	Of      Decomposition `json:"-"`
}

// Report compares with the period of that name, or with the first if it is "". Periods that are part of the
// reference are not compared with it.
func (s *State) Report(reference string) (*Report, error) {
	all := s.Periods()
	if len(all) == 0 {
		return nil, errors.New("drift: no rows have been added")
	}
	if reference == "" {
		reference = all[0]
	}
	with, err := s.Period(reference)
	if err != nil {
		return nil, err
	}
	r := &Report{Reference: reference, Counted: s.settings.String(), Changes: []*Change{}, With: with, Of: s.of}
	for _, name := range all {
		p := s.finish(name, s.cells[name])
		r.Periods = append(r.Periods, p)
		if !s.within(name, reference) {
			r.Changes = append(r.Changes, s.Compare(with, p))
		}
	}
	return r, nil
}

// within tells whether a period is the other or part of it.
func (s *State) within(period, other string) bool {
	if period == other {
		return true
	}
	return slices.ContainsFunc(Units(), func(u Unit) bool {
		name, ok := coarser(period, s.settings.By, u)
		return ok && name == other && s.cells[other] == nil
	})
}

// ReportOf is the report of two periods.
func (s *State) ReportOf(o *State, periods string) (*Report, error) {
	if err := s.sameParts(o); err != nil {
		return nil, err
	}
	a, b, err := s.between(o, periods)
	if err != nil {
		return nil, err
	}
	return &Report{Reference: a.Name, Counted: s.settings.String(), Changes: []*Change{s.Compare(a, b)}, Periods: []*Period{a, b}, With: a, Of: s.of}, nil
}
