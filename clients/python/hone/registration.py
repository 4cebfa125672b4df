"""Tells gymnasium of Hone's environments."""

from gymnasium.envs import registration

PASS_ORDER = "hone/PassOrder-v0"


def register_environments():
    """Registers what is not registered yet; `import hone` does so."""
    if PASS_ORDER not in registration.registry:
        registration.register(
            id=PASS_ORDER,
            entry_point="hone.pass_order:PassOrderEnv",
            vector_entry_point="hone.pass_order_vector:PassOrderVectorEnv",
        )
