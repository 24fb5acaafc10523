// Package report writes what people read of a decomposition: the terms' effects on a grid
// (Effects, WriteEffects: effects.csv), the parts of every row (Contributions:
// contributions.csv), and one HTML page (Write: report.html).
package report
