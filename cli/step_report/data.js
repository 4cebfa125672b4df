'use strict';
const {summary, nodes, kernels, transfers, memory} = JSON.parse(document.getElementById('data').textContent);
const step = summary.step_seconds, deviceCount = summary.devices.length, nodeCount = nodes.name.length;
const $ = id => document.getElementById(id);

