package httpapi

func loopHandlers() handlers {
	return handlers{
		"listLoops": listLoops,
	}
}

func listLoops(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.service().Loops(c.context())
	return reply{result: list(rows)}, err
}
