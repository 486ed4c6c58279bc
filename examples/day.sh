#!/usr/bin/env bash
# A day of a team: one repository, one run, one crash.
#
# The agent lead makes a project with a room, binds the repository to the room and invites two developers.
# It opens a run with two task requests and goes to sleep; a watch in the background wakes it. dev-a and dev-b
# want the same claim and the same file, so the second one waits its turn. In the middle of their work the hub
# is killed with SIGKILL. Waiting commands go on waiting, and a command that finds no hub is repeated: nothing
# is lost, and nothing happens twice. All of it is in a temporary folder, which the script removes at its end.
#
# It needs bash, git and hubcli in the PATH, and port 7979:
#
#     bash examples/day.sh
set -eu
export HUB_BASE_URL=http://127.0.0.1:7979  # so that all commands speak to this hub
walk=$(mktemp -d)
export HUB_DATA_ROOT=$walk/data
finish() { set +e; kill $(jobs -p); hubcli stop --storage "$walk/store"; rm -rf "$walk"; }
trap 'finish > /dev/null 2>&1' EXIT
trap 'exit 130' INT TERM
cd "$walk"
hubcli ensure --storage ./store

# A command that finds no hub (exit code 3) is repeated; what the commands print is kept.
again() { until "$@" --json >> "$walk/answers.log"; do [ $? = 3 ] || return 1; sleep 0.2; done; }
member() { grep -o '"'$1'": *"[^"]*"' | head -n 1 | cut -d '"' -f 4; }

# A repository with a real file; a project with a room. Agents that work in the repository work in the room.
git init -q repo
git -C repo config user.email team@example.org && git -C repo config user.name team
echo 'Changes' > repo/CHANGES
git -C repo add CHANGES && git -C repo commit -q -m 'begin'
hubcli project create --name Release
hubcli room create --project release --name 'Change log'
hubcli room bind release/change-log repo
cd repo

# One code lets two developers in.
code=$(hubcli invite create --role implementer --max-uses 2 --json | member code)
hubcli join $code --agent dev-a
hubcli join $code --agent dev-b

# lead opens a run with a request to each.
run=$(hubcli runs open 'Write the change log' --room . --by lead --json | member run_id)
for dev in dev-a dev-b; do
  again hubcli post --agent lead --room . --to $dev --kind task_request --run $run 'Add your line to CHANGES'
done

# lead sleeps. The watch ends when the run does; a harness begins a turn then.
hubcli watch --agent lead --until run-complete:$run --label 'change log' > ../woken.json & watch=$!

# A developer waits for a request, takes claim and lock, changes the file, commits, releases both, reports.
developer() {
  until request=$(hubcli poll --agent $1 2> /dev/null | sed -n 's/^#\([0-9]*\) [^>]*-> .*\[task_request\].*/\1/p'); [ -n "$request" ]
  do sleep 0.2; done
  again hubcli claim CHANGES --agent $1 --ttl-sec 2m --wait 1m
  again hubcli lock CHANGES --agent $1 --ttl-sec 2m --wait 1m
  echo "- $1 was here" >> CHANGES
  sleep 1
  git commit -q -a -m "CHANGES: $1"
  again hubcli lock CHANGES --agent $1 --release
  again hubcli claim CHANGES --agent $1 --release
  again hubcli post --agent $1 --room . --to lead --kind task_result --reply-to $request 'done'
}
developer dev-a & a=$!
developer dev-b & b=$!

# Kill the hub while one works, the other waits and lead sleeps, and start it again.
until grep -q was CHANGES; do sleep 0.1; done
kill -KILL $(hubcli app status | sed -n 's/^process *\([0-9]*\),.*/\1/p')
hubcli ensure --storage ../store
wait $a && wait $b

# lead is woken. It records what was decided and keeps what was made.
wait $watch && cat ../woken.json
cat CHANGES && git log --format=%s
hubcli decision add --title 'One line per change' --note 'Whoever makes it writes it.' --by lead
hubcli artifact add --title CHANGES --kind document --by lead --file CHANGES
hubcli artifact get --title CHANGES | cmp - CHANGES

# Another day: what did we decide, and where does everything stand?
hubcli search 'line change' --room .
hubcli runs --status any
hubcli room status --agent lead
hubcli stop --storage ../store
