package top

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"hubcli/overview"
)

// framesASecond is how often the screen may change. At rest, each frame wakes the
// process.
const framesASecond = 20

// Options are what the view needs of its surroundings.
type Options struct {
	Hub    Hub
	In     *os.File // a terminal
	Out    *os.File // a terminal
	Now    func() time.Time
	Colors bool
}

// Run shows the view until the human quits or ctx ends.
func Run(ctx context.Context, o Options) error {
	calls, end := context.WithCancel(ctx)
	defer end() // of the calls that are under way
	paint := overview.NoPaint
	if o.Colors {
		paint = overview.Colors
	}
	_, err := tea.NewProgram(New(calls, o.Hub, o.Now, paint),
		tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithFPS(framesASecond)).Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
