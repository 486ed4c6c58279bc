package term

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

// BadValue says in a few words why a flag's value is refused.
type BadValue struct{ Why string }

func (b *BadValue) Error() string { return b.Why }

// IntValue is a decimal integer within bounds.
type IntValue struct {
	To       *int
	Min, Max int
}

func (v IntValue) String() string {
	if v.To == nil {
		return "0"
	}
	return strconv.Itoa(*v.To)
}

// Type is that of pflag.Value.
func (IntValue) Type() string { return "int" }

// Set is that of pflag.Value.
func (v IntValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.Min || n > v.Max {
		return &BadValue{fmt.Sprintf("it must be an integer from %d to %d", v.Min, v.Max)}
	}
	*v.To = n
	return nil
}

// IDValue is a message id, or 0.
type IDValue struct{ To *int64 }

func (v IDValue) String() string {
	if v.To == nil {
		return "0"
	}
	return strconv.FormatInt(*v.To, 10)
}

// Type is that of pflag.Value.
func (IDValue) Type() string { return "int" }

// Set is that of pflag.Value.
func (v IDValue) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return &BadValue{"it must be 0 or a message id"}
	}
	*v.To = n
	return nil
}

// VersionValue is the version of an artifact, or 0.
type VersionValue struct{ IDValue }

// Set is that of pflag.Value.
func (v VersionValue) Set(s string) error {
	if v.IDValue.Set(s) != nil {
		return &BadValue{"it must be the number of a version, from 1 on, or 0 for the latest"}
	}
	return nil
}

// MaxSeconds bounds every wait that a flag names: a week.
const MaxSeconds = 7 * 24 * 3600

// durationStyle says how the help shows a duration. All styles are read alike.
type durationStyle int

const (
	InSeconds      durationStyle = iota // 60.0
	InWholeSeconds                      // 86400; a fraction is refused
	InUnits                             // 20m
)

// DurationValue is a duration within bounds: a number of seconds, such as 90, or
// numbers with units, such as 90s, 5m or 1h30m. Every flag that takes a time is one.
type DurationValue struct {
	To       *time.Duration
	Min, Max time.Duration
	Style    durationStyle
}

// WaitValue is a wait of at most a week.
func WaitValue(p *time.Duration, style durationStyle) DurationValue {
	return DurationValue{p, 0, MaxSeconds * time.Second, style}
}

func (v DurationValue) String() string {
	switch {
	case v.To == nil:
		return "0"
	case v.Style == InUnits:
		return DurationText(*v.To)
	}
	s := SecondsText(*v.To)
	if v.Style == InSeconds && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Type is that of pflag.Value.
func (v DurationValue) Type() string { return "duration" }

// Set is that of pflag.Value.
func (v DurationValue) Set(s string) error {
	d, err := parseDuration(s)
	if err != nil || d < v.Min || d > v.Max || v.Style == InWholeSeconds && d%time.Second != 0 {
		whole := ""
		if v.Style == InWholeSeconds {
			whole = "whole "
		}
		return &BadValue{fmt.Sprintf("it must be %sseconds from %s to %s, or the same time with units, such as %s",
			whole, SecondsText(v.Min), SecondsText(v.Max), v.samples())}
	}
	*v.To = d
	return nil
}

// samples are times with units that the value takes, if there are such.
func (v DurationValue) samples() string {
	if v.Min > 90*time.Second {
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

// MomentValue is a time of the past. It is kept as it was written, because a time of the
// day means another moment later.
type MomentValue string

func (v *MomentValue) String() string { return string(*v) }

// Type is that of pflag.Value.
func (*MomentValue) Type() string { return "time" }

// Set is that of pflag.Value.
func (v *MomentValue) Set(s string) error {
	if _, ok := moment(s, time.Now()); !ok {
		return &BadValue{"it must be a time such as 1h (so long ago), 14:05 (the last one), 2026-01-02T15:04 or RFC 3339"}
	}
	*v = MomentValue(s)
	return nil
}

// At returns the moment as it is meant now.
func (v MomentValue) At(now time.Time) time.Time {
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

// SecondsText is a duration in seconds, as flags take it.
func SecondsText(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// ChoiceValue is one of a few words.
type ChoiceValue struct {
	To      *string
	Choices []string
}

func (v ChoiceValue) String() string {
	if v.To == nil {
		return ""
	}
	return *v.To
}

// Type is that of pflag.Value.
func (ChoiceValue) Type() string { return "string" }

// Set is that of pflag.Value.
func (v ChoiceValue) Set(s string) error {
	if !slices.Contains(v.Choices, s) {
		return &BadValue{"it must be one of " + strings.Join(v.Choices, ", ")}
	}
	*v.To = s
	return nil
}

// DurationText leaves out the zero units that time.Duration prints.
func DurationText(d time.Duration) string {
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
