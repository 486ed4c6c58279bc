package readable

import (
	"fmt"
	"strings"

	"hubcli/capsule"
)

// tasks writes tasks.md, with all runs and tasks, and names each task with its outcome on
// the page of its room.
func (r *renderer) tasks() error {
	all := newBook(r.spool, &r.top, "", "tasks", "Tasks")
	if err := r.runs(all); err != nil {
		return err
	}
	if err := all.section("## Tasks"); err != nil {
		return err
	}
	none := true
	err := r.src.Tasks(func(t *capsule.Task) error {
		none = false
		one, err := r.in(t.Room)
		if err != nil {
			return err
		}
		if err := r.datum("tasks.ndjson", t); err != nil {
			return err
		}
		if one.tasks++; one.tasks == 1 {
			if err := one.book.section("## Tasks"); err != nil {
				return err
			}
		}
		if err := one.book.add(r.task(t, true)); err != nil {
			return err
		}
		if err := all.add(r.taskRow(t, one)); err != nil {
			return err
		}
		return r.step()
	})
	if err == nil && none {
		err = all.add("\nNone.\n")
	}
	return err
}

func (r *renderer) runs(all *book) error {
	first := true
	return r.src.Runs(func(u *capsule.Run) error {
		one, err := r.in(u.Room)
		if err != nil {
			return err
		}
		if err := r.datum("runs.ndjson", u); err != nil {
			return err
		}
		if first {
			first = false
			if err := all.section("## Runs"); err != nil {
				return err
			}
		}
		return all.add(fmt.Sprintf("\n- #%s %s (%s), room [%s](%s), begun %s by %s\n", u.ID, r.text(u.Title), r.text(string(u.Status)),
			one.book.title, one.first, day(u.StartedAt), r.by(u.CreatedBy)))
	})
}

// task is what the page of a room says of a task.
func (r *renderer) task(t *capsule.Task, outcome bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n- **%s** %s (%s)", number(t.ID), r.text(t.Title), r.text(string(t.Status)))
	if t.Assignee != "" {
		b.WriteString(", " + r.by(t.Assignee))
	}
	if t.Result > 0 {
		b.WriteString(", result " + number(t.Result))
	}
	b.WriteByte('\n')
	if outcome && t.Outcome != "" {
		b.WriteString("\nWhat came out of " + number(t.ID) + ":\n")
		r.quote(&b, t.Outcome)
	}
	return b.String()
}

// taskRow is what tasks.md says of a task: where it belongs.
func (r *renderer) taskRow(t *capsule.Task, one *room) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(r.task(t, false), "\n"))
	fmt.Fprintf(&b, ", room [%s](%s), asked %s by %s", one.book.title, one.first, day(t.CreatedAt), r.by(t.CreatedBy))
	if t.Asked != "" {
		b.WriteString(" of " + r.by(t.Asked) + " alone")
	}
	if t.CompletedAt != nil {
		b.WriteString(", ended " + day(*t.CompletedAt))
	}
	if t.Parent > 0 {
		b.WriteString(", part of " + number(t.Parent))
	}
	if t.Run != "" {
		b.WriteString(", run #" + string(t.Run))
	}
	for i, other := range t.BlockedBy {
		if i == 0 {
			b.WriteString(", waits for")
		}
		b.WriteString(" " + number(other))
	}
	if t.Thread != "" {
		b.WriteString(", thread " + r.text(string(t.Thread)))
	}
	b.WriteByte('\n')
	return b.String()
}
