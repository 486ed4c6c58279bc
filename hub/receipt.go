package hub

import "fmt"

// ReceiptState says how far a direct message has come.
type ReceiptState string

// The states of a receipt.
const (
	ReceiptStored  ReceiptState = "stored"  // the hub has it; the recipient has not been told of it
	ReceiptOffered ReceiptState = "offered" // it was handed to the recipient, who has not confirmed that it has read it
	ReceiptSeen    ReceiptState = "seen"    // the recipient has polled past it or replied to it
)

// OfferedBy says how a message was handed to its recipient.
type OfferedBy string

// The ways by which a message is offered.
const (
	OfferedByPoll  OfferedBy = "poll"  // a poll, the inbox or a stream
	OfferedByWatch OfferedBy = "watch" // the answer of a watch
	OfferedByHook  OfferedBy = "hook"  // a hook of the harness, which moved the told mark
)

// RecipientState says whether an agent would notice a message now.
type RecipientState string

// The states of a recipient.
const (
	RecipientListening       RecipientState = "listening"        // a poll or watch of it waits: it gets the message now
	RecipientLive            RecipientState = "live"             // it has made a call lately, or waits for a lease: it looks by itself
	RecipientAsleep          RecipientState = "asleep"           // it has a session, but is silent and nothing would wake it
	RecipientGone            RecipientState = "gone"             // its session has ended
	RecipientNeverRegistered RecipientState = "never_registered" // no agent of this id has ever had a session
)

// Recipient is the agent that a direct message is for, as it is now.
type Recipient struct {
	AgentID AgentID `json:"agent_id"`
	// listening: a poll or watch of it waits; live: it has made a call in the last minute, waits for a lease, or was
	// woken in the last 30 seconds; asleep: it has a session, but is silent and nothing would wake it.
	State     RecipientState `json:"state"`
	Reachable bool           `json:"reachable"`                  // It is listening or live.
	Harness   Harness        `json:"harness" bounds:"as string"` // Of its live session; may be empty.
	Wakes     bool           `json:"wakes"`                      // Something can begin a turn of an idle session in this harness.
	LastSeen  *Time          `json:"last_seen"`                  // Its last call; null: unknown.
	// Known agents with an id like this one, if nobody has ever had this one; the operator for a word that means the
	// person.
	Near []AgentID `json:"near" bounds:"..3 items"`
}

// Why says in one sentence why the recipient does not read a message now. It is
// empty if the recipient can be reached.
func (r *Recipient) Why() string {
	switch r.State {
	case RecipientListening, RecipientLive:
	case RecipientNeverRegistered:
		if len(r.Near) > 0 {
			return fmt.Sprintf("No agent %q has ever registered; did you mean %s?", r.AgentID, joined(r.Near))
		}
		return fmt.Sprintf("No agent %q has ever registered.", r.AgentID)
	case RecipientGone:
		return fmt.Sprintf("%s is gone: its session has ended.", r.AgentID)
	case RecipientAsleep:
		if facts := r.Harness.Facts(); r.Harness != "" && !r.Wakes {
			title := facts.Title
			if title == "" {
				title = "its harness"
			}
			return fmt.Sprintf("%s is silent, and %s cannot wake it: it reads messages with its next turn.", r.AgentID, title)
		}
		return fmt.Sprintf("%s is silent, and nothing waits that would wake it: it reads messages with its next turn.", r.AgentID)
	}
	return ""
}

// joined lists ids as a choice.
func joined(ids []AgentID) string {
	said := string(ids[0])
	for _, id := range ids[1:] {
		said += " or " + string(id)
	}
	return said
}

// Offer says when and how a message was handed to its recipient. Its members are
// kept in memory: all are nil if only the told mark of an earlier start covers
// the message.
type Offer struct {
	SessionID *SessionID `json:"session_id"` // The session of the recipient then, in its public form.
	By        *OfferedBy `json:"by"`
	At        *Time      `json:"at"`
}

// Receipt says what has become of a direct message.
type Receipt struct {
	MessageID MessageID `json:"message_id"`
	FromAgent AgentID   `json:"from_agent"`
	StoredAt  Time      `json:"stored_at"`
	// offered: it was handed to the recipient, which has not confirmed that it has read it; seen: the recipient has
	// polled past it or replied to it.
	State ReceiptState `json:"state"`
	// How it was handed over. null: it was not, or that is forgotten. It is kept in memory; after a restart all
	// members may be null.
	Offered   *Offer    `json:"offered"`
	Muted     bool      `json:"muted"` // Its sender was muted: it wakes nobody.
	Recipient Recipient `json:"recipient"`
}

// Says tells in a sentence or two how far the message has come.
func (r *Receipt) Says() string {
	to := string(r.Recipient.AgentID)
	switch r.State {
	case ReceiptSeen:
		return to + " has seen it."
	case ReceiptOffered:
		said := "It was offered to " + to
		if o := r.Offered; o != nil && o.SessionID != nil {
			said += " in session " + string(*o.SessionID)
		}
		if o := r.Offered; o != nil && o.By != nil {
			said += fmt.Sprintf(" (%s)", *o.By)
		}
		return said + ", which has not confirmed that it has read it."
	case ReceiptStored:
	}
	if r.Muted {
		return to + " has not been told of it: its sender was muted, so it wakes nobody."
	}
	if why := r.Recipient.Why(); why != "" {
		return to + " has not been told of it. " + why
	}
	return to + " has not been told of it yet."
}

// Posted is the outcome of a post.
type Posted struct {
	Outcome[EncodedMessage]
	// Recipient is set after a direct message to an agent that cannot be reached now.
	Recipient *Recipient
	// Muted is set if the operator has muted the sender: the message wakes nobody.
	Muted *Mute
}
