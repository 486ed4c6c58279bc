package engine

// Step names a point on the path of a write; see the package comment.
type Step string

// The steps, in their order. The first three happen once for each record, the
// others once for each group.
const (
	StepDecided   Step = "decided"
	StepNumbered  Step = "numbered"
	StepApplied   Step = "applied"
	StepAppending Step = "appending"
	StepAppended  Step = "appended"
	StepShown     Step = "shown"
	StepAnswered  Step = "answered"
	StepNotified  Step = "notified"
)
