package readable

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"hubcli/capsule"
)

// decisions writes a file for each decision, as architecture decision records are written,
// and names it on the page of its room.
func (r *renderer) decisions() error {
	return r.src.Decisions(func(d *capsule.Decision) error {
		one, err := r.in(d.Room)
		if err != nil {
			return err
		}
		if err := r.datum("decisions.ndjson", d); err != nil {
			return err
		}
		name := decisionFile(d.ID, r.clean(d.Title))
		if err := r.spool.add("decisions/"+name, r.decision(d, one)); err != nil {
			return err
		}
		if one.decisions++; one.decisions == 1 {
			if err := one.book.section("## Decisions"); err != nil {
				return err
			}
		}
		row := fmt.Sprintf("\n- #%s [%s](../decisions/%s), %s, %s\n", d.ID, r.text(d.Title), name, day(d.CreatedAt), r.by(d.By))
		if err := one.book.add(row); err != nil {
			return err
		}
		return r.step()
	})
}

// decisionFile is the name of the file of a decision. Its number makes it the only one.
func decisionFile(id capsule.Ref, title string) string {
	n, _ := strconv.ParseInt(strings.TrimPrefix(string(id), "d"), 10, 64) // the capsule is checked
	return fmt.Sprintf("%04d-%s.md", n, slug(title, "decision"))
}

func (r *renderer) decision(d *capsule.Decision, one *room) string {
	var b strings.Builder
	b.WriteString("---\nid: " + string(d.ID) + "\ndate: " + day(d.CreatedAt) + "\n")
	b.WriteString("by: " + yamlText(r.clean(string(d.By))) + "\nroom: " + yamlText(r.clean(one.Slug)) + "\n---\n\n")
	b.WriteString("# " + r.text(d.Title) + "\n\n## Context\n\nRoom [" + one.book.title + "](../" + one.first + ").\n")
	if d.Note != "" {
		r.quote(&b, d.Note)
	}
	if len(d.Metadata) > 0 && string(d.Metadata) != "{}" {
		code(&b, "json", r.clean(string(d.Metadata)))
	}
	b.WriteString("\n## Decision\n")
	r.quote(&b, d.Title)
	return b.String()
}

// yamlText is a text as a quoted scalar of YAML, which takes every string of JSON.
func yamlText(text string) string {
	quoted, _ := json.Marshal(plain(text)) // a string always has a JSON form
	return string(quoted)
}
