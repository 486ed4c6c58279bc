package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"time"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/process"
)

// runAgent is the agent as which a harness is started, with the session that keeps its
// name until the bridge of the harness takes over.
type runAgent struct {
	agent   hub.AgentID
	session hub.SessionID
	base    *client.Client // as nobody
	client  *client.Client // as the agent
	known   identity.Run   // what is remembered
	runs    identity.Runs
	keep    bool // it is remembered
	harness hub.Harness
	folder  string
	task    hub.TaskID
	input   string // a file from which the session takes texts; empty: none
}

// lockWait is how long another start may take to choose its name.
const lockWait = 20 * time.Second

// runNames are the words by which agents are called that nobody has named.
var runNames = [...]string{
	"ash", "birch", "cedar", "elm", "fern", "hazel", "holly", "ivy", "juniper", "larch", "laurel", "lilac", "linden", "maple", "myrtle", "oak",
	"olive", "pine", "poplar", "rowan", "sage", "spruce", "willow", "yew", "amber", "coral", "garnet", "jade", "onyx", "opal", "pearl", "ruby",
	"topaz", "crane", "dove", "eagle", "falcon", "finch", "heron", "kestrel", "lark", "magpie", "osprey", "otter", "owl", "plover", "quail", "raven",
	"robin", "rook", "sparrow", "starling", "stork", "swan", "swift", "tern", "thrush", "wren", "badger", "beaver", "bison", "fox", "hare", "lynx",
	"marten", "mole", "moose", "seal", "stoat", "vole", "wolf", "brook", "cove", "dune", "fjord", "glen", "harbor", "island", "lagoon", "marsh",
	"meadow", "ridge", "river", "summit", "valley", "comet", "ember", "frost", "mist", "nova", "rain", "storm", "sun", "breeze", "cloud", "dawn",
}

// begin chooses the agent, registers it, gives it its seat and its task, and remembers it.
func (o *runOptions) begin(ctx context.Context, env *term.Env, c *client.Client, room *hub.Room, folder string) (*runAgent, error) {
	w := &runAgent{harness: o.harness, folder: folder, task: hub.TaskID(o.task), base: c, client: c}
	info, err := c.Info(ctx)
	if err != nil {
		return nil, err
	}
	root, err := env.DataRoot()
	if err == nil {
		err = env.MakeDataRoot()
	}
	if err != nil {
		return nil, err
	}
	w.runs = identity.RunsOf(root)
	unlock, err := w.runs.Lock(lockWait)
	if err != nil {
		return nil, term.Fail(term.ExitRefused, "try again; if it stays so, see whether another hubcli run hangs", "a name for the agent cannot be chosen: %v", err)
	}
	defer unlock()
	if err := w.choose(ctx, env, o, info.InstanceID); err != nil {
		return nil, err
	}
	w.known.InstanceID, w.known.PID = info.InstanceID, os.Getpid()
	if self, ok := process.Look(os.Getpid()); ok {
		w.known.Began = self.Began
	}
	if err := w.settle(ctx, o, room); err != nil {
		w.leave(ctx)
		return nil, err
	}
	w.remember(env)
	return w, nil
}

// settle gives the agent its seat, its task and its file.
func (w *runAgent) settle(ctx context.Context, o *runOptions, room *hub.Room) error {
	if _, err := w.client.Sit(ctx, room.RoomID, hub.SitInput{AgentID: w.agent}); err != nil {
		return err
	}
	if w.task != 0 {
		working := hub.TaskWorking
		if _, err := w.client.UpdateTask(ctx, w.task, hub.TaskUpdateInput{AgentID: w.agent, Status: &working}); err != nil {
			return err
		}
	}
	if o.harness.Facts().TakesInput && !o.driven() {
		file, err := w.runs.InputFile(w.agent)
		w.input = file
		return err
	}
	return nil
}

// remember notes the agent for the next start in the folder.
func (w *runAgent) remember(env *term.Env) {
	if !w.keep {
		return
	}
	w.known.AgentID = w.agent
	if err := w.runs.Store(w.harness, w.folder, w.known); err != nil {
		env.Note("the next start here will have another name: %v", err)
	}
}

func nameTaken(named hub.AgentID, err error) error {
	return &term.Failure{Exit: term.ExitRefused, Err: err, Sentence: fmt.Sprintf("%s is the name of an agent that is at work", named), Fix: "name another with --as; hubcli agents shows who is there"}
}

// choose registers the agent: the one that is named, the one of the last start in this
// folder, or one with a new name.
func (w *runAgent) choose(ctx context.Context, env *term.Env, o *runOptions, instance hub.InstanceID) error {
	named := hub.AgentID(o.as)
	if w.keep = named != "" || env.Getenv(hook.EnvAgent) == ""; named == "" {
		named = hub.AgentID(env.Getenv(hook.EnvAgent))
	}
	past := w.runs.Load(w.harness, w.folder)
	if named != "" {
		if err := checkBridged(hook.EnvAgent, named); err != nil {
			return err
		}
		for _, p := range past {
			if p.AgentID != named || p.InstanceID != instance {
				continue
			}
			if w.known = p; running(p) { // its bridge may not have registered yet
				return nameTaken(named, nil)
			}
		}
		err := w.takeUp(ctx, named)
		if errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
			return nameTaken(named, err)
		}
		return err
	}
	for _, p := range past {
		if p.InstanceID != instance || running(p) {
			continue
		}
		w.known = p
		if err := w.takeUp(ctx, p.AgentID); err == nil || !errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) {
			return err
		}
		w.known = identity.Run{}
	}
	return w.invent(ctx, env)
}

// takeUp registers an agent that may be known here. If the last start of it was killed before a
// bridge had taken over, its session is replaced.
func (w *runAgent) takeUp(ctx context.Context, id hub.AgentID) error {
	_, err := w.register(ctx, id, false)
	if !errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}) || w.known.AgentID != id || running(w.known) {
		return err
	}
	if live, lost := hub.LiveAs(ctx, w.base.Agents, id); lost != nil || live != nil && live.Bridged() {
		return err
	}
	_, err = w.register(ctx, id, true)
	return err
}

// running reports whether the process of an earlier start still runs.
func running(p identity.Run) bool {
	now, ok := process.Look(p.PID)
	return ok && p.PID != 0 && now.Began == p.Began
}

// invent registers an agent under a word that no agent has had. Where to begin in the list
// follows from harness and folder, so that a folder tends to keep its word in a new store.
func (w *runAgent) invent(ctx context.Context, env *term.Env) error {
	h := fnv.New32a()
	h.Write([]byte(string(w.harness) + "\x00" + w.folder))
	const rounds = 100
	for i := range rounds * len(runNames) {
		word := runNames[(int(h.Sum32()%uint32(len(runNames)))+i)%len(runNames)]
		if round := i / len(runNames); round > 0 {
			word += "-" + strconv.Itoa(round+1)
		}
		id := hub.AgentID(word)
		// Without the operator's token only the registration tells.
		if known, err := w.base.AsOperator().Recipient(ctx, id); err == nil && known.State != hub.RecipientNeverRegistered {
			continue
		}
		incarnation, err := w.register(ctx, id, false)
		switch {
		case errors.Is(err, &hub.Error{Code: hub.CodeSessionConflict}):
			continue
		case err != nil:
			return err
		case incarnation > 1:
			w.leave(ctx)
			continue
		}
		// What was posted before is for nobody of this name. If this fails, the agent can
		// still begin.
		_, _ = w.base.Bootstrap(ctx, id)
		return nil
	}
	return term.Fail(term.ExitRefused, "name the agent with --as", "no free name was found for the agent")
}

// register begins a session of the agent. One that it has is replaced or a conflict.
func (w *runAgent) register(ctx context.Context, id hub.AgentID, replace bool) (incarnation uint64, err error) {
	meta, err := json.Marshal(map[string]any{"harness": w.harness, "folder": w.folder})
	if err != nil {
		return 0, err
	}
	got, err := w.base.Register(ctx, hub.RegisterInput{AgentID: id, Metadata: meta, Replace: &replace})
	if err != nil {
		return 0, err
	}
	w.agent, w.session, w.client = id, got.Row.SessionID, w.base.As(id, got.Row.SessionID)
	return got.Row.Incarnation, nil
}

// leave ends the session, if the bridge has not taken over.
func (w *runAgent) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	_, _ = w.client.CloseSession(ctx, w.session, "") // the hub ends a silent session by itself
}

// first is the text of the first prompt; empty: there is none. What a task asks for is the
// word of the agent that posted it, so the agent reads it with a tool.
func (w *runAgent) first(o *runOptions) string {
	text := o.prompt
	if w.task != 0 {
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("Task %d of the hub is yours. Read it with hub_start and hub_list_tasks, do what it asks for, and end it with hub_complete_task.", w.task)
	}
	return text
}
