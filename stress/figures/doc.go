// Package figures measures a hub with all programs of package stress, and writes a page of it
// for people: docs/figures.md, with plots, and the data behind them. The page is made of the
// data alone, so that a test can compare the two.
//
// It is used by one goroutine. It says what it has seen: a figure that falls short of its bar is
// shown as short, and a program that fails ends the run.
package figures
