"""Times posts of hubclient and, turn by turn, of bare http.client on the same hub.

Usage: python3 post.py BASE_URL ROUNDS SECONDS, with hubclient importable. Prints
one JSON list of rounds, each the median milliseconds of both.
"""

import http.client
import itertools
import json
import statistics
import sys
import time
import urllib.parse

import hubclient

BODY = "x" * 256


def timed(post, seconds):
    times = []
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        post()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def bare(base_url):
    """Returns a post that does what no client can leave out."""
    address = urllib.parse.urlsplit(base_url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    body = json.dumps({"from_agent": "bare", "channel": "general", "body": BODY}).encode()
    numbers = itertools.count()

    def post():
        headers = {"Content-Type": "application/json", "Idempotency-Key": f"bare-{next(numbers)}"}
        connection.request("POST", "/v1/messages", body, headers)
        with connection.getresponse() as response:
            json.loads(response.read())
            assert response.status == 201, response.status

    return post


def main():
    base_url, rounds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with hubclient.HubClient("bench", base_url) as client:
        sides = [("client", lambda: client.post("general", BODY)), ("bare", bare(base_url))]
        for _, post in sides:
            timed(post, seconds / 5)  # warm up
        report = []
        for _ in range(rounds):
            report.append({name: timed(post, seconds) for name, post in sides})
            sides.reverse()
        print(json.dumps(report))


if __name__ == "__main__":
    main()
