package core

import (
	"encoding/json"
	"errors"

	"hubcli/hub"
)

// PermissionsSet says what becomes of permission prompts from now on.
type PermissionsSet struct {
	Policy hub.PermissionPolicy `json:"policy"`
}

// PermissionDecided says that a rule decided about a permission prompt. It is kept as a
// question that was answered at once, so that one list has all decisions.
type PermissionDecided struct {
	Agent    hub.AgentID           `json:"agent"`
	Room     hub.RoomID            `json:"room,omitempty"`
	Prompt   hub.PermissionPrompt  `json:"prompt"`
	Question string                `json:"question"`
	Verdict  hub.PermissionVerdict `json:"verdict"`
	By       string                `json:"by"` // the rule
}

// FactType implements Fact.
func (*PermissionsSet) FactType() FactType { return factPermissionsSet }

// FactType implements Fact.
func (*PermissionDecided) FactType() FactType { return factPermissionDecided }

// ID returns the id of the question that the fact creates at a position.
func (f *PermissionDecided) ID(at Position) hub.AskID { return hub.AskID(IDAt(PrefixAsk, at.Seq)) }

// ask returns the closed question that the fact creates at a position.
func (f *PermissionDecided) ask(at Position) StoredAsk {
	answer := string(f.Verdict)
	row := StoredAsk{Ask: hub.Ask{
		AskID: f.ID(at), AgentID: f.Agent, Question: f.Question, Options: []string{}, RoomID: Optional(f.Room),
		Permission: &f.Prompt, Answer: &answer, ClosedBy: f.By, CreatedAt: at.Now.Wall,
	}}
	return row.end(hub.AskAnswered, at, nil)
}

// PermissionsKey is the key of the one row of TablePermissions.
func PermissionsKey() []byte { return []byte("policy") }

// LoadPermissions reads the policy from its stored row.
func LoadPermissions(rows Rows) (hub.PermissionPolicy, error) {
	value, err := rows.Row(TablePermissions, PermissionsKey())
	if errors.Is(err, ErrNotFound) {
		return NoPermissions(), nil
	}
	p := NoPermissions()
	if err == nil && json.Unmarshal(value, &p) != nil {
		err = hub.NewError(hub.CodeCorruptRecord, "the stored rules about permission prompts cannot be read")
	}
	return p, err
}
