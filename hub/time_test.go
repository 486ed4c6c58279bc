package hub

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimeIsRFC3339WithMilliseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(-62_135_596_800_000, 253_402_300_799_999).Draw(t, "ms")
		got := string(Time(ms).AppendJSON(nil))
		if want := `"` + time.UnixMilli(ms).UTC().Format(timeLayout) + `"`; got != want {
			t.Fatalf("%d: %s, want %s", ms, got, want)
		}
		var back Time
		if err := back.UnmarshalJSON([]byte(got)); err != nil || back != Time(ms) {
			t.Fatalf("%s reads back as %d, %v; want %d", got, back, err, ms)
		}
	})
}

func TestTimeRefusesWhatIsNoTime(t *testing.T) {
	for _, s := range []string{``, `"`, `0`, `""`, `"2026-01-01"`, `"2026-13-01T00:00:00Z"`} {
		var at Time
		if err := at.UnmarshalJSON([]byte(s)); err == nil {
			t.Errorf("%s was taken as %s", s, at)
		}
	}
}
