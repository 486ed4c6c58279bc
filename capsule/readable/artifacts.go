package readable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hubcli/capsule"
)

// A document is all versions of an artifact: those of one title in one room.
type document struct {
	room     *room
	title    string
	versions []version // the latest first
}

// A version is one artifact and the path of its file; empty: it has none.
type version struct {
	capsule.Artifact
	path string
}

// artifactLine is what programs read of an artifact.
type artifactLine struct {
	*capsule.Artifact
	Path string `json:"path,omitempty"` // of the file, from the top
}

// artifacts writes the files of artifacts and their index.
func (r *renderer) artifacts() error {
	documents, err := r.documents()
	if err != nil {
		return err
	}
	names := &folder{}
	index := newBook(r.spool, names, "artifacts/", "INDEX", "Artifacts")
	folders := map[*room]*folder{}
	dirs := map[*room]string{}
	for i := range documents {
		d := &documents[i]
		if folders[d.room] == nil {
			folders[d.room] = &folder{}
			dirs[d.room] = "artifacts/" + names.free(slug(r.clean(d.room.Slug), "room"), "") + "/"
			if err := index.section("## Room " + d.room.book.title); err != nil {
				return err
			}
		}
		if r.form == Bundle {
			if err := r.files(d, dirs[d.room], folders[d.room]); err != nil {
				return err
			}
		}
		if err := index.add(r.indexed(d)); err != nil {
			return err
		}
	}
	if len(documents) == 0 {
		err = index.add("\nNone.\n")
	}
	if err == nil && r.form == Bundle {
		err = r.artifactData(documents)
	}
	return err
}

// documents gathers the versions, by rooms in their order and by the first version of each
// title.
func (r *renderer) documents() ([]document, error) {
	type key struct {
		room  capsule.Ref
		title string
	}
	var all []document
	at := map[key]int{}
	err := r.src.Artifacts(func(a *capsule.Artifact) error {
		one, err := r.in(a.Room)
		if err != nil {
			return err
		}
		k := key{a.Room, a.Title}
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, document{room: one, title: a.Title})
		}
		all[i].versions = append(all[i].versions, version{Artifact: *a})
		return r.step()
	})
	order := make(map[*room]int, len(r.all))
	for i, one := range r.all {
		order[one] = i
	}
	slices.SortStableFunc(all, func(a, b document) int { return cmp.Compare(order[a.room], order[b.room]) })
	for i := range all {
		slices.SortStableFunc(all[i].versions, func(a, b version) int { return cmp.Compare(b.Version, a.Version) })
	}
	return all, err
}

// files writes the latest version under the name of the document, and earlier ones with
// their number behind it.
func (r *renderer) files(d *document, dir string, names *folder) error {
	for i := range d.versions {
		v := &d.versions[i]
		if v.LeftOut != "" {
			continue
		}
		stem, ext := fileName(r.clean(d.title), "artifact", extensionOf(v.ContentType))
		if i > 0 {
			stem += fmt.Sprintf("-v%d", v.Version)
		}
		v.path = dir + names.free(stem, ext)
		data, err := r.src.Blob(v.SHA256)
		if err == nil {
			err = r.spool.add(v.path, string(data))
		}
		if err == nil {
			err = r.step()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// indexed is what the index says of a document.
func (r *renderer) indexed(d *document) string {
	var b strings.Builder
	b.WriteString("\n- " + r.text(d.title) + "\n")
	for i := range d.versions {
		v := &d.versions[i]
		name := fmt.Sprintf("version %d", v.Version)
		if v.path != "" {
			name = "[" + name + "](" + strings.TrimPrefix(v.path, "artifacts/") + ")"
		}
		which := "earlier"
		if i == 0 {
			which = "latest"
		}
		fmt.Fprintf(&b, "  - #%s %s (%s), %s, %s, %s", v.ID, name, which, r.text(v.Kind), day(v.CreatedAt), r.by(v.By))
		if v.LeftOut != "" {
			fmt.Fprintf(&b, ", not here: %s\n", r.text(v.LeftOut))
			continue
		}
		fmt.Fprintf(&b, ", %d bytes", v.Bytes)
		if r.form == Bundle {
			b.WriteString(", SHA-256 " + v.SHA256)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// artifactData writes the artifacts for programs, in the order of the capsule.
func (r *renderer) artifactData(documents []document) error {
	paths := map[capsule.Ref]string{}
	for i := range documents {
		for _, v := range documents[i].versions {
			paths[v.ID] = v.path
		}
	}
	return r.src.Artifacts(func(a *capsule.Artifact) error {
		return r.datum("artifacts.ndjson", artifactLine{Artifact: a, Path: paths[a.ID]})
	})
}

// extensions are those of artifacts whose title has none.
var extensions = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"text/markdown": ".md", "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/css": ".css",
		"application/json": ".json", "application/pdf": ".pdf", "application/zip": ".zip", "application/yaml": ".yaml",
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/svg+xml": ".svg", "image/webp": ".webp",
	}
})

func extensionOf(contentType string) string {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	return extensions()[strings.TrimSpace(media)]
}
