package overview

import (
	"fmt"

	"hubcli/hub"
)

// shownLag is the number of rows from which a person is told that searches do not see
// them yet. Fewer are taken in within a second or two.
const shownLag = 1000

// SearchLag says how far the search index is if it has much to take in, for example
// after it was deleted. It is empty otherwise.
func SearchLag(s hub.SearchStatus) string {
	if !s.Open || s.Behind < shownLag {
		return ""
	}
	text := fmt.Sprintf("finds %d rows and takes in %d more", s.Documents, s.Behind)
	if s.LeftSec != nil {
		text += ", for about " + hub.Age(hub.Time(*s.LeftSec*1000))
	}
	return text
}
