package hub

import (
	"fmt"
	"time"
)

// Time is a moment in milliseconds since the Unix epoch; on the wire it is
// RFC 3339 in UTC with milliseconds and a Z. Zero is the epoch, not "absent":
// absent times are nil pointers.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf converts t and drops fractions of a millisecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std returns the standard library's time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

func (t Time) String() string { return t.Std().Format(timeLayout) }

// AppendJSON appends the quoted wire form to b. Every row carries a time, so
// this writes the digits itself instead of interpreting a layout. Years beyond
// 9999 use the layout.
func (t Time) AppendJSON(b []byte) []byte {
	std := t.Std()
	year, month, day := std.Date()
	hour, minute, second := std.Clock()
	b = append(b, '"')
	if year < 0 || year > 9999 {
		b = std.AppendFormat(b, timeLayout)
		return append(b, '"')
	}
	b = append(b, byte('0'+year/1000), byte('0'+year/100%10))
	b = appendTwo(b, year%100, '-')
	b = appendTwo(b, int(month), '-')
	b = appendTwo(b, day, 'T')
	b = appendTwo(b, hour, ':')
	b = appendTwo(b, minute, ':')
	b = appendTwo(b, second, '.')
	ms := std.Nanosecond() / 1e6
	b = append(b, byte('0'+ms/100))
	b = appendTwo(b, ms%100, 'Z')
	return append(b, '"')
}

func appendTwo(b []byte, n int, behind byte) []byte {
	return append(b, byte('0'+n/10), byte('0'+n%10), behind)
}

// MarshalJSON returns the quoted wire form.
func (t Time) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil), nil }

// UnmarshalJSON accepts any RFC 3339 time.
func (t *Time) UnmarshalJSON(b []byte) error {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("hub: a time must be an RFC 3339 string")
	}
	parsed, err := time.Parse(time.RFC3339Nano, string(b[1:len(b)-1]))
	if err != nil {
		return fmt.Errorf("hub: a time must be RFC 3339: %w", err)
	}
	*t = TimeOf(parsed)
	return nil
}

// Age shows a span of milliseconds in its largest unit: 40s, 12m, 3h, 2d.
func Age(span Time) string {
	d := max(0, time.Duration(span)*time.Millisecond)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
