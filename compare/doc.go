// Package compare sets two decompositions side by side: two trainings of a network, or one
// network on the rows of two periods. It says how far the curves of each term have moved
// apart, and whether by more than their standard errors allow; from where a change of the
// predictor's mean comes, and term by term from where one of its variance.
//
// It reads a result directory: the artifact, its moments and the curves of effects.csv. Neither
// network nor rows are needed.
package compare
