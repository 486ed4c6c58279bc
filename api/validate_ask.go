package api

import (
	"crypto/sha256"
	"slices"
	"strings"

	"hubcli/hub"
)

// ValidateAsk checks a question to the operator.
func ValidateAsk(in *hub.AskInput) error {
	if err := first(
		hub.CheckSender("agent_id", in.AgentID),
		checkBounds(in),
		checkOptions(in.Options),
		checkID("blocks", in.Blocks)); err != nil {
		return err
	}
	switch {
	case in.DeadlineSec < 0 || in.DeadlineSec > hub.MaxAskDeadlineSec:
		return hub.Invalid("deadline_sec", "deadline_sec is out of range").With("limit", hub.MaxAskDeadlineSec).With("size", in.DeadlineSec).
			WithFix("give seconds from 1 to the limit, or leave it out for a question without a deadline")
	case in.Default != "" && in.DeadlineSec == 0:
		return hub.Invalid("default", "a default is taken at a deadline, and there is none").WithFix("give deadline_sec, too")
	case in.Default != "" && strings.TrimSpace(in.Default) == "":
		return hub.Invalid("default", "default is blank").WithFix("leave it out, or say what is done without an answer")
	}
	return nil
}

func checkOptions(options []string) error {
	if n := len(options); n > hub.MaxAskOptions {
		return hub.Invalid("options", "there are too many options").With("limit", hub.MaxAskOptions).With("size", n)
	}
	for i, option := range options {
		if err := checkRequiredText("options", option, hub.MaxAskOptionChars); err != nil {
			return err
		}
		if slices.Contains(options[:i], option) {
			return hub.Invalid("options", "two options are the same").WithFix("leave one of them out")
		}
	}
	return nil
}

// checkRequiredText refuses a text that is blank or longer than limit characters.
func checkRequiredText(field, text string, limit int) error {
	if strings.TrimSpace(text) == "" {
		return hub.Invalid(field, field+" is missing or blank")
	}
	return checkText(field, text, limit)
}

// ValidateAskAnswer checks the operator's answer.
func ValidateAskAnswer(in *hub.AskAnswerInput) error {
	return first(
		checkBounds(in),
		checkDigest("digest", in.Digest))
}

// checkDigest refuses what no question can have as its digest.
func checkDigest(field, digest string) error {
	if len(digest) == sha256.Size*2 && strings.Trim(digest, "0123456789abcdef") == "" || digest == "" {
		return nil
	}
	return hub.Invalid(field, field+" is no digest of a question").WithFix("send the digest of the question as it was read, or leave it out")
}

// ValidateAskTakeBack checks that an answer is taken back.
func ValidateAskTakeBack(in *hub.AskTakeBackInput) error {
	return checkBounds(in)
}

// ValidateAskWithdraw checks the withdrawal of a question.
func ValidateAskWithdraw(in *hub.AskWithdrawInput, operator bool) error {
	if in.AgentID == "" && !operator {
		return hub.Invalid("agent_id", "agent_id is missing").WithFix("name the agent that asked")
	}
	return first(
		checkNamedActor("agent_id", in.AgentID, operator),
		checkBounds(in),
		checkDigest("digest", in.Digest))
}

// ValidateAsks checks the query of a list of questions.
func ValidateAsks(q *hub.AsksQuery) error {
	if q.State != "" && !slices.Contains(hub.AskStates(), q.State) {
		return hub.Invalid("state", "there is no such state").With("states", hub.AskStates())
	}
	return nil
}
