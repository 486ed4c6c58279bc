package spawn

import "hubcli/hub"

// The protocol between the hub and a keeper. The keeper reads one job and then
// lines, each of which is stopLine; it writes reports, one a line.

// job describes the command that a keeper is to run.
type job struct {
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
	GraceMS int64    `json:"grace_ms"`

	Pipes    bool   `json:"pipes,omitempty"`    // hand the keeper's files 3 and 4 on
	Standard bool   `json:"standard,omitempty"` // as its standard input and output
	User     *ids   `json:"user,omitempty"`     // run the command as this user
	Remove   string `json:"remove,omitempty"`   // a folder that goes with the group

	// secrets are variables among Env whose values are left out of the output. The keeper
	// need not know which they are.
	secrets map[string]hub.Secret
}

// ids are a user and a group of the system.
type ids struct {
	UID uint32 `json:"uid"`
	GID uint32 `json:"gid"`
}

// stopLine asks for the end of the group.
const stopLine = "stop\n"

// report is a message of a keeper. The first has Started or Failed, the last
// has Ended.
type report struct {
	Started int    `json:"started,omitempty"` // process id
	Failed  string `json:"failed,omitempty"`  // why there is no process
	Ended   *exit  `json:"ended,omitempty"`
}

// exit is how the command ended. No process of its group is left.
type exit struct {
	Code   *int   `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
}
