"""Our own faults and the operator's: raised, never mixed with a candidate's fault or a host's limit, which are values."""


class KernelGuardError(Exception):
    """Something that is not the candidate's doing went wrong; the message is one line: what, where, what to do."""


class UsageError(KernelGuardError):
    """The operator asked for something that can't be: a bad value, a missing file, two options that contradict."""


class ProblemError(KernelGuardError):
    """The reference program itself can't be used: it does not load, does not run, or gives nothing to compare."""


class HostError(KernelGuardError):
    """This host failed us: a trusted process died, a device was lost, a deadline of ours passed."""


class WireError(KernelGuardError):
    """Bytes from another process broke the protocol: too long, too deep, torn, or not one of the messages."""
