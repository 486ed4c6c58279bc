package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"hubcli/cli/daemon"
)

// readerEvery is how often a watch looks whether somebody still waits for it.
const readerEvery = 2 * time.Second

// goneError says why nobody waits for a command any more.
type goneError struct{ why string }

func (e *goneError) Error() string { return e.why }

// tieToReader returns a context that ends when nobody is left to read what the
// command will say: its parent has ended, stdout is closed at the other end, or
// the terminal has hung up. Harnesses may kill only the shell between.
func tieToReader(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	daemon.IgnoreClosedOutput()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means it
		signal.Notify(hangup, syscall.SIGHUP)
	}
	parent := os.Getppid()
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(readerEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-hangup:
				why := "the terminal hung up"
				if s == syscall.SIGQUIT {
					why = "it was told to quit"
				}
				cancel(&goneError{why})
			case <-tick.C:
				switch {
				case os.Getppid() != parent:
					cancel(&goneError{"the process that started it has ended"})
				case daemon.ClosedAtOtherEnd(os.Stdout):
					cancel(&goneError{"nobody reads its output any more"})
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
		signal.Stop(hangup)
	}
}
