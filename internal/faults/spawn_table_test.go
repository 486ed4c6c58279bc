package faults

// spawnFaults are mistakes in spawns and in the settings of tool surfaces, by the
// place where they are made.
var spawnFaults = []fault{
	{
		"spawns beyond the seats of the room", "actors/core/spawn.go",
		"	case inRoom >= allow.MaxSeats:", "	case false && inRoom >= allow.MaxSeats:",
		"actors/core", "TestSpawnProperties",
	},
	{
		"spawned agent spawns on", "actors/core/spawn.go",
		"	if depth > s.policy.MaxDepth {", "	if false && depth > s.policy.MaxDepth {",
		"actors/core", "TestSpawnProperties",
	},
	{
		"spawn stopped by anybody", "actors/core/spawn.go",
		"	case !operator && by != row.By:", "	case false && !operator && by != row.By:",
		"actors/core", "TestSpawnProperties",
	},
	{
		"prompt becomes an option", "actors/core/spawn_args.go",
		"		if options && !strings.HasPrefix(arg", "		if false && options && !strings.HasPrefix(arg",
		"actors/core", "TestSpawnArguments",
	},
	{
		"prompt is read for placeholders", "actors/core/spawn_args.go",
		"out[i] = put.Replace(arg);", "out[i] = put.Replace(put.Replace(arg));",
		"actors/core", "TestSpawnArguments",
	},
	{
		"spawn out of a sandbox", "actors/service_spawn.go",
		"	case caller.Relay != \"\":", "	case false && caller.Relay != \"\":",
		"actors", "TestSpawnIsRefused",
	},
	{
		"lost spawns are not told", "actors/hub.go",
		"	h.tasks.Go(func() { h.loseSpawns(lost) })\n", "	_ = lost\n",
		"actors", "TestSpawnsAreLostOnce",
	},
	{
		"committed spawn is not tended", "actors/spawner.go",
		"		go s.tend(t)\n", "		s.busy--\n",
		"actors", "TestSpawnIsTendedWhoeverLeaves",
	},
	{
		"stop of the hub does not wait for a spawn that is asked for", "actors/service_spawn.go",
		"submit(context.WithoutCancel(ctx), h, write[*core.Spawns", "submit(ctx, h, write[*core.Spawns",
		"actors", "TestSpawnWhileTheHubStops",
	},
	{
		"stop of what nobody tends ends nothing", "actors/spawn_tend.go",
		"	if !out.Status.Terminal() && !h.spawner.stop(row.SpawnID, out.Reason) {",
		"	if h.spawner.stop(row.SpawnID, out.Reason); false {",
		"actors", "TestStopOfWhatNobodyTends",
	},
	{
		"child is told that it is somebody else", "actors/spawn_tend.go",
		"directory.session(row.AgentID); live {", "directory.session(row.AgentID); false && live {",
		"actors", "TestSpawnIsNobodyElse",
	},
	{
		"output kept beyond its bound", "integrations/spawn/output.go",
		"	tail = tail[lineRoom:]\n", "",
		"integrations/spawn", "TestOutputIsBounded",
	},
	{
		"spawns outlive a stop", "actors/hub.go",
		"	h.endSpawns(ctx)\n", "",
		"actors", "TestSpawnsEndWithTheHub",
	},
	{
		"child gets the whole environment", "integrations/spawn/env.go",
		"		if ok && name != \"\" && (", "		if ok && name != \"\" || (",
		"integrations/spawn", "TestEnvironment",
	},
	{
		"child gets open files", "integrations/spawn/keep.go",
		"	closeToCommands()\n", "",
		"integrations/spawn", "TestNothingIsInherited",
	},
	{
		"what a command leaves behind goes on", "integrations/spawn/keep_unix.go",
		"	if g.gone() {\n		return last\n	}\n", "	if g != nil {\n		return last\n	}\n",
		"integrations/spawn", "TestEndOfTheCommandEndsTheGroup",
	},
	{
		"keeper does not notice the end of the hub", "integrations/spawn/keep.go",
		"			ends <- min(grace, orphanGrace)\n			return", "			return",
		"integrations/spawn", "TestGroupEndsWithTheHub",
	},
	{
		"tool surface is forgotten", "actors/core/settings.go",
		"	rows.Put(TableToolSurface, []byte(set.Harness), []byte(set.Surface))\n", "",
		"httpapi", "TestToolSurfaceSurvives",
	},
}
