"""The one exception that means: the user asked for something that cannot be done."""


class PfmonError(Exception):
    """A user's mistake, said in one line. The command line prints it and exits with status 2."""
