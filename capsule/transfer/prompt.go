package transfer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hubcli/hub"
)

// promptOf returns the question about a plan that is ready: all that it holds and leaves
// out, and where it goes.
func promptOf(p *hub.CapsulePlan) string {
	var b strings.Builder
	what := ""
	if p.Form == hub.CapsuleBundle {
		what = " as a folder to read"
	}
	fmt.Fprintf(&b, "Export project %s (%s)%s\n\n", p.Project.Slug, p.Project.ProjectID, what)
	line := func(name, text string) { fmt.Fprintf(&b, "  %-9s %s\n", name, text) }
	line("to", p.Target)
	line("scope", string(p.Scope)+scopeWords(p))
	line("privacy", string(p.Privacy)+privacyWords(p.Privacy))
	line("holds", holds(&p.Counts))
	line("redacted", tally(p.Redactions, "nothing"))
	line("left out", hub.LeftOutWords(p.LeftOut, number))
	for _, a := range p.Artifacts {
		line("", leftOutName(&a))
	}
	if n := p.LeftOut[hub.LeftBinary] - len(p.Artifacts); n > 0 && len(p.Artifacts) > 0 {
		line("", "and "+plural(int64(n), "artifact")+" more")
	}
	if len(p.Artifacts) > 0 {
		line("", "an artifact that the export names by its id is in the file as it is")
	}
	line("as of", fmt.Sprintf("record %d and message %d; what comes later is not in it", p.AsOfSeq, p.AsOfMessage))
	if p.Form == hub.CapsuleBundle {
		line("size", number(p.Size)+" bytes in "+plural(p.Files, "file")+", for your user alone (mode 0600, folders 0700)")
	} else {
		line("size", number(p.Size)+" bytes, for your user alone (mode 0600)")
	}
	if len(p.Recipients) > 0 {
		line("encrypted", "only these can open it, and you only if one of them is yours")
		for _, to := range p.Recipients {
			line("", to)
		}
	}
	if p.Signer != nil {
		line("signed", "by key "+p.Signer.KeyID+" (public key "+p.Signer.PublicKey+")")
		line("", "the signature goes to "+p.Signer.File)
	}
	if p.Mirror != nil {
		mirrorLines(&b, line, p.Mirror)
	}
	return b.String()
}

// promptChanges is how many files of a mirror a prompt names; it counts all.
const promptChanges = 20

// mirrorLines says what an export does in a Git work tree.
func mirrorLines(b *strings.Builder, line func(name, text string), m *hub.CapsuleMirror) {
	if m.State == hub.MirrorSkipped {
		line("mirror", "none is written: "+m.Reason)
		return
	}
	line("mirror", m.Folder)
	line("", fmt.Sprintf("%s new, %s replaced, %s removed, %s unchanged, %s kept as somebody changed them; Git is not touched",
		number(int64(m.Write)), number(int64(m.Replace)), number(int64(m.Remove)), number(int64(m.Same)), number(int64(m.Kept))))
	for i, c := range m.Changes {
		if i == promptChanges {
			line("", "and "+plural(int64(m.Write+m.Replace+m.Remove+m.Kept-i), "file")+" more")
			break
		}
		fmt.Fprintf(b, "  %9s %-8s %s\n", "", c.Do, c.Path)
	}
}

func scopeWords(p *hub.CapsulePlan) string {
	switch p.Scope {
	case hub.CapsuleKnowledge:
		return ": everything but messages"
	case hub.CapsuleSelectedRooms:
		return ": everything of " + plural(int64(len(p.Rooms)), "room")
	case hub.CapsuleComplete:
	}
	return ": everything of all rooms"
}

func privacyWords(p hub.CapsulePrivacy) string {
	if p == hub.CapsuleShareSafe {
		return ": secrets, names of this machine and of its people are replaced"
	}
	return ": nothing is replaced, and direct messages are in it; do not publish it"
}

// holds lists the things of a capsule.
func holds(c *hub.CapsuleCounts) string {
	messages := plural(c.Messages, "message")
	if c.Direct > 0 {
		messages += " (" + number(c.Direct) + " direct)"
	}
	memories := number(c.Memories) + " memories"
	if c.Memories == 1 {
		memories = "1 memory"
	}
	return strings.Join([]string{
		plural(c.Rooms, "room"), plural(c.Agents, "agent"), plural(c.Decisions, "decision"),
		plural(c.Artifacts, "artifact") + " (" + plural(c.BlobBytes, "byte") + ")", memories,
		plural(c.Runs, "run"), plural(c.Tasks, "task"), messages,
	}, ", ")
}

// tally lists kinds with their counts, by name.
func tally(counts map[string]int, none string) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[kind]; n > 0 {
			parts = append(parts, kind+" "+number(int64(n)))
		}
	}
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, ", ")
}

// leftOutName says which artifact is left out, and why.
func leftOutName(a *hub.CapsuleLeftOut) string {
	text := fmt.Sprintf("%s %s, version %d", a.ArtifactID, oneLine(a.Title), a.Version)
	if a.Reason == "encoding" {
		text += ": it is no text in UTF-8, so nothing in it can be replaced"
	}
	return text
}

// oneLine is a text of an agent or a signer in a prompt.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return number(n) + " " + thing + "s"
}

// number writes a number of at least 0 with a comma before each three digits.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
