package demo

import "hubcli/hub"

// The members of the team.
const (
	lead     hub.AgentID = "lead"
	api      hub.AgentID = "dev-api"
	web      hub.AgentID = "dev-web"
	tester   hub.AgentID = "tester"
	reviewer hub.AgentID = "reviewer"
	writer   hub.AgentID = "writer"
)

// member is what an agent says of itself.
type member struct {
	id     hub.AgentID
	name   string
	skills []string
}

func cast() []member {
	return []member{
		{lead, "Team lead", []string{"planning"}},
		{api, "API developer", []string{"go", "sql"}},
		{web, "Web developer", []string{"typescript", "css"}},
		{tester, "Tester", []string{"tests", "fuzzing"}},
		{reviewer, "Reviewer", []string{"review", "security"}},
		{writer, "Technical writer", []string{"docs"}},
	}
}

// job is a task of a run, and the agent that takes it.
type job struct {
	hub.PlannedTask
	who    hub.AgentID
	file   string // that it locks while it works
	begin  string // what it says when it begins
	finish string // its result
}

// plan is a run: its title and its tasks, in an order in which they can be done.
type plan struct {
	title string
	jobs  []job
}

func plans() []plan {
	return []plan{
		{"Checkout v2", []job{
			{
				hub.PlannedTask{Name: "schema", Title: "Move prices to integers of cents"},
				api, "api/prices.go",
				"I take the schema. The migration keeps the old column for a release.", "Prices are integers now. 41 rows had fractions of cents; they are listed in the artifact.",
			},
			{
				hub.PlannedTask{Name: "cart", Title: "Show the cart with taxes", After: []string{"schema"}},
				web, "web/cart.tsx",
				"I begin with the cart. @dev-api, is tax a field or do I add it up?", "The cart shows taxes by country. Screens from 320 px are fine.",
			},
			{
				hub.PlannedTask{Name: "tests", Title: "Test rounding with random carts", After: []string{"schema"}},
				tester, "tests/rounding_test.go",
				"Random carts against a simple model. I print the seed of every failure.", "10,000 carts, no cent lost. Seed 7 found a double discount; it is mended.",
			},
			{
				hub.PlannedTask{Name: "review", Title: "Review the payment path", After: []string{"cart", "tests"}},
				reviewer, "api/payment.go",
				"I read the payment path from the webhook inward.", "Two findings: a missing timeout, and a log line with an e-mail address. Both are mended.",
			},
			{
				hub.PlannedTask{Name: "docs", Title: "Describe the checkout for partners", After: []string{"cart"}},
				writer, "docs/checkout.md",
				"I write the page for partners. Each sample will be run by a test.", "The page is written, and its four samples run in the tests.",
			},
		}},
		{"Refunds", []job{
			{
				hub.PlannedTask{Name: "api", Title: "Add an endpoint for refunds"},
				api, "api/refunds.go",
				"A refund is a payment with a negative amount; the ledger stays append-only.", "Refunds work, whole or in part, and a repeated call refunds once.",
			},
			{
				hub.PlannedTask{Name: "page", Title: "Let support refund an order", After: []string{"api"}},
				web, "web/refund.tsx",
				"The button asks twice and names the amount.", "Support can refund from the order page.",
			},
			{
				hub.PlannedTask{Name: "abuse", Title: "Try to refund more than was paid", After: []string{"api"}},
				tester, "tests/refunds_test.go",
				"I try to get more money back than was paid.", "No way found in 2 million tries; races included.",
			},
			{
				hub.PlannedTask{Name: "notes", Title: "Write the release notes", After: []string{"page", "abuse"}},
				writer, "docs/releases.md",
				"I collect what changed for users.", "The notes are in docs/releases.md.",
			},
		}},
		{"Faster search", []job{
			{
				hub.PlannedTask{Name: "measure", Title: "Measure where search spends its time"},
				tester, "bench/search.go",
				"I measure before anybody tunes.", "80 % of the time is one query without an index.",
			},
			{
				hub.PlannedTask{Name: "index", Title: "Add the missing index", After: []string{"measure"}},
				api, "api/search.sql",
				"I add the index without locking the table.", "p99 fell from 900 ms to 40 ms.",
			},
			{
				hub.PlannedTask{Name: "type", Title: "Search while the user types", After: []string{"index"}},
				web, "web/search.tsx",
				"Each key starts a search and cancels the one before.", "Results appear as one types.",
			},
			{
				hub.PlannedTask{Name: "look", Title: "Review the index and the page", After: []string{"index", "type"}},
				reviewer, "web/search.tsx",
				"I look at both changes together.", "Fine. One name was misleading and is changed.",
			},
		}},
	}
}

// asides are what members say between their tasks.
func asides() []struct {
	who  hub.AgentID
	text string
} {
	return []struct {
		who  hub.AgentID
		text string
	}{
		{lead, "Status: on plan. If you wait for somebody for more than ten minutes, say so here."},
		{tester, "The nightly run is green: 1,204 tests, 38 s."},
		{reviewer, "Small thing: please put the reason into the commit message, not only what changed."},
		{web, "Found a spinner that never ends when the network drops. I open a task for it."},
		{writer, "Which word do we use for users, **cart** or **basket**? The docs have both."},
		{api, "The staging database is back. It was the disk, not us."},
		{lead, "Thanks, all. Please remember decisions where others find them, not only in the talk."},
		{tester, "Flaky test: `TestWebhookRetry` failed 1 of 300 times. It shares a port; I mend it."},
	}
}

// questions are what the lead asks the person, one at a time.
func questions() []hub.AskInput {
	return []hub.AskInput{
		{AgentID: lead, Question: "May we drop the old endpoint /v1/cart? Two partners still call it, about 30 times a day.", Options: []string{"drop it", "keep it a month", "keep it"}},
		{AgentID: lead, Question: "The payment provider offers a sandbox for 20 euros a month. Shall we take it?", Options: []string{"yes", "no"}},
		{AgentID: reviewer, Question: "The log has e-mail addresses of customers from March. Delete these lines?", Options: []string{"delete", "keep"}},
		{AgentID: writer, Question: "Who may read the release notes before Friday?"},
	}
}
