package main

import (
	"math"

	"github.com/pho-go/pho/examples/paper/internal/experiment"
)

// beforeProjection tells whether a column of the results is a network as it was trained.
func beforeProjection(method string) bool { return method == "unadjusted" || method == "NAM" }

// drawCurves writes the figure of covid_effects.csv.
func drawCurves(e *experiment.Experiment) error {
	all, err := e.ReadCSV("covid_effects.csv")
	if err != nil {
		return err
	}
	fig := &experiment.Figure{
		Title: "COVID-19 in US counties: effects on log prevalence", Columns: 2,
		Note: []string{
			"Mean-centred effects on the log of confirmed cases per 1,000 people; weather is a climate proxy.",
			"Dashed: as trained (unadjusted is the network that PHO and PHOGAM project). Solid: after projection.",
		},
	}
	for j, name := range univariate {
		of := all.With("feature", name)
		panel := experiment.Panel{Title: name, X: units[j], Y: "effect"}
		for _, method := range all.Header[2:] {
			panel.Lines = append(panel.Lines, experiment.Line{Name: method, X: of.Numbers("x"), Y: of.Numbers(method), Dashed: beforeProjection(method)})
		}
		fig.Panels = append(fig.Panels, panel)
	}
	return e.WriteFigure("covid_effects.svg", fig)
}

// drawMaps writes the figure of covid_space.csv.
func drawMaps(e *experiment.Experiment) error {
	all, err := e.ReadCSV("covid_space.csv")
	if err != nil {
		return err
	}
	fig := &experiment.Figure{Title: "COVID-19 in US counties: spatial effect on log prevalence", Columns: 3, Width: 400, Height: 260,
		Note: []string{"All terms of longitude and latitude together, centred; cells of a degree near a county's centre (Alaska and Hawaii are not drawn). One scale of colours."}}
	methods := all.Header[2:]
	limit := 0.0
	for _, method := range methods {
		limit = max(limit, experiment.Quantile(0.98, absolute(all.Numbers(method))))
	}
	x, y := centres()
	lon, lat := all.Numbers(space[0]), all.Numbers(space[1])
	for _, method := range methods {
		z := make([]float64, len(x)*len(y))
		for i := range z {
			z[i] = math.NaN()
		}
		for i, v := range all.Numbers(method) {
			z[int(lon[i]-x[0])*len(y)+int(lat[i]-y[0])] = max(min(v, limit), -limit)
		}
		fig.Panels = append(fig.Panels, experiment.Panel{Title: method, X: "longitude", Y: "latitude", Heat: &experiment.Heat{X: x, Y: y, Z: z, Limit: limit}})
	}
	return e.WriteFigure("covid_space.svg", fig)
}

func absolute(v []float64) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = math.Abs(v[i])
	}
	return w
}
