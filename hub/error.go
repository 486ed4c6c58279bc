package hub

import (
	"fmt"
	"maps"
	"net/http"
)

// Code names an error for programs. Codes are append-only.
type Code string

// The codes of the contract. Status gives each its HTTP status.
const (
	CodeInvalid             Code = "invalid"
	CodeInvalidJSON         Code = "invalid_json"
	CodeInvalidAgentID      Code = "invalid_agent_id"
	CodeReservedAgent       Code = "reserved_agent"
	CodeReservedName        Code = "reserved_name"
	CodeReservedMetadata    Code = "reserved_metadata"
	CodeUnknownKind         Code = "unknown_kind"
	CodeBodyTooLarge        Code = "body_too_large"
	CodeAttachmentTooLarge  Code = "attachment_too_large"
	CodeTooManyAttachments  Code = "too_many_attachments"
	CodeMetadataTooLarge    Code = "metadata_too_large"
	CodeMetadataTooDeep     Code = "metadata_too_deep"
	CodeReplyNotFound       Code = "reply_not_found"
	CodeReplyRequired       Code = "reply_required"
	CodeParentNotFound      Code = "parent_not_found"
	CodeChannelNotFound     Code = "channel_not_found"
	CodeRoomNotFound        Code = "room_not_found"
	CodePathNotFound        Code = "path_not_found"
	CodeNotBound            Code = "not_bound"
	CodeMessageNotFound     Code = "message_not_found"
	CodeThreadNotFound      Code = "thread_not_found"
	CodeTaskNotFound        Code = "task_not_found"
	CodeProjectNotFound     Code = "project_not_found"
	CodeRunNotFound         Code = "run_not_found"
	CodeSessionNotFound     Code = "session_not_found"
	CodeSessionInvalid      Code = "session_invalid"
	CodeSessionRequired     Code = "session_required"
	CodeSessionReplaced     Code = "session_replaced"
	CodeSessionConflict     Code = "session_conflict"
	CodeAgentMismatch       Code = "agent_mismatch"
	CodeResumeDenied        Code = "resume_denied"
	CodeNotHolder           Code = "not_holder"
	CodeStaleFence          Code = "stale_fence"
	CodeTaskClosed          Code = "task_closed"
	CodeTaskTooDeep         Code = "task_too_deep"
	CodeTaskTaken           Code = "task_taken"
	CodeNotOffered          Code = "not_offered"
	CodeVersionConflict     Code = "version_conflict"
	CodeProjectExists       Code = "project_exists"
	CodeSimilarRoomExists   Code = "similar_room_exists"
	CodeAlreadyBound        Code = "already_bound"
	CodeLimitReached        Code = "limit_reached"
	CodeArtifactNotFound    Code = "artifact_not_found"
	CodeArtifactTooLarge    Code = "artifact_too_large"
	CodeInviteNotFound      Code = "invite_not_found"
	CodeInviteExpired       Code = "invite_expired"
	CodeInviteExhausted     Code = "invite_exhausted"
	CodeInviteRevoked       Code = "invite_revoked"
	CodeRoomFull            Code = "room_full"
	CodeTooManyAttempts     Code = "too_many_attempts"
	CodeWatchReplaced       Code = "watch_replaced"
	CodeIdempotencyConflict Code = "idempotency_conflict"
	CodeInProgress          Code = "in_progress"
	CodeStoreChanged        Code = "store_changed"
	CodeOperatorRequired    Code = "operator_required"
	CodeForbiddenHost       Code = "forbidden_host"
	CodeForbiddenOrigin     Code = "forbidden_origin"
	CodeForbiddenRelay      Code = "forbidden_relay"
	CodeNotFound            Code = "not_found"
	CodeMethodNotAllowed    Code = "method_not_allowed"
	CodeRequestTooLarge     Code = "request_too_large"
	CodeUnsupportedMedia    Code = "unsupported_media_type"
	CodeTooManyPolls        Code = "too_many_polls"
	CodeOverloaded          Code = "overloaded"
	CodeTimedOut            Code = "timed_out"
	CodeQuarantined         Code = "quarantined"
	CodeStopping            Code = "stopping"
	CodeStorageFull         Code = "storage_full"
	CodeStoreFailed         Code = "store_failed"
	CodeCorruptRecord       Code = "corrupt_record"
	CodeSearchUnavailable   Code = "search_unavailable"
	CodeMemoryNotFound      Code = "memory_not_found"
	CodeTextTooLarge        Code = "text_too_large"
	CodeSpawnNotAllowed     Code = "spawn_not_allowed"
	CodeSpawnNotFound       Code = "spawn_not_found"
	CodeSpawnUnavailable    Code = "spawn_unavailable"
	CodeBadExecutable       Code = "bad_executable"
	CodeAdapterNotFound     Code = "adapter_not_found"
	CodeAdapterConflict     Code = "adapter_conflict"
	CodeAdapterRefused      Code = "adapter_refused"
	CodeAdapterBusy         Code = "adapter_busy"
	CodeConfirmRequired     Code = "confirmation_required"
	CodePlanChanged         Code = "plan_changed"
	CodeInternal            Code = "internal"
)

// statuses is the one table from code to HTTP status. channel_not_found is 400
// where a post names the channel; such a call sets Error.Status itself.
var statuses = map[Code]int{
	CodeInvalid:             http.StatusBadRequest,
	CodeInvalidJSON:         http.StatusBadRequest,
	CodeInvalidAgentID:      http.StatusBadRequest,
	CodeReservedAgent:       http.StatusForbidden,
	CodeReservedName:        http.StatusForbidden,
	CodeReservedMetadata:    http.StatusBadRequest,
	CodeUnknownKind:         http.StatusBadRequest,
	CodeBodyTooLarge:        http.StatusBadRequest,
	CodeAttachmentTooLarge:  http.StatusBadRequest,
	CodeTooManyAttachments:  http.StatusBadRequest,
	CodeMetadataTooLarge:    http.StatusBadRequest,
	CodeMetadataTooDeep:     http.StatusBadRequest,
	CodeReplyNotFound:       http.StatusBadRequest,
	CodeReplyRequired:       http.StatusBadRequest,
	CodeParentNotFound:      http.StatusBadRequest,
	CodeChannelNotFound:     http.StatusNotFound,
	CodeRoomNotFound:        http.StatusNotFound,
	CodePathNotFound:        http.StatusBadRequest,
	CodeNotBound:            http.StatusNotFound,
	CodeMessageNotFound:     http.StatusNotFound,
	CodeThreadNotFound:      http.StatusNotFound,
	CodeTaskNotFound:        http.StatusNotFound,
	CodeProjectNotFound:     http.StatusNotFound,
	CodeRunNotFound:         http.StatusNotFound,
	CodeSessionNotFound:     http.StatusNotFound,
	CodeSessionInvalid:      http.StatusUnauthorized,
	CodeSessionRequired:     http.StatusUnauthorized,
	CodeSessionReplaced:     http.StatusConflict,
	CodeSessionConflict:     http.StatusConflict,
	CodeAgentMismatch:       http.StatusForbidden,
	CodeResumeDenied:        http.StatusUnauthorized,
	CodeNotHolder:           http.StatusNotFound,
	CodeStaleFence:          http.StatusConflict,
	CodeTaskClosed:          http.StatusConflict,
	CodeTaskTooDeep:         http.StatusBadRequest,
	CodeTaskTaken:           http.StatusConflict,
	CodeNotOffered:          http.StatusConflict,
	CodeVersionConflict:     http.StatusConflict,
	CodeProjectExists:       http.StatusConflict,
	CodeSimilarRoomExists:   http.StatusConflict,
	CodeAlreadyBound:        http.StatusConflict,
	CodeLimitReached:        http.StatusConflict,
	CodeArtifactNotFound:    http.StatusNotFound,
	CodeArtifactTooLarge:    http.StatusBadRequest,
	CodeInviteNotFound:      http.StatusNotFound,
	CodeInviteExpired:       http.StatusGone,
	CodeInviteExhausted:     http.StatusGone,
	CodeInviteRevoked:       http.StatusGone,
	CodeRoomFull:            http.StatusConflict,
	CodeTooManyAttempts:     http.StatusTooManyRequests,
	CodeWatchReplaced:       http.StatusConflict,
	CodeIdempotencyConflict: http.StatusUnprocessableEntity,
	CodeInProgress:          http.StatusConflict,
	CodeStoreChanged:        http.StatusConflict,
	CodeOperatorRequired:    http.StatusForbidden,
	CodeForbiddenHost:       http.StatusForbidden,
	CodeForbiddenOrigin:     http.StatusForbidden,
	CodeForbiddenRelay:      http.StatusForbidden,
	CodeNotFound:            http.StatusNotFound,
	CodeMethodNotAllowed:    http.StatusMethodNotAllowed,
	CodeRequestTooLarge:     http.StatusRequestEntityTooLarge,
	CodeUnsupportedMedia:    http.StatusUnsupportedMediaType,
	CodeTooManyPolls:        http.StatusTooManyRequests,
	CodeOverloaded:          http.StatusServiceUnavailable,
	CodeTimedOut:            http.StatusServiceUnavailable,
	CodeQuarantined:         http.StatusServiceUnavailable,
	CodeStopping:            http.StatusServiceUnavailable,
	CodeStorageFull:         http.StatusInsufficientStorage,
	CodeStoreFailed:         http.StatusServiceUnavailable,
	CodeCorruptRecord:       http.StatusInternalServerError,
	CodeSearchUnavailable:   http.StatusServiceUnavailable,
	CodeMemoryNotFound:      http.StatusNotFound,
	CodeTextTooLarge:        http.StatusBadRequest,
	CodeSpawnNotAllowed:     http.StatusForbidden,
	CodeSpawnNotFound:       http.StatusNotFound,
	CodeSpawnUnavailable:    http.StatusServiceUnavailable,
	CodeBadExecutable:       http.StatusConflict,
	CodeAdapterNotFound:     http.StatusNotFound,
	CodeAdapterConflict:     http.StatusConflict,
	CodeAdapterRefused:      http.StatusConflict,
	CodeAdapterBusy:         http.StatusConflict,
	CodeConfirmRequired:     http.StatusConflict,
	CodePlanChanged:         http.StatusConflict,
	CodeInternal:            http.StatusInternalServerError,
}

// Codes returns every code with its usual HTTP status.
func Codes() map[Code]int { return maps.Clone(statuses) }

// Error is what a client sees of a failed call. Fix says what to do next and is
// part of the answer, so that an agent can act on it.
type Error struct {
	Message    string
	Code       Code
	Status     int            // HTTP status; 0 where no answer came
	Detail     map[string]any // facts for programs; may be nil
	Fix        string         // may be empty
	RetryAfter int            // seconds; 0 says nothing
}

// NewError returns an error with the code's usual status.
func NewError(code Code, message string) *Error {
	return &Error{Message: message, Code: code, Status: statuses[code]}
}

// Errorf is NewError with a format.
func Errorf(code Code, format string, args ...any) *Error {
	return NewError(code, fmt.Sprintf(format, args...))
}

// Invalid refuses the value of one input field.
func Invalid(field, message string) *Error {
	return NewError(CodeInvalid, message).With("field", field)
}

func (e *Error) Error() string { return e.Message }

// Is makes errors.Is(err, &Error{Code: c}) ask for the code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With adds one fact to the detail and returns e, which must not be shared yet.
func (e *Error) With(key string, value any) *Error {
	if e.Detail == nil {
		e.Detail = map[string]any{}
	}
	e.Detail[key] = value
	return e
}

// WithDetail sets the whole detail.
func (e *Error) WithDetail(detail map[string]any) *Error { e.Detail = detail; return e }

// WithFix says what to do next.
func (e *Error) WithFix(fix string) *Error { e.Fix = fix; return e }

// WithStatus overrides the code's usual HTTP status.
func (e *Error) WithStatus(status int) *Error { e.Status = status; return e }

// WithRetryAfter says in how many seconds a retry may succeed.
func (e *Error) WithRetryAfter(sec int) *Error { e.RetryAfter = sec; return e }
