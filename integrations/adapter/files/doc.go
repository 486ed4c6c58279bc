// Package files changes configuration files of harnesses, all of a plan or none,
// and can take back what it did.
//
// A Store keeps what it must remember below one folder of the data root:
//
//	<data root>/adapters/     0700; files 0600
//	├─ LOCK                   flock of who writes
//	├─ ledger.json            what is ours in which file; see docs/formats.md
//	├─ ledger.old             the ledger before the last change
//	├─ journal.json           the transaction under way; absent as a rule
//	├─ staged/<n>             new contents of the transaction under way
//	└─ backups/<n>-<name>     what files held before the first and before each later change
//
// PlanInstall and PlanUninstall read and change nothing; a Plan has a diff to show
// and a digest to confirm. Apply takes the lock, reads every file again, and writes
// only if each still is what the plan was made for. Whatever happens in between
// (SIGKILL, a full disk, a file that may not be written), every file afterwards is
// the old one or the new one whole, and the next Open finishes the transaction or
// takes it back.
//
// A Store may be used from any goroutine and by several processes at once. It
// never follows a link out of the folder that an Entry names as its root, never
// writes what others own or may write, and never guesses what is ours: where the
// ledger cannot be read, nothing is written.
package files
