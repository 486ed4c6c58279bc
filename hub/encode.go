package hub

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// JSONAppender is a value that writes its own JSON. The values that the busiest calls
// store and answer are such: encoding/json finds the members of a struct by reflection,
// which took a tenth of the processor time of a claim. A member that is added to such a
// struct is added to its AppendJSON too; a test compares both.
type JSONAppender interface {
	// AppendJSON appends the value as compact JSON to b.
	AppendJSON(b []byte) []byte
}

// AppendJSON appends the row as compact JSON to b.
func (c Claim) AppendJSON(b []byte) []byte {
	b = append(b, `{"claim_key":`...)
	b = AppendJSONString(b, string(c.ClaimKey))
	b = append(b, `,"thread_id":`...)
	b = appendOptionalString(b, c.ThreadID)
	b = append(b, `,"task_message_id":`...)
	if c.TaskMessageID == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(*c.TaskMessageID), 10)
	}
	b = append(b, `,"owner_agent_id":`...)
	b = AppendJSONString(b, string(c.OwnerAgentID))
	b = append(b, `,"claimed_at":`...)
	b = c.ClaimedAt.AppendJSON(b)
	return appendLeaseEnd(b, c.ExpiresAt, c.ReleasedAt, c.Metadata, c.Fence, c.Waiters)
}

// AppendJSON appends the row as compact JSON to b.
func (l Lock) AppendJSON(b []byte) []byte {
	b = append(b, `{"file_path":`...)
	b = AppendJSONString(b, l.FilePath)
	b = append(b, `,"agent_id":`...)
	b = AppendJSONString(b, string(l.AgentID))
	b = append(b, `,"locked_at":`...)
	b = l.LockedAt.AppendJSON(b)
	return appendLeaseEnd(b, l.ExpiresAt, l.ReleasedAt, l.Metadata, l.Fence, l.Waiters)
}

// appendLeaseEnd appends the members that claims and locks have in common, which are
// their last, and ends the row.
func appendLeaseEnd(b []byte, expires Time, released *Time, metadata json.RawMessage, fence Fence, waiters []LeaseWaiter) []byte {
	b = append(b, `,"expires_at":`...)
	b = expires.AppendJSON(b)
	b = append(b, `,"released_at":`...)
	if released == nil {
		b = append(b, "null"...)
	} else {
		b = released.AppendJSON(b)
	}
	b = append(b, `,"metadata":`...)
	b = appendRaw(b, metadata)
	b = append(b, `,"fence":`...)
	b = strconv.AppendInt(b, int64(fence), 10)
	for i, w := range waiters {
		if i == 0 {
			b = append(b, `,"waiters":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"agent_id":`...)
		b = AppendJSONString(b, string(w.AgentID))
		b = append(b, `,"since":`...)
		b = w.Since.AppendJSON(b)
		b = append(b, '}')
	}
	if len(waiters) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendOptionalString[S ~string](b []byte, s *S) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return AppendJSONString(b, string(*s))
}

// appendRaw appends JSON that was checked and made compact when it came.
func appendRaw(b []byte, raw json.RawMessage) []byte {
	if raw == nil {
		return append(b, "null"...)
	}
	return append(b, raw...)
}

const hexDigits = "0123456789abcdef"

// AppendJSONString appends s as a JSON string (RFC 8259 section 7). Invalid
// UTF-8 becomes U+FFFD; the HTTP edge refuses it earlier. It exists because
// encoding/json's path from a string to bytes allocates twice per message.
func AppendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(b, s[start:i]...)
			b = append(b, "\uFFFD"...)
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
