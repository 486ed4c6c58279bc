package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newAppArchive(env *Env) *cobra.Command {
	return archiveCommand(env, &cobra.Command{
		Use:   "archive <channel>",
		Short: "Take a channel out of the lists, as the operator",
		Long: `Take a channel outside rooms out of the list of channels, and what is posted there out
of polls that name no channel. Nothing is deleted: the channel can be read and searched,
and "hubcli app channels --archived" lists it. Posts to it are refused.

The channel of a room is archived with the room: "hubcli room archive". The channels
general and direct are a part of every hub and cannot be archived.`,
		Example: `  hubcli app archive build-2024
  hubcli app archive '#build-2024'`,
		Args: arity("channel"),
	}, archivesChannel(true))
}

func newAppUnarchive(env *Env) *cobra.Command {
	return archiveCommand(env, &cobra.Command{
		Use:     "unarchive <channel>",
		Short:   "Take an archived channel back into the lists, as the operator",
		Long:    `Take an archived channel back into the list of channels. Agents may post to it again.`,
		Example: `  hubcli app unarchive build-2024`,
		Args:    arity("channel"),
	}, archivesChannel(false))
}

// findChannel returns the row of a channel, or nil.
func findChannel(ctx context.Context, c *client.Client, name hub.ChannelName) (*hub.Channel, error) {
	for row, err := range hub.Walk(ctx, c.Channels, hub.ChannelsQuery{Prefix: string(name), Archived: true, Limit: hub.MaxPageRows}) {
		if err != nil {
			return nil, err
		}
		if row.Name == name {
			return &row, nil
		}
	}
	return nil, nil
}

// archivedText says that a place is archived or taken back, and whether it was so before.
func archivedText(place string, was, archived bool) string {
	switch {
	case archived && was:
		return place + " is archived already"
	case archived:
		return "archived " + place
	case was:
		return place + " is in the lists already"
	}
	return "took back " + place
}

func archivesChannel(archived bool) archiving {
	return func(ctx context.Context, c *client.Client, name string) (any, string, error) {
		channel := hub.ChannelName(strings.TrimPrefix(name, "#"))
		if id, ok := channel.Room(); ok {
			return nil, "", usage("use: hubcli room archive "+string(id)+", or unarchive", "channel %s belongs to a room", channel)
		}
		if channel == "" {
			return nil, "", usage("name one; see: hubcli channels --archived", "the channel cannot be empty")
		}
		was, err := findChannel(ctx, c, channel)
		if err != nil {
			return nil, "", err
		}
		out, err := c.ArchiveChannel(ctx, hub.ChannelArchiveInput{Channel: channel, Archived: archived})
		if err != nil {
			return nil, "", unknownChannel(ctx, c, channel, err)
		}
		place := "channel " + peertext.TerminalLine(string(out.Row.Name))
		return out.Row, archivedText(place, was != nil && was.Archived == archived, archived) + "\n", nil
	}
}
