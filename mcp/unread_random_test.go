package mcp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
)

// reader is an agent of a random team, with what is to be shown to it and what was.
type reader struct {
	*rig
	agent       hub.AgentID
	away        bool            // its bridge has ended
	due, unread []hub.MessageID // due: all since it registered; unread: those that no read has shown
}

// crew is a random team in one room, over bridges to a real hub.
type crew struct {
	t    *testing.T
	hub  *testhub.Hub
	dir  string
	rnd  *rand.Rand
	all  []*reader
	said []string // what happened, for a failure
}

func (c *crew) note(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func (c *crew) failed(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s\nafter %q", fmt.Sprintf(format, args...), c.said)
}

// comes begins the bridge of an agent. The call of a tool sees to it that the agent has registered.
func (c *crew) comes(r *reader) {
	r.rig = bridgeTo(c.t, c.hub, in(c.dir, r.agent))
	r.must("hub_whoami", nil, nil)
	r.away = false
	c.note("%s comes", r.agent)
}

// posts notes a message for all but its author, or for one agent.
func (c *crew) posts(from, to *reader) {
	given := args{"body": fmt.Sprintf("message %d", len(c.said))}
	if to != nil {
		given["to_agent"] = to.agent
	}
	var p posted
	from.must("hub_post_message", given, &p)
	for _, r := range c.all {
		if r != from && (to == nil || r == to) {
			r.due, r.unread = append(r.due, p.ID), append(r.unread, p.ID)
		}
	}
	c.note("%s posts %d", from.agent, p.ID)
	if len(c.said)%5 == 0 { // two that only talk would be slowed down
		c.all[0].must("hub_record_decision", args{"title": given["body"]}, nil)
	}
}

// shown takes the messages that a read has shown: the oldest unread ones, and no others of the team.
func (c *crew) shown(r *reader, how string, messages []shownMessage) (n int) {
	c.t.Helper()
	c.note("%s reads by %s", r.agent, how)
	for _, m := range messages {
		if m.Authority != hub.AuthorityAgent || m.Kind != hub.KindChat {
			continue // notices
		}
		if len(r.unread) == 0 || r.unread[0] != m.ID {
			c.failed("%s is shown message %d by %s, and unread are %v", r.agent, m.ID, how, r.unread)
		}
		r.unread = r.unread[1:]
		n++
	}
	return n
}

// reads lets an agent read once, by one of the ways.
func (c *crew) reads(r *reader) {
	if c.rnd.IntN(3) == 0 {
		var s started
		r.must("hub_start", nil, &s)
		c.shown(r, "hub_start", s.Messages)
		return
	}
	var p polled
	r.must("hub_poll_messages", args{"timeout_seconds": 0, "limit": 1 + c.rnd.IntN(4)}, &p)
	c.shown(r, "hub_poll_messages", p.Messages)
}

// counted compares what the hub calls unread with what no read has shown: without the hub's own
// notices a bridge would count exactly so many, with them it counts as many at least.
func (c *crew) counted(r *reader) {
	c.t.Helper()
	var me aboutMe
	r.must("hub_whoami", nil, &me)
	var directed []hub.MessageID
	a, err := c.all[0].hub.Attention(c.t.Context(), hub.AttentionQuery{Agent: r.agent, Room: me.RoomID})
	if err != nil {
		c.failed("%v", err)
	}
	for _, row := range a.Directed {
		if row.Kind == hub.KindChat {
			directed = append(directed, row.ID)
		}
		if row.Kind == hub.KindChat && !slices.Contains(r.unread, row.ID) {
			c.failed("message %d is told to %s, and unread are %v", row.ID, r.agent, r.unread)
		}
	}
	if a.Unread < len(r.unread) {
		c.failed("%s has %d unread by count, and %v were not shown", r.agent, a.Unread, r.unread)
	}
	if a.Unread > 0 && len(r.unread) == 0 && len(directed) > 0 {
		c.failed("%s has read all, and %v are told", r.agent, directed)
	}
}

// leaves ends the bridge of an agent. The next call reports what the last one has shown.
func (c *crew) leaves(r *reader) {
	r.must("hub_whoami", nil, nil)
	r.end()
	r.away = true
	c.note("%s leaves", r.agent)
}

// TestUnreadIsShownOnce: whatever a team does, each agent is shown what was said in its room and to it
// since it came, in order and once: by hub_start or hub_poll_messages, in pieces or at once, and also what
// was said while its bridge was away. What the hub counts and tells as unread is what no
// read has shown.
func TestUnreadIsShownOnce(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			c := &crew{t: t, hub: testhub.Start(t), dir: t.TempDir(), rnd: rand.New(rand.NewPCG(seed, 1))}
			lead := &reader{agent: "lead"}
			c.all = append(c.all, lead)
			lead.rig = bridgeTo(t, c.hub, in(c.dir, lead.agent))
			bound(t, lead.rig, c.dir)
			for range 60 {
				r := c.all[c.rnd.IntN(len(c.all))]
				other := c.all[c.rnd.IntN(len(c.all))]
				switch n := c.rnd.IntN(20); {
				case r.away:
					if n < 8 {
						c.comes(r)
					}
				case n < 2 && len(c.all) < 4:
					r = &reader{agent: hub.AgentID(fmt.Sprintf("dev-%d", len(c.all)))}
					c.comes(r)
					c.all = append(c.all, r)
				case n < 8:
					c.posts(r, nil)
				case n < 12 && other != r:
					c.posts(r, other)
				case n < 13 && r != lead:
					c.leaves(r)
				case n < 17:
					c.reads(r)
				default:
					c.counted(r)
				}
			}
			for _, r := range c.all {
				if r.away {
					c.comes(r)
				}
				for tries := 0; len(r.unread) > 0; tries++ {
					if c.reads(r); tries > 2*len(r.due)+20 {
						c.failed("%s is never shown %v", r.agent, r.unread)
					}
				}
				c.counted(r)
			}
		})
	}
}
