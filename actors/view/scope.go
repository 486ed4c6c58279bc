package view

import (
	"hubcli/actors/core"
	"hubcli/hub"
)

// PublicScope is the scope of all public messages.
func PublicScope() core.Scope { return core.Scope{Kind: core.ScopePublic} }

// ChannelScope is the scope of one channel.
func ChannelScope(c hub.ChannelName) core.Scope {
	return core.Scope{Kind: core.ScopeChannel, Name: string(c)}
}

// ThreadScope is the scope of one thread.
func ThreadScope(t hub.ThreadID) core.Scope {
	return core.Scope{Kind: core.ScopeThread, Name: string(t)}
}

// InboxScope is the scope of the direct messages of one agent.
func InboxScope(a hub.AgentID) core.Scope { return core.Scope{Kind: core.ScopeInbox, Name: string(a)} }

// AllScope is the scope of all messages, direct ones too. It is read and never
// notified: a call that waits for all messages subscribes to PublicScope and
// DirectScope.
func AllScope() core.Scope { return core.Scope{Kind: core.ScopeAll} }

// Scopes of notifications, not of messages.
const (
	scopeSession  core.ScopeKind = 255
	scopeTask     core.ScopeKind = 254
	scopeRun      core.ScopeKind = 253
	scopePresence core.ScopeKind = 252
	scopeReady    core.ScopeKind = 251
	scopeDirect   core.ScopeKind = 250
	scopePause    core.ScopeKind = 249
)

// DirectScope is a scope of notifications: it has news with each direct message.
func DirectScope() core.Scope { return core.Scope{Kind: scopeDirect} }

// SessionScope is a scope of notifications, not of messages: it has news when the
// agent's session ends or another begins.
func SessionScope(a hub.AgentID) core.Scope {
	return core.Scope{Kind: scopeSession, Name: string(a)}
}

// TaskScope has news when the task changes.
func TaskScope(id hub.TaskID) core.Scope {
	return core.Scope{Kind: scopeTask, Name: string(core.IDKey(id))}
}

// RunScope has news when the run changes, which it does with each of its tasks.
func RunScope(id hub.RunID) core.Scope { return core.Scope{Kind: scopeRun, Name: string(id)} }

// PresenceScope has news when the agent makes a call, or begins or ends to wait, and
// when a task of it changes.
func PresenceScope(a hub.AgentID) core.Scope {
	return core.Scope{Kind: scopePresence, Name: string(a)}
}

// PauseScope has news when a pause begins or ends.
func PauseScope() core.Scope { return core.Scope{Kind: scopePause} }

// ReadyScope has news when a task of the room is open and ready after a change of it.
func ReadyScope(room hub.RoomID) core.Scope { return core.Scope{Kind: scopeReady, Name: string(room)} }

func appendScopes(scopes []core.Scope, m *core.StoredMessage) []core.Scope {
	if m.To == "" {
		scopes = append(scopes, PublicScope(), ChannelScope(m.Channel))
	} else {
		scopes = append(scopes, InboxScope(m.To), DirectScope())
	}
	if m.Thread != "" {
		scopes = append(scopes, ThreadScope(m.Thread))
	}
	return scopes
}
