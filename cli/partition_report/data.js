
// ---- Data ----
// Times are in milliseconds, but for the time axis.
const {summary, chips, links, outputs, events} = JSON.parse(document.getElementById('data').textContent);
const used = chips.nodes.reduce((count, nodes, chip) => nodes > 0 ? chip + 1 : count, 0), usedChips = Array.from({length: used}, (_, chip) => chip);
const usedLinks = usedChips.slice(0, -1);
const fits = summary.interval !== undefined;
const timeSpan = events.end.reduce((most, end) => Math.max(most, end), 0) / 1e3;
// Colors of what chips and links do, which are the kinds of events.
const kCompute = 0, kOutbound = 1, kInbound = 2, kLink = 3;
const kindNames = ['compute', 'outbound', 'inbound', 'link'];
const hueCount = 8;
const milliseconds = (value, digitCount = 4) => time(value / 1e3, digitCount);
const linkName = link => link + ' → ' + (link + 1);
const outputName = output => outputs.name[output] || 'node ' + outputs.origin[output];
const loadOf = chip => chips.compute[chip] + chips.inbound[chip] + chips.outbound[chip];
// Bytes that a link carries in so many milliseconds; nothing where the graph has times only.
const carried = value => summary.link_bytes_per_millisecond === undefined ? '' : bytes(value * summary.link_bytes_per_millisecond);
const busyShare = value => fits && summary.interval > 0 ? value / summary.interval : 0;
