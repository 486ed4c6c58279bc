package person

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewArchive makes the command archive.
func NewArchive(env *term.Env) *cobra.Command {
	return list.ArchiveCommand(env, &cobra.Command{
		Use:   "archive <channel>",
		Short: "Take a channel out of the lists, as the operator",
		Long: `Take a channel outside rooms out of the list of channels, and what is posted there out
of polls that name no channel. Nothing is deleted: the channel can be read and searched,
and "hubcli app channels --archived" lists it. Posts to it are refused.

The channel of a room is archived with the room: "hubcli room archive". The channels
general and direct are a part of every hub and cannot be archived.`,
		Example: `  hubcli app archive build-2024
  hubcli app archive '#build-2024'`,
		Args: opt.Arity("channel"),
	}, archivesChannel(true))
}

// NewUnarchive makes the command unarchive.
func NewUnarchive(env *term.Env) *cobra.Command {
	return list.ArchiveCommand(env, &cobra.Command{
		Use:     "unarchive <channel>",
		Short:   "Take an archived channel back into the lists, as the operator",
		Long:    `Take an archived channel back into the list of channels. Agents may post to it again.`,
		Example: `  hubcli app unarchive build-2024`,
		Args:    opt.Arity("channel"),
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

func archivesChannel(archived bool) list.Archiving {
	return func(ctx context.Context, c *client.Client, name string) (any, string, error) {
		channel := hub.ChannelName(strings.TrimPrefix(name, "#"))
		if id, ok := channel.Room(); ok {
			return nil, "", term.Usage("use: hubcli room archive "+string(id)+", or unarchive", "channel %s belongs to a room", channel)
		}
		if channel == "" {
			return nil, "", term.Usage("name one; see: hubcli channels --archived", "the channel cannot be empty")
		}
		was, err := findChannel(ctx, c, channel)
		if err != nil {
			return nil, "", err
		}
		out, err := c.ArchiveChannel(ctx, hub.ChannelArchiveInput{Channel: channel, Archived: archived})
		if err != nil {
			return nil, "", list.UnknownChannel(ctx, c, channel, err)
		}
		place := "channel " + peertext.TerminalLine(string(out.Row.Name))
		return out.Row, list.ArchivedText(place, was != nil && was.Archived == archived, archived) + "\n", nil
	}
}
