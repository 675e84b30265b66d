# SPDX-License-Identifier: Apache-2.0
"""
A span with other context variables beside it: spans.py WAY VARIABLES. It says "ready" and spins 20 functions deep.
WAY is `none` (nothing of OpenTelemetry is imported), `outside` (the SDK is, but there is no span) or `inside`.
"""
import contextvars
import sys


def spin():
    print("ready", flush=True)
    while True:
        for _ in range(1000):
            pass


def down(n):
    if n:
        down(n - 1)
    else:
        spin()


def main():
    way, variables = sys.argv[1], int(sys.argv[2])
    for i in range(variables):
        contextvars.ContextVar("variable_%d" % i).set(i)
    if way == "none":
        down(20)
    from opentelemetry.sdk.trace import TracerProvider
    tracer = TracerProvider().get_tracer("spans")
    if way == "outside":
        down(20)
    with tracer.start_as_current_span("s"):
        down(20)


main()
