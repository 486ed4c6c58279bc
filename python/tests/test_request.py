"""request(): calls for which the client has no method."""

import pytest

from hubclient import HubError, InvalidInput, request
from hubclient.operations import OPERATIONS


def test_a_list_of_the_agent(registered, name):
    c = registered()
    channel = c.create_channel(name("news"))["name"]
    posted = [c.post(channel, body)["id"] for body in ("one", "two")]
    answer = request(c, "listMessages", channel=[channel], tail=True)
    assert [m["id"] for m in answer["result"]] == posted
    assert answer["next_since_id"] >= posted[-1]


def test_a_parameter_of_the_path(registered):
    c = registered()
    posted = c.post("general", "where am I")
    assert request(c, "getMessage", message_id=posted["id"])["result"] == posted


def test_what_is_held_for_a_task(registered):
    c = registered()
    task = c.post("general", "mend it", kind="task")
    c.claim(f"task-{task['id']}", task_message_id=task["id"])
    held = request(c, "getTaskLeases", task_id=task["id"])["result"]
    assert (held["claim_count"], held["lock_count"]) == (1, 0)
    assert held["claims"][0]["owner_agent_id"] == c.agent_id


def test_a_write_acts_as_the_agent(registered, name):
    c = registered()
    channel = request(c, "createChannel", name=name("made"))["result"]
    assert channel["created_by"] == c.agent_id
    asked = request(c, "ask", question="May I?")["result"]
    assert asked["agent_id"] == c.agent_id
    withdrawn = request(c, "withdrawAsk", ask_id=asked["ask_id"], reason="I know now")["result"]
    assert withdrawn["state"] == "withdrawn"


def test_a_wait_ends_when_it_has_to(registered, name):
    c = registered()
    answer = request(c, "lock", file_path=name("file"), wait_sec=1)
    assert answer["acquired"] is True


def test_what_is_no_call(registered):
    c = registered()
    for operation in ("listDesicions", "pause", None, "getMetrics"):
        with pytest.raises(InvalidInput):
            request(c, operation)
    with pytest.raises(InvalidInput):
        request(c, "getTask")
    with pytest.raises(InvalidInput):
        request(None, "listTasks")
    with pytest.raises(HubError) as caught:
        request(c, "getTask", task_id=1 << 40)
    assert caught.value.code == "task_not_found"


def test_the_table_has_no_call_of_the_operator():
    assert "listDecisions" in OPERATIONS
    assert "answerAsk" not in OPERATIONS
    assert OPERATIONS["claim"].agent == "owner_agent_id"
