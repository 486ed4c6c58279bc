package cli

import (
	"context"
	"errors"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/relay"
)

// The exit codes of the contract.
const (
	ExitOK          = 0
	ExitRefused     = 1   // the hub answered an error
	ExitUsage       = 2   // usage or bad input
	ExitUnreachable = 3   // the hub cannot be reached
	ExitWaitOver    = 4   // a wait ran out
	ExitStore       = 70  // the store failed
	ExitInterrupted = 130 // interrupted
)

// Codes of failures that the command line itself finds.
const (
	codeUsage      hub.Code = "usage"
	codeOtherStore hub.Code = "other_store"
	codeWaitOver   hub.Code = "wait_over"
)

// exits is the one table from error code to exit code.
var exits = map[hub.Code]int{
	codeUsage:      ExitUsage,
	codeOtherStore: ExitRefused,
	codeWaitOver:   ExitWaitOver,

	client.CodeUnreachable: ExitUnreachable,
	client.CodeNoAnswer:    ExitUnreachable,
	client.CodeBrokeOff:    ExitUnreachable,
	client.CodeNotAHub:     ExitUnreachable,

	relay.CodeSpoolFailed: ExitUnreachable,
	relay.CodeNoAnswer:    ExitUnreachable, // relay.CodeHubUnreachable is client.CodeUnreachable
	relay.CodeNotRelayed:  ExitRefused,

	hub.CodeInvalid:             ExitRefused,
	hub.CodeInvalidJSON:         ExitRefused,
	hub.CodeInvalidAgentID:      ExitRefused,
	hub.CodeReservedAgent:       ExitRefused,
	hub.CodeReservedName:        ExitRefused,
	hub.CodeReservedMetadata:    ExitRefused,
	hub.CodeUnknownKind:         ExitRefused,
	hub.CodeBodyTooLarge:        ExitRefused,
	hub.CodeAttachmentTooLarge:  ExitRefused,
	hub.CodeTooManyAttachments:  ExitRefused,
	hub.CodeMetadataTooLarge:    ExitRefused,
	hub.CodeMetadataTooDeep:     ExitRefused,
	hub.CodeReplyNotFound:       ExitRefused,
	hub.CodeReplyRequired:       ExitRefused,
	hub.CodeParentNotFound:      ExitRefused,
	hub.CodeChannelNotFound:     ExitRefused,
	hub.CodeRoomNotFound:        ExitRefused,
	hub.CodePathNotFound:        ExitRefused,
	hub.CodeNotBound:            ExitRefused,
	hub.CodeMessageNotFound:     ExitRefused,
	hub.CodeThreadNotFound:      ExitRefused,
	hub.CodeTaskNotFound:        ExitRefused,
	hub.CodeRunNotFound:         ExitRefused,
	hub.CodeProjectNotFound:     ExitRefused,
	hub.CodeSessionNotFound:     ExitRefused,
	hub.CodeSessionInvalid:      ExitRefused,
	hub.CodeSessionRequired:     ExitRefused,
	hub.CodeSessionReplaced:     ExitRefused,
	hub.CodeSessionConflict:     ExitRefused,
	hub.CodeAgentMismatch:       ExitRefused,
	hub.CodeResumeDenied:        ExitRefused,
	hub.CodeNotHolder:           ExitRefused,
	hub.CodeStaleFence:          ExitRefused,
	hub.CodeTaskClosed:          ExitRefused,
	hub.CodeTaskTooDeep:         ExitRefused,
	hub.CodeTaskTaken:           ExitRefused,
	hub.CodeNotOffered:          ExitRefused,
	hub.CodeVersionConflict:     ExitRefused,
	hub.CodeProjectExists:       ExitRefused,
	hub.CodeSimilarRoomExists:   ExitRefused,
	hub.CodeAlreadyBound:        ExitRefused,
	hub.CodeLimitReached:        ExitRefused,
	hub.CodeMemoryNotFound:      ExitRefused,
	hub.CodeRoomFull:            ExitRefused,
	hub.CodeTextTooLarge:        ExitRefused,
	hub.CodeSearchUnavailable:   ExitRefused,
	hub.CodeSpawnNotAllowed:     ExitRefused,
	hub.CodeSpawnNotFound:       ExitRefused,
	hub.CodeSpawnUnavailable:    ExitRefused,
	hub.CodeBadExecutable:       ExitRefused,
	hub.CodeArtifactNotFound:    ExitRefused,
	hub.CodeArtifactTooLarge:    ExitRefused,
	hub.CodeInviteNotFound:      ExitRefused,
	hub.CodeInviteExpired:       ExitRefused,
	hub.CodeInviteExhausted:     ExitRefused,
	hub.CodeInviteRevoked:       ExitRefused,
	hub.CodeTooManyAttempts:     ExitRefused,
	hub.CodeWatchReplaced:       ExitRefused,
	hub.CodeIdempotencyConflict: ExitRefused,
	hub.CodeInProgress:          ExitRefused,
	hub.CodeStoreChanged:        ExitRefused,
	hub.CodeOperatorRequired:    ExitRefused,
	hub.CodeForbiddenHost:       ExitRefused,
	hub.CodeForbiddenOrigin:     ExitRefused,
	hub.CodeForbiddenRelay:      ExitRefused,
	hub.CodeNotFound:            ExitRefused,
	hub.CodeMethodNotAllowed:    ExitRefused,
	hub.CodeRequestTooLarge:     ExitRefused,
	hub.CodeUnsupportedMedia:    ExitRefused,
	hub.CodeTooManyPolls:        ExitRefused,
	hub.CodeOverloaded:          ExitRefused,
	hub.CodeTimedOut:            ExitRefused,
	hub.CodeQuarantined:         ExitRefused,
	hub.CodeStopping:            ExitRefused,
	hub.CodeStorageFull:         ExitRefused,
	hub.CodeAdapterNotFound:     ExitRefused,
	hub.CodeAdapterConflict:     ExitRefused,
	hub.CodeAdapterRefused:      ExitRefused,
	hub.CodeAdapterBusy:         ExitRefused,
	hub.CodeConfirmRequired:     ExitRefused,
	hub.CodePlanChanged:         ExitRefused,
	// The exit code of the daemon whose store fails is ExitStore; a client only
	// hears of it.
	hub.CodeStoreFailed:   ExitRefused,
	hub.CodeCorruptRecord: ExitRefused,
	hub.CodeInternal:      ExitRefused,
}

// exitOf gives the exit code of how a command ended. An error code that is not
// in the table comes from a newer hub.
func exitOf(err error) int {
	var f *Failure
	var h *hub.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &f):
		return f.Exit
	case errors.As(err, &h):
		if code, ok := exits[h.Code]; ok {
			return code
		}
		return ExitRefused
	default:
		return ExitRefused
	}
}
