package faults

// editFaults are mistakes in the edits of configuration files and in their
// transaction, by the place where they are made.
var editFaults = []fault{
	{
		"results are not compared", "integrations/adapter/edit/edit.go",
		"	if !reflect.DeepEqual(e.tree(), want) {\n", "	if false && !reflect.DeepEqual(e.tree(), want) {\n",
		"integrations/adapter/edit", "TestRemoveLeavesLaterEdits",
	},
	{
		"keys that are there twice pass", "integrations/adapter/edit/json_parse.go",
		"twice := object[name]; twice {", "twice := object[name]; false && twice {",
		"integrations/adapter/edit", "TestInsertJSONRefuses",
	},
	{
		"commas behind a comment", "integrations/adapter/edit/json_edit.go",
		"splice{last.end, last.end, comma}", "splice{place, place, comma}",
		"integrations/adapter/edit", "TestInsertJSON",
	},
	{
		"created parents stay", "integrations/adapter/edit/json_edit.go",
		"		if trace.Parents == 0 || len(last.items) > 1", "		if true || len(last.items) > 1",
		"integrations/adapter/edit", "TestJSONRoundTrip",
	},
	{
		"an entry without its marks is stranded", "integrations/adapter/edit/toml.go",
		"		if run, ok := d.tables(); ok {\n", "		if run, ok := d.tables(); false && ok {\n",
		"integrations/adapter/edit", "TestRemoveLeavesLaterEdits",
	},
	{
		"secrets around a change are shown", "integrations/adapter/edit/diff.go",
		"		b.WriteString(masked)\n", "		b.Write(s.doc[max(h.start, at):min(h.end, part.end)])\n",
		"integrations/adapter/edit", "TestDiffMasksSecrets",
	},
	{
		"links lead anywhere", "integrations/adapter/files/target.go",
		"	if err != nil || !filepath.IsLocal(rel) || rel == \".\" {\n		return \"\", refuse", "	if err != nil || rel == \".\" {\n		return \"\", refuse",
		"integrations/adapter/files", "TestHostilePlaces",
	},
	{
		"files of everybody are edited", "integrations/adapter/files/os_unix.go",
		"	case mode&0o002 != 0:\n", "	case false:\n",
		"integrations/adapter/files", "TestHostilePlaces",
	},
	{
		"another plan is carried out", "integrations/adapter/files/apply.go",
		"		if next.Digest() != digest {\n", "		if false && next.Digest() != digest {\n",
		"integrations/adapter/files", "TestPlanChanged",
	},
	{
		"a dead transaction is forgotten", "integrations/adapter/files/journal.go",
		"	if j.Phase == forward {\n		if err = s.finish", "	if false {\n		if err = s.finish",
		"integrations/adapter/files", "TestKilledAtEveryStep|TestFinishedAroundALaterChange",
	},
	{
		"the folder of the first file stays half", "integrations/adapter/files/takeback.go",
		"			now, err := s.restore(t, f)\n", "			now, _, err := t.read()\n",
		"integrations/adapter/files", "TestFailingAtEveryStep",
	},
	{
		"what a harness has kept for us is forgotten", "integrations/adapter/files/takeback.go",
		"		if doc, ok := changed[f.Target]; ok && was.keep(", "		if doc, ok := changed[f.Target]; ok && false && was.keep(",
		"integrations/adapter/files", "TestRewrittenBeforeTheFailure",
	},
	{
		"the original comes back over later changes", "integrations/adapter/files/plan_remove.go",
		"	untouched := edit.Hash(w.before) == w.rec.Hash\n", "	untouched := true\n",
		"integrations/adapter/files", "TestUninstallLeavesLaterChanges",
	},
	{
		"a ledger is believed without its sum", "integrations/adapter/files/ledger.go",
		"	if edit.Hash(compact.Bytes()) != s.Sum {\n", "	if false {\n",
		"integrations/adapter/files", "TestDamagedLedger",
	},
	{
		"what the user changed is replaced", "integrations/adapter/files/plan.go",
		"	case edit.Hash(have) != rec.Hash:\n", "	case false:\n",
		"integrations/adapter/files", "TestStates",
	},
}
