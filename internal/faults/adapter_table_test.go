package faults

// adapterFaults are mistakes in what sets the hub up in harnesses, by the place
// where they are made.
var adapterFaults = []fault{
	{
		"adapter changed without confirmation", "integrations/harness/change.go",
		"err != nil && len(p.Files) > 0 {", "err != nil && len(p.Files) > 1<<20 {",
		"integrations/harness", "TestConfirmation",
	},
	{
		"digest of another plan taken", "integrations/harness/change.go",
		"owner.Path, p.files.Digest()}", "owner.Path}",
		"integrations/harness", "TestConfirmation",
	},
	{
		"file of a version written instead of its link", "integrations/harness/executable.go",
		"(sameFile(abs, path) || !runnable(path))", "!runnable(path)",
		"integrations/harness", "TestExecutable",
	},
	{
		"harness named where others read", "integrations/harness/rows_first.go",
		`claudeHooks("", "./.claude/settings.json")`, `claudeHooks(hub.HarnessClaudeCode, "./.claude/settings.json")`,
		"integrations/harness", "TestWhatIsWritten",
	},
	{
		"hooks of others hidden", "integrations/harness/entries.go",
		"if !ok || exists(own) {", "if true || !ok || exists(own) {",
		"integrations/harness", "TestHooksThatWouldBeHidden",
	},
	{
		"foreign entry started", "integrations/harness/verify.go",
		"	// What somebody else has written is not run: it may be anything.\n	return false\n", "	return true\n",
		"integrations/harness", "TestNothingForeignIsRun",
	},
	{
		"harness that is not here set up", "integrations/harness/ensure.go",
		"len(a.detect(r)) > 0", "len(a.detect(r)) >= 0",
		"integrations/harness", "TestEnsure",
	},
	{
		"home folder taken for a project", "integrations/harness/where.go",
		"case sameFile(real, a.config.World.Home):", "case false && sameFile(real, a.config.World.Home):",
		"integrations/harness", "TestWhere",
	},
}
