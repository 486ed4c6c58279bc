package term

import (
	"strings"
	"testing"
	"time"
)

// TestDurationsAreReadAlike: by every flag that takes a time, with and without units.
func TestDurationsAreReadAlike(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "90s": 90 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "0.5d": 12 * time.Hour, "1d2h": 26 * time.Hour, "1d30m": 24*time.Hour + 30*time.Minute,
		"0": 0, "0.25": 250 * time.Millisecond, "500ms": 500 * time.Millisecond, "1e3": 1000 * time.Second, "1.1": 1100 * time.Millisecond,
	} {
		for _, style := range []durationStyle{InSeconds, InUnits} {
			var got time.Duration
			if err := WaitValue(&got, style).Set(text); err != nil || got != want {
				t.Errorf("%q is %s, %v, want %s", text, got, err, want)
			}
		}
	}
	for _, text := range []string{"", "-1", "-5m", "nan", "inf", "-inf", "1e300", "5 m", "5x", "m", "169h", "604801", "8d", "d", "infd", "d2h", "1d2", "1d-2h", "1d+2h", "1h2d", "1d1d"} {
		var got time.Duration
		err := WaitValue(&got, InUnits).Set(text)
		if err == nil || err.Error() != "it must be seconds from 0 to 604800, or the same time with units, such as 90s, 5m or 1h30m" {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
	var whole time.Duration
	v := DurationValue{&whole, time.Second, time.Hour, InWholeSeconds}
	if err := v.Set("1.5s"); err == nil || !strings.HasPrefix(err.Error(), "it must be whole seconds from 1 to 3600, ") {
		t.Errorf("a fraction: %v", err)
	}
	idle := DurationValue{&whole, 10 * time.Minute, 10 * 365 * 24 * time.Hour, InUnits}
	if err := idle.Set("90s"); err == nil || strings.Contains(err.Error(), "such as 90s") {
		t.Errorf("what is too short is offered: %v", err)
	}
	if err := v.Set("2m"); err != nil || v.String() != "120" {
		t.Errorf("2m: %s, %v", v, err)
	}
}

// TestMoments: so long ago, the last such time of the day, and dates, all of them local.
func TestMoments(t *testing.T) {
	now := time.Date(2026, 3, 4, 13, 0, 0, 0, time.Local)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 3, d, h, m, s, 0, time.Local) }
	for text, want := range map[string]time.Time{
		"1h": day(4, 12, 0, 0), "90": day(4, 12, 58, 30), "0": now, "12:30": day(4, 12, 30, 0), "12:30:05": day(4, 12, 30, 5),
		"13:00": now, "13:01": day(3, 13, 1, 0), "2026-03-01": day(1, 0, 0, 0), "2026-03-01T09:15": day(1, 9, 15, 0),
		"2026-03-01 09:15:02": day(1, 9, 15, 2), "2026-03-01T09:15:00Z": time.Date(2026, 3, 1, 9, 15, 0, 0, time.UTC),
		"2026-03-01T09:15:00+02:00": time.Date(2026, 3, 1, 7, 15, 0, 0, time.UTC),
	} {
		if at, ok := moment(text, now); !ok || !at.Equal(want) {
			t.Errorf("%q is %s, %t, want %s", text, at, ok, want)
		}
	}
	for _, text := range []string{"", "-1h", "1y", "25:00", "14.05.", "tomorrow", "1h ago", "2026-13-01", "nan"} {
		if at, ok := moment(text, now); ok {
			t.Errorf("%q is %s", text, at)
		}
	}
}
