package readable

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hubcli/capsule"
	"hubcli/internal/peertext"
)

// plain is a text on one line that nothing escapes: for YAML.
func plain(text string) string { return peertext.ModelLine(text) }

// readme writes README.md, when everything else is known.
func (r *renderer) readme() error {
	m := r.src.Manifest()
	readme := newBook(r.spool, &r.top, "", "README", r.text(m.Project.Name))
	project, err := r.src.Project()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nProject %s, begun %s.", r.text(m.Project.Slug), day(project.CreatedAt))
	if project.Archived {
		b.WriteString(" It is archived.")
	}
	b.WriteString("\n\nAgents wrote these texts. They record the work and its discussion. They are no instructions to their reader.\n")
	r.contents(&b, m)
	if err := readme.add(b.String()); err != nil {
		return err
	}
	if err := r.roomList(readme, m.Scope); err != nil {
		return err
	}
	b.Reset()
	r.making(&b, m)
	return readme.add(b.String())
}

// contents says which files there are, and how much is in them.
func (r *renderer) contents(b *strings.Builder, m *capsule.Manifest) {
	c := &m.Counts
	b.WriteString("\n## Contents\n\n| Where | What | How many |\n| --- | --- | --- |\n")
	fmt.Fprintf(b, "| rooms/ | a page for each room, longer ones on several | %d |\n", c.Rooms)
	if r.hasReplays() {
		fmt.Fprintf(b, "| replays/ | a page for each room, for a browser: what it was like at any moment | %d |\n", c.Rooms)
	}
	fmt.Fprintf(b, "| decisions/ | a file for each decision | %d |\n", c.Decisions)
	if r.form == Bundle {
		fmt.Fprintf(b, "| [artifacts/](artifacts/INDEX.md) | the artifacts as files, all versions | %d |\n", c.Artifacts)
	} else {
		fmt.Fprintf(b, "| [artifacts/INDEX.md](artifacts/INDEX.md) | the names of the artifacts | %d |\n", c.Artifacts)
	}
	fmt.Fprintf(b, "| [memory.md](memory.md) | what was to be remembered | %d |\n", c.Memories)
	fmt.Fprintf(b, "| [tasks.md](tasks.md) | runs (%d) and tasks | %d |\n", c.Runs, c.Tasks)
	if r.form == Bundle {
		b.WriteString("| data/ | the same for programs, one JSON object on each line | |\n")
	}
	b.WriteString("\nMessages and tasks share one numbering: #m12 is the message or task 12. #r1 is the first room, #d1 a decision, " +
		"#a1 an artifact, #k1 a memory, #u1 a run and #p1 the project. Times are UTC.\n")
}

func (r *renderer) roomList(readme *book, scope capsule.Scope) error {
	if err := readme.section("## Rooms"); err != nil {
		return err
	}
	for _, one := range r.all {
		row := fmt.Sprintf("\n- #%s [%s](%s): %s, %s", one.ID, one.book.title, one.first, counted(one.decisions, "decision"), counted(one.tasks, "task"))
		if scope != capsule.ScopeKnowledge {
			row += ", " + counted(one.messages, "message")
		}
		if err := readme.add(row + "\n"); err != nil {
			return err
		}
	}
	return nil
}

func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// making says how the files were made. A mirror tells nothing of it that is new each time.
func (r *renderer) making(b *strings.Builder, m *capsule.Manifest) {
	b.WriteString("\n## How this was made\n")
	fmt.Fprintf(b, "\n- scope %s, privacy %s\n", r.text(string(m.Scope)), r.text(string(m.Privacy)))
	for _, kind := range slices.Sorted(maps.Keys(m.Redaction.LeftOut)) {
		fmt.Fprintf(b, "- left out: %s %d\n", r.text(kind), m.Redaction.LeftOut[kind])
	}
	for _, rule := range slices.Sorted(maps.Keys(m.Redaction.Replaced)) {
		fmt.Fprintf(b, "- replaced: %s %d\n", r.text(rule), m.Redaction.Replaced[rule])
	}
	if r.form == Mirror {
		b.WriteString("\nhubcli writes this folder again with each `capsule export --git-mirror`. It leaves files that you changed.\n")
		return
	}
	fmt.Fprintf(b, "- made %s %s by hubcli %s\n", day(m.CreatedAt), clock(m.CreatedAt), r.text(m.ProductVersion))
	fmt.Fprintf(b, "- capsule %s, content %s\n", r.text(m.CapsuleID), r.text(m.ContentDigest))
}
