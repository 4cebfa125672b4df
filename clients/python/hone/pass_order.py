"""Pass ordering as a gymnasium environment."""

import copy
import itertools

import gymnasium
import numpy as np
from gymnasium import spaces

from hone import client as hone_client
from hone.episodes import Episodes
from hone.observations import ObservationFormat, action_mask
from hone.v1 import environment_service_pb2
from hone.v1 import record_pb2


class PassOrderEnv(gymnasium.Env):
    """In which order to run which passes on an HLO module.

    An action runs one pass, the last one (`stop`) ends the episode; the reward
    is the logarithm of the score before over the score after, so that it means
    the same on modules of any size. Observations:
    hone.observations.ObservationFormat. The state lives in honed.

    module:      path or bytes of HLO text or a serialized HloModuleProto
    server:      honed's address; default: as hone.Client
    score:       "ops" (instructions left) or "xla" (nanoseconds, modeled)
    max_steps:   steps until an episode is truncated; default: honed's
    exact_mask:  whether the action mask covers all passes that change nothing,
                 which costs running every pass, or only those already tried in
                 the same state
    graph_size:  (nodes, edges) of the graph in observations; default: no graph

    info["action_mask"] and action_masks() have the mask; info["score"] the
    score, info["default_score"] what the compiler's own order would reach.
    """

    # The rate is for players of episodes; texts have none of their own.
    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(self, module, server=None, score="ops", max_steps=None,
                 exact_mask=False, graph_size=None, render_mode=None):
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode {render_mode!r}, expected 'ansi'")
        self.render_mode = render_mode
        self.client = hone_client.Client(server)
        self._owns_client = True
        server_spaces = self.client.get_spaces()
        self.action_names = list(server_spaces.actions)
        self._format = ObservationFormat(server_spaces, graph_size)
        self._episodes = Episodes(
            self.client,
            environment_service_pb2.OpenEnvironmentRequest(
                module=self.client.module_source(module),
                options=record_pb2.TaskOptions(
                    pass_order=record_pb2.PassOrderOptions(
                        score=score.upper())),
                max_steps=max_steps or 0,
                parts=self._format.parts(exact_mask),
            ))
        self.action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = self._format.space()
        self._request_ids = itertools.count()
        self._episode = None
        self._observation = None
        self._taken = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._end_episode()
        forked = self._episodes.begin()
        self._episode = forked.environment
        self._observation = forked.observation
        self._taken = []
        return self._arrays(), self._info()

    def step(self, action):
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("step before reset")
        request = environment_service_pb2.StepRequest(
            name=self._episode.name, actions=[int(action)],
            request_id=str(next(self._request_ids)))
        step = self.client.step(request).steps[0]
        self._observation = step.observation
        self._taken.append(self.action_names[int(action)])
        return (self._arrays(), step.reward, step.terminated, step.truncated,
                self._info())

    def action_masks(self):
        """bool [actions], as sb3-contrib's MaskablePPO asks for it."""
        return action_mask(self._observation)

    def fork(self):
        """Another environment in the same state; needs no reset."""
        forked = self.client.fork(self._episode.name)
        other = copy.copy(self)
        other._owns_client = False
        other._episode = forked.environment
        other._observation = forked.observation
        other._taken = list(self._taken)
        other._request_ids = itertools.count()
        other._np_random = copy.deepcopy(self._np_random)
        return other

    def render(self):
        if self.render_mode != "ansi":
            return None
        return (f"{self._observation.score:g} {self._episode.unit} "
                f"(at first {self._episode.initial_score:g}, by default "
                f"{self._episode.default_score:g}) after "
                f"{' '.join(self._taken) or 'no pass'}\n")

    def close(self):
        """Closes what is open in honed. Forks are closed first, by themselves."""
        if self.client is None:
            return
        self._end_episode()
        if self._owns_client:
            self._episodes.close()
            self.client.close()
        self.client = None

    def _arrays(self):
        return self._format.arrays(self._observation, self._episode)

    def _info(self):
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "score": self._observation.score,
            "default_score": self._episode.default_score,
        }

    def _end_episode(self):
        if self._episode is not None:
            self._episodes.end(self._episode.name)
            self._episode = None
