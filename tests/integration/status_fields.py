# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of INFO and of texts like it, without redis-py's conversions."""


def raw(client, *words):
    """The bytes of a reply, on a connection of its own; redis-py would make a dict of INFO's."""
    connection = client.connection_pool.make_connection()
    try:
        connection.send_command(*words)
        return connection.read_response()
    finally:
        connection.disconnect()


def fields_of(text):
    """The text of each field of a text like INFO's."""
    return dict(line.split(":", 1) for line in text.decode().split("\r\n") if ":" in line)


def raw_info(client, section):
    """A section of INFO: the text of each field."""
    return fields_of(raw(client, "INFO", section))
