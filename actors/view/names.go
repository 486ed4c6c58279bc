package view

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// names are the ids with capital letters of all agents that ever registered, in lower case and as
// hashes. It says at once that a new id is like none of them; that it is like one, the rows have to
// confirm. Ids without capitals, which are nearly all, take no place: their rows are looked up.
type names struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known map[uint64]struct{} // nil: they are not read yet
}

// mostNames bounds the ids that are looked through for one that is near.
const mostNames = 20_000

// mostNear bounds the ids that are proposed.
const mostNear = 3

// TwinOf returns the agent whose id differs from this one in case alone, or "". It notes the id:
// it is asked before an agent registers for the first time.
func (v *View) TwinOf(id hub.AgentID) (hub.AgentID, error) {
	if plain := id.Lower(); plain != id {
		if row, err := v.AgentRow(plain); err != nil || row != nil {
			return plain, err
		}
	}
	taken, err := v.noted(id)
	if err != nil {
		return "", err
	}
	if !taken {
		return "", nil
	}
	var twin hub.AgentID
	err = v.rows.RowsOf(core.TableAgent, nil, false, func(key, _ []byte) bool {
		if other := hub.AgentID(key); other != id && strings.EqualFold(string(other), string(id)) {
			if row, err := v.AgentRow(other); err == nil && row != nil {
				twin = other
			}
		}
		return twin == ""
	})
	return twin, err
}

// noted reports whether an agent with capitals in its id seems to have this id in another case,
// and notes the id if it has capitals.
func (v *View) noted(id hub.AgentID) (bool, error) {
	v.names.mu.Lock()
	defer v.names.mu.Unlock()
	if v.names.known == nil {
		known, seed := map[uint64]struct{}{}, maphash.MakeSeed()
		if err := v.rows.RowsOf(core.TableAgent, nil, false, func(key, _ []byte) bool {
			if other := hub.AgentID(key); other.Lower() != other {
				known[maphash.String(seed, string(other.Lower()))] = struct{}{}
			}
			return true
		}); err != nil {
			return false, err
		}
		v.names.known, v.names.seed = known, seed
	}
	hash := maphash.String(v.names.seed, string(id.Lower()))
	_, taken := v.names.known[hash]
	if id.Lower() != id {
		v.names.known[hash] = struct{}{}
	}
	return taken, nil
}

// Near returns agents that registered and whose ids are like this one, the nearest first. Words
// for the person lead to the operator.
func (v *View) Near(id hub.AgentID) (near []hub.AgentID) {
	switch strings.ToLower(string(id)) {
	case "human", "user", "me", "person", "owner", "admin":
		return []hub.AgentID{hub.AgentOperator}
	}
	ranked := map[int][]hub.AgentID{}
	likeness, once, looked := core.Likeness(string(id)), lettersOnce(id), 0
	_ = v.rows.RowsOf(core.TableAgent, nil, false, func(key, _ []byte) bool { // it is a remark only
		other := hub.AgentID(key)
		rank := likeness(string(other))
		if rank < 0 && (lettersOnce(other) == once || slip(string(id), string(other))) {
			rank = core.Likenesses
		}
		if rank >= 0 && other != id && !other.Watcher() && len(ranked[rank]) < mostNear {
			if row, err := v.AgentRow(other); err == nil && row != nil {
				ranked[rank] = append(ranked[rank], other)
			}
		}
		looked++
		return looked < mostNames
	})
	for rank := range core.Likenesses + 1 {
		near = append(near, ranked[rank]...)
	}
	return slices.Clip(near[:min(len(near), mostNear)])
}

// lettersOnce returns an id in lower case in which no letter stands twice in a row: dev-aa is a slip
// for dev-a, while worker-11 and worker-1 are two.
func lettersOnce(id hub.AgentID) string {
	var before rune
	return strings.Map(func(r rune) rune {
		if r == before && r >= 'a' && r <= 'z' {
			return -1
		}
		before = r
		return r
	}, strings.ToLower(string(id)))
}

// slip reports whether one id, without regard to case, is the other with two neighbouring letters
// exchanged, or with one letter too few or too many. Ids of fewer than four characters have no
// slips, and a digit is none: dev-1, dev-2 and dev-12 are three agents.
func slip(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if a, b = strings.ToLower(a), strings.ToLower(b); len(b) < 4 || len(a) > len(b)+1 || a == b {
		return false
	}
	at := 0 // of the first difference
	for at < len(b) && a[at] == b[at] {
		at++
	}
	if len(a) > len(b) {
		return isLetter(a[at]) && a[at+1:] == b[at:]
	}
	return at+1 < len(a) && isLetter(a[at]) && isLetter(b[at]) && a[at] == b[at+1] && a[at+1] == b[at] && a[at+2:] == b[at+2:]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }
