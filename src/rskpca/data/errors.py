"""The error for rows that cannot be read as requested."""

from __future__ import annotations


class SourceError(ValueError):
    """Raised if rows cannot be read with the arguments of :func:`rskpca.data.open_source`.

    Front ends such as the command line word the message themselves.

    Parameters
    ----------
    message : str
        The whole message, for Python.
    problem : str
        What is wrong, without a fix.
    argument : str
        The argument at fault; empty if the data are.
    remedy : str
        The argument that helps; empty if there is none.
    """

    def __init__(
        self, message: str, problem: str = "", argument: str = "", remedy: str = ""
    ) -> None:
        super().__init__(message)
        self.problem, self.argument, self.remedy = problem, argument, remedy
