package daemon

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// EndWithInput returns a context that ends with in, for the given cause. It ties a
// program that runs until it is stopped to the one that started it as its child:
// the system closes the pipe however the parent ends. The content of in means
// nothing. The goroutine lasts until in ends, or the process.
func EndWithInput(ctx context.Context, in io.Reader, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		// However reading ends, the parent is gone.
		_, _ = io.Copy(io.Discard, in)
		cancel(cause)
	}()
	return ctx, func() { cancel(nil) }
}

// readerEvery is how often EndWithReader looks whether stdout still has a reader.
const readerEvery = 2 * time.Second

// GoneError says why nobody waits for a command any more.
type GoneError struct{ Why string }

func (e *GoneError) Error() string { return e.Why }

// EndWithTerminal returns a context that also ends when the terminal hangs up. A program that was begun to
// outlive its terminal (nohup) goes on.
func EndWithTerminal(ctx context.Context) (context.Context, context.CancelFunc) {
	if signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

// EndWithReader returns a context that ends with a GoneError when nobody is left to
// read what the process will say: its parent has ended, stdout is closed at the
// other end, or the terminal has hung up. Harnesses may kill only the shell between.
func EndWithReader(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	IgnoreClosedOutput()
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
				cancel(&GoneError{why})
			case <-tick.C:
				switch {
				case os.Getppid() != parent:
					cancel(&GoneError{"the process that started it has ended"})
				case closedAtOtherEnd(os.Stdout):
					cancel(&GoneError{"nobody reads its output any more"})
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
