# SPDX-License-Identifier: Apache-2.0
"""Programs nobody here wrote: their stacks are not known, but every one must reach a root."""


def measure(tools, work):
    return 0
