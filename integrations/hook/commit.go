package hook

import (
	"context"
	"path/filepath"
	"slices"

	"hubcli/hub"
	"hubcli/internal/identity"
	"hubcli/internal/osfile"
)

// beforeCommit answers Git's question whether it may commit. If another agent holds the
// lock on one of the files, it says so. Where the room wants it, the commit is refused.
// A user is no agent, so every lock is another's.
func (r *run) beforeCommit(ctx context.Context) (string, error) {
	id, err := r.named()
	if err != nil {
		return "", err
	}
	if err := r.connect(ctx, identity.Binding{}); err != nil {
		return "", err
	}
	got, err := r.resolve(ctx)
	if err != nil {
		return "", err
	}
	if !got.Bound {
		return "", quiet("the folder is bound to no room")
	}
	top, files, err := r.Staged(ctx)
	if err != nil {
		return "", err
	}
	found, err := r.lockedByOthers(ctx, id, top, files)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", quiet("no other agent holds a lock on a file of the commit")
	}
	what := committed
	if r.refuses = got.Room.Locks == hub.LocksRefuse; r.refuses {
		what = uncommitted
	}
	return editText(found, what, r.Now()), nil
}

// commitAnswer is the answer to Git: it reads the exit code, and its user reads stderr.
func commitAnswer(text string, refuses bool) Answer {
	a := Answer{Stderr: text + "\n"}
	if refuses {
		a.Exit = 1
	}
	return a
}

// mostPages bounds the calls for the locks in a repository, each for up to
// hub.MaxPageRows of them.
const mostPages = 20

// lockedByOthers returns the files, named from the top of the repository, that another
// agent has locked. One call tells of all locks in the repository, however many files
// the commit has.
func (r *run) lockedByOthers(ctx context.Context, id hub.AgentID, top string, files []string) ([]held, error) {
	var locks []hub.Lock
	q := hub.LeasesQuery{Covering: osfile.RealPath(top), ActiveOnly: true, Limit: hub.MaxPageRows}
	for range mostPages {
		rows, next, err := r.hub.Locks(ctx, q)
		if err != nil {
			return nil, err
		}
		locks = append(locks, slices.DeleteFunc(rows, func(l hub.Lock) bool { return l.AgentID == id })...)
		if q.Cursor = next; next == "" {
			break
		}
	}
	if len(locks) == 0 {
		return nil, nil
	}
	var found []held
	for _, file := range files {
		path := osfile.RealPath(filepath.Join(top, filepath.FromSlash(file)))
		if i := slices.IndexFunc(locks, func(l hub.Lock) bool { return hub.LockCovers(l.FilePath, path) }); i >= 0 {
			found = append(found, held{file, locks[i]})
		}
	}
	return found, nil
}
