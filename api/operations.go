package api

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"hubcli/hub"
)

// Plane is the group of callers that may make a call.
type Plane uint8

// The planes.
const (
	PlaneAgent    Plane = iota // an agent that the call names or that a session proves
	PlaneOpen                  // any caller on loopback
	PlaneOperator              // only the operator, by the token
)

// Auth says how a call uses X-Hub-Session.
type Auth uint8

// The ways to treat a session.
const (
	AuthSession  Auth = iota // a session that is sent is proved; a peer on another machine must send one
	AuthRemote               // the same for peers on other machines; on loopback it is ignored
	AuthNone                 // it is ignored, from anywhere
	AuthRegister             // it is ignored; a peer on another machine needs the operator token
	AuthOptional             // a session that is sent is proved; no caller must send one
)

// Bound is the largest size of a body.
type Bound uint8

// The bounds of bodies.
const (
	BoundSmall    Bound = iota // 1 MiB
	BoundMessage               // a message within the hub's limits, see BodyCap
	BoundArtifact              // an artifact, see ArtifactBodyCap
)

// Body describes what a call sends.
type Body struct {
	Type  reflect.Type // the struct that the body is decoded into; nil: the call has no body
	Bound Bound
}

func small[T any]() Body    { return Body{Type: reflect.TypeFor[T]()} }
func large[T any]() Body    { return Body{Type: reflect.TypeFor[T](), Bound: BoundMessage} }
func artifact[T any]() Body { return Body{Type: reflect.TypeFor[T](), Bound: BoundArtifact} }

// Form is the form of a success.
type Form uint8

// The forms of successes.
const (
	FormRow    Form = iota // one row in an envelope
	FormRows               // a list that always has all rows
	FormPages              // a list; next_cursor leads to more
	FormLease              // a row with acquired
	FormPosted             // a message that was posted
	FormFeed               // messages; next_since_id leads to more
	FormFound              // what a search has found
	FormBare               // a row without an envelope
)

// Answer describes a success. The comment of the row says what it is.
type Answer struct {
	Type   reflect.Type // of the row, or of each row of a list; nil: Schema or Media says what comes
	Schema string       // of a row that no struct of package hub stands for, by its name in api/gen/frame.yaml
	Form   Form
	Most   int // rows of a list that has no pages; 0: its comment says what bounds it
}

func row[T any]() Answer { return Answer{Type: reflect.TypeFor[T]()} }
func rows[T any](most int) Answer {
	return Answer{Type: reflect.TypeFor[T](), Form: FormRows, Most: most}
}
func pages[T any]() Answer      { return Answer{Type: reflect.TypeFor[T](), Form: FormPages} }
func lease[T any]() Answer      { return Answer{Type: reflect.TypeFor[T](), Form: FormLease} }
func messages(form Form) Answer { return Answer{Type: reflect.TypeFor[hub.Message](), Form: form} }
func found() Answer             { return Answer{Type: reflect.TypeFor[hub.Found](), Form: FormFound} }

// Makes says whether a call makes a row: its status is 201 then.
type Makes uint8

// What a call makes.
const (
	MakesNothing Makes = iota // 200
	MakesRow                  // 201
	MakesOrFinds              // 201 if it made the row, 200 if it found it
)

// WaitBy says how a call asks the hub to wait before it answers.
type WaitBy uint8

// The ways to ask for a wait.
const (
	WaitNever   WaitBy = iota
	WaitTimeout        // by the parameter timeout of the query, in seconds
	WaitSec            // by the member wait_sec of the body, in seconds
	WaitFixed          // the call cannot ask for a wait, but the work itself may take Default
)

// Wait describes how long an answer may take.
type Wait struct {
	By      WaitBy
	Default time.Duration // how long the hub waits if the call does not say
}

// Operation is one call of the contract. The comment above its row is its description; doc.go says
// what api/gen reads there.
type Operation struct {
	ID     string // the operationId in openapi.yaml
	Method string
	// Path has at most one parameter. {name} stands for one segment that is not
	// empty, {name...} at the end for the rest of the path, slashes included.
	Path  string
	Plane Plane
	Auth  Auth
	// Agent is the parameter or the member of the body that names the agent the
	// call acts as, or a session of that agent. Empty: the call names no agent,
	// and its answer is the same for all callers.
	Agent string
	Body  Body
	// Unkeyed says that a call that changes something takes no idempotency key.
	Unkeyed bool
	Wait    Wait
	Answer  Answer
	Media   string // media types of other forms of the answer than JSON, parted by spaces
	Makes   Makes
	// Errors are the codes, parted by spaces, that the call may answer beside those that any call may.
	Errors string
	// Polls says that the call asks for news: its agent listens and does not
	// work.
	Polls bool
	// Secret says that the path may hold a secret: the log shows Path instead.
	Secret bool
	// AnyUser says that the answer tells nothing of the hub's user: any user of the machine may
	// call.
	AnyUser bool
	// OwnUser says why another user of the machine may not call, even one who is let in. Empty:
	// such a user may. The operator's calls are never another user's.
	OwnUser string
	// NotRelayed says why no relay carries the call. Empty: relays carry it. The operator's calls
	// have their reason from the table.
	NotRelayed string
}

// Changes reports whether the call may change something. Such calls are logged
// and take an idempotency key.
func (o *Operation) Changes() bool { return o.Method != http.MethodGet }

// Why relays do not carry some calls.
const (
	operatorsSecret = "a spool is no place for the operator's secret"
	watchesHub      = "it serves programs that watch the hub, and they speak HTTP"
	setsUpMachine   = "it is about the machine of the hub, which a sandbox does not set up"
	bindsOutside    = "its paths are those of the hub's machine, which a sandbox does not see"
	asksHarness     = "the harness that asks its user runs where its user is, and its hook speaks HTTP"
	runsOutside     = "spawned processes run outside of every sandbox; the status of a room shows them"
)

// Why other users of the machine may not make some calls, even those who are let in.
const (
	startsAsOwner  = "what it starts runs as the hub's user"
	looksAtFolders = "it tells what folders there are"
	drivesAsOwner  = "its browser runs as the hub's user"
	asksOwner      = "its answer is about what the hub's user lets programs do"
	standsForOwner = "what it gives stands for the operator"
)

// notifyTimeout bounds each of the two ways of a notification.
const notifyTimeout = 10 * time.Second

var licenseCall = Wait{By: WaitFixed, Default: hub.MaxLicenseCall}

var adapterChange = Wait{By: WaitFixed, Default: hub.MaxAdapterChange}

// operations is the one table of calls. The routes, the Go client, the relay and the tests take
// what they need from it, and api/gen makes openapi.yaml of it. CONTRIBUTING.md says how to add
// one.
var operations = sync.OnceValue(func() []Operation {
	all := slices.Concat(
		hubOperations(),
		adaptersOperations(),
		agentsOperations(),
		projectsOperations(),
		rulingsOperations(),
		capsulesOperations(),
		messagesOperations(),
		leasesOperations(),
		roomsOperations(),
		tasksOperations(),
	)
	for i := range all {
		if all[i].Plane == PlaneOperator {
			all[i].NotRelayed = operatorsSecret
		}
	}
	return all
})

// Operations returns the table. It is shared and must not be changed.
func Operations() []Operation { return operations() }

// OperationByID returns the operation of that id. It panics if there is none,
// which is a mistake in the code that names it.
func OperationByID(id string) *Operation {
	table := operations()
	i := slices.IndexFunc(table, func(o Operation) bool { return o.ID == id })
	if i < 0 {
		panic(fmt.Sprintf("api: the code names the operation %q: add its row to api/operations.go", id))
	}
	return &table[i]
}

// PathFor returns the path of a call whose parameter has this value, escaped.
// The value is ignored where the path has no parameter.
func (o *Operation) PathFor(value string) string {
	before, rest, found := strings.Cut(o.Path, "{")
	if !found {
		return o.Path
	}
	_, after, _ := strings.Cut(rest, "}")
	return before + url.PathEscape(value) + after
}
