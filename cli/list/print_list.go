package list

import (
	"fmt"
	"iter"
	"math"

	"github.com/spf13/pflag"

	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// JSONRows is the usage of --json of a listing.
const JSONRows = "print one JSON document: an array of the rows"

// PrintList writes each row as one line when it comes, or says that there are
// none. As JSON the rows are one array: it is printed when the last of them is here.
func PrintList[T any](env *term.Env, asJSON bool, none string, rows iter.Seq2[T, error], line func(T) string) error {
	if asJSON {
		return PrintArray(env, rows)
	}
	return PrintEach(env, none, rows, func(row T) error {
		_, err := fmt.Fprintln(env.Stdout, peertext.TerminalLine(line(row)))
		return err
	})
}

// PrintArray prints all rows as one JSON document. No rows are an empty array.
func PrintArray[T any](env *term.Env, rows iter.Seq2[T, error]) error {
	all, err := FirstOf(0, rows)
	if err != nil {
		return err
	}
	return term.PrintJSON(env.Stdout, all)
}

// PrintEach prints rows as they come, a page at a time, or says that there are none.
func PrintEach[T any](env *term.Env, none string, rows iter.Seq2[T, error], print func(T) error) error {
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
		env.Note("%s", none)
	}
	return nil
}

// Each yields rows that are there already.
func Each[T any](rows []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// AddLimit adds --limit, the rows of a listing; 0 are all.
func AddLimit(f *pflag.FlagSet, limit *int) {
	f.Var(term.IntValue{To: limit, Min: 1, Max: math.MaxInt32}, "limit", "most `rows` to list; all without it")
}

// UpTo yields the first n of rows; 0 are all.
func UpTo[T any](n int, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
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

// PageOf returns the page size for a listing of n rows; 0 means all.
func PageOf(n int) int {
	if n == 0 {
		return hub.MaxPageRows
	}
	return min(n, hub.MaxPageRows)
}
