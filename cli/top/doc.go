// Package top is the live view of a hub for a terminal: agents, rooms, which agent waits
// for which, questions to the human, and the log, by keyboard.
//
// Model is the whole state. Update changes it by one message and returns what is to be
// done next; only those commands call the hub. View is a function of the state alone and
// costs no call. Bubble Tea runs Update and View in one goroutine and the commands in
// others, which know the state by their arguments only.
//
// Every text of an agent is made safe before it becomes part of a row, and no line is
// wider than the terminal. The package displaces no agent: what it says, it says as the
// operator.
package top
