"""Many pass-ordering episodes at once, stepped in one request."""

import itertools

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from hone import client as hone_client
from hone.episodes import Episodes
from hone.observations import ObservationFormat, action_mask
from hone.v1 import environment_service_pb2
from hone.v1 import record_pb2


class PassOrderVectorEnv(VectorEnv):
    """`num_envs` episodes of PassOrderEnv, on one module or one each.

    module: as PassOrderEnv has it, or a list of `num_envs` of them. The other
    arguments are those of PassOrderEnv. honed takes the steps of a batch in
    parallel.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, module, num_envs=1, server=None, score="ops",
                 max_steps=None, exact_mask=False, graph_size=None):
        modules = module if isinstance(module, list) else [module] * num_envs
        if len(modules) != num_envs:
            raise ValueError(f"{len(modules)} modules, expected {num_envs}")
        self.num_envs = num_envs
        self.client = hone_client.Client(server)
        server_spaces = self.client.get_spaces()
        self.action_names = list(server_spaces.actions)
        self._format = ObservationFormat(server_spaces, graph_size)
        self._sources = [
            Episodes(
                self.client,
                environment_service_pb2.OpenEnvironmentRequest(
                    module=self.client.module_source(each),
                    options=record_pb2.TaskOptions(
                        pass_order=record_pb2.PassOrderOptions(
                            score=score.upper())),
                    max_steps=max_steps or 0,
                    parts=self._format.parts(exact_mask),
                )) for each in modules
        ]
        self.single_action_space = spaces.Discrete(len(self.action_names))
        self.single_observation_space = self._format.space()
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space,
                                             num_envs)
        self._request_ids = itertools.count()
        self._episodes = [None] * num_envs
        self._observations = [None] * num_envs
        self._ended = np.zeros(num_envs, bool)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        for index in range(self.num_envs):
            self._begin(index)
        return self._arrays(), self._info()

    def step(self, actions):
        rewards = np.zeros(self.num_envs, np.float64)
        terminated = np.zeros(self.num_envs, bool)
        truncated = np.zeros(self.num_envs, bool)
        stepping = [i for i in range(self.num_envs) if not self._ended[i]]
        for index in np.flatnonzero(self._ended):
            self._begin(int(index))
        results = self.client.step_batch([
            environment_service_pb2.StepRequest(
                name=self._episodes[i].name, actions=[int(actions[i])],
                request_id=str(next(self._request_ids))) for i in stepping
        ])
        for index, result in zip(stepping, results):
            if isinstance(result, hone_client.Error):
                raise result
            step = result.steps[0]
            self._observations[index] = step.observation
            rewards[index] = step.reward
            terminated[index] = step.terminated
            truncated[index] = step.truncated
        self._ended = terminated | truncated
        return self._arrays(), rewards, terminated, truncated, self._info()

    def action_masks(self):
        """bool [num_envs, actions]."""
        return np.stack([action_mask(each) for each in self._observations])

    def close_extras(self, **kwargs):
        for source, episode in zip(self._sources, self._episodes):
            if episode is not None:
                source.end(episode.name)
            source.close()
        self.client.close()

    def _begin(self, index):
        if self._episodes[index] is not None:
            self._sources[index].end(self._episodes[index].name)
        forked = self._sources[index].begin()
        self._episodes[index] = forked.environment
        self._observations[index] = forked.observation
        self._ended[index] = False

    def _arrays(self):
        each = [
            self._format.arrays(observation, episode) for observation, episode
            in zip(self._observations, self._episodes)
        ]
        return {key: np.stack([arrays[key] for arrays in each])
                for key in self.single_observation_space}

    def _info(self):
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "score": np.array([each.score for each in self._observations]),
            "default_score": np.array(
                [each.default_score for each in self._episodes]),
        }
