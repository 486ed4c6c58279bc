package api

import (
	"strconv"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// ValidatePost checks a new message. It folds the kind, fills in channel and
// kind, and drops the fields of attachments that their type does not have.
// operator says that the call carries the operator token: its sender may be
// operator, and operator is the default.
func ValidatePost(in *hub.PostInput, lim hub.Limits, operator bool) error {
	if operator && in.FromAgent == "" {
		in.FromAgent = hub.AgentOperator
	}
	if err := first(checkActor("from_agent", in.FromAgent, operator), hub.CheckNoWatcher("from_agent", in.FromAgent)); err != nil {
		return err
	}
	kind, err := hub.ParseKind(string(in.Kind))
	if err != nil {
		return err
	}
	in.Kind = kind
	if err := checkTarget(in); err != nil {
		return err
	}
	if in.Body == "" && len(in.Attachments) == 0 {
		return hub.Invalid("body", "a message needs a body or attachments")
	}
	if err := checkBody(in.Body, lim.MaxBodyChars); err != nil {
		return err
	}
	if err := checkAttachments(in.Attachments, lim); err != nil {
		return err
	}
	if err := checkPostMetadata(in); err != nil {
		return err
	}
	if err := checkPostedTask(in); err != nil {
		return err
	}
	if in.Kind == hub.KindTaskResult && in.ReplyTo == 0 {
		return hub.NewError(hub.CodeReplyRequired, "a task_result must name the message it answers").
			With("field", "reply_to").WithFix("set reply_to to the id of the task or task_request")
	}
	return nil
}

// checkPostedTask checks what a message says about the task that it opens or
// completes.
func checkPostedTask(in *hub.PostInput) error {
	switch {
	case len(in.BlockedBy) > 0 && !in.Kind.OpensTask():
		return hub.Invalid("blocked_by", "only a task or task_request can wait for tasks").
			WithFix("leave blocked_by out, or post a task")
	case in.Force && in.Kind != hub.KindTaskResult:
		return hub.Invalid("force", "only a task_result can force the end of a task").
			WithFix("leave force out")
	}
	return checkBlockedBy(in.BlockedBy)
}

// checkTarget checks where a message goes and what it refers to.
func checkTarget(in *hub.PostInput) error {
	if err := given(hub.CheckRecipient, "to_agent", in.ToAgent); err != nil {
		return err
	}
	if in.Channel == "" {
		in.Channel = hub.DefaultChannel
		if in.ToAgent != "" {
			in.Channel = hub.DirectChannel
		}
	} else if err := hub.CheckName("channel", string(in.Channel), hub.MaxNameChars); err != nil {
		return err
	}
	return first(
		checkThread(in.ThreadID),
		checkID("reply_to", in.ReplyTo),
		checkID("parent_task_id", in.ParentTaskID))
}

func checkBody(body string, limit int) error {
	if len(body) <= limit {
		return nil
	}
	if n := utf8.RuneCountInString(body); n > limit {
		return hub.NewError(hub.CodeBodyTooLarge, "the body is too large").
			With("field", "body").With("limit", limit).With("size", n).
			WithFix("send a shorter body, or put the rest into an attachment")
	}
	return nil
}

func checkPostMetadata(in *hub.PostInput) error {
	if len(in.Metadata) == 0 {
		return nil
	}
	if err := ValidateMetadata(in.Metadata); err != nil {
		return err
	}
	for _, name := range [...]string{"wake", "task_completed"} {
		if strictjson.HasMember(in.Metadata, name) {
			return hub.NewError(hub.CodeReservedMetadata, "metadata."+name+" is set by the hub alone").
				With("field", "metadata."+name).WithFix("use another name")
		}
	}
	return nil
}

func checkAttachments(list []hub.Attachment, lim hub.Limits) error {
	if n := len(list); n > lim.MaxAttachments {
		return hub.NewError(hub.CodeTooManyAttachments, "there are too many attachments").
			With("field", "attachments").With("limit", lim.MaxAttachments).With("size", n).
			WithFix("send several messages")
	}
	for i := range list {
		if err := checkAttachment(&list[i], lim.MaxAttachmentChars); err != nil {
			return within(err, "attachments["+strconv.Itoa(i)+"]")
		}
	}
	return nil
}

func checkAttachment(a *hub.Attachment, limit int) error {
	kept := hub.Attachment{Type: a.Type}
	var err error
	switch a.Type {
	case hub.AttachmentText:
		kept.Content = a.Content
		err = checkContent(a, limit, true)
	case hub.AttachmentJSON:
		kept.Content = a.Content
		err = checkContent(a, limit, false)
	case hub.AttachmentCode:
		kept.Content, kept.Language = a.Content, a.Language
		err = first(checkContent(a, limit, true), checkName("language", a.Language, maxLanguageChars))
	case hub.AttachmentFileRef, hub.AttachmentDiffRef:
		kept = *a
		kept.Content, kept.Language = nil, ""
		err = checkReference(a)
	default:
		err = hub.Invalid("type", "there is no such attachment type").
			WithFix("use one of text, json, code, file_ref, diff_ref")
	}
	*a = kept
	return err
}

// checkContent counts the characters of the content as compact JSON.
func checkContent(a *hub.Attachment, limit int, text bool) error {
	switch {
	case len(a.Content) == 0:
		return hub.Invalid("content", "an attachment of type "+string(a.Type)+" needs content")
	case text && a.Content[0] != '"':
		return hub.Invalid("content", "the content of an attachment of type "+string(a.Type)+" must be a string")
	case len(a.Content) <= limit:
		return nil
	}
	if n := utf8.RuneCount(a.Content); n > limit {
		return hub.NewError(hub.CodeAttachmentTooLarge, "an attachment is too large").
			With("field", "content").With("limit", limit).With("size", n).
			WithFix("send less, or refer to the file with an attachment of type file_ref")
	}
	return nil
}

func checkReference(a *hub.Attachment) error {
	switch {
	case a.StartLine < 0 || a.EndLine < 0:
		return hub.Invalid("start_line", "lines are counted from 1")
	case a.EndLine != 0 && a.EndLine < a.StartLine:
		return hub.Invalid("end_line", "end_line is before start_line")
	}
	return first(
		hub.CheckName("path", a.Path, hub.MaxFilePathChars),
		checkText("description", a.Description, maxDescriptionChars),
		checkName("base", a.Base, maxRevisionChars),
		checkName("head", a.Head, maxRevisionChars))
}

// BodyCap returns an upper bound, in bytes, of the request body of a message
// within the limits, even if all characters are escaped.
func BodyCap(lim hub.Limits) int64 {
	const (
		escaped = 12      // bytes of one character as \uXXXX\uXXXX
		rest    = 1 << 20 // metadata, names, references and white space
	)
	return escaped*(int64(lim.MaxBodyChars)+int64(lim.MaxAttachments)*int64(lim.MaxAttachmentChars)) + rest
}
