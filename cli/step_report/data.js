// ---- Data ----
const {summary, nodes, kernels, transfers, memory} = JSON.parse(document.getElementById('data').textContent);
const step = summary.step_seconds, deviceCount = summary.devices.length, nodeCount = nodes.name.length;
// Each device has a color.
const hueCount = deviceCount, timeSpan = step;
const nameOf = node => nodes.name[node] || 'node ' + node;
const opcodeOf = node => nodes.opcode_texts[nodes.opcode[node]];
const scopeOf = node => nodes.scope_texts[nodes.scope[node]];
