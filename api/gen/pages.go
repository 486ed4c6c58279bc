package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"hubcli/api"
)

// byPath are the operations in the order of their paths.
func byPath() []api.Operation {
	return slices.SortedFunc(slices.Values(api.Operations()), func(a, b api.Operation) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
}

// callsPage makes the page that lists all operations.
func callsPage(src *source) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`# All calls

This page is made by ` + "`go generate ./api`" + ` from the table of operations. [api.md](api.md) explains how the calls work together, and
` + "`GET /v1/openapi.json`" + ` has every parameter, member and limit. The errors are those that a call may answer beside the ones that any call may.

| Call | Name | What it does | Callers | Errors |
| --- | --- | --- | --- | --- |
`)
	for _, op := range byPath() {
		fmt.Fprintf(&out, "| `%s %s` | `%s` | %s | %s | %s |\n", op.Method, strings.Replace(op.Path, "...}", "}", 1), op.ID,
			strings.ReplaceAll(src.rows[op.ID].summary, "|", "\\|"), callers(&op), quoted(strings.Fields(op.Errors)))
	}
	return out.Bytes(), nil
}

// callers says who may make a call.
func callers(op *api.Operation) string {
	switch op.Plane {
	case api.PlaneOperator:
		return "the operator"
	case api.PlaneOpen:
		return "any caller"
	default:
		return "agents"
	}
}

func quoted(words []string) string {
	for i, w := range words {
		words[i] = "`" + w + "`"
	}
	return strings.Join(words, ", ")
}

// pythonTable makes the table of the operations that a Python client may make: those of agents,
// and those of any caller, that answer an envelope.
func pythonTable(*source) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`"""The operations that agents may make. Made by go generate ./api; do not change it here."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """One call: how it is sent.

    Attributes:
        method: GET, POST, PUT or DELETE.
        path: From /v1, with at most one parameter in braces.
        agent: The parameter or member that names the agent that calls, or empty.
        wait: Seconds that the hub may take, if the call does not say.
    """

    method: str
    path: str
    agent: str = ""
    wait: float = 0.0


OPERATIONS = {
`)
	for _, op := range byPath() {
		if op.Plane == api.PlaneOperator || op.Answer.Type == nil || op.Answer.Form == api.FormBare {
			continue
		}
		fmt.Fprintf(&out, "    %q: Operation(%q, %q", op.ID, op.Method, strings.Replace(op.Path, "...}", "}", 1))
		if op.Agent != "" && op.Agent != "session_id" && op.Agent != "prior_session_id" {
			fmt.Fprintf(&out, ", %q", op.Agent)
		}
		if s := op.Wait.Default.Seconds(); s > 0 {
			fmt.Fprintf(&out, ", wait=%.1f", s)
		}
		out.WriteString("),\n")
	}
	out.WriteString("}\n")
	return out.Bytes(), nil
}
