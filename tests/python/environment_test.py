"""The Python client and its environments against a real honed.

Usage: environment_test.py BIN_DIR CORPUS_DIR [unittest arguments]
"""

import hashlib
import importlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import grpc
import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import hone
from hone.v1 import environment_service_pb2

BIN = pathlib.Path(sys.argv[1])
CORPUS = pathlib.Path(sys.argv[2])
MLP = CORPUS / "mlp.train.hlo.zst"
TINY = b"""HloModule tiny

ENTRY main {
  x = f32[4]{0} parameter(0)
  zero = f32[] constant(0)
  zeros = f32[4]{0} broadcast(zero), dimensions={}
  sum = f32[4]{0} add(x, zeros)
  same = f32[4]{0} add(x, zeros)
  twice = f32[4]{0} add(sum, same)
  dead = f32[4]{0} multiply(twice, x)
  ROOT out = (f32[4]{0}, f32[4]{0}) tuple(twice, sum)
}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Connections(unittest.TestCase):
    """How the client finds honed, and what it shows it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {"XDG_STATE_HOME": folder.name}

    def start(self, *arguments):
        honed = subprocess.Popen(
            [BIN / "honed", "--http", "127.0.0.1:0", "--state",
             self.folder / "hone", *arguments], stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(honed.communicate, timeout=60)
        self.addCleanup(honed.terminate)
        for line in honed.stderr:
            if "serves gRPC" in line:
                return
        self.fail("honed ended at once")

    def test_no_option_is_needed(self):
        self.start()
        with mock.patch.dict(os.environ, self.environment):
            os.environ.pop("HONE_SERVER", None)
            with hone.Client() as client:
                self.assertEqual(client.server,
                                 f"unix:{self.folder}/hone/hone.sock")
                self.assertEqual(client.info().api_version, "hone.v1")

    def test_tokens(self):
        token = self.folder / "token"
        token.write_text("secret\n")
        tokens = self.folder / "tokens"
        digest = hashlib.sha256(b"secret").hexdigest()
        tokens.write_text(f"ci lookup {digest}\n")
        tokens.chmod(0o600)
        config = self.folder / "hone.toml"
        config.write_text(f'[access]\ntokens = "{tokens}"\n')
        server = f"127.0.0.1:{free_port()}"
        self.start("--config", config, "--listen", server)
        with hone.Client(server, token_file=token) as client:
            self.assertEqual(client.info().api_version, "hone.v1")
            with self.assertRaises(hone.Error) as raised:
                client.close_environment("projects/default/environments/x")
            self.assertEqual(raised.exception.reason, "PERMISSION_DENIED")
        with hone.Client(server) as client:
            with self.assertRaises(hone.Error) as raised:
                client.info()
            self.assertEqual(raised.exception.code,
                             grpc.StatusCode.UNAUTHENTICATED)
        with self.assertRaises(ValueError):
            hone.Client("hone.example:7420", token_file=token)


class WithDaemon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.config = pathlib.Path(folder.name) / "hone.toml"
        cls.config.write_text("[limits]\nmax_environments = 12\n")
        cls.server = f"127.0.0.1:{free_port()}"
        cls.state = folder.name
        cls.start()
        cls.addClassCleanup(cls.stop)

    @classmethod
    def start(cls):
        cls.honed = subprocess.Popen(
            [BIN / "honed", "--config", cls.config, "--listen", cls.server,
             "--http", "127.0.0.1:0", "--state", cls.state, "--log-level",
             "error"])
        with grpc.insecure_channel(cls.server) as channel:
            grpc.channel_ready_future(channel).result(timeout=60)

    @classmethod
    def stop(cls):
        cls.honed.terminate()
        cls.honed.wait(timeout=60)

    def make(self, module=TINY, **arguments):
        env = gymnasium.make("hone/PassOrder-v0", module=module,
                             server=self.server, **arguments)
        self.addCleanup(env.close)
        return env

    def action(self, env, name):
        return env.unwrapped.action_names.index(name)

    def assertError(self, raised, code, reason):
        self.assertEqual(raised.exception.code, code)
        self.assertEqual(raised.exception.reason, reason)


class Stubs(unittest.TestCase):
    def test_every_proto_has_them(self):
        root = CORPUS.parents[2] / "proto"
        protos = sorted(root.glob("hone/**/*.proto"))
        self.assertIn(root / "hone/v1/worker_service.proto", protos)
        for proto in protos:
            name = proto.relative_to(root).with_suffix("")
            for ending in ("_pb2", "_pb2_grpc"):
                with self.subTest(proto=proto.name, ending=ending):
                    importlib.import_module(".".join(name.parts) + ending)


class Gymnasium(WithDaemon):
    def test_check_env_with_every_part(self):
        for arguments in ({}, {"graph_size": (64, 128), "exact_mask": True},
                          {"score": "xla", "render_mode": "ansi"}):
            with self.subTest(**arguments), warnings.catch_warnings():
                warnings.simplefilter("error")
                # Features have no bounds, which is well so.
                warnings.filterwarnings("ignore", message=".*infinity.*")
                check_env(self.make(**arguments).unwrapped)

    def test_corpus_modules_are_read_compressed(self):
        env = self.make(MLP)
        _, info = env.reset(seed=1)
        self.assertLess(info["default_score"], info["score"])

    def test_rewards_are_logarithms_of_drops_of_the_score(self):
        env = self.make(exact_mask=True, render_mode="ansi")
        _, before = env.reset(seed=1)
        self.assertEqual(before["score"], 8)
        observation, reward, terminated, truncated, info = env.step(
            self.action(env, "dce"))
        self.assertAlmostEqual(reward, np.log(8 / 7))
        self.assertEqual(info["score"], 7)
        self.assertFalse(terminated or truncated)
        self.assertTrue(env.observation_space.contains(observation))
        self.assertIn("7 ops", env.render())
        self.assertIn("dce", env.render())
        _, reward, terminated, _, _ = env.step(self.action(env, "stop"))
        self.assertEqual(reward, 0)
        self.assertTrue(terminated)

    def test_truncates_after_max_steps(self):
        env = self.make(max_steps=2)
        env.reset(seed=1)
        self.assertFalse(env.step(0)[3])
        self.assertTrue(env.step(0)[3])
        # A new episode starts over.
        observation, info = env.reset()
        self.assertEqual(info["score"], 8)
        self.assertEqual(observation["remaining_steps"], 1)

    def test_the_exact_mask_says_what_changes_something(self):
        env = self.make(exact_mask=True)
        _, info = env.reset(seed=1)
        masks = env.unwrapped.action_masks()
        np.testing.assert_array_equal(masks, info["action_mask"].astype(bool))
        self.assertTrue(masks[-1])
        self.assertTrue(0 < masks.sum() < len(masks))
        for action in range(len(masks) - 1):
            env.reset()
            before = env.unwrapped.fork()
            after = env.step(action)[0]
            if not masks[action]:
                histogram = before.step(len(masks) - 1)[0]["histogram"]
                np.testing.assert_array_equal(after["histogram"], histogram)
            before.close()

    def test_forks_are_independent(self):
        env = self.make()
        env.reset(seed=1)
        fork = env.unwrapped.fork()
        self.assertEqual(fork.step(self.action(env, "dce"))[4]["score"], 7)
        self.assertEqual(
            env.step(self.action(env, "stop"))[4]["score"], 8)
        self.assertEqual(fork.fork().step(0)[4]["default_score"], 3)
        fork.close()

    def test_graphs_are_padded_and_cut(self):
        whole = self.make(graph_size=(16, 32)).reset(seed=1)[0]
        self.assertEqual((whole["node_kinds"] >= 0).sum(), 8)
        self.assertEqual((whole["edges"][:, 0] >= 0).sum(), 11)
        self.assertTrue((whole["edges"] < 8).all())
        self.assertTrue((whole["node_features"][8:] == 0).all())
        cut = self.make(graph_size=(4, 2)).reset(seed=1)[0]
        np.testing.assert_array_equal(cut["node_kinds"],
                                      whole["node_kinds"][:4])
        self.assertTrue((cut["edges"] < 4).all())

    def test_step_before_reset(self):
        with self.assertRaises(gymnasium.error.ResetNeeded):
            self.make().unwrapped.step(0)

    def test_goes_on_when_honed_was_started_anew(self):
        env = self.make()
        env.reset(seed=1)
        self.stop()
        self.start()
        self.assertEqual(env.reset()[1]["score"], 8)


class Vector(WithDaemon):
    def test_steps_like_single_environments(self):
        envs = gymnasium.make_vec(
            "hone/PassOrder-v0", num_envs=4, server=self.server, module=TINY,
            vectorization_mode="vector_entry_point", max_steps=3)
        self.addCleanup(envs.close)
        single = self.make(max_steps=3)
        observations, info = envs.reset(seed=1)
        self.assertTrue(envs.observation_space.contains(observations))
        np.testing.assert_array_equal(info["score"], [8, 8, 8, 8])
        stop = self.action(single, "stop")
        dce, cse = self.action(single, "dce"), self.action(single, "cse")
        _, rewards, terminated, truncated, info = envs.step(
            [dce, cse, stop, dce])
        single.reset(seed=1)
        np.testing.assert_allclose(
            rewards, [np.log(8 / 7), single.step(cse)[1], 0, np.log(8 / 7)])
        np.testing.assert_array_equal(terminated, [False, False, True, False])
        self.assertFalse(truncated.any())
        # The one that ended starts over; its action is not taken.
        _, rewards, terminated, _, info = envs.step([dce, dce, dce, stop])
        self.assertEqual(rewards[2], 0)
        self.assertEqual(info["score"][2], 8)
        np.testing.assert_array_equal(terminated, [False, False, False, True])
        _, _, _, truncated, _ = envs.step([dce, dce, dce, dce])
        np.testing.assert_array_equal(truncated, [True, True, False, False])
        self.assertEqual(envs.action_masks().shape, (4, stop + 1))


class Errors(WithDaemon):
    def test_requests_have_ids(self):
        """A request with the id of an earlier one is that one."""
        client = hone.Client(self.server)
        self.addCleanup(client.close)
        request = environment_service_pb2.OpenEnvironmentRequest(
            module=client.module_source(TINY), request_id="mine")
        name = client.open_environment(request).environment.name
        self.assertEqual(client.open_environment(request).environment.name,
                         name)
        with mock.patch("uuid.uuid4", return_value="the same"):
            forks = {client.fork(name).environment.name for _ in range(2)}
        self.assertEqual(len(forks), 1)
        forks.add(client.fork(name).environment.name)
        request.request_id = ""
        forks.update(client.open_environment(request).environment.name
                     for _ in range(2))
        self.assertEqual(len(forks), 4)

    def test_statuses(self):
        client = hone.Client(self.server)
        self.addCleanup(client.close)
        message = environment_service_pb2.OpenEnvironmentRequest
        source = client.module_source(TINY)
        for request, code, reason in (
            (message(), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"),
            (message(module=client.module_source(b"HloModule m\n\nnonsense")),
             grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MODULE"),
            (message(module=source, task="knitting"),
             grpc.StatusCode.NOT_FOUND, "NOT_FOUND"),
            (message(module=source, options={"pass_order": {"score": 9}}),
             grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"),
        ):
            with self.assertRaises(hone.Error) as raised:
                client.open_environment(request)
            self.assertError(raised, code, reason)

        name = client.open_environment(
            message(module=source)).environment.name
        step = environment_service_pb2.StepRequest
        with self.assertRaises(hone.Error) as raised:
            client.step(step(name=name, actions=[999]))
        self.assertError(raised, grpc.StatusCode.INVALID_ARGUMENT,
                         "INVALID_FIELD")
        results = client.step_batch([
            step(name=name, actions=[0]),
            step(name="projects/default/environments/none", actions=[0])
        ])
        self.assertEqual(len(results[0].steps), 1)
        self.assertEqual(results[1].code, grpc.StatusCode.NOT_FOUND)
        client.close_environment(name)
        with self.assertRaises(hone.Error) as raised:
            client.step(step(name=name, actions=[0]))
        self.assertError(raised, grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        self.assertEqual(raised.exception.metadata["name"], name)

    def test_too_many_environments(self):
        with hone.Client(self.server) as client:
            request = environment_service_pb2.OpenEnvironmentRequest(
                module=client.module_source(TINY))
            names = []
            with self.assertRaises(hone.Error) as raised:
                for _ in range(13):
                    names.append(
                        client.open_environment(request).environment.name)
            self.assertError(raised, grpc.StatusCode.RESOURCE_EXHAUSTED,
                             "TOO_MANY_ENVIRONMENTS")
            for name in names:
                client.close_environment(name)

    def test_episodes_that_ended(self):
        env = self.make(max_steps=1).unwrapped
        env.reset(seed=1)
        env.step(0)
        with self.assertRaises(hone.Error) as raised:
            env.step(0)
        self.assertError(raised, grpc.StatusCode.FAILED_PRECONDITION,
                         "EPISODE_ENDED")

    def test_no_module_there(self):
        with self.assertRaises(FileNotFoundError):
            self.make("/nonexistent/model.hlo")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
