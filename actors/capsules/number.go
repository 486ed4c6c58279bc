package capsules

import (
	"slices"
	"strconv"
	"strings"

	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

// ranks are the numbers of one kind of thing, rising: the n-th is number n of the capsule.
type ranks[N ~uint64 | ~int64] []N

// of returns the number of a thing, from 1, or false if it is not in the capsule.
func (r ranks[N]) of(n N) (int64, bool) {
	at, ok := slices.BinarySearch(r, n)
	return int64(at) + 1, ok
}

// settle sorts the numbers and drops repetitions.
func (r *ranks[N]) settle() {
	slices.Sort(*r)
	*r = slices.Compact(*r)
}

// numbers gives the things of a capsule their names in it.
type numbers struct {
	project hub.ProjectID
	// messages are the ids of all messages and tasks of the capsule.
	messages  idRanks
	rooms     ranks[hub.Seq]
	decisions ranks[hub.Seq]
	artifacts ranks[hub.Seq]
	memories  ranks[hub.Seq]
	runs      ranks[hub.Seq]
}

// number returns the number of a message or task.
func (x *numbers) number(id hub.MessageID) (capsule.Number, bool) {
	n, ok := x.messages.of(id)
	return capsule.Number(n), ok
}

// optional returns the number of a message or task, or 0 if it is not in the capsule.
func (x *numbers) optional(id *hub.MessageID) capsule.Number {
	if id == nil {
		return 0
	}
	if n, ok := x.number(*id); ok {
		return n
	}
	return 0
}

// thing returns the reference of an id in a text.
func (x *numbers) thing(id string) (capsule.Ref, bool) {
	prefix, _, _ := strings.Cut(id, "_")
	var letter string
	var of ranks[hub.Seq]
	switch prefix {
	case core.PrefixProject:
		return capsule.ProjectRef, id == string(x.project)
	case core.PrefixRoom:
		letter, of = "r", x.rooms
	case core.PrefixDecision:
		letter, of = "d", x.decisions
	case core.PrefixArtifact:
		letter, of = "a", x.artifacts
	case core.PrefixMemory:
		letter, of = "k", x.memories
	case core.PrefixRun:
		letter, of = "u", x.runs
	default:
		return "", false
	}
	seq, ok := core.SeqOf(prefix, id)
	if !ok {
		return "", false
	}
	n, ok := of.of(seq)
	return refOf(letter, n), ok
}

// ref returns the reference of a thing of the capsule.
func (x *numbers) ref(id string) capsule.Ref {
	ref, ok := x.thing(id)
	if !ok {
		return ""
	}
	return ref
}

func refOf(letter string, n int64) capsule.Ref {
	return capsule.Ref(letter + strconv.FormatInt(n, 10))
}
