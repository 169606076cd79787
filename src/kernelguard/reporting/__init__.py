"""A Verdict in words and in JSON. Pure: values in, values out; files and terminals are somebody else's."""
