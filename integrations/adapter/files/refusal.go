package files

import (
	"errors"
	"fmt"
)

// Reason says why files were left alone.
type Reason string

// The reasons.
const (
	LeavesRoot  Reason = "leaves_root"  // a link leads out of the scope's folder, or to no file
	Foreign     Reason = "foreign"      // others own or may write the file or a folder above it
	HardLinked  Reason = "hard_linked"  // the file has another name, which a replacement would not have
	NotRegular  Reason = "not_regular"  // a folder, device or pipe stands in the file's place
	TooLarge    Reason = "too_large"    // the file is larger than the limit
	NoAccess    Reason = "unreadable"   // the system refuses to read or write
	Refused     Reason = "refused"      // the document cannot be edited; the cause is an *edit.Refusal
	IsDrifted   Reason = "drifted"      // an entry of ours was changed by somebody
	IsConflict  Reason = "conflict"     // an entry that is not ours has the place
	PlanChanged Reason = "plan_changed" // a file or the ledger is no longer what the plan was made for
	NoLedger    Reason = "ledger"       // the ledger is damaged, so our entries are unknown
	Interrupted Reason = "interrupted"  // an earlier transaction can be neither finished nor taken back yet
	Busy        Reason = "busy"         // another process is writing
)

// Refusal says why a file, or all files of a plan, were not changed.
type Refusal struct {
	Reason  Reason
	File    string // empty if it is not about one file
	Message string
	Fix     string // what the user can do
	Err     error  // the cause, or nil
}

func (r *Refusal) Error() string {
	s := r.Message
	if r.File != "" {
		s = r.File + ": " + s
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

func (r *Refusal) Unwrap() error { return r.Err }

// ReasonOf returns the reason of a Refusal in err's chain, else "".
func ReasonOf(err error) Reason {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Reason
	}
	return ""
}

func refuse(why Reason, file, fix, format string, args ...any) *Refusal {
	return &Refusal{Reason: why, File: file, Fix: fix, Message: fmt.Sprintf(format, args...)}
}

// failed wraps an error of the system.
func failed(file, what string, err error) error {
	if err == nil || ReasonOf(err) != "" {
		return err
	}
	return &Refusal{
		Reason: NoAccess, File: file, Message: what, Err: err,
		Fix: "make the file and its folder readable and writable for you, and see that the disk is not full",
	}
}
