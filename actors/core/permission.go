package core

import (
	"strings"

	"hubcli/hub"
)

// NoPermissions is the policy of a hub whose operator has set none.
func NoPermissions() hub.PermissionPolicy {
	return hub.PermissionPolicy{AnswerSec: hub.DefaultPermissionWait, Rules: []hub.PermissionRule{}}
}

// SetPermissions decides what becomes of permission prompts from now on. Open questions
// stay. Error: version_conflict.
func (a *Asks) SetPermissions(in hub.PermissionPolicyInput) (Decision[hub.PermissionPolicy], error) {
	if in.Version != a.permissions.Version {
		return Decision[hub.PermissionPolicy]{}, hub.NewError(hub.CodeVersionConflict, "the rules have changed since they were read").
			With("version", a.permissions.Version).WithFix("read them, change them, and send them with their version")
	}
	p := hub.PermissionPolicy{On: in.On, AnswerSec: in.AnswerSec, Rules: append([]hub.PermissionRule{}, in.Rules...), Version: in.Version + 1}
	if p.AnswerSec == 0 {
		p.AnswerSec = hub.DefaultPermissionWait
	}
	return answering(p, &PermissionsSet{Policy: p}), nil
}

// Permit decides about a permission prompt: by a rule, or by a question to the operator,
// which expires with the wait of the policy. Error: limit_reached.
func (a *Asks) Permit(in *hub.PermissionInput, by Standing, now Now) (Decision[hub.Permission], error) {
	if !a.permissions.On {
		return Decision[hub.Permission]{Answer: func(Position) hub.Permission { return hub.Permission{Verdict: hub.PermissionNone} }}, nil
	}
	prompt := &hub.PermissionPrompt{Tool: in.Tool, Folder: in.Folder}
	if verdict, by := DecidePermission(a.permissions.Rules, in); verdict != hub.PermissionAsk {
		f := &PermissionDecided{Agent: in.AgentID, Room: in.RoomID, Prompt: *prompt, Question: promptText(in), Verdict: verdict, By: by}
		return Decision[hub.Permission]{
			Draft: Draft{Facts: []Fact{f}},
			Answer: func(at Position) hub.Permission {
				id := f.ID(at)
				return hub.Permission{Verdict: verdict, AskID: &id, By: by}
			},
		}, nil
	}
	if err := a.place(in.AgentID, by); err != nil {
		return Decision[hub.Permission]{}, err
	}
	f := &Asked{
		Agent: in.AgentID, Room: in.RoomID, Question: promptText(in), Prompt: prompt,
		Options:    []string{string(hub.PermissionAllow), string(hub.PermissionDeny)},
		DeadlineMS: now.HubMS + int64(a.permissions.AnswerSec)*1000,
	}
	wait := a.permissions.AnswerSec
	return Decision[hub.Permission]{
		Draft: Draft{Facts: []Fact{f}},
		Answer: func(at Position) hub.Permission {
			id := f.ID(at)
			return hub.Permission{Verdict: hub.PermissionAsk, AskID: &id, WaitSec: wait}
		},
	}, nil
}

// promptText is a permission prompt as the operator reads it.
func promptText(in *hub.PermissionInput) string {
	about := in.Tool
	if in.About != "" {
		about += ": " + in.About
	}
	return firstChars(about, hub.MaxAskChars)
}

// checkPermissionAnswer refuses an answer from which nobody could tell whether the tool
// may run.
func checkPermissionAnswer(answer string) error {
	if verdict, _ := permissionAnswer(answer); verdict != hub.PermissionNone {
		return nil
	}
	return hub.Invalid("answer", "a permission prompt takes allow or deny").
		WithFix("answer allow, or deny, or deny: and the reason, which the agent is told")
}

// permissionAnswer reads the operator's answer to a permission prompt. Only the word
// itself allows.
func permissionAnswer(answer string) (verdict hub.PermissionVerdict, reason string) {
	word, reason, _ := strings.Cut(answer, ":")
	switch verdict := hub.PermissionVerdict(strings.ToLower(strings.TrimSpace(word))); {
	case verdict == hub.PermissionDeny:
		return verdict, strings.TrimSpace(reason)
	case verdict == hub.PermissionAllow && word == answer:
		return verdict, ""
	}
	return hub.PermissionNone, ""
}

// PermissionOf says what a question that is a permission prompt has come to.
func PermissionOf(row *hub.Ask) hub.Permission {
	p := hub.Permission{Verdict: hub.PermissionNone, AskID: &row.AskID}
	switch {
	case row.State == hub.AskOpen:
		p.Verdict = hub.PermissionAsk
	case row.State == hub.AskAnswered && row.Answer != nil:
		p.By = row.ClosedBy
		p.Verdict, p.Reason = permissionAnswer(*row.Answer)
	}
	return p
}
