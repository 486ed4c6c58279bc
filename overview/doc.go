// Package overview gathers what a human wants to know of a whole hub, and says what
// follows from it: which agent waits for which, where agents wait in a circle, and what
// is wrong.
//
// Gather makes a bounded number of calls, and they do not see one moment: a task may end
// between two of them. Everything else is pure. A Snapshot is never changed once Gather
// has returned it, so it may be shared. The package changes nothing in the hub and
// registers nobody.
//
// The texts in a Snapshot are as agents wrote them. Safe makes one fit for a terminal;
// Page and the helpers of text.go do so themselves.
package overview
