
// ---- Rows of the timeline ----
const kernelEvents = Array.from({length: deviceCount}, () => []);
const kernelsOn = new Array(deviceCount).fill(0), nodesOn = new Array(deviceCount).fill(0);
const membersOf = new Uint32Array(kernels.root.length);
kernels.root.forEach((root, k) => {
  ++kernelsOn[nodes.device[root]];
  if (kernels.end[k] > kernels.begin[k]) kernelEvents[nodes.device[root]].push({begin: kernels.begin[k], end: kernels.end[k], item: k});
});
for (let i = 0; i < nodeCount; ++i) { ++nodesOn[nodes.device[i]]; ++membersOf[nodes.kernel[i]]; }
const deviceRows = kernelEvents.map((events, d) => makeRow('device ' + d, () => d, events));
const linkEvents = new Map();
transfers.kernel.forEach((_, i) => {
  const link = transfers.from[i] * deviceCount + transfers.to[i];
  if (!linkEvents.has(link)) linkEvents.set(link, []);
  linkEvents.get(link).push({begin: transfers.begin[i], end: transfers.end[i], item: i});
});
const kMaxLinks = 240;
let linkRows = [...linkEvents.keys()].sort((a, b) => a - b).map(
  link => makeRow(Math.floor(link / deviceCount) + ' → ' + link % deviceCount, () => link % deviceCount, linkEvents.get(link)));
const allLinks = linkRows.length;
if (allLinks > kMaxLinks) {
  const least = linkRows.map(busyOf).sort((a, b) => b - a)[kMaxLinks - 1];
  linkRows = linkRows.filter(row => busyOf(row) >= least).slice(0, kMaxLinks);
}
const samplesOf = Array.from({length: deviceCount}, () => ({seconds: [], bytes: []}));
memory.device.forEach((d, i) => {
  samplesOf[d].seconds.push(memory.seconds[i]);
  samplesOf[d].bytes.push(memory.bytes[i]);
});

function kernelPairs(k) {
  const root = kernels.root[k];
  return [['opcode', opcodeOf(root)], ['scope', scopeOf(root)], ['device', String(nodes.device[root])],
    ['time', time(kernels.end[k] - kernels.begin[k]) + ', from ' + time(kernels.begin[k], 6)],
    ['work', rate(kernels.flops[k], 'FLOP') + ', ' + bytes(kernels.bytes[k])],
    ['nodes', membersOf[k] > 1 ? whole(membersOf[k]) + ', fused' : '']];
}
