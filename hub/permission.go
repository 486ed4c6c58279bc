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
//
// API: Without words and path it is about every call of the tool.
type PermissionRule struct {
	Decision PermissionVerdict `json:"decision" bounds:"one of allow deny"`                                                       // Allow or deny.
	Tool     string            `json:"tool" bounds:"1..MaxNameChars runes"`                                                       // The name of the tool in the harness, or * for all tools.
	Words    []string          `json:"words,omitempty" bounds:"..MaxPermissionWords items; each 1..MaxPermissionWordChars runes"` // About shell commands that begin with these words.
	Path     string            `json:"path,omitempty" bounds:"..MaxPathBytes runes"`                                              // About files in this folder, or this file; absolute.
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
	On        bool             `json:"on"`                        // If not, harnesses ask their users as if there were no hub.
	AnswerSec int              `json:"answer_sec" bounds:"1..60"` // How long a prompt waits for the answer of the operator.
	Rules     []PermissionRule `json:"rules"`                     // The first that is about a prompt decides.
	Version   int64            `json:"version" bounds:"0.."`      // 0 until the first change.
}

// PermissionPolicyInput replaces the policy. Its version is that of the policy it was
// derived from. Zero means the default.
type PermissionPolicyInput struct {
	On        bool             `json:"on,omitempty"`
	AnswerSec int              `json:"answer_sec,omitempty" bounds:"1..MaxPermissionWaitSec"` // 30 if left out.
	Rules     []PermissionRule `json:"rules,omitempty" bounds:"..MaxPermissionRules items"`
	Version   int64            `json:"version" bounds:"0.."` // Of the policy that this one was made from.
}

// PermissionInput asks whether a tool may run, in place of the harness's prompt.
type PermissionInput struct {
	AgentID  AgentID `json:"agent_id" bounds:"from session"` // Whose harness asks. Needed unless the session names it.
	RoomID   RoomID  `json:"room_id,omitempty" bounds:"name ..MaxNameChars"`
	Tool     string  `json:"tool" bounds:"name 1..MaxNameChars"`
	Folder   string  `json:"folder,omitempty" bounds:"text ..MaxFilePathChars"`       // In which the agent works.
	About    string  `json:"about,omitempty" bounds:"text ..MaxPermissionAbout"`      // What the operator is shown of the input of the tool.
	Command  *string `json:"command,omitempty" bounds:"..MaxPermissionCommand runes"` // The shell command that the tool would run.
	File     string  `json:"file,omitempty" bounds:"text ..MaxFilePathChars"`         // The one file or folder that the tool would touch, absolute.
	RealFile string  `json:"real_file,omitempty" bounds:"text ..MaxFilePathChars"`    // The same without symbolic links.
	// The input has parts that no rule knows, so none allows the call for its command or its file.
	Unclear bool     `json:"unclear,omitempty"`
	Files   []string `json:"files,omitempty" bounds:"..MaxPermissionFiles items; each ..4096 runes"` // All files that the input names.
	Nonce   string   `json:"nonce,omitempty" bounds:"like ^([A-Za-z0-9_-]{16,64})?$"`                // A new random text. With it the answer has mac.
}

// PermissionWaitInput waits for the operator's answer to a permission prompt.
type PermissionWaitInput struct {
	AgentID AgentID `json:"agent_id" bounds:"from session"` // Whose harness asks. Needed unless the session names it.
	WaitSec float64 `json:"wait_sec,omitempty" bounds:"0..MaxWaitSec; default 0"`
	Nonce   string  `json:"nonce,omitempty" bounds:"like ^([A-Za-z0-9_-]{16,64})?$"` // A new random text. With it the answer has mac.
}

// Permission is what was decided about a permission prompt.
type Permission struct {
	// ask: the answer is waited for. none: nobody has decided, so the prompt of the harness goes on.
	Verdict PermissionVerdict `json:"verdict"`
	// The question with which the list keeps the decision; null if there is none.
	AskID   *AskID `json:"ask_id"`
	WaitSec int    `json:"wait_sec" bounds:"0..60"` // With ask: how long the question is open.
	By      string `json:"by"`                      // The rule or the human that decided; may be empty.
	Reason  string `json:"reason"`                  // What the human said with a denial; may be empty.
	// In answers to calls with a nonce. HMAC-SHA256 in hexadecimal, under the key HMAC-SHA256(operator's token, "hub
	// verdict"), of these lines, joined by a line feed: hub-verdict-1, the nonce, the SHA-256 of the body as it was
	// sent, the verdict, the question or nothing, the SHA-256 of by, a zero byte and reason. Hashes are in
	// hexadecimal. A program that obeys a verdict checks it: a program that has taken the address of the hub
	// cannot make it.
	MAC string `json:"mac,omitempty" bounds:"like ^[0-9a-f]{64}$"`
}

// PermissionPrompt is the part of a question that comes from a permission prompt.
type PermissionPrompt struct {
	Tool   string `json:"tool"`
	Folder string `json:"folder"` // In which the agent works; may be empty.
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
