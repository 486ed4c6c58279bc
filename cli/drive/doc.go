// Package drive lets an agent work in a harness that speaks the Agent Client Protocol. It
// begins a turn for each text of the person at the terminal and for messages to the agent,
// one turn at a time, prints what the harness tells, and has permission prompts decided.
//
//	a line that is typed   begins a turn, or waits for the end of the one under way, or
//	                       answers the open permission prompt
//	a message (Wake)       begins a turn as soon as none is under way and nothing typed waits
//	Ctrl-C                 cancels the turn; a second one ends the session
//
// A permission prompt is decided by a rule or the operator's answer in the inbox, or by the
// person at the terminal: the first answer counts. Without a person a prompt that nobody
// decides is refused. An answer allows one call of a tool; only the person at the terminal
// can choose an option that lasts.
//
// Run's goroutine alone changes the state of the turns. The handler is called by the
// goroutines of the connection.
package drive
