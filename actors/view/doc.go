// Package view holds what is shown of committed records: messages, live sessions,
// leases, tasks, runs, rooms, threads and how far each agent has read. It also holds
// the calls that wait for news, and the policy that says which agent may see which
// message and task (policy.go).
//
// The writer of the engine is the only goroutine that shows records, in their order,
// between Begin and End. All other methods may be called from any goroutine. A view
// never decides, never waits for an owner, and writes nothing but the rows that
// Prepare returns and the cursors of what agents have seen.
package view
