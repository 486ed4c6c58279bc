// Package asks serves the questions to the operator: it checks what a question names, lets
// the owner of all questions decide, closes questions whose deadline is over, and has the
// operator told of new ones.
//
// asks.go holds the calls, permission.go those for permission prompts of harnesses, rows.go
// reads what is stored, deadline.go has the one timer, and notify.go tells the operator.
// What the timer knows is in memory; a start reads it from the rows of the open questions.
//
// All exported methods may be called from any goroutine. The package never answers in the
// operator's name, and never shows a question to an agent that did not ask it.
package asks
