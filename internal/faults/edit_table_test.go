package faults

// editFaults are mistakes in the edits of configuration files and in their
// transaction, by the place where they are made.
var editFaults = []fault{
	{
		"results are not compared", "integrations/harness/edit/edit.go",
		"	if !reflect.DeepEqual(e.tree(), want) {\n", "	if false && !reflect.DeepEqual(e.tree(), want) {\n",
		"integrations/harness/edit", "TestRemoveLeavesLaterEdits",
	},
	{
		"keys that are there twice pass", "integrations/harness/edit/json_parse.go",
		"twice := object[name]; twice {", "twice := object[name]; false && twice {",
		"integrations/harness/edit", "TestInsertJSONRefuses",
	},
	{
		"commas behind a comment", "integrations/harness/edit/json_edit.go",
		"splice{last.end, last.end, comma}", "splice{place, place, comma}",
		"integrations/harness/edit", "TestInsertJSON",
	},
	{
		"created parents stay", "integrations/harness/edit/json_edit.go",
		"		if trace.Parents == 0 || len(last.items) > 1", "		if true || len(last.items) > 1",
		"integrations/harness/edit", "TestJSONRoundTrip",
	},
	{
		"an entry without its marks is stranded", "integrations/harness/edit/toml.go",
		"		if run, ok := d.tables(); ok {\n", "		if run, ok := d.tables(); false && ok {\n",
		"integrations/harness/edit", "TestRemoveLeavesLaterEdits",
	},
	{
		"secrets around a change are shown", "integrations/harness/edit/diff.go",
		"		b.WriteString(masked)\n", "		b.Write(s.doc[max(h.start, at):min(h.end, part.end)])\n",
		"integrations/harness/edit", "TestDiffMasksSecrets",
	},
	{
		"links lead anywhere", "integrations/harness/files/target.go",
		"	if err != nil || !filepath.IsLocal(rel) || rel == \".\" {\n		return \"\", refuse", "	if err != nil || rel == \".\" {\n		return \"\", refuse",
		"integrations/harness/files", "TestHostilePlaces",
	},
	{
		"files of everybody are edited", "integrations/harness/files/os_unix.go",
		"	case mode&0o002 != 0:\n", "	case false:\n",
		"integrations/harness/files", "TestHostilePlaces",
	},
	{
		"another plan is carried out", "integrations/harness/files/apply.go",
		"		if next.Digest() != digest {\n", "		if false && next.Digest() != digest {\n",
		"integrations/harness/files", "TestPlanChanged",
	},
	{
		"a dead transaction is forgotten", "integrations/harness/files/journal.go",
		"	if j.Phase == forward {\n		if err = s.finish", "	if false {\n		if err = s.finish",
		"integrations/harness/files", "TestKilledAtEveryStep|TestFinishedAroundALaterChange",
	},
	{
		"the folder of the first file stays half", "integrations/harness/files/takeback.go",
		"			now, err := s.restore(t, f)\n", "			now, _, err := t.read()\n",
		"integrations/harness/files", "TestFailingAtEveryStep",
	},
	{
		"what a harness has kept for us is forgotten", "integrations/harness/files/takeback.go",
		"		if doc, ok := changed[f.Target]; ok && was.keep(", "		if doc, ok := changed[f.Target]; ok && false && was.keep(",
		"integrations/harness/files", "TestRewrittenBeforeTheFailure",
	},
	{
		"the original comes back over later changes", "integrations/harness/files/plan_remove.go",
		"	untouched := edit.Hash(w.before) == w.rec.Hash\n", "	untouched := true\n",
		"integrations/harness/files", "TestUninstallLeavesLaterChanges",
	},
	{
		"a ledger is believed without its sum", "integrations/harness/files/ledger.go",
		"	if edit.Hash(compact.Bytes()) != s.Sum {\n", "	if false {\n",
		"integrations/harness/files", "TestDamagedLedger",
	},
	{
		"what the user changed is replaced", "integrations/harness/files/plan.go",
		"	case edit.Hash(have) != rec.Hash:\n", "	case false:\n",
		"integrations/harness/files", "TestStates",
	},
}
