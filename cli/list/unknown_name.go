package list

import (
	"context"
	"errors"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/near"
)

// A filter may name an agent or a thread that nobody knows. The list is empty then, which
// is no failure, and a note says that the name may be mistyped.

// unknownName says that a name is not known, what may be meant, and where all names are.
func unknownName(what, word, names string, known []string) string {
	said := what + "; " + names
	if meant := near.Name(word, known); meant != "" {
		said = what + "; did you mean " + meant + "? " + names
	}
	return said
}

// UnknownAgent says so of an agent that is not connected. It says nothing of others.
func UnknownAgent(ctx context.Context, c *client.Client, id hub.AgentID) (string, error) {
	if id == "" || id.Reserved() {
		return "", nil
	}
	agents, err := hub.All(ctx, c.Agents, hub.AgentsQuery{Limit: hub.MaxPageRows})
	if err != nil {
		return "", err
	}
	names := make([]string, len(agents))
	for i := range agents {
		if names[i] = string(agents[i].AgentID); agents[i].AgentID == id {
			return "", nil
		}
	}
	return unknownName("no agent "+string(id)+" is connected", string(id), "hubcli agents lists those that are", names), nil
}

// OrUnknown adds to an empty list that the agent of its filter is not connected.
func (s *Spectator) OrUnknown(ctx context.Context, got Found, err error, id hub.AgentID) (Found, error) {
	if err != nil || got.Text.Empty() == "" {
		return got, err
	}
	got.Unknown, err = UnknownAgent(ctx, s.Client, id)
	return got, err
}

// UnknownThread says so of a thread in which the caller may see no message.
func UnknownThread(ctx context.Context, c *client.Client, id hub.ThreadID) (string, error) {
	if id == "" {
		return "", nil
	}
	_, err := c.Thread(ctx, id, "")
	if !errors.Is(err, &hub.Error{Code: hub.CodeThreadNotFound}) {
		return "", err
	}
	threads, _, err := c.Threads(ctx, hub.ThreadsQuery{Limit: hub.MaxPageRows})
	names := make([]string, len(threads))
	for i := range threads {
		names[i] = string(threads[i].ThreadID)
	}
	return unknownName("there is no thread "+string(id), string(id), "hubcli threads lists the latest", names), err
}

// UnknownChannel gives the refusal of a channel that is to be read the fix for readers.
func UnknownChannel(ctx context.Context, c *client.Client, name hub.ChannelName, refused error) error {
	var h *hub.Error
	if !errors.As(refused, &h) || h.Code != hub.CodeChannelNotFound {
		return refused
	}
	channels, err := hub.All(ctx, c.Channels, hub.ChannelsQuery{Archived: true, Limit: hub.MaxPageRows})
	if err != nil {
		return refused
	}
	names := make([]string, len(channels))
	for i := range channels {
		names[i] = string(channels[i].Name)
	}
	fix := "see: hubcli channels --archived"
	if meant := near.Name(string(name), names); meant != "" {
		fix = "did you mean " + meant + "? " + fix
	}
	return &term.Failure{Exit: term.ExitRefused, Sentence: h.Message, Fix: fix, Err: refused}
}
