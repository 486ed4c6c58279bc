package faults

// listFaults are mistakes in the pages of lists.
var listFaults = []fault{
	{
		"cursor of any list is taken", "actors/cursor.go",
		"b[0] != cursorVersion || b[1] != byte(list)", "b[0] != cursorVersion",
		"httpapi", "TestEveryListPages",
	},
	{
		"cursor is not proved", "actors/cursor.go",
		"s.sum(\"cursor\", string(b[:end]))[:cursorMACBytes]) != 1", "b[end:]) != 1",
		"actors", "TestCursors",
	},
	{
		"page passes over a row", "actors/cursor.go",
		"place(&rows[limit-1])", "place(&rows[limit])",
		"actors", "TestWalksAreWhole",
	},
	{
		"full page goes on", "actors/cursor.go",
		"	if len(rows) <= limit {\n", "	if len(rows) < limit {\n",
		"httpapi", "TestEveryListPages",
	},
	{
		"key between two states is left out", "actors/list_leases.go",
		"held && row == nil {", "row == nil && !strings.Contains(string(value), `\"ended\"`) {",
		"actors", "TestClaimGrantedDuringTheLook",
	},
	{
		"room of a claim tells of hidden tasks", "actors/list_leases.go",
		"sees := viewerOf(ctx, q.Viewer)", "sees := viewer{all: true}",
		"httpapi", "TestListFilters",
	},
	{
		"prefix of a folder takes its siblings", "actors/core/path.go",
		"		folder += \"/\"\n", "		folder += \"\"\n",
		"actors/core", "TestCanonicalPrefix",
	},
	{
		"thread that goes on is passed over", "actors/threadview.go",
		"	if uint64(latest) > w.asOf {\n", "	if false {\n",
		"actors", "TestWalksAreWhole",
	},
	{
		"title that gets a version is passed over", "actors/list_artifacts.go",
		"	if err == nil && len(later) > 0 {\n", "	if false {\n",
		"actors", "TestWalksAreWhole",
	},
	{
		"key that is remembered anew is passed over", "actors/list_memories.go",
		"	if q.Cursor != \"\" && !q.History {\n", "	if false {\n",
		"actors", "TestWalksAreWhole",
	},
	{
		"rows before the cursor are read again", "persistence/rows.go",
		"			if from := rowKey(t, behind); bytes.Compare(from, start) < 0 == backward {", "			if from := rowKey(t, behind); bytes.Compare(from, start) < 0 != backward {",
		"persistence", "TestRowsConformance",
	},
	{
		"walk ends after a page", "hub/list.go",
		"			if next == \"\" {\n", "			if true {\n",
		"hub", "TestWalk",
	},
	{
		"bridge skips what did not fit", "mcp/page.go",
		"err != nil || shown == len(rows) {", "true {",
		"mcp", "TestWholeIsReached",
	},
}
