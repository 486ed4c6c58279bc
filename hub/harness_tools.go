package hub

// ToolNames tells a model how its harness spells the names of the hub's tools, and how it gets at
// those that it does not see. Empty: they have their own names, and it sees all.
func (f HarnessFacts) ToolNames() string {
	switch {
	case f.ToolPrefix != "" && f.ToolSearch != "":
		return "Your program calls the hub's tools " + f.ToolPrefix + "hub_start and so on; load those that you do not see " + f.ToolSearch + "."
	case f.ToolPrefix != "":
		return "Your program calls the hub's tools " + f.ToolPrefix + "hub_start and so on: use the names in its list."
	case f.ToolSearch != "":
		return "Load those tools of the hub that you do not see " + f.ToolSearch + "."
	}
	return ""
}
