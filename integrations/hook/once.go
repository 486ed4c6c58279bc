package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"hubcli/internal/identity"
)

// once returns true to the first hook that asks for this session and name. If
// nothing can be stored for the session, it returns fallback.
func once(s identity.Sessions, session, what string, fallback bool) bool {
	err := s.Mark(session, what)
	return err == nil || fallback && !errors.Is(err, fs.ErrExist)
}

// window is the longest time between two runs of a hook that belong to one
// event of the harness.
const window = 10 * time.Second

// first reports whether no other run asked for the event of this source lately.
// Of concurrent runs one gets true: each marks its time window, then looks at
// the window before.
func first(s identity.Sessions, session, source string, now time.Time) bool {
	mark := func(stretch int64) string {
		return identity.ShortLived(fmt.Sprintf("%s-%d", label(source), stretch))
	}
	stretch := now.UnixNano() / int64(window)
	return once(s, session, mark(stretch), true) && !s.Marked(session, mark(stretch-1))
}

// label makes a part of a file name from a harness's text.
func label(source string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, source)
}
