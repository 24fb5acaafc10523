package report

import "github.com/pho-go/pho/decompose"

// Claim is what a page says of an effect, as tests compute it again: Values are of the outcome along
// Effect, At, From, To, Low and High points of its grid.
type Claim struct {
	Effect      *Effect
	Words       string
	Kind        string
	Values      []float64
	At          []int
	From, To    int // of the fastest part
	Low, High   int
	Counts      func(i int) bool // points that count for the lowest and the highest
	Rank        int              // from 1
	SD          float64
	Differences bool // else Values are of the response
	Predictor   int  // position
}

// Claims are those of a page of r.
func Claims(r *decompose.Result, effects []Effect) (out []Claim) {
	r, effects = labelled(r, atWhole(r, effects))
	kinds := map[shapeKind]string{flat: "flat", rising: "rising", falling: "falling", peaked: "peaked", dipped: "dipped", waving: "waving", apart: "apart"}
	for k := range r.Predictors {
		d := &r.Predictors[k]
		draw := newDrawing(r, k, effects)
		for i, own := range draw.ranking(d, draw.candidates(d, effects)) {
			f := own.finding
			if f == nil {
				continue
			}
			c := Claim{Effect: f.effect, Words: f.clause(), Kind: kinds[f.shape.kind], Values: f.values, At: f.shape.at, From: f.shape.fastFrom, To: f.shape.fastTo,
				Low: f.shape.low, High: f.shape.high, Rank: i + 1, SD: own.sd, Predictor: k, Differences: !draw.drawsResponse(f.effect)}
			switch e := f.effect; {
			case e.X2 != nil:
				c.Counts = draw.nearRows(e)
			case e.X.Levels != nil:
				c.Counts = draw.enoughRows(e)
			}
			out = append(out, c)
		}
	}
	return out
}
