package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// proving is the context of a call that proves the session of an agent.
func (r *rig) proving(agent hub.AgentID) context.Context {
	r.t.Helper()
	s, _, live := r.view.Directory.Session(agent)
	if !live {
		r.t.Fatalf("%s has no live session", agent)
	}
	return asSession(context.Background(), s)
}

// TestFloodLeavesPlaces: one caller with any number of invented names takes half of the
// questions, and an agent that proves its session goes on; nobody spends the share of
// another agent by using its name.
func TestFloodLeavesPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		r.register("honest")
		ask := func(ctx context.Context, agent hub.AgentID) error {
			_, err := r.Ask(ctx, hub.AskInput{AgentID: agent, Question: "may I?"})
			return err
		}
		got := 0
		for i := range hub.MaxOpenAsks {
			if ask(context.Background(), hub.AgentID(fmt.Sprint("made-up-", i))) == nil {
				got++
			}
		}
		if got != hub.MaxOpenAsks/2 {
			t.Errorf("invented names have %d of %d questions", got, hub.MaxOpenAsks)
		}
		if err := ask(context.Background(), "honest"); codeOf(err) != hub.CodeLimitReached {
			t.Errorf("a new agent that proves nothing: %v", err)
		}
		require.NoError(t, ask(r.proving("honest"), "honest"))
		time.Sleep(time.Duration(core.KnownAfter) * time.Millisecond) // the clock of the bubble
		r.register("honest")
		for err := error(nil); err == nil; {
			err = ask(context.Background(), "honest") // by another caller, which proves nothing
		}
		require.NoError(t, ask(r.proving("honest"), "honest"))
		require.NoError(t, ask(asOperator(context.Background()), "anybody"))
	})
}

// TestSeatsAreThoseOfTheProof: an invite in the name of an agent, made by a call that does not
// prove it, gives fewer seats than one that the agent itself has made.
func TestSeatsAreThoseOfTheProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		r.register("honest")
		time.Sleep(time.Duration(core.KnownAfter) * time.Millisecond) // the clock of the bubble
		r.register("honest")
		_, err := r.CreateProject(context.Background(), hub.ProjectInput{Name: "Shop"})
		require.NoError(t, err)
		_, err = r.CreateRoom(context.Background(), hub.RoomInput{Project: "shop", Name: "Hall"})
		require.NoError(t, err)
		seats := 0
		join := func(ctx context.Context) (n int, err error) {
			invite, err := r.CreateInvite(ctx, hub.InviteInput{Project: "shop", Room: "hall", By: "honest", TTLSec: 3600, MaxUses: hub.MaxRoomSeats})
			require.NoError(t, err)
			for ; err == nil; n++ {
				seats++
				_, err = r.AcceptInvite(context.Background(), invite.Row.Code, hub.AcceptInput{AgentID: hub.AgentID(fmt.Sprint("joiner-", seats))})
			}
			return n - 1, err
		}
		if n, err := join(context.Background()); n != hub.MaxRoomSeats/5 || codeOf(err) != hub.CodeRoomFull {
			t.Errorf("%d seats by an invite in another's name: %v", n, err)
		}
		if n, err := join(r.proving("honest")); n != hub.MaxRoomSeats/3-hub.MaxRoomSeats/5 || codeOf(err) != hub.CodeRoomFull {
			t.Errorf("%d more seats by an invite of its own: %v", n, err)
		}
	})
}

// TestChannelsAreShared: a creator has a share of the channels, an archived one takes no
// place, and the count is the same after a start, with and without a checkpoint.
func TestChannelsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := start(t, store)
		defer func() { r.stop() }()
		create := func(name string) error {
			_, err := r.CreateChannel(context.Background(), hub.ChannelInput{Name: hub.ChannelName(name), CreatedBy: "looper"})
			return err
		}
		archive := func(name string, archived bool) {
			_, err := r.ArchiveChannel(asOperator(context.Background()), hub.ChannelArchiveInput{Channel: hub.ChannelName(name), Archived: archived})
			require.NoError(t, err)
		}
		check := func(when string, want int) {
			t.Helper()
			if got := r.view.Directory.Channels.Taken()["looper"]; got != want {
				t.Errorf("%s looper has %d channels, want %d", when, got, want)
			}
		}
		for i := range 10 {
			require.NoError(t, create(fmt.Sprint("ch-", i)))
		}
		archive("ch-1", true)
		archive("ch-2", true)
		archive("ch-2", false)
		check("live", 9)
		_, err := r.engine.SaveCheckpoint()
		require.NoError(t, err)
		require.NoError(t, create("ch-10"))
		archive("ch-3", true)
		left := r.crash()
		r = start(t, left)
		check("after a start", 9)

		free, err := r.view.Directory.Channels.Reserve("looper", core.StandingUnknown, hub.MaxChannels/10-9)
		require.NoError(t, err)
		if err := create("one-more"); codeOf(err) != hub.CodeLimitReached {
			t.Errorf("a channel beyond the share: %v", err)
		}
		require.NoError(t, create("ch-4")) // there is one already
		free()
		require.NoError(t, create("one-more"))
	})
}

// TestLiveMetadataIsBounded: claims and sessions are kept in memory with their metadata, so
// that of all is bounded. What is refused says so, and what ends makes room.
func TestLiveMetadataIsBounded(t *testing.T) {
	testrace.Avoid(t, "it fills a budget of memory")
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		large := json.RawMessage(`{"m":"` + strings.Repeat("x", hub.MaxMetadataBytes-64) + `"}`)
		claim := func(agent hub.AgentID, n int, metadata json.RawMessage) error {
			_, err := r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: hub.ClaimKey(fmt.Sprint(agent, ":", n)), TTLSec: 600, Metadata: metadata})
			return err
		}
		n := 0
		for claim("looper", n, large) == nil {
			n++
		}
		if want := hub.MaxLeaseBytes / 10 / (2 * len(large)); n < want-2 || n > want {
			t.Errorf("one name holds %d claims with large metadata, want about %d", n, want)
		}
		if err := claim("looper", n, large); codeOf(err) != hub.CodeLimitReached {
			t.Errorf("one more: %v", err)
		}
		require.NoError(t, claim("looper", 0, large)) // it holds that already
		require.NoError(t, claim("other", 0, large))
		r.release("looper", "looper:0")
		require.NoError(t, claim("looper", n, large))

		operators := 0
		for ; ; operators++ {
			_, err := r.Claim(asOperator(context.Background()), hub.ClaimInput{OwnerAgentID: "other", ClaimKey: hub.ClaimKey(fmt.Sprint("more:", operators)), TTLSec: 600, Metadata: large})
			if err != nil {
				if codeOf(err) != hub.CodeLimitReached {
					t.Fatal(err)
				}
				break
			}
		}
		if want := (hub.MaxLeaseBytes*5/4 - hub.MaxLeaseBytes/10) / (2 * len(large)); operators < want*98/100 || operators > want {
			t.Errorf("the operator has %d claims with large metadata, want about %d", operators, want)
		}

		all := 0
		for i := range 2 * hub.MaxSessionBytes / len(large) {
			if _, err := r.Register(context.Background(), hub.RegisterInput{AgentID: hub.AgentID(fmt.Sprint("a", i)), Metadata: large}); err != nil {
				if codeOf(err) != hub.CodeLimitReached {
					t.Fatal(err)
				}
				break
			}
			all++
		}
		if want := hub.MaxSessionBytes / 2 / len(large); all < want*9/10 || all > want {
			t.Errorf("%d sessions with large metadata are live, want about %d", all, want)
		}
		_, err := r.Register(context.Background(), hub.RegisterInput{AgentID: "a0", Metadata: large})
		require.NoError(t, err) // it replaces its own
	})
}

// TestFirstChannelAfterARestart: a checkpoint of a hub without channels names no creators, and
// the first one that comes after it counts all the same, as a start on the same records does.
func TestFirstChannelAfterARestart(t *testing.T) {
	r := start(t, newMemStore())
	r.register("ann")
	store := r.store
	r.stop()
	for range 2 {
		r = start(t, store)
		r.channel("builds")
		if n := r.view.Directory.Channels.Taken(); len(n) != 1 {
			t.Errorf("the creators have %v", n)
		}
		store = r.crash()
	}
}
