package actors

import (
	"context"

	"hubcli/capsule"
	"hubcli/hub"
)

// ImportCapsule makes the project of a capsule that has been verified a project of this hub.
// told makes the answer of the call that has begun the import; it is stored under that call's key.
// progress is told how many rows of how many are written; nil: nobody asks. Errors:
// limit_reached, capsule_invalid, storage_full, stopping, store_failed, the cause of ctx.
func (h *Hub) ImportCapsule(ctx context.Context, src *capsule.Reader, told func(hub.Project) hub.CapsuleImportPlan, progress func(done, total int64)) (hub.CapsuleImportPlan, error) {
	if h.importer == nil {
		return hub.CapsuleImportPlan{}, hub.NewError(hub.CodeInternal, "this hub has no store that takes imports")
	}
	select {
	case <-h.swept:
	case <-ctx.Done():
		return hub.CapsuleImportPlan{}, context.Cause(ctx)
	}
	return h.importer.Import(ctx, src, h.engine.Clock.Now().Wall, told, progress)
}

// NamesForImport returns the slug and the name that an imported project with so many rooms
// would get now. Errors: limit_reached.
func (h *Hub) NamesForImport(slug, name string, rooms int) (freeSlug, freeName string, err error) {
	return h.importer.Names(slug, name, rooms)
}

// RoomsSharedByImport returns those slugs of rooms that rooms of the hub have already.
func (h *Hub) RoomsSharedByImport(slugs []string) []string { return h.importer.SharedRooms(slugs) }

// ImportedBefore lists the projects that came from a capsule with this content, the earliest
// first.
func (h *Hub) ImportedBefore(contentDigest string) (projects []hub.ProjectID) {
	for _, i := range h.view.Imports() {
		if i.ContentDigest == contentDigest {
			projects = append(projects, i.ProjectID)
		}
	}
	return projects
}

// sweepImports deletes what imports have left that ended before they were done.
func (h *Hub) sweepImports() {
	defer close(h.swept)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.engine.Tasks.Go(func() {
		select {
		case <-h.engine.Quit:
			cancel()
		case <-ctx.Done():
		}
	})
	h.importer.Sweep(ctx)
}
