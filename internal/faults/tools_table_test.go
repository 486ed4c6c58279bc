package faults

// toolFaults are mistakes in the tools of the bridge.
var toolFaults = []fault{
	{
		"answer outgrows its limit", "mcp/fit.go",
		"		if have <= maxAnswer {", "		if true || have <= maxAnswer {",
		"mcp", "TestAnswersAreBounded",
	},
	{
		"cursor passes what was left out", "mcp/tools_poll.go",
		"			out.Cursor = out.Messages[len(out.Messages)-1].ID", "			out.Cursor = page.NextSinceID",
		"mcp", "TestPollGoesOn",
	},
	{
		"next bridge begins at the end", "mcp/tools_poll.go",
		"	if err != nil || a.SeenID > 0 {", "	if err != nil {",
		"mcp", "TestPollAfterTheBridgeDied",
	},
	{
		"body ends its own fence", "mcp/clean.go",
		`strings.ReplaceAll(text, "\n", "\n| ")`, "text",
		"mcp", "TestPeersCannotPretend",
	},
	{
		"escaped turn of direction reaches the model", "mcp/clean.go",
		"			if acts(r) {\n				out = append(out, visibly(r)...)\n			} else {\n				out = append(out, b[i:i+n]...)",
		"			if false && acts(r) {\n				out = append(out, visibly(r)...)\n			} else {\n				out = append(out, b[i:i+n]...)",
		"mcp", "TestCleanJSON",
	},
	{
		"unknown argument passes", "mcp/schema.go",
		"			return in, refuse(t, unknown(t, name))\n", "			continue\n",
		"mcp", "TestBadArgumentsAreRefusedAlike",
	},
	{
		"request is asked twice", "mcp/tools_rpc.go",
		"	if in.RequestID == 0 {\n		if in.ToAgent", "	if true {\n		if in.ToAgent",
		"mcp", "TestRPC",
	},
	{
		"command of a watch is not quoted", "mcp/tools_watch.go",
		"quotedArgs[i] = hook.Shell(arg)", "quotedArgs[i] = arg",
		"mcp", "TestWatchCommand",
	},
}
