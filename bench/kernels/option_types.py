"""Types of options that several scripts have."""

import argparse
import re


def expression(text):
    """Compiles a regular expression; argparse shows what is wrong with it."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a regular expression: {error}") from None
