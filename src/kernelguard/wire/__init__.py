"""The boundary between processes: bounded, typed frames. Nothing is ever unpickled."""
