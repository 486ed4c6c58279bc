package cli

import (
	"context"
	"io"

	"github.com/spf13/pflag"
)

// lifeline ties a program that runs until it is stopped to the one that started
// it as its child: it stops when its standard input ends, which the system sees
// to however the parent ends. Its flag is hidden: it is for programs.
type lifeline struct{ given bool }

func (l *lifeline) add(f *pflag.FlagSet) {
	const name = "stop-with-stdin"
	f.BoolVar(&l.given, name, false, "")
	f.Lookup(name).Hidden = true
}

// tie returns a context that ends with stdin, if that is wanted. What is read
// means nothing. The goroutine lasts until stdin ends, or the process.
func (l *lifeline) tie(ctx context.Context, stdin io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if l.given {
		go func() {
			// However reading ends, nobody is there any more.
			_, _ = io.Copy(io.Discard, stdin)
			cancel(errInterrupted)
		}()
	}
	return ctx, func() { cancel(nil) }
}
