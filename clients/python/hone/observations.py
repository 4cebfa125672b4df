"""Observations of EnvironmentService as gymnasium's spaces and arrays."""

import numpy as np
from gymnasium import spaces

from hone.v1 import environment_service_pb2

# The limit at which a score relative to the first is cut off.
MAX_SCORE = 10.0
# The limit of log(1 + count): beyond any 32-bit count.
MAX_LOG_COUNT = 23.0


class ObservationFormat:
    """What of an observation an agent gets, and as which arrays.

    "histogram"        float32 [node kinds]: log(1 + instructions of an opcode)
    "remaining_steps"  float32 [1]: share of the steps that is left
    "score"            float32 [1]: share of the first score, at most 10

    With graph_size=(n, e) also the graph, cut off after n nodes and e edges:

    "node_kinds"       int32 [n]: opcode; -1 where there is no node
    "node_features"    float32 [n, features]
    "edges"            int32 [e, 2]: from node, to node; -1 where there is none
    """

    def __init__(self, server_spaces, graph_size=None):
        self.kinds = len(server_spaces.node_kinds)
        self.features = server_spaces.node_features
        self.graph_size = graph_size

    def space(self):
        parts = {
            "histogram": spaces.Box(0, MAX_LOG_COUNT, (self.kinds,), np.float32),
            "remaining_steps": spaces.Box(0, 1, (1,), np.float32),
            "score": spaces.Box(0, MAX_SCORE, (1,), np.float32),
        }
        if self.graph_size:
            nodes, edges = self.graph_size
            features = (nodes, self.features)
            parts["node_kinds"] = spaces.Box(-1, self.kinds - 1, (nodes,),
                                             np.int32)
            parts["node_features"] = spaces.Box(-np.inf, np.inf, features,
                                                np.float32)
            parts["edges"] = spaces.Box(-1, nodes - 1, (edges, 2), np.int32)
        return spaces.Dict(parts)

    def parts(self, exact_mask):
        return environment_service_pb2.ObservationParts(
            histogram=True, graph=bool(self.graph_size), exact_mask=exact_mask)

    def arrays(self, observation, environment):
        """The arrays of an Observation of that Environment."""
        score = observation.score / max(environment.initial_score, 1e-9)
        arrays = {
            "histogram": np.log1p(np.array(observation.histogram, np.float32)),
            "remaining_steps": np.array(
                [observation.remaining_steps / environment.max_steps],
                np.float32),
            "score": np.array([min(score, MAX_SCORE)], np.float32),
        }
        if self.graph_size:
            arrays.update(self._graph_arrays(observation.graph))
        return arrays

    def _graph_arrays(self, graph):
        max_nodes, max_edges = self.graph_size
        nodes = min(len(graph.node_kinds), max_nodes)
        kinds = np.full(max_nodes, -1, np.int32)
        kinds[:nodes] = graph.node_kinds[:nodes]
        features = np.zeros((max_nodes, self.features), np.float32)
        features[:nodes] = np.array(graph.node_features,
                                    np.float32).reshape(-1,
                                                        self.features)[:nodes]
        ends = np.stack([
            np.array(graph.edge_sources, np.int32),
            np.array(graph.edge_targets, np.int32)
        ], axis=1)
        # Edges of nodes that were cut off go with them.
        ends = ends[(ends < nodes).all(axis=1)][:max_edges]
        edges = np.full((max_edges, 2), -1, np.int32)
        edges[:len(ends)] = ends
        return {"node_kinds": kinds, "node_features": features, "edges": edges}


def action_mask(observation):
    """bool [actions]: false for what is known to change nothing."""
    return np.array(observation.action_mask, bool)
