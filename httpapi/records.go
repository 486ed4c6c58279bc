package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

func recordHandlers() handlers {
	return handlers{
		"listArtifacts":      listArtifacts,
		"addArtifact":        addArtifact,
		"getArtifact":        getArtifact,
		"getDecision":        getDecision,
		"getArtifactContent": getArtifactContent,
		"listDecisions":      listDecisions,
		"addDecision":        addDecision,
	}
}

func addDecision(c *call) (reply, error) {
	var in hub.DecisionInput
	return writeRow(c, &in, &in.By, api.ValidateDecision, c.service().AddDecision, added)
}

func listDecisions(c *call) (reply, error) {
	query := c.query()
	q := hub.DecisionsQuery{RoomID: hub.RoomID(query.Name("room_id", hub.MaxNameChars)), Before: hub.DecisionID(query.Text("before"))}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	c.view(query)
	return readList(c, query, q, c.service().Decisions)
}

func addArtifact(c *call) (reply, error) {
	var in hub.ArtifactInput
	return writeRow(c, &in, &in.By, api.ValidateArtifact, c.service().AddArtifact, added)
}

func listArtifacts(c *call) (reply, error) {
	query := c.query()
	q := hub.ArtifactsQuery{
		RoomID:  hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Title:   strings.TrimSpace(query.Name("title", hub.MaxTitleChars)),
		Kind:    strings.TrimSpace(query.Name("kind", hub.MaxNameChars)),
		Version: int64(query.ID("version")), Latest: query.Bool("latest"),
		Before: hub.ArtifactID(query.Text("before")),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	if q.Latest && q.Version != 0 {
		query.Keep(hub.Invalid("latest", "latest and version exclude each other"))
	}
	c.view(query)
	return readList(c, query, q, c.service().Artifacts)
}

func getDecision(c *call) (reply, error) {
	query := c.query()
	c.view(query)
	return readRow(c, query, hub.DecisionID(c.param), c.service().Decision)
}

func getArtifact(c *call) (reply, error) {
	query := c.query()
	c.view(query)
	return readRow(c, query, hub.ArtifactID(c.param), c.service().Artifact)
}

// getArtifactContent sends the bytes as they are, or within the envelope: for
// encoding=base64, and always for a spool, whose answers are JSON. Bytes that
// are JSON themselves are not sent with a JSON content type, because that would
// look like the envelope.
func getArtifactContent(c *call) (reply, error) {
	query := c.query()
	encoding := query.Text("encoding")
	if encoding != "" && encoding != "base64" {
		query.Keep(hub.Invalid("encoding", "there is no such encoding").WithFix("use base64, or leave it out for the bytes"))
	}
	c.view(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	content, err := c.service().ArtifactContent(c.context(), hub.ArtifactID(c.param))
	if err != nil || encoding != "" || c.caller.Relay != "" {
		return reply{result: content}, err
	}
	c.giveTurn() // nobody knows when the client will have read it
	c.server.boundWrite(c.w)
	sendContent(c.w, &content)
	return reply{done: true, status: http.StatusOK}, nil
}

// sendContent sends stored bytes. Any agent may have stored them, so the
// headers keep a browser from treating them as a page of the hub.
func sendContent(w http.ResponseWriter, content *hub.Content) {
	media := "application/octet-stream"
	if strings.HasPrefix(content.Artifact.ContentType, "text/plain") {
		media = "text/plain; charset=utf-8"
	}
	header := w.Header()
	header.Set("Content-Type", media)
	header.Set("Content-Length", strconv.Itoa(len(content.Data)))
	header.Set("Content-Disposition", `attachment; filename="`+string(content.Artifact.ArtifactID)+`"`)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("ETag", `"`+content.Artifact.SHA256+`"`)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(content.Data) // a client that is gone needs no answer
}
