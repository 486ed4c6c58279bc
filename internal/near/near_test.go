package near

import "testing"

func TestName(t *testing.T) {
	names := []string{"timeout_seconds", "room_id", "to", "Mary"}
	for word, want := range map[string]string{
		"room_di": "room_id", "roomid": "room_id", "TIMEOUT": "timeout_seconds", "mery": "Mary", "tu": "to", "x": "", "": "", "elsewhere": "",
	} {
		if got := Name(word, names); got != want {
			t.Errorf("Name(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"port", "port", 0}, {"prot", "port", 2}, {"por", "port", 1}, {"storage", "spool-dir", 7}} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
