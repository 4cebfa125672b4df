"""Learns in which order to run passes on a module, with MaskablePPO.

    python train_sb3.py MODULE [--steps N] [--server HOST:PORT]

honed has to be running. Prints the score of the module as it came, after the
compiler's default order, and after the order that was learned.
"""

import argparse

import gymnasium
import hone  # noqa: F401: registers hone/PassOrder-v0
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.monitor import Monitor


class PercentReward(gymnasium.Wrapper):
    """Rewards a hundredfold: about the percent by which the score drops."""

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, 100 * reward, terminated, truncated, info

    def action_masks(self):
        return self.env.unwrapped.action_masks()


def best_of(model, env, episodes, seed):
    """The best score of some episodes, and its passes.

    The first takes the likeliest actions, the others draw them.
    """
    best = None
    for episode in range(episodes):
        observation, info = env.reset(seed=seed + episode)
        ended, actions = False, []
        while not ended:
            action, _ = model.predict(observation, deterministic=episode == 0,
                                      action_masks=env.action_masks())
            observation, _, terminated, truncated, info = env.step(int(action))
            ended = terminated or truncated
            actions.append(env.unwrapped.action_names[int(action)])
        if best is None or info["score"] < best[0]:
            best = info["score"], actions
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("module", help="HLO text or proto, compressed or not")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--server", help="of honed; default HONE_SERVER")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    env = Monitor(PercentReward(gymnasium.make(
        "hone/PassOrder-v0", module=arguments.module, server=arguments.server,
        max_steps=24, exact_mask=True)))
    model = MaskablePPO("MultiInputPolicy", env, n_steps=512, batch_size=128,
                        learning_rate=1e-3, gamma=1.0, ent_coef=0.01,
                        seed=arguments.seed, device="cpu")
    _, info = env.reset(seed=arguments.seed)
    first, default = info["score"], info["default_score"]
    untrained, _ = best_of(model, env.env, 1, arguments.seed)
    model.learn(arguments.steps)
    learned, actions = best_of(model, env.env, 10, arguments.seed)
    rewards = env.get_episode_rewards()
    tenth = max(1, len(rewards) // 10)
    env.close()

    print(f"episodes            {len(rewards)}, mean reward of the first tenth "
          f"{np.mean(rewards[:tenth]):.1f} %, of the last "
          f"{np.mean(rewards[-tenth:]):.1f} %")
    print(f"as it came          {first:g} ops")
    print(f"default order       {default:g} ops")
    print(f"policy at first     {untrained:g} ops")
    print(f"policy after {arguments.steps:6d} {learned:g} ops")
    print(f"its passes          {' '.join(actions)}")


if __name__ == "__main__":
    main()
