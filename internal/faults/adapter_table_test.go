package faults

// adapterFaults are mistakes in what sets the hub up in harnesses, by the place
// where they are made.
var adapterFaults = []fault{
	{
		"adapter changed without confirmation", "integrations/harness/change.go",
		"err != nil && p.Prompt != \"\" {", "err != nil && p.Prompt == \"\" {",
		"integrations/harness", "TestConfirmation",
	},
	{
		"digest of another plan taken", "integrations/harness/change.go",
		"p.owner.Path, p.files.Digest(), ", "p.owner.Path, ",
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
		"if !ok || exists(own) ||", "if true || !ok || exists(own) ||",
		"integrations/harness", "TestHooksThatWouldBeHidden",
	},
	{
		"hooks that cannot be read taken for none", "integrations/harness/entries.go",
		"		return nil, err\n	}\n	_, found, err :=", "		return s.hooks, nil\n	}\n	_, found, err :=",
		"integrations/harness", "TestHooksThatCannotBeRead",
	},
	{
		"executable run that everybody may write", "integrations/harness/verify.go",
		"if err := trusted(entry.Command); err != nil {", "if err := trusted(entry.Command); false && err != nil {",
		"integrations/harness", "TestWhoMayWriteTheExecutable",
	},
	{
		"own files taken for a harness", "integrations/harness/detect.go",
		"if !made[real] {", "if made != nil || !made[real] {",
		"integrations/harness", "TestOwnFilesAreNoHarness",
	},
	{
		"harness that is not here set up", "integrations/harness/ensure.go",
		"len(a.detect(ctx, r)) > 0", "len(a.detect(ctx, r)) >= 0",
		"integrations/harness", "TestEnsure",
	},
	{
		"home folder taken for a project", "integrations/harness/where.go",
		"case sameFile(real, a.config.World.Home):", "case false && sameFile(real, a.config.World.Home):",
		"integrations/harness", "TestWhere",
	},
}
