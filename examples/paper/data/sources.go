package main

import (
	"math"
	"strconv"
	"strings"
)

const (
	uci  = "https://archive.ics.uci.edu/static/public/"
	ncsu = "https://www4.stat.ncsu.edu/~boos/var.select/"
)

// source is a data set: where it is, how its text becomes numbers, and what becomes
// of them.
type source struct {
	name   string // of the file in paper_folds
	url    string
	member string   // of the zip archive; "": the file itself
	tabs   bool     // cells apart by tabs or blanks; else by commas
	header bool     // the first line names the columns
	words  []string // cells of text that stand for their numbers, from 1, within each of the two lists
	file   string   // with named columns; "": none
	names  []string // of its columns
	rows   int
	// sha256 of the parsed numbers (little-endian float64, row by row) of the file
	// that the results were made with, and their mean by column: a file of other digits
	// that has these means to 1e-3 is taken to be the same. Columns left out of the
	// digest are not used.
	sha256  string
	means   []float64
	leftOut []int
	// named are the columns of file, folds those of the authors, from the parsed ones.
	named, folds func(rows [][]float64) [][]float64
}

func sources() []source {
	same := func(rows [][]float64) [][]float64 { return rows }
	return []source{
		{
			name: "airfoil", url: uci + "291/airfoil+self+noise.zip", member: "airfoil_self_noise.dat", tabs: true, file: "airfoil",
			rows: 1503, sha256: "11fab2c660f61031935f9995d27929df39a175d3551271b397c8aa254b19b6b6",
			means: []float64{2886.38057, 6.78230206, 0.136548237, 50.8607452, 0.0111398804, 124.835943},
			names: strings.Fields("frequency angle_of_attack chord_length free_stream_velocity suction_side_displacement_thickness sound_pressure_level"),
			named: same, folds: same,
		},
		{
			name: "concrete", url: uci + "165/data.csv", header: true, file: "concrete",
			rows: 1030, sha256: "d0e2d2f0f50277624d7d00b98c4e8b66465e8d5f2f51738500552b8b10a4689b",
			means: []float64{281.167864, 73.8958252, 54.1883495, 181.567282, 6.20466019, 972.918932, 773.580485, 45.6621359, 35.8179612},
			names: strings.Fields("cement blast_furnace_slag fly_ash water superplasticizer coarse_aggregate fine_aggregate age compressive_strength"),
			named: same, folds: same,
		},
		{
			name: "diabetes", url: ncsu + "diabetes.tab.txt", tabs: true, header: true, file: "diabetes",
			rows: 442, sha256: "a0e711ca654c76854e0391a03da357001308a480b193310ab19e2332aea0989f",
			means: []float64{48.5180995, 1.46832579, 26.3757919, 94.6470136, 189.140271, 115.43914, 49.7884615, 4.07024887, 4.64141086, 91.260181, 152.133484},
			names: strings.Fields("age sex bmi bp s1_tc s2_ldl s3_hdl s4_tch s5_ltg s6_glu progression"),
			named: same, folds: unitColumns,
		},
		{
			name: "energy", url: uci + "242/data.csv", header: true, file: "energy",
			rows: 768, sha256: "ad936b2955910b98b0a86daadfe901c14439be85f69307d964b987ddfb8d2745",
			means: []float64{0.764166667, 671.708333, 318.5, 176.604167, 5.25, 3.5, 0.234375, 2.8125, 22.3072005, 24.5877604},
			names: strings.Fields("relative_compactness surface_area wall_area roof_area overall_height orientation glazing_area glazing_area_distribution heating_load cooling_load"),
			named: same, folds: func(rows [][]float64) [][]float64 { return columns(rows, 0, 1, 2, 3, 4, 5, 6, 7, 8) },
		},
		{
			name: "forest_fire", url: uci + "162/forest+fires.zip", member: "forestfires.csv", header: true, file: "forest_fires",
			rows: 517, sha256: "1dc7ebaec1b44417fa480735e0e1ebed3eb98e7ae3b9dd4e7f178a60148a2fcf",
			means: []float64{4.66924565, 4.29980658, 7.47582205, 4.25918762, 90.6446809, 110.87234, 547.940039, 9.02166344, 18.8891683, 44.2882012, 4.01760155, 0.0216634429, 12.8472921},
			words: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec | mon tue wed thu fri sat sun"),
			names: strings.Fields("x y month day ffmc dmc dc isi temp rh wind rain area log1p_area"),
			named: func(rows [][]float64) [][]float64 { return withLog(rows, false) },
			folds: func(rows [][]float64) [][]float64 {
				return columns(withLog(rows, true), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13)
			},
		},
		{
			name: "yacht", url: uci + "243/yacht+hydrodynamics.zip", member: "yacht_hydrodynamics.data", tabs: true, file: "yacht",
			rows: 308, sha256: "ec08588637fd93582116a1ead33f0c1e787dae755168073608e030e5282a3f4e",
			means: []float64{-2.38181818, 0.564136364, 4.78863636, 3.93681818, 3.20681818, 0.2875, 10.4953571},
			names: strings.Fields("long_position_buoyancy prismatic_coefficient length_displacement_ratio beam_draught_ratio length_beam_ratio froude_number residuary_resistance"),
			named: same, folds: same,
		},
		{
			name: "naval_compressor", url: uci + "316/condition+based+maintenance+of+naval+propulsion+plants.zip", member: "UCI CBM Dataset/data.txt", tabs: true,
			rows: 11934, sha256: "4e88af876b85799943be13b2a61f418c514fd9998d66d3db8d2d173ea4e90f1b", leftOut: []int{8, 11, 17},
			means: []float64{5.16666667, 15, 27247.4987, 2136.28926, 8200.94731, 227.335768, 227.335768, 735.495446, 288, 646.215331, 2.3529628, 0.998, 12.2971233, 1.02947394, 33.6412609, 0.662439668, 0.975, 0.9875},
			// Columns 9 and 12 are constant, 18 is the decay of the turbine.
			folds: func(rows [][]float64) [][]float64 {
				return columns(rows, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15, 16)
			},
		},
	}
}

// number reads a cell.
func (s *source) number(cell string) (float64, error) {
	at := 0
	for _, w := range s.words {
		at++
		switch w {
		case "|":
			at = 0
		case cell:
			return float64(at), nil
		}
	}
	return strconv.ParseFloat(cell, 64)
}

// columns picks columns by number.
func columns(rows [][]float64, at ...int) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		for _, j := range at {
			out[i] = append(out[i], r[j])
		}
	}
	return out
}

// withLog appends log(1 + y) of the last column, centred or not.
func withLog(rows [][]float64, centred bool) [][]float64 {
	mean := 0.0
	for _, r := range rows {
		mean += math.Log1p(r[len(r)-1]) / float64(len(rows))
	}
	if !centred {
		mean = 0
	}
	out := make([][]float64, len(rows))
	for i, r := range rows {
		out[i] = append(append(out[i], r...), math.Log1p(r[len(r)-1])-mean)
	}
	return out
}

// unitColumns centres all columns but the last and scales them to Euclidean norm 1.
func unitColumns(rows [][]float64) [][]float64 {
	out := columns(rows)
	for j := range rows[0] {
		mean, sum := 0.0, 0.0
		for _, r := range rows {
			mean += r[j] / float64(len(rows))
		}
		for _, r := range rows {
			sum += (r[j] - mean) * (r[j] - mean)
		}
		scale := math.Sqrt(sum)
		if j == len(rows[0])-1 {
			mean, scale = 0, 1
		}
		for i, r := range rows {
			out[i] = append(out[i], (r[j]-mean)/scale)
		}
	}
	return out
}
