// Package report writes what people read of a decomposition: effects on a grid
// (effects.csv), the parts of every row (contributions.csv) and one HTML page
// (report.html).
package report
