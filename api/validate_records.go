package api

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

const (
	maxContentType = 200 // characters of a content type
	textType       = "text/plain; charset=utf-8"
)

// ValidateDecision checks a new decision and drops space around its title. A
// call of the operator that names no agent acts as operator.
func ValidateDecision(in *hub.DecisionInput, operator bool) error {
	in.Title = strings.TrimSpace(in.Title)
	if err := checkBy(&in.By, operator); err != nil {
		return err
	}
	return first(
		checkBounds(in),
		ValidateDecisionMetadata(in.Metadata))
}

// ValidateDecisionMetadata is ValidateMetadata with the depth of a decision: the
// object itself is level 1, and each object or array in another is one more. raw
// is compact.
func ValidateDecisionMetadata(raw json.RawMessage) error {
	if err := ValidateMetadata(raw); err != nil || len(raw) == 0 {
		return err
	}
	if d := strictjson.Depth(raw); d > hub.MaxDecisionDepth {
		return hub.Errorf(hub.CodeMetadataTooDeep, "the metadata of a decision nests %d levels deep; it may have %d", d, hub.MaxDecisionDepth).
			With("field", "metadata").With("limit", hub.MaxDecisionDepth).With("size", d).
			WithFix("put it into at most 4 levels; the object itself is the first, and each object or array in another is one more")
	}
	return nil
}

// checkBy checks the agent that a record names as its author, if it names one.
func checkBy(by *hub.AgentID, operator bool) error {
	if *by == "" && operator {
		*by = hub.AgentOperator
	}
	return checkNamedActor("by", *by, operator)
}

// ValidateArtifact checks a new artifact, and fills in the type of its content.
// Space around its title and kind is dropped.
func ValidateArtifact(in *hub.ArtifactInput, operator bool) error {
	in.Title, in.Kind = strings.TrimSpace(in.Title), strings.TrimSpace(in.Kind)
	if err := checkBy(&in.By, operator); err != nil {
		return err
	}
	err := first(
		checkBounds(in))
	if err != nil {
		return err
	}
	content, err := in.Content()
	if err != nil {
		return err
	}
	if in.ContentType == "" {
		in.ContentType = contentType(content)
		return nil
	}
	media, params, err := mime.ParseMediaType(in.ContentType)
	if err != nil || len(in.ContentType) > maxContentType || !strings.Contains(media, "/") {
		return hub.Invalid("content_type", "content_type is not a media type").With("limit", maxContentType).
			WithFix("give one such as text/markdown, or leave it out")
	}
	if in.ContentType = mime.FormatMediaType(media, params); in.ContentType == "" {
		return hub.Invalid("content_type", "content_type is not a media type").
			WithFix("give one such as text/markdown, or leave it out")
	}
	return nil
}

// contentType returns the type of a content: plain text for any text in UTF-8,
// also source code, else the type that its first bytes indicate.
func contentType(content []byte) string {
	controls := func(b byte) bool { return b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b }
	if utf8.Valid(content) {
		text := true
		for _, b := range content {
			text = text && !controls(b)
		}
		if text {
			return textType
		}
	}
	return http.DetectContentType(content)
}

// artifactBodyRest is the space in an artifact's request for everything but its
// content, in bytes.
const artifactBodyRest = 64 << 10

// ArtifactBodyCap returns an upper bound, in bytes, of the request body of an
// artifact within the limit, even if every character is escaped as 6 bytes.
func ArtifactBodyCap() int64 { return 6*hub.MaxArtifactBytes + artifactBodyRest }
