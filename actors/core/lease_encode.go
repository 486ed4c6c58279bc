package core

import (
	"slices"
	"strconv"

	"hubcli/hub"
)

// AppendJSON implements hub.JSONAppender.
func (l *Lease) AppendJSON(b []byte) []byte {
	size := 144 + len(l.Key) + len(l.Given) + len(l.Agent) + len(l.Thread) + len(l.Metadata)
	if l.Ended != nil {
		size += 80
	}
	b = slices.Grow(b, size)
	b = appendLeaseKey(b, l.Space, l.Key)
	b = appendLeaseTerms(b, l.Given, l.Agent, l.Thread, l.Task, l.Metadata)
	b = append(b, `,"fence":`...)
	b = strconv.AppendInt(b, int64(l.Fence), 10)
	if l.Taken != 0 {
		b = append(b, `,"taken":`...)
		b = strconv.AppendInt(b, int64(l.Taken), 10)
	}
	b = append(b, `,"since":`...)
	b = l.Since.AppendJSON(b)
	b = appendDeadline(b, l.Deadline)
	if l.Graced {
		b = append(b, `,"graced":true`...)
	}
	if l.Ended != nil {
		b = append(b, `,"ended":{"at":`...)
		b = l.Ended.At.AppendJSON(b)
		b = append(b, `,"expires":`...)
		b = l.Ended.Expires.AppendJSON(b)
		b = append(b, '}')
	}
	return append(b, '}')
}

// AppendJSON implements hub.JSONAppender.
func (f *LeaseGranted) AppendJSON(b []byte) []byte {
	b = slices.Grow(b, 112+len(f.Key)+len(f.Given)+len(f.Agent)+len(f.Thread)+len(f.Metadata))
	b = appendLeaseKey(b, f.Space, f.Key)
	b = appendLeaseTerms(b, f.Given, f.Agent, f.Thread, f.Task, f.Metadata)
	b = appendDeadline(b, f.Deadline)
	b = append(b, `,"fence":`...)
	b = strconv.AppendInt(b, int64(f.Fence), 10)
	if f.From != "" {
		b = append(b, `,"from":`...)
		b = hub.AppendJSONString(b, string(f.From))
	}
	if f.Taken != 0 {
		b = append(b, `,"taken":`...)
		b = strconv.AppendInt(b, int64(f.Taken), 10)
	}
	return append(b, '}')
}

// AppendJSON implements hub.JSONAppender.
func (f *LeaseRenewed) AppendJSON(b []byte) []byte {
	b = slices.Grow(b, 64+len(f.Key))
	return append(appendDeadline(appendLeaseKey(b, f.Space, f.Key), f.Deadline), '}')
}

// AppendJSON implements hub.JSONAppender.
func (f *LeaseReleased) AppendJSON(b []byte) []byte {
	b = slices.Grow(b, 48+len(f.Key)+len(f.Agent))
	b = appendLeaseKey(b, f.Space, f.Key)
	if f.Agent != "" {
		b = append(b, `,"agent":`...)
		b = hub.AppendJSONString(b, string(f.Agent))
	}
	return append(b, '}')
}

// appendLeaseKey begins an object with the key of a lease.
func appendLeaseKey(b []byte, space LeaseSpace, key string) []byte {
	b = append(b, `{"space":`...)
	b = strconv.AppendUint(b, uint64(space), 10)
	b = append(b, `,"key":`...)
	return hub.AppendJSONString(b, key)
}

// appendLeaseTerms appends the members that a lease has from its grant.
func appendLeaseTerms(b []byte, given string, agent hub.AgentID, thread hub.ThreadID, task hub.MessageID, metadata []byte) []byte {
	if given != "" {
		b = append(b, `,"given":`...)
		b = hub.AppendJSONString(b, given)
	}
	b = append(b, `,"agent":`...)
	b = hub.AppendJSONString(b, string(agent))
	if thread != "" {
		b = append(b, `,"thread":`...)
		b = hub.AppendJSONString(b, string(thread))
	}
	if task != 0 {
		b = append(b, `,"task":`...)
		b = strconv.AppendInt(b, int64(task), 10)
	}
	if len(metadata) > 0 {
		b = append(b, `,"metadata":`...)
		b = append(b, metadata...)
	}
	return b
}

func appendDeadline(b []byte, hubMS int64) []byte {
	b = append(b, `,"deadline_ms":`...)
	return strconv.AppendInt(b, hubMS, 10)
}
