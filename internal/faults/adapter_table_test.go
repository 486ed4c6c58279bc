package faults

// adapterFaults are mistakes in what sets the hub up in harnesses, by the place
// where they are made.
var adapterFaults = []fault{
	{
		"adapter changed without confirmation", "integrations/adapter/change.go",
		"err != nil && p.Prompt != \"\" {", "err != nil && p.Prompt == \"\" {",
		"integrations/adapter", "TestConfirmation",
	},
	{
		"digest of another plan taken", "integrations/adapter/change.go",
		"p.owner.Path, p.files.Digest(), ", "p.owner.Path, ",
		"integrations/adapter", "TestConfirmation",
	},
	{
		"file of a version written instead of its link", "integrations/adapter/executable.go",
		"(sameFile(abs, path) || !runnable(path))", "!runnable(path)",
		"integrations/adapter", "TestExecutable",
	},
	{
		"harness named where others read", "integrations/adapter/rows_first.go",
		`claudeHooks("", "./.claude/settings.json")`, `claudeHooks(hub.HarnessClaudeCode, "./.claude/settings.json")`,
		"integrations/adapter", "TestWhatIsWritten",
	},
	{
		"hooks of others hidden", "integrations/adapter/entries.go",
		"if !ok || exists(own) ||", "if true || !ok || exists(own) ||",
		"integrations/adapter", "TestHooksThatWouldBeHidden",
	},
	{
		"hooks that cannot be read taken for none", "integrations/adapter/entries.go",
		"		return nil, err\n	}\n	_, found, err :=", "		return s.hooks, nil\n	}\n	_, found, err :=",
		"integrations/adapter", "TestHooksThatCannotBeRead",
	},
	{
		"executable run that everybody may write", "integrations/adapter/verify.go",
		"if err := trusted(entry.Command); err != nil {", "if err := trusted(entry.Command); false && err != nil {",
		"integrations/adapter", "TestWhoMayWriteTheExecutable",
	},
	{
		"own files taken for a harness", "integrations/adapter/detect.go",
		"if !made[real] {", "if made != nil || !made[real] {",
		"integrations/adapter", "TestOwnFilesAreNoHarness",
	},
	{
		"harness that is not here set up", "integrations/adapter/ensure.go",
		"len(a.detect(ctx, r)) > 0", "len(a.detect(ctx, r)) >= 0",
		"integrations/adapter", "TestEnsure",
	},
	{
		"home folder taken for a project", "integrations/adapter/where.go",
		"case sameFile(real, a.config.World.Home):", "case false && sameFile(real, a.config.World.Home):",
		"integrations/adapter", "TestWhere",
	},
}
