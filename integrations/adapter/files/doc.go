// Package files changes configuration files of harnesses, all files of a plan
// or none, and can take its changes back.
//
// A Store keeps its files in one folder of the data root:
//
//	<data root>/adapters/     0700; files 0600
//	├─ LOCK                   flock of the writer
//	├─ ledger.json            our entries in each file; see docs/formats.md
//	├─ ledger.old             the ledger before the last change
//	├─ journal.json           the transaction under way; usually absent
//	├─ staged/<n>             new contents of the transaction under way
//	└─ backups/<n>-<name>     what files held before the first and before each later change
//
// PlanInstall and PlanUninstall change nothing; a Plan has a diff to show and a
// digest to confirm. Apply takes the lock, reads every file again, and writes
// only if none has changed since the plan. If it is interrupted (SIGKILL, a
// full disk, a file that may not be written), every file is wholly the old one
// or wholly the new one, and the next Open finishes the transaction or takes it
// back.
//
// A Store may be used from any goroutine and by several processes at once. It
// follows a link out of the folder that an Entry names as its root only if the
// user put it there, and never one of a project; the plan names where it leads. It
// never writes a file that others own or may write. It never guesses which
// entries are ours: if the ledger cannot be read, it writes nothing.
package files
