package hub

import (
	"context"
	"strings"
)

// PermissionVerdict is what becomes of a permission prompt of a harness.
type PermissionVerdict string

// The verdicts. Rules know only allow and deny.
const (
	PermissionAllow PermissionVerdict = "allow"
	PermissionDeny  PermissionVerdict = "deny"
	PermissionAsk   PermissionVerdict = "ask"  // the operator is asked; the answer is waited for
	PermissionNone  PermissionVerdict = "none" // nobody has decided: the harness's own prompt goes on
)

// Limits of permission prompts.
const (
	MaxPermissionRules     = 500
	MaxPermissionWords     = 32
	MaxPermissionWordChars = 300
	MaxPermissionWaitSec   = 60
	MaxPermissionCommand   = 16_000 // characters of a command; no rule allows a longer one
	MaxPermissionFiles     = 64
	MaxPermissionAbout     = 2_000 // characters that the operator is shown
	DefaultPermissionWait  = 30    // seconds
)

// AnyTool is the tool of a rule that is about every tool.
const AnyTool = "*"

// PermissionRule decides about calls of a tool. With words it is about shell commands that
// begin with these words, with a path about files in a folder or about one file. Without
// either it is about every call of the tool.
type PermissionRule struct {
	Decision PermissionVerdict `json:"decision"` // allow or deny
	Tool     string            `json:"tool"`     // its name in the harness, or AnyTool
	Words    []string          `json:"words,omitempty"`
	Path     string            `json:"path,omitempty"` // absolute
}

// String is the rule in one line: its tool, and its words or its path.
func (r *PermissionRule) String() string {
	parts := append([]string{string(r.Decision), r.Tool}, r.Words...)
	if r.Path != "" {
		parts = append(parts, "in", r.Path)
	}
	return strings.Join(parts, " ")
}

// PermissionPolicy says what becomes of permission prompts. The initial policy is off.
type PermissionPolicy struct {
	On        bool             `json:"on"`         // off: harnesses ask their users as if there were no hub
	AnswerSec int              `json:"answer_sec"` // how long a prompt waits for the operator's answer
	Rules     []PermissionRule `json:"rules"`      // the first that matches decides
	Version   int64            `json:"version"`    // rises with every change
}

// PermissionPolicyInput replaces the policy. Its version is that of the policy it was
// derived from. Zero means the default.
type PermissionPolicyInput struct {
	On        bool             `json:"on,omitempty"`
	AnswerSec int              `json:"answer_sec,omitempty"`
	Rules     []PermissionRule `json:"rules,omitempty"`
	Version   int64            `json:"version"`
}

// PermissionInput asks whether a tool may run, in place of the harness's prompt.
type PermissionInput struct {
	AgentID AgentID `json:"agent_id"`
	RoomID  RoomID  `json:"room_id,omitempty"`
	Tool    string  `json:"tool"`
	Folder  string  `json:"folder,omitempty"` // in which the agent works
	// About is what the operator is shown of the tool's input. It holds no secrets.
	About string `json:"about,omitempty"`
	// Command is the shell command that the tool would run; null: it runs none.
	Command *string `json:"command,omitempty"`
	// File is the one file or folder that the tool would touch, absolute; RealFile is the
	// same without symbolic links. Both are empty if the tool may touch others.
	File     string `json:"file,omitempty"`
	RealFile string `json:"real_file,omitempty"`
	// Unclear says that the input has parts that no rule knows. Then no rule allows the call
	// for its command or its file.
	Unclear bool `json:"unclear,omitempty"`
	// Files are all files that the tool's input names.
	Files []string `json:"files,omitempty"`
	// Nonce, a new random text, asks for the MAC of the answer.
	Nonce string `json:"nonce,omitempty"`
}

// PermissionWaitInput waits for the operator's answer to a permission prompt.
type PermissionWaitInput struct {
	AgentID AgentID `json:"agent_id"`
	WaitSec float64 `json:"wait_sec,omitempty"`
	Nonce   string  `json:"nonce,omitempty"` // asks for the MAC of the answer
}

// Permission is what was decided about a permission prompt.
type Permission struct {
	Verdict PermissionVerdict `json:"verdict"`
	AskID   *AskID            `json:"ask_id"`   // the question of which the list keeps who decided it, and when; null: none was made
	WaitSec int               `json:"wait_sec"` // with ask: how long the answer may take
	By      string            `json:"by"`       // who decided: a rule, or the name of a human
	Reason  string            `json:"reason"`   // what the human said with a denial; may be empty
	// MAC proves that the answer is that of the hub whose operator's token the asker can read.
	// It is in the answers to calls with a nonce alone, and is never stored.
	MAC string `json:"mac,omitempty"`
}

// PermissionPrompt is the part of a question that comes from a permission prompt.
type PermissionPrompt struct {
	Tool   string `json:"tool"`
	Folder string `json:"folder"` // in which the agent works; may be empty
}

// Permissions takes the permission prompts of harnesses, where the operator wants it.
type Permissions interface {
	// PermissionPolicy returns the policy. Operator only.
	PermissionPolicy(ctx context.Context) (PermissionPolicy, error)
	// SetPermissionPolicy replaces the policy. Operator only. Errors: version_conflict.
	SetPermissionPolicy(ctx context.Context, in PermissionPolicyInput) (Outcome[PermissionPolicy], error)
	// RequestPermission decides by a rule, or makes a question to the operator that is
	// open for the time of the policy. Errors: limit_reached.
	RequestPermission(ctx context.Context, in PermissionInput) (Permission, error)
	// AwaitPermission waits until the question is closed. If the caller leaves or the wait
	// is over before, the question is withdrawn. Errors: ask_not_found.
	AwaitPermission(ctx context.Context, id AskID, in PermissionWaitInput) (Permission, error)
}
