package api

import (
	"slices"
	"strings"

	"hubcli/hub"
)

// ValidateProject checks a new project. Space around its name is dropped.
func ValidateProject(in *hub.ProjectInput, operator bool) error {
	in.Name = strings.TrimSpace(in.Name)
	return first(
		checkNamedActor("created_by", in.CreatedBy, operator),
		given(hub.CheckSlug, "slug", in.Slug),
		checkBounds(in),
		hub.CheckVisible("name", in.Name))
}

// ValidateRenamed checks another name of a project or a room. Space around it is dropped.
func ValidateRenamed(in *hub.RenamedInput) error {
	in.Name = strings.TrimSpace(in.Name)
	return first(checkBounds(in), hub.CheckVisible("name", in.Name))
}

// ValidateRoom checks a new room. Space around its name, topic and reason is
// dropped.
func ValidateRoom(in *hub.RoomInput, operator bool) error {
	in.Name, in.Topic = strings.TrimSpace(in.Name), strings.TrimSpace(in.Topic)
	in.ForceReason = strings.TrimSpace(in.ForceReason)
	if err := checkNamedActor("created_by", in.CreatedBy, operator); err != nil {
		return err
	}
	if in.Force && in.ForceReason == "" {
		return hub.Invalid("force_reason", "force needs a force_reason").
			WithFix("say in force_reason (--force-reason) why a room beside the one there is is needed")
	}
	return first(
		checkBounds(in),
		hub.CheckVisible("name", in.Name))
}

// ValidateLockPolicy checks a change of what a room wants of locks.
func ValidateLockPolicy(in *hub.LockPolicyInput, operator bool) error {
	if !slices.Contains(hub.LockPolicies(), in.Locks) {
		return hub.Invalid("locks", "there is no such policy").With("allowed", hub.LockPolicies()).
			WithFix("use warn or refuse")
	}
	return checkNamedActor("agent_id", in.AgentID, operator)
}

// ValidateGuard checks a change of when agents of a room are stopped.
func ValidateGuard(in *hub.GuardInput) error {
	if h := in.Hops; h != nil && *h != 0 && (*h < hub.MinGuardHops || *h > hub.MaxGuardHops) {
		return hub.Invalid("hops", "hops is out of range").With("min", hub.MinGuardHops).With("max", hub.MaxGuardHops).
			WithFix("use a number from 4 to 1000, 0 for never, or leave hops out for the default")
	}
	return nil
}

// ValidateBinding checks the agent only. Package folders checks the path.
func ValidateBinding(in *hub.BindingInput, operator bool) error {
	if err := checkNamedActor("agent_id", in.AgentID, operator); err != nil {
		return err
	}
	if in.Path == "" {
		return hub.Invalid("path", "path is missing").WithFix("name an absolute path of the hub's machine")
	}
	return nil
}
