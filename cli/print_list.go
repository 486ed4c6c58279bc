package cli

import (
	"fmt"
	"iter"
	"math"

	"github.com/spf13/pflag"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

// jsonRows is the usage of --json of a listing.
const jsonRows = "print one JSON document: an array of the rows"

// printList writes each row as one line when it comes, or says that there are
// none. As JSON the rows are one array: it is printed when the last of them is here.
func printList[T any](env *Env, asJSON bool, none string, rows iter.Seq2[T, error], line func(T) string) error {
	if asJSON {
		return printArray(env, rows)
	}
	return printEach(env, none, rows, func(row T) error {
		_, err := fmt.Fprintln(env.Stdout, peertext.TerminalLine(line(row)))
		return err
	})
}

// printArray prints all rows as one JSON document. No rows are an empty array.
func printArray[T any](env *Env, rows iter.Seq2[T, error]) error {
	all, err := firstOf(0, rows)
	if err != nil {
		return err
	}
	return printJSON(env.Stdout, all)
}

// printEach prints rows as they come, a page at a time, or says that there are none.
func printEach[T any](env *Env, none string, rows iter.Seq2[T, error], print func(T) error) error {
	n := 0
	for row, err := range rows {
		if err == nil {
			err = print(row)
		}
		if err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		env.note("%s", none)
	}
	return nil
}

// each yields rows that are there already.
func each[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// addLimit adds --limit, the rows of a listing; 0 are all.
func addLimit(f *pflag.FlagSet, limit *int) {
	f.Var(intValue{limit, 1, math.MaxInt32}, "limit", "most `rows` to list; all without it")
}

// upTo yields the first n of rows; 0 are all.
func upTo[T any](n int, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	if n == 0 {
		return rows
	}
	return func(yield func(T, error) bool) {
		left := n
		for row, err := range rows {
			if left--; !yield(row, err) || left == 0 {
				return
			}
		}
	}
}

// pageOf returns the page size for a listing of n rows; 0 means all.
func pageOf(n int) int {
	if n == 0 {
		return hub.MaxPageRows
	}
	return min(n, hub.MaxPageRows)
}
