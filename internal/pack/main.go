// Command pack builds hubcli as it is delivered: the commands of every day in one file that carries the whole
// program (cmd/packed). Where the system cannot become another program, the whole program alone is delivered.
//
//	go run ./internal/pack -o bin/hubcli
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"

	"hubcli/internal/packer"
)

func main() {
	out := flag.String("o", "", "the `file` to write")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "pack: name the file to write with -o")
		os.Exit(2)
	}
	err := packer.Build(context.Background(), packer.Options{Root: ".", Platform: runtime.GOOS + "/" + runtime.GOARCH, Out: *out})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}
