package hub

// Visible is the one rule that decides which agents may see a message: every
// agent may see a public message; only the two parties may see a direct one. An
// empty viewer is no particular agent. from and to are those of the message; to
// is empty for a public message. The operator is not a viewer: calls with the
// operator token skip this check. A feed hands a direct message to its recipient
// alone, so it asks Delivered.
func Visible(viewer, from, to AgentID) bool {
	return to == "" || viewer != "" && (viewer == to || viewer == from)
}

// Delivered reports whether a feed hands a message to viewer: each public message,
// and the direct ones that are for viewer. What it hands over is Visible.
func Delivered(viewer, to AgentID) bool { return to == "" || to == viewer }
