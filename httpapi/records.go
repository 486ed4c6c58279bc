package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"hubcli/api"
	"hubcli/hub"
)

var recordHandlers = handlers{
	"listArtifacts":      listArtifacts,
	"addArtifact":        addArtifact,
	"getArtifact":        getArtifact,
	"getArtifactContent": getArtifactContent,
	"listDecisions":      listDecisions,
	"addDecision":        addDecision,
}

func addDecision(c *call) (reply, error) {
	var in hub.DecisionInput
	if err := c.input(&in, &in.By, func() error { return api.ValidateDecision(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.AddDecision(c.context(), in)
	return created(out, true), err
}

func listDecisions(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.DecisionsQuery{RoomID: hub.RoomID(query.Name("room_id", hub.MaxNameChars)), Before: hub.DecisionID(query.Text("before"))}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	if _, err := c.view(query); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Decisions(c.context(), q))
}

func addArtifact(c *call) (reply, error) {
	var in hub.ArtifactInput
	if err := c.input(&in, &in.By, func() error { return api.ValidateArtifact(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.AddArtifact(c.context(), in)
	return created(out, true), err
}

func listArtifacts(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
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
	if _, err := c.view(query); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Artifacts(c.context(), q))
}

func getArtifact(c *call) (reply, error) {
	if err := c.readsAlone(); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Artifact(c.context(), hub.ArtifactID(c.param))
	return reply{result: row}, err
}

// readsAlone reads the viewer of a read whose answer does not depend on the
// viewer.
func (c *call) readsAlone() error {
	query, err := c.query()
	if err != nil {
		return err
	}
	_, err = c.view(query)
	return err
}

// getArtifactContent sends the bytes as they are, or within the envelope: for
// encoding=base64, and always for a spool, whose answers are JSON. Bytes that
// are JSON themselves are not sent with a JSON content type, because that would
// look like the envelope.
func getArtifactContent(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	encoding := query.Text("encoding")
	if encoding != "" && encoding != "base64" {
		query.Keep(hub.Invalid("encoding", "there is no such encoding").WithFix("use base64, or leave it out for the bytes"))
	}
	if _, err := c.view(query); err != nil {
		return reply{}, err
	}
	content, err := c.server.config.Service.ArtifactContent(c.context(), hub.ArtifactID(c.param))
	if err != nil || encoding != "" || c.caller.Relay != "" {
		return reply{result: content}, err
	}
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
