package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hubcli/hub"
	"hubcli/integrations/homeroom"
)

// Of an agent that needs a room, is in none, and gets none: what its user does.
const (
	inRepository = "your user calls hubcli init in the repository, which makes a room for it"
	ruledOut     = "The operator lets no program make rooms by itself"
)

// RoomOf is Home for a tool that needs a room. Where there is none, the room of the repository is
// made in which the agent works, if the operator lets programs do that. Without one, why says in a
// sentence what is in the way, and fix what to do; both may be empty.
func (l *Link) RoomOf(ctx context.Context, s *Session) (room hub.RoomID, why, fix string, err error) {
	room, err = l.Home(ctx, s)
	if err != nil || room != "" {
		return room, "", "", err
	}
	dir := l.project()
	if l.guest != nil || s.Agent.Trial() || dir == "" {
		return "", "", inRepository, nil
	}
	// A hub on another machine knows nothing of this one's folders, and one behind a spool binds none.
	if _, known, err := l.boundRoom(ctx, s); err != nil || !known {
		return "", "", "", err
	}
	info, err := s.Client.Info(ctx)
	switch {
	case err != nil:
		return "", "", "", err
	case !slices.Contains(info.Features, hub.FeatureAutoRooms):
		return "", ruledOut, inRepository, nil
	}
	f, err := homeroom.Find(dir, homeroom.WideOf(l.Getenv))
	if err != nil {
		why, fix, err = refused(err)
		return "", why, fix, err
	}
	plan, made, err := homeroom.Make(ctx, s.Client, f, homeroom.Wish{By: s.Agent, Auto: true})
	if err != nil {
		why, fix, err = refused(err)
		return "", why, fix, err
	}
	l.Homes.Bind(plan.Room.RoomID, time.Now().Add(boundFor))
	if made.Binding {
		l.tellMore(newRoom(&plan))
	}
	l.takeSeat(ctx, s)
	return plan.Room.RoomID, "", "", nil
}

// newRoom tells the agent, and by it the user, what was made. The room's slug is made of letters
// and digits; its name is a stranger's where the repository is.
func newRoom(p *homeroom.Plan) string {
	return fmt.Sprintf("You were in no room, so your repository has room %s (%s) of project %s now: all agents that work there are in it. Tell your user that in a sentence; hubcli room unbind takes it back.",
		p.Room.Slug, p.Room.RoomID, p.Project.Slug)
}

// refused turns the error of a room that was not made into words. An error of another kind is that
// of the call.
func refused(err error) (why, fix string, rest error) {
	var r *homeroom.Refusal
	var e *hub.Error
	switch {
	case errors.As(err, &r) && r.NoRepository:
		return "Your folder is in no Git repository", "your user makes a room for the folder: hubcli init --here", nil
	case errors.As(err, &r):
		return "No room is made for your folder by itself", inRepository, nil
	case errors.As(err, &e) && e.Status >= 400 && e.Status < 500:
		return "No room could be made for your repository: " + e.Message, e.FixFor(hub.ForModel), nil
	}
	return "", "", err
}

// tellMore is tell, and keeps what is to be told already.
func (l *Link) tellMore(news string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news = Sentence(l.news, news)
}
