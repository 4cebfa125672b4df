"""Client of the Hone autotuning daemon (honed).

    import gymnasium, hone

    env = gymnasium.make("hone/PassOrder-v0", module="model.hlo")
"""

from hone.client import Client, Error
from hone.registration import register_environments

__all__ = ["Client", "Error"]

register_environments()
