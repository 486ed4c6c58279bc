package hook

import (
	"os"
	"testing"
	"time"

	"hubcli/internal/identity"
	"hubcli/internal/require"
)

// TestFirstAgreesAcrossStretches: runs on both sides of the edge of a stretch of
// time are still for one event, and a later event of the same kind is another.
func TestFirstAgreesAcrossStretches(t *testing.T) {
	s := identity.Sessions{Dir: t.TempDir()}
	require.NoError(t, os.Chmod(s.Dir, 0o700))
	edge := time.Unix(0, int64(window)*1000)
	for _, tt := range []struct {
		at     time.Time
		source string
		want   bool
	}{
		{edge.Add(-time.Millisecond), "startup", true},
		{edge.Add(-time.Millisecond), "startup", false},
		{edge.Add(time.Millisecond), "startup", false},
		{edge.Add(time.Millisecond), "compact", true},
		{edge.Add(3 * window), "startup", true},
		{edge, "../../x", true},
	} {
		if got := first(s, "x", tt.source, tt.at); got != tt.want {
			t.Errorf("%s at %s: %v, want %v", tt.source, tt.at.Sub(edge), got, tt.want)
		}
	}
	if !first(identity.Sessions{}, "x", "startup", edge) || !first(identity.Sessions{}, "", "startup", edge) {
		t.Error("where nothing can be kept, nothing may be said")
	}
}
