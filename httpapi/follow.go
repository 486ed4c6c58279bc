package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hubcli/api"
	"hubcli/hub"
)

// followHub sends what happens in the whole hub, until the client disconnects, its pass ends
// or the hub stops. An id is a place: the last message and the last record.
func followHub(c *call) (reply, error) {
	query := c.query()
	place, err := parsePlace(c.r.Header.Get(api.HeaderLastEventID))
	query.Keep(err)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	follow, err := c.server.config.Follows.Follow(c.context(), place)
	if err != nil {
		return reply{}, err
	}
	defer follow.Close()
	st := newStream(c)
	if c.r.Method == http.MethodHead {
		return reply{done: true}, nil
	}
	var last hub.FollowPlace
	if place != nil {
		last = *place
	}
	for st.follow(follow, &last) {
	}
	return reply{done: true}, nil
}

// follow waits for news and sends them. They are under way, and count as such, until they
// are sent. It moves last behind them, and returns false when the stream is over.
func (st *stream) follow(follow hub.Follow, last *hub.FollowPlace) bool {
	c, heartbeat, began := st.call, st.call.server.config.Heartbeat, time.Now()
	ctx := c.context()
	answer, sent := context.WithCancel(hub.AnswerOf(ctx))
	defer sent()
	news, err := follow.Next(hub.WithAnswer(ctx, answer), heartbeat)
	if err == nil {
		err = c.passHolds()
	}
	if err != nil {
		st.end(c.server.asError(c.r, err))
		return false
	}
	silent := len(news.Rows) == 0 && news.Changed == nil
	if silent && time.Since(began) < heartbeat/2 { // a stopping hub answers early
		return false
	}
	told := last.Seq
	*last = news.At
	return st.sendNews(&news, told)
}

// sendNews writes messages, then the notice. A client that comes back with the id of a
// message is told of the changes again, because the notice follows the messages.
func (st *stream) sendNews(news *hub.News, told hub.Seq) bool {
	b := st.buffer[:0]
	for _, row := range news.Rows {
		b = append(b, "event: message\nid: "...)
		b = append(b, rowID(row)...)
		b = append(b, '-')
		b = strconv.AppendUint(b, uint64(told), 10)
		b = append(b, "\ndata: "...)
		b = append(b, row...)
		b = append(b, "\n\n"...)
	}
	if news.Changed != nil {
		data, err := json.Marshal(news.Changed)
		if err != nil {
			return false
		}
		b = append(append(append(b, "event: changed\ndata: "...), data...), '\n')
	} else if len(news.Rows) == 0 {
		b = append(b, ": heartbeat\n"...)
	}
	b = append(b, "id: "...)
	b = append(b, formatPlace(news.At)...)
	b = append(b, "\n\n"...)
	return st.sent(b)
}

func formatPlace(p hub.FollowPlace) string {
	return strconv.FormatInt(int64(p.Message), 10) + "-" + strconv.FormatUint(uint64(p.Seq), 10)
}

// parsePlace reads an id of the stream; nil: there is none.
func parsePlace(text string) (*hub.FollowPlace, error) {
	if text == "" {
		return nil, nil
	}
	message, seq, _ := strings.Cut(text, "-")
	id, err1 := strconv.ParseInt(message, 10, 64)
	record, err2 := strconv.ParseUint(seq, 10, 64)
	p := hub.FollowPlace{Message: hub.MessageID(id), Seq: hub.Seq(record)}
	if err1 != nil || err2 != nil || id < 0 || id > int64(hub.MaxMessageID) || formatPlace(p) != text {
		return nil, hub.Invalid(api.HeaderLastEventID, "Last-Event-ID is no place of this stream").
			WithFix("send the id of the last event of this stream, or leave it out to begin now")
	}
	return &p, nil
}
