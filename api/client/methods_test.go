package client_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
)

func ptr[T any](v T) *T { return &v }

// methods is every method of the agent plane, with what it sends and decodes.
var methods = []asked{
	row("Register", in(hub.RegisterInput{AgentID: "a", Replace: ptr(false), UnlessEnded: true}), sent{op: "register", body: `{"agent_id":"a","replace":false,"unless_ended":true}`},
		says(201, `{"ok":true,"result":{"session_id":"s.x","agent_id":"a","resume_key":"r"}}`),
		hub.Outcome[hub.Registered]{Created: true, Row: hub.Registered{Session: hub.Session{SessionID: "s.x", AgentID: "a"}, ResumeKey: "r"}}),
	row("Resume", in(hub.ResumeInput{PriorSessionID: "s.x", ResumeKey: "r"}), sent{op: "resumeSession", body: `{"prior_session_id":"s.x","resume_key":"r"}`},
		says(201, `{"ok":true,"result":{"session_id":"s.y"}}`, "Idempotent-Replayed: true"),
		hub.Outcome[hub.Registered]{Created: true, Replayed: true, Row: hub.Registered{Session: hub.Session{SessionID: "s.y"}}}),
	row("Rename", in("a@b:c+d", hub.RenameInput{DisplayName: "D"}), sent{op: "renameSession", param: "a@b:c+d", body: `{"display_name":"D"}`},
		says(200, `{"ok":true,"result":{"agent_id":"a@b:c+d","display_name":"D"}}`),
		hub.Outcome[hub.Session]{Row: hub.Session{AgentID: "a@b:c+d", DisplayName: "D"}}),
	row("CloseSession", in("s.x/y", "b"), sent{op: "closeSession", param: "s.x/y", query: "successor=b"}, says(200, `{"ok":true,"result":{"session_id":"s","deleted":true}}`),
		hub.Outcome[hub.ClosedSession]{Row: hub.ClosedSession{SessionID: "s", Deleted: true}}),
	row("Agents", in(hub.AgentsQuery{Capability: "go lang", Prefix: "g", RoomID: "r_1", Details: true}),
		sent{op: "listAgents", query: "as=me&capability=go+lang&details=true&prefix=g&room_id=r_1"}, says(200, `{"ok":true,"result":[{"agent_id":"a"}]}`),
		[]hub.LiveAgent{{Session: hub.Session{AgentID: "a"}}}),
	row("Bootstrap", in("a"), sent{op: "getBootstrap", query: "agent_id=a"}, says(200, `{"ok":true,"result":{"agent_id":"a","latest_visible_id":9}}`),
		hub.Bootstrap{AgentID: "a", LatestVisibleID: 9}),
	row("ToolSurfaces", in(hub.HarnessCodex), sent{op: "getToolSurface", query: "harness=codex"},
		says(200, `{"ok":true,"result":[{"harness":"codex","surface":"full","default":true}]}`),
		[]hub.ToolSurface{{Harness: hub.HarnessCodex, Surface: hub.SurfaceFull, Default: true}}),
	row("SetToolSurface", in(hub.ToolSurfaceInput{Harness: hub.HarnessZed, Surface: hub.SurfaceProgressive}),
		sent{op: "setToolSurface", body: `{"harness":"zed","surface":"progressive"}`},
		says(200, `{"ok":true,"result":{"harness":"zed","surface":"progressive","default":false}}`),
		hub.Outcome[hub.ToolSurface]{Row: hub.ToolSurface{Harness: hub.HarnessZed, Surface: hub.SurfaceProgressive}}),
	row("Providers", in(), sent{op: "listProviders"}, says(200, `{"ok":true,"result":[{"provider_id":"groq","env":["GROQ_API_KEY"]}]}`),
		[]hub.Provider{{ProviderID: "groq", Env: []string{"GROQ_API_KEY"}}}),
	row("Connections", in(), sent{op: "listConnections"}, listed(`[{"connection_id":"cn_1"}]`), []hub.Connection{{ConnectionID: "cn_1"}}),
	row("CreateConnection", in(hub.ConnectionInput{ProviderID: "groq", EnvCredential: true}), sent{op: "createConnection", body: `{"provider_id":"groq","env_credential":true}`},
		says(201, `{"ok":true,"result":{"connection_id":"cn_1"}}`), hub.Outcome[hub.Connection]{Created: true, Row: hub.Connection{ConnectionID: "cn_1"}}),
	row("UpdateConnection", in("my one", hub.ConnectionUpdate{Label: ptr("b")}), sent{op: "updateConnection", param: "my one", body: `{"label":"b"}`},
		says(200, `{"ok":true,"result":{"label":"b"}}`), hub.Outcome[hub.Connection]{Row: hub.Connection{Label: "b"}}),
	row("SetConnectionKey", in("a", hub.ConnectionKeyInput{KeyVariable: "K"}), sent{op: "setConnectionKey", param: "a", body: `{"key_variable":"K"}`},
		says(200, `{"ok":true,"result":{"key_variable":"K"}}`), hub.Outcome[hub.Connection]{Row: hub.Connection{KeyVariable: "K"}}),
	row("VerifyConnection", in("a"), sent{op: "verifyConnection", param: "a"},
		says(200, `{"ok":true,"result":{"models":3}}`), hub.Outcome[hub.Connection]{Row: hub.Connection{Models: 3}}),
	row("ConnectionModels", in("a"), sent{op: "getConnectionModels", param: "a"},
		says(200, `{"ok":true,"result":{"models":[{"model_id":"m"}]}}`), hub.ConnectionModels{Models: []hub.ProviderModel{{ModelID: "m"}}}),
	row("DeleteConnection", in("a"), sent{op: "deleteConnection", param: "a"},
		says(200, `{"ok":true,"result":{"label":"a"}}`), hub.Outcome[hub.Connection]{Row: hub.Connection{Label: "a"}}),
	row("BreakClaim", in(hub.ClaimBreakInput{ClaimKey: "k", Reason: "late"}), sent{op: "breakClaim", body: `{"claim_key":"k","reason":"late"}`},
		says(200, `{"ok":true,"result":{"claim_key":"k","fence":3}}`), hub.Outcome[hub.Claim]{Row: hub.Claim{ClaimKey: "k", Fence: 3}}),
	row("BreakLock", in(hub.LockBreakInput{FilePath: "/a", Reason: "late"}), sent{op: "breakLock", body: `{"file_path":"/a","reason":"late"}`},
		says(200, `{"ok":true,"result":{"file_path":"/a","fence":3}}`), hub.Outcome[hub.Lock]{Row: hub.Lock{FilePath: "/a", Fence: 3}}),
	row("IdleAgents", in(hub.IdleAgentsQuery{IdleSec: 60}), sent{op: "listIdleAgents", query: "idle_sec=60"},
		says(200, `{"ok":true,"result":{"count":2}}`), hub.IdleAgents{Count: 2}),
	row("Recipient", in("a@b"), sent{op: "getRecipient", param: "a@b"},
		says(200, `{"ok":true,"result":{"state":"gone"}}`), hub.Recipient{State: hub.RecipientGone}),
	row("Undelivered", in(hub.UndeliveredQuery{Limit: 2}), sent{op: "listUndelivered", query: "limit=2"},
		listed(`[{"to_agent":"a","messages":2}]`), []hub.Undelivered{{ToAgent: "a", Messages: 2}}),
	row("Retire", in("a@b", hub.RetireInput{Reason: "gone"}), sent{op: "retireAgent", param: "a@b", body: `{"reason":"gone"}`},
		says(200, `{"ok":true,"result":{"agent_id":"a@b"}}`), hub.Outcome[hub.RetiredAgent]{Row: hub.RetiredAgent{AgentID: "a@b"}}),
	row("PlanClear", in(hub.ClearInput{Kind: hub.ClearRooms, By: "looper", OlderSec: 60}),
		sent{op: "planClear", body: `{"kind":"rooms","by":"looper","older_sec":60}`},
		says(200, `{"ok":true,"result":{"kind":"rooms","more":true,"digest":"d"}}`), hub.ClearPlan{Kind: hub.ClearRooms, More: true, Digest: "d"}),
	row("Clear", in(hub.ClearConfirmInput{Kind: hub.ClearRooms, IDs: []string{"r_1"}, Digest: "d"}),
		sent{op: "clear", body: `{"kind":"rooms","ids":["r_1"],"digest":"d"}`},
		says(200, `{"ok":true,"result":{"kind":"rooms","closed":1}}`), hub.Cleared{Kind: hub.ClearRooms, Closed: 1}),
	row("EndSession", in("a@b", hub.SessionEndInput{Reason: "late"}), sent{op: "endSession", param: "a@b", body: `{"reason":"late"}`},
		says(200, `{"ok":true,"result":{"session_id":"s","deleted":true}}`), hub.Outcome[hub.ClosedSession]{Row: hub.ClosedSession{SessionID: "s", Deleted: true}}),
	row("PlanExport", in(hub.CapsuleExportInput{Project: "shop", Out: "/a.hubpack", Scope: hub.CapsuleSelectedRooms, Rooms: []string{"r_1"}}),
		sent{op: "planExport", body: `{"project":"shop","out":"/a.hubpack","scope":"selected_rooms","rooms":["r_1"]}`},
		says(200, `{"ok":true,"result":{"plan_id":"x","state":"planning"}}`), hub.CapsulePlan{PlanID: "x", State: hub.CapsulePlanning}),
	row("PlanBundle", in(hub.CapsuleExportInput{Project: "web shop", Out: "/a b", Scope: hub.CapsuleSelectedRooms, Rooms: []string{"r_1", "r_2"}, Privacy: hub.CapsuleShareSafe, Artifacts: []hub.ArtifactID{"a_1"}}),
		sent{op: "exportProject", param: "web shop", query: "artifacts=a_1&out=%2Fa+b&privacy=share_safe&rooms=r_1&rooms=r_2&scope=selected_rooms"},
		says(200, `{"ok":true,"result":{"plan_id":"x","form":"bundle"}}`), hub.CapsulePlan{PlanID: "x", Form: hub.CapsuleBundle}),
	row("ExportPlan", in("x"), sent{op: "getExport", param: "x"},
		says(200, `{"ok":true,"result":{"plan_id":"x","total":7}}`), hub.CapsulePlan{PlanID: "x", Total: 7}),
	row("ConfirmExport", in("x", hub.CapsuleConfirmInput{Confirm: "d"}), sent{op: "confirmExport", param: "x", body: `{"confirm":"d"}`},
		says(200, `{"ok":true,"result":{"plan_id":"x","state":"done"}}`), hub.CapsulePlan{PlanID: "x", State: hub.CapsuleDone}),
	row("CancelExport", in("x"), sent{op: "cancelExport", param: "x"},
		says(200, `{"ok":true,"result":{"plan_id":"x"}}`), hub.CapsulePlan{PlanID: "x"}),
	row("InspectCapsule", in(hub.CapsuleInspectInput{Path: "/a.hubpack"}), sent{op: "inspectCapsule", body: `{"path":"/a.hubpack"}`},
		says(200, `{"ok":true,"result":{"slug":"shop","size":9}}`), hub.CapsuleSummary{Slug: "shop", Size: 9}),
	row("License", in(), sent{op: "getLicense"}, says(200, `{"ok":true,"result":{"state":"unlicensed"}}`), hub.License{State: hub.LicenseNone}),
	row("VerifyLicense", in(), sent{op: "verifyLicense"}, says(200, `{"ok":true,"result":{"valid":true,"verdict":"valid"}}`),
		hub.LicenseVerification{Valid: true, Verdict: hub.LicenseVerdictValid}),
	row("ActivateLicense", in(hub.LicenseActivateInput{Key: "k", Confirm: "d"}), sent{op: "activateLicense", body: `{"key":"k","confirm":"d"}`},
		says(200, `{"ok":true,"result":{"state":"active"}}`), hub.License{State: hub.LicenseActive}),
	row("DeactivateLicense", in(hub.LicenseDeactivateInput{Confirm: "d"}), sent{op: "deactivateLicense", body: `{"confirm":"d"}`},
		says(200, `{"ok":true,"result":{"state":"unlicensed"}}`), hub.License{State: hub.LicenseNone}),
	row("RenameProject", in("shop", hub.RenamedInput{Name: "Store"}), sent{op: "renameProject", param: "shop", body: `{"name":"Store"}`},
		says(200, `{"ok":true,"result":{"project_id":"p_1","name":"Store"}}`), hub.Outcome[hub.Project]{Row: hub.Project{ProjectID: "p_1", Name: "Store"}}),
	row("RenameRoom", in("r_1", hub.RenamedInput{Name: "Till"}), sent{op: "renameRoom", param: "r_1", body: `{"name":"Till"}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1","name":"Till"}}`), hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1", Name: "Till"}}),
	row("ArchiveProject", in("p_1", hub.ArchiveInput{Archived: true}), sent{op: "archiveProject", param: "p_1", body: `{"archived":true}`},
		says(200, `{"ok":true,"result":{"project_id":"p_1","archived":true}}`), hub.Outcome[hub.Project]{Row: hub.Project{ProjectID: "p_1", Archived: true}}),
	row("ArchiveRoom", in("r_1", hub.ArchiveInput{Archived: true}), sent{op: "archiveRoom", param: "r_1", body: `{"archived":true}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1","archived":true}}`), hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1", Archived: true}}),
	row("Pause", in(hub.PauseInput{RoomID: "r_1", Words: "wait"}), sent{op: "pause", body: `{"room_id":"r_1","words":"wait"}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1","words":"wait"}}`), hub.Outcome[hub.Pause]{Row: hub.Pause{RoomID: ptr(hub.RoomID("r_1")), Words: "wait"}}),
	row("EndPause", in(hub.PauseEndInput{All: true}), sent{op: "endPause", body: `{"all":true}`},
		says(200, `{"ok":true,"result":{"all":true}}`), hub.Outcome[hub.Pause]{Row: hub.Pause{All: true}}),
	row("Loops", in(), sent{op: "listLoops"}, listed(`[{"agents":["a","b"],"stage":"told"}]`), []hub.Loop{{Agents: []hub.AgentID{"a", "b"}, Stage: hub.LoopTold}}),
	row("Overview", in(), sent{op: "getOverview"}, says(200, `{"ok":true,"result":{"trouble":[{"kind":"stuck","text":"t","agents":["a"]}]}}`), hub.Overview{Trouble: []hub.Trouble{{Kind: hub.TroubleStuck, Text: "t", Agents: []hub.AgentID{"a"}}}}),
	row("SetBudget", in(hub.BudgetInput{AgentID: "ann", Chars: 5000}), sent{op: "setBudget", body: `{"agent_id":"ann","chars":5000}`},
		says(200, `{"ok":true,"result":{"agent_id":"ann","chars":5000}}`), hub.Outcome[hub.Budget]{Row: hub.Budget{AgentID: ptr(hub.AgentID("ann")), Chars: 5000}}),
	row("Budgets", in(), sent{op: "listBudgets"}, says(200, `{"ok":true,"result":[{"chars":5000}]}`), []hub.Budget{{Chars: 5000}}),
	row("Mute", in(hub.MuteInput{AgentID: "ann", RoomID: "r_1", Reason: "x", ForSec: 60}), sent{op: "mute", body: `{"agent_id":"ann","room_id":"r_1","reason":"x","for_sec":60}`},
		says(200, `{"ok":true,"result":{"agent_id":"ann","room_id":"r_1","reason":"x"}}`), hub.Outcome[hub.Mute]{Row: hub.Mute{AgentID: "ann", RoomID: ptr(hub.RoomID("r_1")), Reason: "x"}}),
	row("EndMute", in(hub.MuteEndInput{AgentID: "ann"}), sent{op: "endMute", body: `{"agent_id":"ann"}`},
		says(200, `{"ok":true,"result":{"agent_id":"ann"}}`), hub.Outcome[hub.Mute]{Row: hub.Mute{AgentID: "ann"}}),
	row("AllowedUsers", in(), sent{op: "listUsers"}, says(200, `{"ok":true,"result":{"told":"x","allowed":[{"id":"1001","name":"bob"}]}}`),
		[]hub.AllowedUser{{LocalUser: hub.LocalUser{ID: "1001", Name: "bob"}}}),
	row("AllowUser", in(hub.LocalUser{Name: "bob"}), sent{op: "allowUser", body: `{"user":"bob"}`},
		says(200, `{"ok":true,"result":{"id":"1001","name":"bob"}}`), hub.Outcome[hub.AllowedUser]{Row: hub.AllowedUser{LocalUser: hub.LocalUser{ID: "1001", Name: "bob"}}}),
	row("RefuseUser", in(hub.LocalUser{ID: "1001", Name: "bob"}), sent{op: "refuseUser", body: `{"user":"1001"}`},
		says(200, `{"ok":true,"result":{"id":"1001","name":"bob"}}`), hub.Outcome[hub.AllowedUser]{Row: hub.AllowedUser{LocalUser: hub.LocalUser{ID: "1001", Name: "bob"}}}),
	row("Mutes", in(), sent{op: "listMutes"}, says(200, `{"ok":true,"result":[{"agent_id":"ann"}]}`), []hub.Mute{{AgentID: "ann"}}),
	row("CreatePassCode", in(hub.PassCodeInput{TTLSec: 60}), sent{op: "createPassCode", body: `{"ttl_sec":60}`},
		says(200, `{"ok":true,"result":{"code":"c","ttl_sec":60}}`), hub.PassCode{Code: "c", TTLSec: 60}),
	row("CreatePass", in(hub.PassInput{Code: "c", Label: "x"}), sent{op: "createPass", body: `{"code":"c","label":"x"}`},
		says(201, `{"ok":true,"result":{"pass_id":"pass_1","token":"t"}}`),
		hub.Outcome[hub.IssuedPass]{Created: true, Row: hub.IssuedPass{Pass: hub.Pass{PassID: "pass_1"}, Token: "t"}}),
	row("Passes", in(), sent{op: "listPasses"}, listed(`[{"pass_id":"pass_1"}]`), []hub.Pass{{PassID: "pass_1"}}),
	row("EndPass", in(hub.PassID("pass_1")), sent{op: "endPass", param: "pass_1", body: `{}`},
		says(200, `{"ok":true,"result":{"pass_id":"pass_1"}}`), hub.Outcome[hub.Pass]{Row: hub.Pass{PassID: "pass_1"}}),
	row("Pauses", in(), sent{op: "listPauses"}, says(200, `{"ok":true,"result":[{"all":true}]}`), []hub.Pause{{All: true}}),
	row("Spawn", in(hub.SpawnInput{RoomID: "r_1", Harness: hub.HarnessCodex, Prompt: "go", By: "lead", AgentID: "helper", Role: "tester", Title: "t"}),
		sent{op: "spawn", body: `{"room_id":"r_1","harness":"codex","prompt":"go","by":"lead","agent_id":"helper","role":"tester","title":"t"}`},
		says(201, `{"ok":true,"result":{"spawn_id":"sp_1","status":"running"}}`),
		hub.Outcome[hub.Spawn]{Created: true, Row: hub.Spawn{SpawnID: "sp_1", Status: hub.SpawnRunning}}),
	row("StopSpawn", in("sp_1", hub.SpawnStopInput{AgentID: "lead"}), sent{op: "stopSpawn", param: "sp_1", body: `{"agent_id":"lead"}`},
		says(200, `{"ok":true,"result":{"spawn_id":"sp_1","stopping":true}}`), hub.Outcome[hub.Spawn]{Row: hub.Spawn{SpawnID: "sp_1", Stopping: true}}),
	row("Spawns", in(hub.SpawnsQuery{RoomID: "r_1", Status: hub.SpawnRunning, Active: true, Before: "sp_9", Limit: 5}),
		sent{op: "listSpawns", query: "active=true&before=sp_9&limit=5&room_id=r_1&status=running"}, says(200, `{"ok":true,"result":[{"spawn_id":"sp_1"}]}`),
		[]hub.Spawn{{SpawnID: "sp_1"}}),
	row("SpawnByID", in("sp_1"), sent{op: "getSpawn", param: "sp_1"}, says(200, `{"ok":true,"result":{"spawn_id":"sp_1"}}`), hub.Spawn{SpawnID: "sp_1"}),
	row("Ask", in(hub.AskInput{AgentID: "dev", Question: "go?", Options: []string{"yes"}, Default: "no", DeadlineSec: 60, RoomID: "r_1", Blocks: 7, ArtifactID: "a_1"}),
		sent{op: "ask", body: `{"agent_id":"dev","question":"go?","options":["yes"],"default":"no","deadline_sec":60,"room_id":"r_1","blocks":7,"artifact_id":"a_1"}`},
		says(201, `{"ok":true,"result":{"ask_id":"ask_1","state":"open"}}`), hub.Outcome[hub.Ask]{Created: true, Row: hub.Ask{AskID: "ask_1", State: hub.AskOpen}}),
	row("PermissionPolicy", in(), sent{op: "getPermissions"}, says(200, `{"ok":true,"result":{"on":true,"version":2}}`), hub.PermissionPolicy{On: true, Version: 2}),
	row("SetPermissionPolicy", in(hub.PermissionPolicyInput{On: true, AnswerSec: 9, Version: 1, Rules: []hub.PermissionRule{{Decision: hub.PermissionDeny, Tool: "Bash", Words: []string{"git"}}}}),
		sent{op: "setPermissions", body: `{"on":true,"answer_sec":9,"rules":[{"decision":"deny","tool":"Bash","words":["git"]}],"version":1}`},
		says(200, `{"ok":true,"result":{"on":true,"version":2}}`), hub.Outcome[hub.PermissionPolicy]{Row: hub.PermissionPolicy{On: true, Version: 2}}),
	row("RequestPermission", in(hub.PermissionInput{AgentID: "dev", RoomID: "r_1", Tool: "Read", Folder: "/w", About: "/w/a", File: "/w/a", RealFile: "/w/a", Files: []string{"/w/a"}}),
		sent{op: "requestPermission", body: `{"agent_id":"dev","room_id":"r_1","tool":"Read","folder":"/w","about":"/w/a","file":"/w/a","real_file":"/w/a","files":["/w/a"]}`},
		says(200, `{"ok":true,"result":{"verdict":"none"}}`), hub.Permission{Verdict: hub.PermissionNone}),
	row("AwaitPermission", in("ask_1", hub.PermissionWaitInput{AgentID: "dev", WaitSec: 2}), sent{op: "awaitPermission", param: "ask_1", body: `{"agent_id":"dev","wait_sec":2}`},
		says(200, `{"ok":true,"result":{"verdict":"allow","by":"ann"}}`), hub.Permission{Verdict: hub.PermissionAllow, By: "ann"}),
	row("AnswerAsk", in("ask_1", hub.AskAnswerInput{Answer: "yes", By: "ann", Digest: "ab", UnlessNear: true}), sent{op: "answerAsk", param: "ask_1", body: `{"answer":"yes","by":"ann","digest":"ab","unless_near":true}`},
		says(200, `{"ok":true,"result":{"ask_id":"ask_1"}}`), hub.Outcome[hub.Ask]{Row: hub.Ask{AskID: "ask_1"}}),
	row("TakeBackAnswer", in("ask_1", hub.AskTakeBackInput{By: "ann"}), sent{op: "takeBackAnswer", param: "ask_1", body: `{"by":"ann"}`},
		says(200, `{"ok":true,"result":{"ask_id":"ask_1"}}`), hub.Outcome[hub.Ask]{Row: hub.Ask{AskID: "ask_1"}}),
	row("WithdrawAsk", in("ask_1", hub.AskWithdrawInput{AgentID: "dev", Reason: "done"}), sent{op: "withdrawAsk", param: "ask_1", body: `{"agent_id":"dev","reason":"done"}`},
		says(200, `{"ok":true,"result":{"ask_id":"ask_1"}}`), hub.Outcome[hub.Ask]{Row: hub.Ask{AskID: "ask_1"}}),
	row("Asks", in(hub.AsksQuery{AgentID: "dev", State: hub.AskOpen, RoomID: "r_1", Limit: 5}),
		sent{op: "listAsks", query: "agent_id=dev&limit=5&room_id=r_1&state=open"}, says(200, `{"ok":true,"result":[{"ask_id":"ask_1"}]}`), []hub.Ask{{AskID: "ask_1"}}),
	row("AskByID", in("ask_1", "dev"), sent{op: "getAsk", param: "ask_1", query: "agent_id=dev"}, says(200, `{"ok":true,"result":{"ask_id":"ask_1"}}`), hub.Ask{AskID: "ask_1"}),
	row("Notify", in(), sent{op: "getNotify"}, says(200, `{"ok":true,"result":{"version":2}}`), hub.Notify{Version: 2}),
	row("SetNotify", in(hub.NotifyInput{Command: []string{"/bin/x", "{question}"}, Webhook: "https://h/x", Remote: true, Version: 2}),
		sent{op: "setNotify", body: `{"command":["/bin/x","{question}"],"webhook":"https://h/x","remote":true,"version":2}`},
		says(200, `{"ok":true,"result":{"version":3}}`), hub.Outcome[hub.Notify]{Row: hub.Notify{Version: 3}}),
	row("TestNotify", in(), sent{op: "testNotify"}, says(200, `{"ok":true,"result":{"command_error":"x","webhook_error":""}}`), hub.Notified{CommandError: "x"}),
	row("BrowserEngines", in(), sent{op: "listBrowserEngines"}, listed(`[{"path":"/x"}]`), []hub.BrowserEngine{{Path: "/x"}}),
	row("SpawnPolicy", in(), sent{op: "getSpawnPolicy"}, says(200, `{"ok":true,"result":{"version":3}}`), hub.SpawnPolicy{Version: 3}),
	row("SetSpawnPolicy",
		in(hub.SpawnPolicyInput{Commands: []hub.SpawnCommand{{Harness: hub.HarnessCodex, Args: []string{"/bin/codex"}}}, Allow: []hub.SpawnAllowance{{RoomID: "r_1", Harness: hub.HarnessCodex}}, Version: 2}),
		sent{op: "setSpawnPolicy", body: `{"commands":[{"harness":"codex","args":["/bin/codex"]}],"allow":[{"room_id":"r_1","harness":"codex"}],"version":2}`},
		says(200, `{"ok":true,"result":{"version":3}}`), hub.Outcome[hub.SpawnPolicy]{Row: hub.SpawnPolicy{Version: 3}}),
	row("CreateChannel", in(hub.ChannelInput{Name: "c"}), sent{op: "createChannel", body: `{"name":"c"}`}, says(200, `{"ok":true,"result":{"name":"c"}}`),
		hub.Outcome[hub.Channel]{Row: hub.Channel{Name: "c"}}),
	row("ArchiveChannel", in(hub.ChannelArchiveInput{Channel: "c", Archived: true}), sent{op: "archiveChannel", body: `{"channel":"c","archived":true}`},
		says(200, `{"ok":true,"result":{"name":"c","archived":true}}`), hub.Outcome[hub.Channel]{Row: hub.Channel{Name: "c", Archived: true}}),
	row("Channels", in(hub.ChannelsQuery{Prefix: "c", CreatedBy: "a"}), sent{op: "listChannels", query: "created_by=a&prefix=c"},
		says(200, `{"ok":true,"result":[{"name":"c"}]}`), []hub.Channel{{Name: "c"}}),
	row("Remember", in(hub.MemoryInput{RoomID: "r_1", Text: "t", Key: "k", Tags: []string{"a"}, Scope: hub.ScopeProject, By: "b"}),
		sent{op: "remember", body: `{"room_id":"r_1","text":"t","key":"k","tags":["a"],"scope":"project","by":"b"}`},
		says(201, `{"ok":true,"result":{"memory_id":"m_1"}}`), hub.Outcome[hub.Memory]{Created: true, Row: hub.Memory{MemoryID: "m_1"}}),
	row("Recall",
		in(hub.MemoryQuery{RoomID: "r_1", MemoryID: "m_1", Scope: hub.ScopeRoom, Key: "k", Tag: "a", Query: "w", History: true, Limit: 3, MaxChars: 9}),
		sent{op: "recall", query: "history=true&key=k&limit=3&max_chars=9&memory_id=m_1&query=w&room_id=r_1&scope=room&tag=a"},
		says(200, `{"ok":true,"result":[{"memory_id":"m_1"}]}`), []hub.Memory{{MemoryID: "m_1"}}),
	row("Search",
		in(hub.SearchQuery{Text: "two words", Viewer: "v", RoomID: "r_1", Channel: "c", FromAgent: "f", Kind: "chat", Types: []hub.FoundType{hub.FoundMessage, hub.FoundMemory}, Since: 1767323045678, Limit: 5}),
		sent{op: "search", query: "agent_id=v&channel=c&from_agent=f&kind=chat&limit=5&q=two+words&room_id=r_1&since=2026-01-02T03%3A04%3A05.678Z&type=message&type=memory"},
		says(200, `{"ok":true,"result":[{"id":"7"}],"behind":2}`), hub.SearchPage{Rows: []hub.Found{{ID: "7"}}, Behind: 2}),
	row("CreateProject", in(hub.ProjectInput{Name: "P", Slug: "p"}), sent{op: "createProject", body: `{"name":"P","slug":"p"}`},
		says(201, `{"ok":true,"result":{"project_id":"p_1"}}`), hub.Outcome[hub.Project]{Created: true, Row: hub.Project{ProjectID: "p_1"}}),
	row("Projects", in(hub.ProjectsQuery{}), sent{op: "listProjects"}, says(200, `{"ok":true,"result":[{"slug":"p"}]}`), []hub.Project{{Slug: "p"}}),
	row("Project", in("My ?%project"), sent{op: "getProject", param: "My ?%project"}, says(200, `{"ok":true,"result":{"slug":"p"}}`), hub.Project{Slug: "p"}),
	row("CreateRoom", in(hub.RoomInput{Project: "p", Name: "R", Topic: "t", Force: true, ForceReason: "why"}),
		sent{op: "createRoom", body: `{"project":"p","name":"R","topic":"t","force":true,"force_reason":"why"}`},
		says(201, `{"ok":true,"result":{"room_id":"r_1","bindings":[]}}`),
		hub.Outcome[hub.Room]{Created: true, Row: hub.Room{RoomID: "r_1", Bindings: []string{}}}),
	row("Rooms", in(hub.RoomsQuery{Project: "p"}), sent{op: "listRooms", query: "project=p"}, says(200, `{"ok":true,"result":[{"slug":"r"}]}`),
		[]hub.Room{{Slug: "r"}}),
	row("Room", in(hub.RoomRef{Project: "p", Room: "My room"}), sent{op: "getRoom", param: "My room", query: "project=p"},
		says(200, `{"ok":true,"result":{"slug":"r"}}`), hub.Room{Slug: "r"}),
	row("Sit", in("r/1", hub.SitInput{AgentID: "a"}), sent{op: "sit", param: "r/1", body: `{"agent_id":"a"}`},
		says(200, `{"ok":true,"result":{"seat_id":"seat_1"}}`), hub.Outcome[hub.Seat]{Row: hub.Seat{SeatID: "seat_1"}}),
	row("Browse", in("r_1", hub.BrowseInput{AgentID: "a", Action: hub.BrowseOpen, URL: "http://x/"}), sent{op: "browse", param: "r_1", body: `{"agent_id":"a","action":"open","url":"http://x/"}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1","notes":[]}}`), hub.BrowsePage{RoomID: "r_1", Notes: []string{}}),
	row("AllowHost", in("r_1", hub.AllowHostInput{Host: "x:1", Remove: true}), sent{op: "allowHost", param: "r_1", body: `{"host":"x:1","remove":true}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1"}}`), hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1"}}),
	row("SetGuard", in("r_1", hub.GuardInput{Hops: ptr(0)}), sent{op: "setRoomGuard", param: "r_1", body: `{"hops":0}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1","guard_hops":0}}`), hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1", GuardHops: ptr(0)}}),
	row("SetLocks", in("r_1", hub.LockPolicyInput{Locks: hub.LocksRefuse, AgentID: "a"}), sent{op: "setRoomLocks", param: "r_1", body: `{"locks":"refuse","agent_id":"a"}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1","locks":"refuse"}}`), hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1", Locks: hub.LocksRefuse}}),
	row("BindRoom", in("r_1", hub.BindingInput{Path: "/p", AgentID: "a"}), sent{op: "bindRoom", param: "r_1", body: `{"path":"/p","agent_id":"a"}`},
		says(201, `{"ok":true,"result":{"room_id":"r_1","bindings":["/p"]}}`),
		hub.Outcome[hub.Room]{Created: true, Row: hub.Room{RoomID: "r_1", Bindings: []string{"/p"}}}),
	row("UnbindRoom", in("r/1", hub.BindingInput{Path: "/p"}), sent{op: "unbindRoom", param: "r/1", body: `{"path":"/p"}`},
		says(200, `{"ok":true,"result":{"room_id":"r_1"}}`), hub.Outcome[hub.Room]{Row: hub.Room{RoomID: "r_1"}}),
	row("Resolve", in("/a b&c"), sent{op: "resolve", query: "path=%2Fa+b%26c"}, says(200, `{"ok":true,"result":{"bound":false}}`), hub.Resolved{}),
	row("Post", in(hub.PostInput{FromAgent: "a", Channel: "c", ToAgent: "b", Kind: hub.KindTask, Body: "<&>", ReplyTo: 3}),
		sent{op: "postMessage", body: `{"from_agent":"a","channel":"c","to_agent":"b","kind":"task","body":"<&>","reply_to":3}`},
		says(201, `{"ok":true,"result":{"id":7},"recipient":{"agent_id":"b","state":"gone"}}`), hub.Posted{
			Outcome:   hub.Outcome[hub.EncodedMessage]{Created: true, Row: hub.EncodedMessage(`{"id":7}`)},
			Recipient: &hub.Recipient{AgentID: "b", State: hub.RecipientGone},
		}),
	row("Receipt", in(7, ""), sent{op: "getReceipt", param: "7", query: "agent_id=me"}, says(200, `{"ok":true,"result":{"message_id":7,"state":"seen"}}`),
		hub.Receipt{MessageID: 7, State: hub.ReceiptSeen}),
	row("Message", in(7, ""), sent{op: "getMessage", param: "7", query: "agent_id=me"}, says(200, `{"ok":true,"result":{"id":7}}`),
		hub.EncodedMessage(`{"id":7}`)),
	row("Messages", in(hub.MessagesQuery{Channel: "c", ThreadID: "t", Since: 2, Limit: 5, Tail: true}),
		sent{op: "listMessages", query: "channel=c&limit=5&since_id=2&tail=true&thread_id=t&timeout=0"},
		says(200, `{"ok":true,"result":[],"next_since_id":2}`), hub.Page{Rows: []hub.EncodedMessage{}, NextSinceID: 2}),
	row("Events",
		in(hub.EventsQuery{Agent: "a", Channels: []hub.ChannelName{"c", "d"}, RoomID: "r", ThreadID: "t", Since: 2, ExcludeSelf: true, Limit: 5, MaxChars: 80, Wait: 1500 * time.Millisecond, Peek: true}),
		sent{op: "pollEvents", query: "agent_id=a&channel=c&channel=d&exclude_self=true&limit=5&max_chars=80&peek=true&room_id=r&since_id=2&thread_id=t&timeout=1.5"},
		says(200, `{"ok":true,"result":[{"id":3},{"id":4}],"next_since_id":6}`),
		hub.Page{Rows: []hub.EncodedMessage{hub.EncodedMessage(`{"id":3}`), hub.EncodedMessage(`{"id":4}`)}, NextSinceID: 6}),
	row("Log", in(hub.LogQuery{RoomID: "r_1", Agent: "a", Direct: true, SinceID: 2, Since: 1000, Until: 2000, Tail: true, Limit: 5, Wait: time.Second}),
		sent{op: "readLog", query: "agent=a&direct=true&limit=5&room_id=r_1&since=1970-01-01T00%3A00%3A01.000Z&since_id=2&tail=true&timeout=1&until=1970-01-01T00%3A00%3A02.000Z"},
		says(200, `{"ok":true,"result":[{"id":3}],"next_since_id":3}`), hub.Page{Rows: []hub.EncodedMessage{hub.EncodedMessage(`{"id":3}`)}, NextSinceID: 3}),
	row("Inbox", in(hub.InboxQuery{Agent: "a", Since: 2, Limit: 1, Tail: true, Peek: true}),
		sent{op: "getInbox", param: "a", query: "limit=1&peek=true&since_id=2&tail=true"}, says(200, `{"ok":true,"result":[],"next_since_id":2}`),
		hub.Page{Rows: []hub.EncodedMessage{}, NextSinceID: 2}),
	row("Threads", in(hub.ThreadsQuery{Viewer: "a", Limit: 3}), sent{op: "listThreads", query: "agent_id=a&limit=3"},
		says(200, `{"ok":true,"result":[{"thread_id":"t"}]}`), []hub.ThreadSummary{{ThreadID: "t"}}),
	row("Thread", in("a/b c", ""), sent{op: "getThread", param: "a/b c", query: "agent_id=me"},
		says(200, `{"ok":true,"result":{"thread":{"thread_id":"a/b c"}}}`), hub.Thread{Thread: hub.ThreadSummary{ThreadID: "a/b c"}}),
	row("Claim", in(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", TTLSec: 5}),
		sent{op: "claim", body: `{"owner_agent_id":"a","claim_key":"k","ttl_sec":5}`},
		says(200, `{"ok":true,"result":{"claim_key":"k","owner_agent_id":"b"},"acquired":false}`),
		hub.Grant[hub.Claim]{Row: hub.Claim{ClaimKey: "k", OwnerAgentID: "b"}}),
	row("RefreshClaim", in(hub.ClaimHoldInput{ClaimKey: "k", OwnerAgentID: "a", Fence: 4}),
		sent{op: "refreshClaim", body: `{"claim_key":"k","owner_agent_id":"a","fence":4}`},
		says(200, `{"ok":true,"result":{"claim_key":"k"},"acquired":true}`), hub.Grant[hub.Claim]{Row: hub.Claim{ClaimKey: "k"}, Acquired: true}),
	row("ReleaseClaim", in(hub.ClaimHoldInput{ClaimKey: "k", AgentID: "a"}), sent{op: "releaseClaim", body: `{"claim_key":"k","agent_id":"a"}`},
		says(200, `{"ok":true,"result":{"claim_key":"k"}}`), hub.Outcome[hub.Claim]{Row: hub.Claim{ClaimKey: "k"}}),
	row("Claims", in(hub.LeasesQuery{Key: "k", Prefix: "p", Owner: "o", RoomID: "r_1", ThreadID: "t", ActiveOnly: true, Viewer: "v", Limit: 2}),
		sent{op: "listClaims", query: "active_only=true&agent_id=v&claim_key=k&limit=2&owner_agent_id=o&prefix=p&room_id=r_1&thread_id=t"},
		says(200, `{"ok":true,"result":[]}`), []hub.Claim{}),
	row("Lock", in(hub.LockInput{FilePath: "f", AgentID: "a"}), sent{op: "lock", body: `{"file_path":"f","agent_id":"a"}`},
		says(201, `{"ok":true,"result":{"file_path":"f"},"acquired":true}`), hub.Grant[hub.Lock]{Row: hub.Lock{FilePath: "f"}, Acquired: true, Created: true}),
	row("RefreshLock", in(hub.LockHoldInput{FilePath: "f", AgentID: "a"}), sent{op: "refreshLock", body: `{"file_path":"f","agent_id":"a"}`},
		says(200, `{"ok":true,"result":{"file_path":"f"},"acquired":true}`, "Idempotent-Replayed: true"),
		hub.Grant[hub.Lock]{Row: hub.Lock{FilePath: "f"}, Acquired: true, Replayed: true}),
	row("ReleaseLock", in(hub.LockHoldInput{FilePath: "f", AgentID: "a"}), sent{op: "releaseLock", body: `{"file_path":"f","agent_id":"a"}`},
		says(200, `{"ok":true,"result":{"file_path":"f"}}`), hub.Outcome[hub.Lock]{Row: hub.Lock{FilePath: "f"}}),
	row("Locks", in(hub.LeasesQuery{Key: "a/b", Prefix: "a"}), sent{op: "listLocks", query: "agent_id=me&file_path=a%2Fb&prefix=a"},
		says(200, `{"ok":true,"result":[]}`), []hub.Lock{}),
	row("Tasks",
		in(hub.TasksQuery{Active: true, ParentID: 2, Channel: "c", ThreadID: "t", Ready: ptr(false), Viewer: "a", Limit: 4, Assignee: "d", CreatedBy: "e", Concerns: "f"}),
		sent{op: "listTasks", query: "agent_id=a&assignee=d&channel=c&concerns=f&created_by=e&limit=4&parent_id=2&ready=false&status=active&thread_id=t"},
		says(200, `{"ok":true,"result":[{"task_id":3}]}`), []hub.Task{{TaskID: 3}}),
	row("Task", in(3, "a"), sent{op: "getTask", param: "3", query: "agent_id=a"}, says(200, `{"ok":true,"result":{"task_id":3}}`), hub.Task{TaskID: 3}),
	row("TaskLeases", in(3, "a"), sent{op: "getTaskLeases", param: "3", query: "agent_id=a"}, says(200, `{"ok":true,"result":{"task_id":3,"lock_count":1}}`), hub.TaskLeases{TaskID: 3, LockCount: 1}),
	row("AttentionLedger", in(), sent{op: "getAttentionLedger"},
		says(200, `{"ok":true,"result":{"rows":[{"agent_id":"a","path":"hook","chars":3}]}}`), hub.Ledger{Rows: []hub.Given{{AgentID: "a", Path: hub.GivenByHook, Chars: 3}}}),
	row("Attention", in(hub.AttentionQuery{Room: "r"}), sent{op: "getAttention", query: "agent_id=me&room_id=r"},
		says(200, `{"ok":true,"result":{"unread":3}}`), hub.Attention{Unread: 3}),
	row("Watch",
		in(hub.WatchQuery{
			Room: "r", Label: "l", Wait: 1500 * time.Millisecond, Stream: true, After: 7,
			Until: []hub.Condition{{Text: "message-from:a"}, {Text: "tasks-complete:1,2"}},
		}),
		sent{op: "watch", query: "after_id=7&agent_id=me&label=l&room_id=r&stream=true&timeout=1.5&until=message-from%3Aa&until=tasks-complete%3A1%2C2"},
		says(200, `{"ok":true,"result":{"met":true,"agent_id":"me"}}`), hub.Watched{Met: true, AgentID: "me"}),
	row("NoteTurn", in(hub.TurnInput{AgentID: "a", Turn: hub.TurnAtPrompt, Tool: "Bash"}), sent{op: "noteTurn", body: `{"agent_id":"a","turn":"at_prompt","tool":"Bash"}`},
		says(200, `{"ok":true,"result":{"agent_id":"a","noted":true}}`), hub.TurnNoted{AgentID: "a", Noted: true}),
	row("Tell", in(hub.ToldInput{AgentID: "a", ToldID: 7}), sent{op: "tellAgent", body: `{"agent_id":"a","told_id":7}`},
		says(200, `{"ok":true,"result":{"told_id":7,"moved":true}}`), hub.Told{ToldID: 7, Moved: true}),
	row("CompleteTask", in(3, hub.CompleteInput{AgentID: "a", Note: "n"}), sent{op: "completeTask", param: "3", body: `{"agent_id":"a","note":"n"}`},
		says(200, `{"ok":true,"result":{"task_id":3}}`), hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}}),
	row("UpdateTask", in(3, hub.TaskUpdateInput{Status: ptr(hub.TaskWorking), ExpectedVersion: 2}),
		sent{op: "updateTask", param: "3", body: `{"status":"working","expected_version":2}`}, says(200, `{"ok":true,"result":{"task_id":3}}`),
		hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}}),
	row("Moment", in(hub.MomentQuery{RoomID: "r_1", Seq: 7, SinceID: 3, Limit: 5}), sent{op: "getRoomMoment", param: "r_1", query: "agent_id=me&limit=5&seq=7&since_id=3"},
		says(200, `{"ok":true,"result":{"seq":7,"kept":true}}`), hub.RoomMoment{Seq: 7, Kept: true}),
	row("RoomStatus", in(hub.StatusQuery{RoomID: "r_1", All: true}), sent{op: "getRoomStatus", param: "r_1", query: "agent_id=me&all=true"},
		says(200, `{"ok":true,"result":{"seat_count":2,"gone_count":1}}`), hub.RoomStatus{SeatCount: 2, GoneCount: 1}),
	row("HandoffTask", in(3, hub.HandoffInput{AgentID: "a", ToAgent: "b", Note: "n"}),
		sent{op: "handoffTask", param: "3", body: `{"agent_id":"a","to_agent":"b","note":"n"}`}, says(200, `{"ok":true,"result":{"task_id":3}}`),
		hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}}),
	row("AcceptTask", in(3, hub.OfferInput{AgentID: "b"}), sent{op: "acceptTask", param: "3", body: `{"agent_id":"b"}`},
		says(200, `{"ok":true,"result":{"task_id":3}}`), hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}}),
	row("DeclineTask", in(3, hub.OfferInput{AgentID: "b", Note: "no"}), sent{op: "declineTask", param: "3", body: `{"agent_id":"b","note":"no"}`},
		says(200, `{"ok":true,"result":{"task_id":3}}`), hub.Outcome[hub.Task]{Row: hub.Task{TaskID: 3}}),
	row("CreateRun", in(hub.RunInput{Title: "R", Tasks: []hub.PlannedTask{{Title: "a"}, {Name: "b", Title: "B", Details: "d", After: []string{"1"}}}, CreatedBy: "a"}),
		sent{op: "createRun", body: `{"title":"R","tasks":[{"title":"a"},{"name":"b","title":"B","details":"d","after":["1"]}],"created_by":"a"}`}, says(201, `{"ok":true,"result":{"run_id":"run_1","planned":[1,2]}}`),
		hub.Outcome[hub.Run]{Row: hub.Run{RunID: "run_1", Planned: []hub.TaskID{1, 2}}, Created: true}),
	row("CreateRun", in(hub.RunInput{Title: "R", RoomID: "r_1", TaskIDs: []hub.TaskID{3}, CreatedBy: "a"}),
		sent{op: "createRun", body: `{"title":"R","room_id":"r_1","task_ids":[3],"created_by":"a"}`}, says(201, `{"ok":true,"result":{"run_id":"run_1"}}`),
		hub.Outcome[hub.Run]{Created: true, Row: hub.Run{RunID: "run_1"}}),
	row("AddRunTasks", in("run_1", hub.RunTasksInput{TaskIDs: []hub.TaskID{3}, AgentID: "a"}),
		sent{op: "addRunTasks", param: "run_1", body: `{"task_ids":[3],"agent_id":"a"}`}, says(200, `{"ok":true,"result":{"run_id":"run_1"}}`),
		hub.Outcome[hub.Run]{Row: hub.Run{RunID: "run_1"}}),
	row("Runs", in(hub.RunsQuery{RoomID: "r_1", Active: true, Limit: 5}), sent{op: "listRuns", query: "agent_id=me&limit=5&room_id=r_1&status=active"},
		says(200, `{"ok":true,"result":[{"run_id":"run_1"}]}`), []hub.Run{{RunID: "run_1"}}),
	row("Run", in("run_/1", "other"), sent{op: "getRun", param: "run_/1", query: "agent_id=other"}, says(200, `{"ok":true,"result":{"run_id":"run_1"}}`),
		hub.Run{RunID: "run_1"}),
}

func TestMethods(t *testing.T) {
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			h := newFakeHub(t, m.answer)
			h.noted(t)
			c := h.client(t, nil).As("me", "")
			got, err := m.call(t.Context(), c)
			require.NoError(t, err)
			if !reflect.DeepEqual(got, m.want) {
				t.Errorf("got  %+v\nwant %+v", got, m.want)
			}
			requests := h.requests()
			r := requests[len(requests)-1]
			op := api.OperationByID(m.sent.op)
			uri := strings.TrimSuffix(op.PathFor(m.sent.param)+"?"+m.sent.query, "?")
			if r.method != op.Method || r.uri != uri {
				t.Errorf("sent %s %s\nwant %s %s", r.method, r.uri, op.Method, uri)
			}
			if !sameJSON(r.body, m.sent.body) {
				t.Errorf("sent the body %s, want %s", r.body, m.sent.body)
			}
			if op.Changes() != (r.header.Get("Idempotency-Key") != "") {
				t.Errorf("Idempotency-Key = %q", r.header.Get("Idempotency-Key"))
			}
			if got := r.header.Get("Content-Type"); (r.body != "") != (got == "application/json") {
				t.Errorf("Content-Type = %q", got)
			}
			if got := r.header.Get("X-Hub-Session"); got != "" {
				t.Errorf("a session was sent: %q", got)
			}
		})
	}
}

// TestEveryMethodIsTested keeps the table complete.
func TestEveryMethodIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, m := range methods {
		tested[m.name] = true
	}
	service := reflect.TypeFor[hub.Service]()
	for i := range service.NumMethod() {
		if name := service.Method(i).Name; !tested[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

func sameJSON(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	var va, vb any
	return json.Unmarshal([]byte(a), &va) == nil && json.Unmarshal([]byte(b), &vb) == nil && reflect.DeepEqual(va, vb)
}
