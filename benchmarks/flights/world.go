package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	airports = 132  // as many as in the ASA sample, which has 1515 routes
	routes   = 1600 //
	carriers = 20
	firstDay = 2004 // January 1st
	years    = 10
)

// world is what all rows share: who flies where and how often, and the effects on
// the delay.
type world struct {
	airport, carrier, route []string
	routes                  []way
	pick                    alias // of routes
	slot                    alias // of five minutes of the day
	days                    []day
	effect                  effects
}

// way is a route.
type way struct {
	origin, dest int32
	distance     float64 // miles
	shift        float64 // minutes of local time that a flight gains
	carriers     [4]int32
	until        [4]float64 // cumulative shares of the carriers
}

type day struct{ year, month, day, weekday, yearday float64 }

// effects are minutes of delay. Those of levels are normal.
type effects struct{ carrier, origin, dest, route []float64 }

// The smooth effects; two have the period of a day and of a year.
func byDeparture(minute float64) float64 {
	a := 2 * math.Pi * minute / 1440
	return -8*math.Cos(a-1) + 3*math.Sin(2*a)
}

func byYearday(d float64) float64 {
	a := 2 * math.Pi * d / 366
	return 5*math.Cos(a-0.3) + 4*math.Cos(2*a) + math.Sin(5*a)
}

func byDistance(miles float64) float64 { return 3 * math.Log(miles/500) }

func byArrival(minute float64) float64 { return 4 * math.Tanh((minute-1000)/200) }

// newWorld draws a world. Shares of airports, routes and carriers are skewed as
// they are in the real data: the largest route has some hundred times the flights
// of the smallest.
func newWorld(seed uint64) *world {
	random := rand.New(rand.NewPCG(seed, 0))
	w := new(world)
	type place struct{ size, lon, lat float64 }
	places := make([]place, airports)
	for i := range places {
		w.airport = append(w.airport, fmt.Sprintf("A%02c%c", 'A'+rune(i/26), 'A'+rune(i%26)))
		places[i] = place{math.Pow(float64(i+1), -0.9), -123 + 53*random.Float64(), 25 + 24*random.Float64()}
	}
	var hubs [carriers][3]int
	var share [carriers]float64
	for c := range carriers {
		w.carrier = append(w.carrier, fmt.Sprintf("C%c", 'A'+rune(c)))
		share[c] = 1 / float64(c+2)
		for k := range hubs[c] {
			hubs[c][k] = random.IntN(30)
		}
	}

	type pair struct {
		o, d         int
		size, weight float64
	}
	var pairs []pair
	for o := range places {
		for d := range places {
			if o != d {
				size := places[o].size * places[d].size * math.Exp(0.8*random.NormFloat64())
				pairs = append(pairs, pair{o, d, size, size})
			}
		}
	}
	for i := 1; i < airports; i++ { // a route from and to the largest airport, for each
		for k, p := range pairs {
			if p.o == 0 && p.d == i || p.d == 0 && p.o == i {
				pairs[k].size = math.Inf(1)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.size, a.size) })
	pairs = pairs[:routes]
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(a.o-b.o, a.d-b.d) })
	weights := make([]float64, routes)
	for i, p := range pairs {
		a, b := places[p.o], places[p.d]
		x, y := (a.lon-b.lon)*53, (a.lat-b.lat)*69
		r := way{origin: int32(p.o), dest: int32(p.d), distance: math.Round(80 + math.Hypot(x, y)), shift: 60 * (math.Round(b.lon/15) - math.Round(a.lon/15))}
		var strength [carriers]float64
		order := make([]int, carriers)
		for c := range strength {
			order[c] = c
			strength[c] = share[c] * math.Exp(random.NormFloat64())
			if slices.Contains(hubs[c][:], p.o) || slices.Contains(hubs[c][:], p.d) {
				strength[c] *= 10
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(strength[b], strength[a]) })
		sum := 0.0
		for k := range r.carriers {
			r.carriers[k] = int32(order[k])
			sum += strength[order[k]]
			r.until[k] = sum
		}
		for k := range r.until {
			r.until[k] /= sum
		}
		w.routes = append(w.routes, r)
		w.route = append(w.route, w.airport[p.o]+w.airport[p.d])
		weights[i] = p.weight
	}
	w.pick = newAlias(weights)

	slots := make([]float64, 288)
	for i := range slots {
		h := float64(i) / 12
		slots[i] = 0.02 + math.Exp(-sq((h-7.5)/1.5)) + math.Exp(-sq((h-12.5)/3)) + 1.2*math.Exp(-sq((h-17.5)/2))
	}
	w.slot = newAlias(slots)

	for t := time.Date(firstDay, 1, 1, 0, 0, 0, 0, time.UTC); t.Year() < firstDay+years; t = t.AddDate(0, 0, 1) {
		weekday := (int(t.Weekday())+6)%7 + 1 // 1: Monday
		w.days = append(w.days, day{float64(t.Year()), float64(t.Month()), float64(t.Day()), float64(weekday), float64(t.YearDay())})
	}
	draw := func(n int, sd float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = sd * random.NormFloat64()
		}
		return v
	}
	w.effect = effects{draw(carriers, 3), draw(airports, 3), draw(airports, 3), draw(routes, 2)}
	return w
}

func sq(x float64) float64 { return x * x }

// alias draws positions with given weights (Walker 1977, as by Vose 1991).
type alias struct {
	keep  []float64
	other []int32
}

func newAlias(weights []float64) alias {
	n := len(weights)
	a := alias{make([]float64, n), make([]int32, n)}
	sum := 0.0
	for _, v := range weights {
		sum += v
	}
	var small, large []int32
	for i, v := range weights {
		a.keep[i] = v * float64(n) / sum
		if a.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		if a.keep[l] -= 1 - a.keep[s]; a.keep[l] < 1 {
			large, small = large[:len(large)-1], append(small, l)
		}
	}
	for _, i := range append(small, large...) {
		a.keep[i] = 1
	}
	return a
}

func (a *alias) draw(random *rand.Rand) int32 {
	x := random.Float64() * float64(len(a.keep))
	i := int32(x)
	if x-float64(i) < a.keep[i] {
		return i
	}
	return a.other[i]
}
