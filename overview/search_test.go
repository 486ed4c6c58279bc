package overview

import (
	"strings"
	"testing"

	"hubcli/hub"
)

// TestPageShowsARebuildOfTheIndex: status says what searches do not see yet.
func TestPageShowsARebuildOfTheIndex(t *testing.T) {
	for _, c := range []struct {
		status hub.SearchStatus
		want   string
	}{
		{hub.SearchStatus{Open: true, Documents: 1_000_000}, ""},
		{hub.SearchStatus{Open: true, Documents: 10, Behind: shownLag - 1, LeftSec: new(1.0)}, ""},
		{hub.SearchStatus{Behind: 1_000_000}, ""},
		{hub.SearchStatus{Open: true, Documents: 250, Behind: 999_750}, "search finds 250 rows and takes in 999750 more"},
		{hub.SearchStatus{Open: true, Documents: 400_000, Behind: 600_000, LeftSec: new(300.0)}, "search finds 400000 rows and takes in 600000 more, for about 5m"},
	} {
		s := derived(&Snapshot{})
		s.Hub.Search = c.status
		page := ""
		for _, l := range Page(s, PageOptions{Width: 200}) {
			page += l + "\n"
		}
		if (c.want == "") != !strings.Contains(page, "search") || !strings.Contains(page, c.want) {
			t.Errorf("%+v: %s", c.status, page)
		}
	}
}
