package cli

import (
	"strings"
	"testing"

	"hubcli/cli/term"
	"hubcli/internal/testcli"
	"hubcli/internal/testfeature"
)

// TestBadUsage: every mistake ends with 2, one sentence and one fix, and nothing
// on stdout.
func TestBadUsage(t *testing.T) {
	for _, tt := range []struct {
		args     string
		sentence string
		fix      string
	}{
		{"frobnicate", `hubcli has no command "frobnicate"`, "see: hubcli --help"},
		{"task create", "hubcli task create needs its argument body", "see: hubcli task create --help"},
		{"task create a --body-file b", `the message has two bodies, "a" and that of --body-file`, "leave the argument or --body-file out"},
		{"bakup", `hubcli has no command "bakup"`, "did you mean hubcli app backup? see: hubcli --help"},
		{"enure", `hubcli has no command "enure"`, "did you mean ensure? see: hubcli --help"},
		{"send --to dev-a hello", `hubcli has no command "send"`, "did you mean hubcli post? see: hubcli --help"},
		{"connection", "hubcli connection needs a subcommand: list, create, verify, models, key, move, rename or delete", "see: hubcli connection --help"},
		{"connections verify", "hubcli connection verify needs its argument connection", "see: hubcli connection verify --help"},
		{"connection create --provider openai --key-variable A-B", "--key-variable is no name of a variable", "give the name of the variable, not the key"},
		{"connection create --provider openai --key-variable=", "--key-variable cannot be empty", "name the variable, or leave --key-variable out"},
		{"connection create --provider azure-openai --param resource", `--param "resource" is no parameter`, "write it as name=value, for example --param resource=acme"},
		{"connection create --provider openai --label cn_1", "a label may not look like an id", "choose a label that does not begin with cn_"},
		{"connection key x", "no key can be typed: stdin is not a terminal", "add --key-stdin, and the key on standard input"},
		{"connection key x --no-key --key-stdin", "the key comes from one of --env-credential, --key-variable, --key-stdin and --no-key", "leave the others out"},
		{"connection rename x cn_2", "a label may not look like an id", "choose a label that does not begin with cn_"},
		{"room ls", `hubcli room has no command "ls"`, "did you mean hubcli room list? see: hubcli room --help"},
		{"help version", `hubcli has no command "version"`, "did you mean hubcli --version? see: hubcli --help"},
		{"app", "hubcli app needs a subcommand: start, status, overview, top, debug, receipt, undelivered, attention, doctor, backup, restore, service, notify, users, open, demo, permissions, pause, resume, pauses, mute, unmute, mutes, budget, budgets, message, release, end, retire, clear, archive, unarchive, stop, agents, log, tasks, claims, locks, runs, search, channels, threads, memory, decisions, spawns, logs, config, ask, inbox, answer, say, task, claim or lock", "see: hubcli app --help"},
		{"capsule", "hubcli capsule needs a subcommand: export, inspect, import or key", "see: hubcli capsule --help"},
		{"capsule export shop", "--out is missing", "name the file to write, for example --out shop.hubpack"},
		{"capsule export shop --out a.zip", "the name of the file of --out does not end with .hubpack", "name it such as a.zip.hubpack"},
		{"capsule export shop --out a.hubpack --to ann", "the name of the file of --out does not end with .hubpack.age", "name it such as a.hubpack.age"},
		{"capsule export shop --out a.hubpack.age --to ann", "that is no recipient of age", "give a public key that begins with age1, as age-keygen makes it without options"},
		{"capsule inspect a.hubpack --key ann", "that is no public key of minisign", "give the line that begins with RW, or the file that has it, from the person who signs"},
		{"capsule export shop --out a.hubpack --rooms r_1", "--rooms are named in the scope selected_rooms, and only there", "give rooms together with the scope selected_rooms"},
		{"agnets", `hubcli has no command "agnets"`, "did you mean agents? see: hubcli --help"},
		{"app loks", `hubcli app has no command "loks"`, "did you mean lock or locks or log or logs? see: hubcli app --help"},
		{"agents --every 5", "--every is for --watch only", "add --watch, or leave --every out"},
		{"agents --color perhaps", `--color cannot be "perhaps": it must be one of auto, always, never`, "see: hubcli agents --help"},
		{"tasks --assignee a/b", "--assignee is not an agent id", "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit; for example a-b"},
		{"app tasks --status gone", `--status cannot be "gone": it must be one of active, any, open, working, input_required, done, failed, cancelled`, "see: hubcli app tasks --help"},
		{"claims --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"log --since tomorrow", `--since cannot be "tomorrow": it must be a time such as 1h (so long ago), 14:05 (the last one), 2026-01-02T15:04 or RFC 3339`, "see: hubcli log --help"},
		{"log --for 5m", "--for needs --at", "say with --at when it begins"},
		{"log --room a --channel b", "--room and --channel exclude each other", "leave one of them out"},
		{"log --at 14:05 -f", "--at and --follow exclude each other", "leave one of them out"},
		{"log --channel=", "--channel cannot be empty", "leave it out, or name one"},
		{"ask --agent a --default no x", "--default is taken at a deadline, and there is none", "add --deadline, such as --deadline 10m"},
		{"ask --agent a --task -1 x", "--task -1 is no task id", "hubcli tasks lists the tasks with their numbers"},
		{"app notify --off -- x", "--off takes away what the other arguments set", "leave one of them out"},
		{"app notify --host h", "--host names the host of a webhook, and there is none", "give --webhook, too"},
		{"app open --list --end pass_1", "--list and --end exclude each other", "leave one of them out"},
		{"app open --list --print", "--print and --for are for a page that is opened", "leave them out"},
		{"app open --end=", "--end cannot be empty", "hubcli app open --list shows the passes"},
		{"answer a b c", `hubcli answer takes no argument "c"`, "see: hubcli answer --help"},
		{"init --preview --json", "--preview shows a plan to a person, and --json is for programs", "leave one of them out"},
		{"init --room=", "--room cannot be empty", "leave it out for the repository's name"},
		{"init --no-adapters --no-permissions", "--no-permissions and --plugin are about adapters, and --no-adapters wants none", "leave --no-adapters out, or the other flag"},
		{"init --here /", "/ is the root of the file system, for which no room is made", "go to the folder in which you work and call hubcli init there; a room that is bound by hand is also possible: hubcli room bind ROOM FOLDER --yes"},
		{"room bind r /", "/ is the root of the file system: every agent below it would be in the room", "bind the folder of the work; or add --yes if all of it is meant"},
		{"answer ask_1 yes --dismiss", "--dismiss closes the question without an answer, and there is one", "leave one of them out; --reason tells the agent why"},
		{"answer ask_1 yes --reason x", "--reason is for --dismiss only", "add --dismiss, or leave --reason out"},
		{"answer ask_1 yes --body-file x", `the question has two answers, "yes" and that of --body-file`, "leave the argument or --body-file out"},
		{"inbox ask_1 --all", `--all is for the list, and "ask_1" names one question`, "leave one of them out"},
		{"claim parser", "--agent is missing", "name the agent, for example --agent reviewer"},
		{"claim --agent a", "hubcli claim needs its argument key", "see: hubcli claim --help"},
		{"app lock --agent a --wait 61 f", `--wait cannot be "61": it must be seconds from 0 to 60, or the same time with units, such as 90s, 5m or 1h30m`, "see: hubcli app lock --help"},
		{"app claim --agent a --release --wait 1 parser", "--release gives back what the others take", "leave --release out, or --ttl-sec and --wait"},
		{"app runs opne x", `hubcli app runs has no command "opne"`, "did you mean open? see: hubcli app runs --help"},
		{"runs open x --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"post --agent a --room b --channel c x", "--room and --channel exclude each other", "leave one of them out"},
		{"post --agent a --run run_1 x", "--run is for tasks, and chat opens none", "add --kind task or --kind task_request"},
		{"say --to a --room b hello", "a message goes to one place", "give one of --room, --to and --channel"},
		{"app say --to a/b hello", "--to is not an agent id", "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit; for example a-b"},
		{"app pause wait", "a pause is of one agent, one room or everything", "give one of --agent, --room and --all"},
		{"app resume --all --agent a", "a pause is of one agent, one room or everything", "give one of --agent, --room and --all"},
		{"app pause --agent operator wait", "operator is reserved and cannot act as an agent", "choose another agent id"},
		{"app pause --all", "hubcli app pause needs its argument words", "see: hubcli app pause --help"},
		{"app mute", "hubcli app mute lacks an agent", "name an agent, or give --room and --everybody"},
		{"app mute --everybody", "--everybody needs a room", "name the room with --room"},
		{"app mute operator", "operator is reserved and cannot act as an agent", "choose another agent id"},
		{"app mute dev-a --for 31d x", `--for cannot be "31d": it must be whole seconds from 1 to 2592000, or the same time with units, such as 90s, 5m or 1h30m`, "see: hubcli app mute --help"},
		{"app unmute dev-a --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"app budget dev-a", "hubcli app budget needs its argument CHARS", "see: hubcli app budget --help"},
		{"app budget dev-a 999", `"999" is no budget`, "write off, or characters an hour from 1000 to 10000000"},
		{"app budget --room a dev-a 2000", "a budget is of an agent or of --room, not of both", "leave one of them out"},
		{"app message x --agent a", `"x" is no message id`, "give the number that poll shows after the #"},
		{"app task assign x dev-a", `"x" is no task id`, "a task has the number of the message that opened it"},
		{"app task assign 7 a/b", "the agent is not an agent id", "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit; for example a-b"},
		{"app release --reason x", "a release is of one claim or one lock", "name a claim, or a file with --lock"},
		{"app release parser --lock a --reason x", "a release is of one claim or one lock", "name a claim, or a file with --lock"},
		{"app release parser", "--reason is missing", "say why with --reason: the agents that it concerns are told it"},
		{"app end dev-a", "--reason is missing", "say why with --reason: the agent is told it"},
		{"app end operator --reason x", "operator is reserved and cannot act as an agent", "choose another agent id"},
		{"app say --channel= hello", "--channel cannot be empty", "name a channel, such as general"},
		{"search", "hubcli search needs its argument text", "see: hubcli search --help"},
		{"search two words", `hubcli search takes no argument "words"`, "put quotes around the text"},
		{"spawns polcy", `hubcli spawns has no command "polcy"`, "did you mean policy? see: hubcli spawns --help"},
		{"app spawns stop", "hubcli app spawns stop needs its argument spawn_id", "see: hubcli app spawns stop --help"},
		{"logs --all --tail 3", "--all and --tail exclude each other", "leave one of them out"},
		{"log --all --tail 3", "--all and --tail exclude each other", "leave one of them out"},
		{"app top", "hubcli top needs a terminal for its keys and its screen", "for a page of text use: hubcli status, or hubcli status -w"},
		{"top", "hubcli top needs a terminal for its keys and its screen", "for a page of text use: hubcli status, or hubcli status -w"},
		{"app debug --seconds 3", "--seconds is for a profile only", "name the file of the profile with --profile FILE"},
		{"app debug --profile=", "--profile cannot be empty", "name a file"},
		{"app debug --profile x --json", "a profile is no text", "leave --profile out, or --json and --stacks"},
		{"app debug --profile x --kind heap --seconds 3", "--seconds is for a cpu profile only", "leave --seconds out"},
		{"app debug --profile x --kind block", `--kind cannot be "block": it must be one of heap, goroutine, cpu`, "see: hubcli app debug --help"},
		{"app strat", `hubcli app has no command "strat"`, "did you mean start? see: hubcli app --help"},
		{"help pots", `hubcli has no command "pots"`, "did you mean poll or post? see: hubcli --help"},
		{"help post now", `hubcli post has no command "now"`, "see: hubcli post --help"},
		{"--prot 1", "hubcli has no flag --prot", "did you mean --port? see: hubcli --help"},
		{"--frobnicate ensure", "hubcli has no flag --frobnicate", "see: hubcli --help"},
		{"ensure --quiet", "hubcli ensure has no flag --quiet", "see: hubcli ensure --help"},
		{"poll -x", "hubcli poll has no flag -x", "see: hubcli poll --help"},
		{"--log-fil x", "hubcli has no flag --log-fil", "see: hubcli --help"},
		{"ensure --port", "the flag --port needs a value", "see: hubcli ensure --help"},
		{"ensure --port 0", `--port cannot be "0": it must be an integer from 1 to 65535`, "see: hubcli ensure --help"},
		{"--port 65536", `--port cannot be "65536": it must be an integer from 0 to 65535`, "see: hubcli --help"},
		{"--port x ensure", `--port cannot be "x": it must be an integer from 0 to 65535`, "see: hubcli --help"},
		{"ensure --timeout -1", `--timeout cannot be "-1": it must be seconds from 0 to 604800, or the same time with units, such as 90s, 5m or 1h30m`, "see: hubcli ensure --help"},
		{"ensure --timeout nan", `--timeout cannot be "nan": it must be seconds from 0 to 604800, or the same time with units, such as 90s, 5m or 1h30m`, "see: hubcli ensure --help"},
		{"ensure --allow-remote=perhaps", `--allow-remote cannot be "perhaps": it must be bool`, "see: hubcli ensure --help"},
		{"--max-body-chars 0", `--max-body-chars cannot be "0": it must be an integer from 1 to 4000000`, "see: hubcli --help"},
		{"--host 0.0.0.0", "--host 0.0.0.0 is not an address of this machine alone", "leave --host out, or add --allow-remote if other machines should reach the hub"},
		{"--host 127.0.0.1.example", "--host 127.0.0.1.example is not an address of this machine alone", "leave --host out, or add --allow-remote if other machines should reach the hub"},
		{"ensure --host ::", "--host :: is not an address of this machine alone", "leave --host out, or add --allow-remote if other machines should reach the hub"},
		{"--host=", "--host cannot be empty", "leave --host out, or name an address such as 127.0.0.1"},
		{"stop --host x/y", `--host "x/y" is no address`, "name an address such as 127.0.0.1"},
		{"--storage= --port 0", "--storage cannot be empty", "leave --storage out for the default, or name a folder"},
		{"stop --storage=", "--storage cannot be empty", "leave --storage out for the default, or name a folder"},
		{"data-root now", `hubcli data-root takes no argument "now"`, "see: hubcli data-root --help"},
		{"post --agent a", "hubcli post needs its argument body", "see: hubcli post --help"},
		{"post --agent a two words", `hubcli post takes no argument "words"`, "put quotes around the body"},
		{"post hello", "--agent is missing", "name the agent, for example --agent reviewer"},
		{"post --agent a/b hello", "--agent is not an agent id", "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit; for example a-b"},
		{"post --agent system hello", "system is reserved and cannot act as an agent", "choose another agent id"},
		{"post --agent a --to b/c hello", "--to is not an agent id", "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit; for example b-c"},
		{"post --agent a --to= hello", "--to is missing", "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit"},
		{"post --agent a --channel= hello", "--channel cannot be empty", "leave --channel out for general"},
		{"post --agent a --kind gossip hello", `--kind cannot be "gossip": it must be one of artifact, chat, claim, handoff, notice, release, task, task_request, task_result`, "see: hubcli post --help"},
		{"post --agent a --base-url ftp://h hello", "the base address does not begin with http:// or https://", "give it as http://<host>:<port>, for example http://127.0.0.1:6969"},
		{"poll", "--agent is missing", "name the agent, for example --agent reviewer"},
		{"poll --agent a --since-id -1", `--since-id cannot be "-1": it must be 0 or a message id`, "see: hubcli poll --help"},
		{"poll --agent a --channel=", "--channel cannot be empty", "leave --channel out to hear all of them"},
		{"whoami", "--agent is missing", "name the agent, for example --agent reviewer"},
		{"whoami --agent a b", `hubcli whoami takes no argument "b"`, "see: hubcli whoami --help"},
		{"project", "hubcli project needs a subcommand: create, list, show, rename, export, archive or unarchive", "see: hubcli project --help"},
		{"project craete", `hubcli project has no command "craete"`, "did you mean create? see: hubcli project --help"},
		{"project create", "--name is missing", `name the project, for example --name "Web shop"`},
		{"project create --name x --slug X", "--slug is not a slug", "use 1 to 64 lower case letters and digits in groups separated by single hyphens, such as web-shop"},
		{"project create --name x --slug=", "--slug is not a slug", "use 1 to 64 lower case letters and digits in groups separated by single hyphens, such as web-shop"},
		{"project export", "hubcli project export needs its argument project", "see: hubcli project export --help"},
		{"project export p --scope half", "there is no such scope", "use knowledge, complete or selected_rooms"},
		{"project export p --rooms r_1", "--rooms are named in the scope selected_rooms, and only there", "give rooms together with the scope selected_rooms"},
		{"project show", "hubcli project show needs its argument project", "see: hubcli project show --help"},
		{"room", "hubcli room needs a subcommand: create, list, show, status, bind, unbind, locks, guard, allow-host, rename, replay, archive or unarchive", "see: hubcli room --help"},
		{"room create --name x --project=", "--project is missing", "name the project by its id, slug or name; see: hubcli project list"},
		{"room create --project p", "--name is missing", "name the room, for example --name Checkout"},
		{"room create --project p --name x --force", "--force needs --force-reason", "say in --force-reason why a second, similar room is needed"},
		{"room create --project p --name x --by hub", "hub is reserved and cannot act as an agent", "choose another agent id"},
		{"room list --project=", "--project is missing", "name the project by its id, slug or name; see: hubcli project list"},
		{"room show r --project=", "--project is missing", "name the project by its id, slug or name; see: hubcli project list"},
		{"room show a b", `hubcli room show takes no argument "b"`, "put quotes around the room"},
		{"room allow-host r_1 http://x/", `this is no host: "http://x/"`, "write a name or an address, and a port after a colon if only one is meant: localhost:3000, 127.0.0.1, [::1]:8080"},
		{"room allow-host r_1 --remove", "--remove needs a host", "name the host to take back; without --remove the command lists those that are allowed"},
		{"room guard 3", `agents cannot be refused after "3" turns`, "write off, default, or a number from 4 to 1000"},
		{"room locks", "hubcli room locks needs its argument policy", "see: hubcli room locks --help"},
		{"room locks maybe", `there is no policy "maybe"`, "write warn or refuse"},
		{"decision add --title t --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"decision list --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"artifact add --title t --kind k --body b --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"artifact get --title t --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"invite create --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"invite list --room=", "--room cannot be empty", "leave it out for the room that is bound to the current folder, or name one by its id, slug or project/slug"},
		{"room bind", "hubcli room bind needs its argument room", "see: hubcli room bind --help"},
		{"room bind r p q", `hubcli room bind takes no argument "q"`, "see: hubcli room bind --help"},
		{"room unbind a b", `hubcli room unbind takes no argument "b"`, "put quotes around the path"},
		{"resolve a b", `hubcli resolve takes no argument "b"`, "put quotes around the path"},
		{"resolve --timeout 0", "--timeout must be more than 0", "give it the time of an answer, such as 2"},
		{"app status --base-url x", "the base address does not begin with http:// or https://", "give it as http://<host>:<port>, for example http://127.0.0.1:6969"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			for command, part := range map[string]string{"capsule": "capsule", "connection": "provider", "project export": "capsule"} {
				if strings.HasPrefix(tt.args, command) {
					testfeature.Need(t, part)
				}
			}
			got := runIn(t, testcli.World(t, map[string]string{"HUB_DATA_ROOT": t.TempDir()}), strings.Fields(tt.args)...)
			want := "hubcli: " + tt.sentence + "\nfix: " + tt.fix + "\n"
			if got.exit != term.ExitUsage || got.stdout != "" || got.stderr != want {
				t.Errorf("exit %d, stdout %q, stderr\n%s\nwant exit 2 and\n%s", got.exit, got.stdout, got.stderr, want)
			}
		})
	}
}

func TestAnEmptyBodyIsRefused(t *testing.T) {
	got := runIn(t, testcli.World(t, nil), "post", "--agent", "a", "")
	if got.exit != term.ExitUsage || !strings.HasPrefix(got.stderr, "hubcli: the body cannot be empty\nfix: ") {
		t.Errorf("exit %d, stderr %q", got.exit, got.stderr)
	}
}

func TestVersion(t *testing.T) {
	if got := runIn(t, testcli.World(t, nil), "--version"); got != (ran{0, "hubcli 1.2.3\n", ""}) {
		t.Errorf("got %+v", got)
	}
}

// TestRootFlagsBeforeASubcommand are accepted, have no effect and say so.
func TestRootFlagsBeforeASubcommand(t *testing.T) {
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": "/data"})
	got := runIn(t, env, "--port", "7001", "--quiet", "--storage=x", "data-root")
	want := ran{0, "/data\n", `hubcli: --port before "data-root" has no effect; it configures a hub in the foreground
hubcli: --quiet before "data-root" has no effect; it configures a hub in the foreground
hubcli: --storage before "data-root" has no effect; it configures a hub in the foreground
`}
	if got != want {
		t.Errorf("got %+v", got)
	}
	got = runIn(t, env, "--port", "1", "stop", "--port", "2")
	if got.exit != 0 || got.stdout != "no hub runs at http://127.0.0.1:2\n" ||
		got.stderr != "hubcli: --port before \"stop\" has no effect; flags of a subcommand go after its name\n" {
		t.Errorf("got %+v", got)
	}
}
