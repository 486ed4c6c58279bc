package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The values of flags. Each refuses invalid values while the flags are parsed,
// so a command only sees valid ones.

// badValue says in a few words why a flag's value is refused.
type badValue struct{ why string }

func (b *badValue) Error() string { return b.why }

// intValue is a decimal integer within bounds.
type intValue struct {
	p        *int
	min, max int
}

func (v intValue) String() string {
	if v.p == nil {
		return "0"
	}
	return strconv.Itoa(*v.p)
}

func (intValue) Type() string { return "int" }

func (v intValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.min || n > v.max {
		return &badValue{fmt.Sprintf("it must be an integer from %d to %d", v.min, v.max)}
	}
	*v.p = n
	return nil
}

// idValue is a message id, or 0.
type idValue struct{ p *int64 }

func (v idValue) String() string {
	if v.p == nil {
		return "0"
	}
	return strconv.FormatInt(*v.p, 10)
}

func (idValue) Type() string { return "int" }

func (v idValue) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return &badValue{"it must be 0 or a message id"}
	}
	*v.p = n
	return nil
}

// versionValue is the version of an artifact, or 0.
type versionValue struct{ idValue }

func (v versionValue) Set(s string) error {
	if v.idValue.Set(s) != nil {
		return &badValue{"it must be the number of a version, from 1 on, or 0 for the latest"}
	}
	return nil
}

// maxSeconds bounds every wait that a flag names: a week.
const maxSeconds = 7 * 24 * 3600

// durationStyle says how the help shows a duration. All styles are read alike.
type durationStyle int

const (
	inSeconds      durationStyle = iota // 60.0
	inWholeSeconds                      // 86400; a fraction is refused
	inUnits                             // 20m
)

// durationValue is a duration within bounds: a number of seconds, such as 90, or
// numbers with units, such as 90s, 5m or 1h30m. Every flag that takes a time is one.
type durationValue struct {
	p        *time.Duration
	min, max time.Duration
	style    durationStyle
}

// waitValue is a wait of at most a week.
func waitValue(p *time.Duration, style durationStyle) durationValue {
	return durationValue{p, 0, maxSeconds * time.Second, style}
}

func (v durationValue) String() string {
	switch {
	case v.p == nil:
		return "0"
	case v.style == inUnits:
		return durationText(*v.p)
	}
	s := secondsText(*v.p)
	if v.style == inSeconds && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func (v durationValue) Type() string { return "duration" }

func (v durationValue) Set(s string) error {
	d, err := parseDuration(s)
	if err != nil || d < v.min || d > v.max || v.style == inWholeSeconds && d%time.Second != 0 {
		whole := ""
		if v.style == inWholeSeconds {
			whole = "whole "
		}
		return &badValue{fmt.Sprintf("it must be %sseconds from %s to %s, or the same time with units, such as %s",
			whole, secondsText(v.min), secondsText(v.max), v.samples())}
	}
	*v.p = d
	return nil
}

// samples are times with units that the value takes, if there are such.
func (v durationValue) samples() string {
	if v.min > 90*time.Second {
		return "30m, 24h or 7d"
	}
	return "90s, 5m or 1h30m"
}

// parseDuration reads seconds without a unit, or a duration with units: 1h30m, 7d, 1d2h.
func parseDuration(s string) (time.Duration, error) {
	f, err := strconv.ParseFloat(s, 64)
	if days, rest, found := strings.Cut(s, "d"); found {
		f, err = strconv.ParseFloat(days, 64)
		f *= (24 * time.Hour).Seconds()
		if more, bad := time.ParseDuration(rest); err == nil && rest != "" {
			if f += more.Seconds(); bad != nil || more < 0 || strings.ContainsAny(rest[:1], "+-") {
				return 0, strconv.ErrSyntax
			}
		}
	}
	switch {
	case err != nil:
		return time.ParseDuration(s)
	case math.IsNaN(f) || math.Abs(f) > math.MaxInt64/float64(2*time.Second):
		return 0, strconv.ErrRange
	}
	return time.Duration(math.Round(f * float64(time.Second))), nil
}

// momentValue is a time of the past. It is kept as it was written, because a time of the
// day means another moment later.
type momentValue string

func (v *momentValue) String() string { return string(*v) }

func (*momentValue) Type() string { return "time" }

func (v *momentValue) Set(s string) error {
	if _, ok := moment(s, time.Now()); !ok {
		return &badValue{"it must be a time such as 1h (so long ago), 14:05 (the last one), 2026-01-02T15:04 or RFC 3339"}
	}
	*v = momentValue(s)
	return nil
}

// at returns the moment as it is meant now.
func (v momentValue) at(now time.Time) time.Time {
	at, _ := moment(string(v), now)
	return at
}

// moment reads so long ago; a time of the day, today or, if that is still to come,
// yesterday; a date; or a date with a time. Without a zone the time is local.
func moment(s string, now time.Time) (time.Time, bool) {
	if d, err := parseDuration(s); err == nil {
		return now.Add(-d), d >= 0
	}
	now = now.Local()
	for _, layout := range []string{"15:04", time.TimeOnly} {
		clock, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		year, month, day := now.Date()
		at := time.Date(year, month, day, clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
		if at.After(now) {
			at = time.Date(year, month, day-1, clock.Hour(), clock.Minute(), clock.Second(), 0, time.Local)
		}
		return at, true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func secondsText(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// choiceValue is one of a few words.
type choiceValue struct {
	p       *string
	choices []string
}

func (v choiceValue) String() string {
	if v.p == nil {
		return ""
	}
	return *v.p
}

func (choiceValue) Type() string { return "string" }

func (v choiceValue) Set(s string) error {
	if !slices.Contains(v.choices, s) {
		return &badValue{"it must be one of " + strings.Join(v.choices, ", ")}
	}
	*v.p = s
	return nil
}

// durationText leaves out the zero units that time.Duration prints.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	if d == 0 {
		return "0"
	}
	return s
}
