package hub

import (
	"context"
	"time"
)

// BrowseAction is what a step does with the page of a room.
type BrowseAction string

// The actions.
const (
	BrowseOpen       BrowseAction = "open"
	BrowseSnapshot   BrowseAction = "snapshot"
	BrowseClick      BrowseAction = "click"
	BrowseType       BrowseAction = "type"
	BrowsePress      BrowseAction = "press"
	BrowseSelect     BrowseAction = "select"
	BrowseScreenshot BrowseAction = "screenshot"
	BrowseBack       BrowseAction = "back"
	BrowseClose      BrowseAction = "close"
)

// BrowseActions lists the actions.
func BrowseActions() []BrowseAction {
	return []BrowseAction{
		BrowseOpen, BrowseSnapshot, BrowseClick, BrowseType, BrowsePress, BrowseSelect, BrowseScreenshot, BrowseBack, BrowseClose,
	}
}

// Limits of the browser of a room.
const (
	// BrowseStepMax bounds one step, whatever the page does.
	BrowseStepMax = 30 * time.Second
	// BrowseClaimSec is how long the driver of a page holds its claim after a step.
	BrowseClaimSec = 300

	MaxURLBytes      = 4096
	MaxSnapshotChars = 120_000
	MaxTypedChars    = 32_000
	MaxSelected      = 50      // values of one step
	MaxScreenshot    = 2 << 20 // bytes
)

// BrowseClaim is the claim that the driver of a room's page holds.
func BrowseClaim(room RoomID) ClaimKey { return ClaimKey("browser:" + string(room)) }

// BrowseInput is one step with the page of a room. Which members an action takes is said
// beside them; the others are empty.
type BrowseInput struct {
	AgentID AgentID      `json:"agent_id"`
	Action  BrowseAction `json:"action"`
	URL     string       `json:"url,omitempty" bounds:"..MaxURLBytes runes"` // Of open: http or https, without a name or a password.
	// An element of the last snapshot, such as e12: of click, type and select, and of press if it is meant for one.
	Ref    string `json:"ref,omitempty" bounds:"..MaxNameChars runes"`
	Text   string `json:"text,omitempty" bounds:"..MaxTypedChars runes"` // Of type: takes the place of the text of the element.
	Submit bool   `json:"submit,omitempty"`                              // Of type: press Enter afterward.
	// Of press: a character or Enter, Tab, Escape, ArrowDown and the like, perhaps with Control+, Alt+, Shift+ or
	// Meta+.
	Key    string   `json:"key,omitempty" bounds:"..200 runes"`
	Values []string `json:"values,omitempty" bounds:"..MaxSelected items; each ..MaxTitleChars runes"` // Of select: the options, by their value or by what they say.
	Full   bool     `json:"full,omitempty"`                                                            // Of screenshot: also what has to be scrolled to, up to 4000 pixels.
}

// BrowsePage is the page of a room after a step. What the page itself has written is the
// text of a stranger: the URL, the title, the snapshot and the notes.
type BrowsePage struct {
	RoomID    RoomID       `json:"room_id" bounds:"like ^r_[0-9a-z]+$"`
	Action    BrowseAction `json:"action"`
	URL       string       `json:"url"`       // Of the page; text of a stranger.
	Title     string       `json:"title"`     // Text of a stranger.
	Loading   bool         `json:"loading"`   // The page was still loading when the step ended.
	Navigated bool         `json:"navigated"` // It is another page than before: earlier refs are stale.
	// The elements of the page with their refs, of open, back and snapshot; else empty. Text of a stranger.
	Snapshot  string `json:"snapshot"`
	Truncated bool   `json:"truncated"` // The snapshot was cut.
	// What the page tried and did not get: dialogs, windows, downloads, connections. Text of a stranger.
	Notes    []string  `json:"notes"`
	Artifact *Artifact `json:"artifact"` // The screenshot.
	// When the claim of the driver ends without another step; null: it was released.
	ExpiresAt *Time `json:"expires_at"`
}

// Picture is a screenshot before it is stored.
type Picture struct {
	Data        []byte
	ContentType string
}

// BrowserDriver has one browser engine at most, and a page for each room that uses one.
type BrowserDriver interface {
	// Step does one step with the page of a room and answers within BrowseStepMax. The
	// page reaches the public internet and the hosts. Errors: browser_missing,
	// browser_failed, page_failed, page_timeout, address_refused, stale_ref, invalid.
	Step(ctx context.Context, room RoomID, hosts []AllowedHost, in *BrowseInput) (BrowsePage, *Picture, error)
}

// AllowHostInput allows the browser of a room a host that has no public address, or takes
// that back.
type AllowHostInput struct {
	Host   AllowedHost `json:"host" bounds:"..262 runes"` // A name or an address, perhaps with a port: localhost:3000.
	Remove bool        `json:"remove,omitempty"`          // Take it back.
}

// Browses lets the agents of a room look at web pages.
type Browses interface {
	// Browse does one step with the page of a room for the agent that holds the claim
	// BrowseClaim, or gets it with this step. Errors: those of BrowserDriver.Step, and
	// room_not_found, browser_busy.
	Browse(ctx context.Context, room RoomID, in BrowseInput) (BrowsePage, error)
	// AllowHost allows the browser of a room a host that has no public address, or takes
	// that back. Operator only. Errors: room_not_found, limit_reached, invalid.
	AllowHost(ctx context.Context, room RoomID, in AllowHostInput) (Outcome[Room], error)
}
