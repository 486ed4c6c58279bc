package httpapi

import (
	"net/http"
	"time"
)

func backupHandlers() handlers {
	return handlers{
		"backup": getBackup,
	}
}

// getBackup streams the store. A refusal before the first byte is an ordinary
// error; later the stream itself says why it has no end. The call is logged: the
// answer holds everything that agents wrote.
func getBackup(c *call) (reply, error) {
	c.logged = true
	if err := c.needsSecret("read a backup, which has the keys of the hub"); err != nil {
		return reply{}, err
	}
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	w := &backupAnswer{call: c, controller: http.NewResponseController(c.w)}
	_ = w.controller.SetReadDeadline(time.Time{}) // the write fails if the connection is gone
	if c.r.Method == http.MethodHead {
		w.begin()
		return reply{done: true, status: http.StatusOK}, nil
	}
	if err := c.server.config.Status.Backup(c.context(), w); err != nil {
		if !w.began {
			return reply{}, err
		}
		c.server.config.Logger.Warn("a backup was not finished", "error", err)
	}
	return reply{done: true, status: http.StatusOK}, nil
}

// backupAnswer writes the header with the first bytes, and each piece under a
// deadline of its own.
type backupAnswer struct {
	call       *call
	controller *http.ResponseController
	began      bool
}

func (w *backupAnswer) begin() {
	w.began = true
	w.call.w.Header().Set("Content-Type", "application/octet-stream")
	w.call.w.WriteHeader(http.StatusOK)
}

func (w *backupAnswer) Write(b []byte) (int, error) {
	_ = w.controller.SetWriteDeadline(time.Now().Add(w.call.server.config.WriteTimeout))
	if !w.began {
		w.begin()
	}
	return w.call.w.Write(b)
}
