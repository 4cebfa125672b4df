
// ---- Pipeline over time ----
let colorBy = 'kind';
const hueOfEvent = event => colorBy === 'kind' ? events.kind[event] : events.sample[event] % hueCount;
const chipEvents = usedChips.map(() => []), linkEvents = usedLinks.map(() => []);
events.kind.forEach((kind, event) => {
  const rows = kind === kLink ? linkEvents : chipEvents;
  rows[events.chip[event]].push({begin: events.begin[event] / 1e3, end: events.end[event] / 1e3, item: event});
});
const chipRows = chipEvents.map((list, chip) => makeRow('chip ' + chip, hueOfEvent, list));
const linkRows = linkEvents.map((list, link) => makeRow(linkName(link), hueOfEvent, list));
const eventName = event => events.kind[event] === kCompute ? 'sample ' + events.sample[event] : outputName(events.output[event]);
// What fits on a bar.
const eventLabel = event => events.kind[event] === kCompute ? String(events.sample[event]) : outputName(events.output[event]);
function eventPairs(event) {
  const kind = events.kind[event], output = events.output[event], from = events.begin[event];
  return [[kind === kLink ? 'link' : 'chip', kind === kLink ? linkName(events.chip[event]) : String(events.chip[event])],
    ['does', ['computes', 'sends', 'takes from its buffer', 'carries'][kind]], ['sample', String(events.sample[event])],
    ['bytes', kind === kCompute ? '' : carried(outputs.milliseconds[output])],
    ['time', milliseconds(events.end[event] - from) + ', from ' + milliseconds(from, 6)]];
}
function fillPipelineKey() {
  const key = $('pipeline-key');
  key.replaceChildren();
  if (colorBy === 'kind') fillKey(key, [kCompute, kInbound, kOutbound, kLink]);
  else for (let sample = 0; sample < summary.samples; ++sample) key.append(element('span', {}, swatch(sample % hueCount), 'sample ' + sample));
  paintSwatches();
}
function fillPipeline() {
  $('samples-note').textContent = summary.samples === 1 ? 'the first sample of a simulation' : `the first ${summary.samples} samples of a simulation`;
  const pitch = used > 16 ? 18 : 26;
  makeGantt($('pipeline'), chipRows, {top: 20, pitch, gap: 4, counter: 'chipEvents', name: eventName, label: eventLabel, pairs: eventPairs});
  if (linkRows.length === 0) $('links-part').hidden = true;
  else makeGantt($('links'), linkRows, {top: 0, pitch: 18, gap: 4, counter: 'linkEvents', name: eventName, label: eventLabel, pairs: eventPairs});
  addZoomButtons($('time-zoom'), timeMoves, $('pipeline'));
  addChoice($('color-mode'), [['kind', 'Kind'], ['sample', 'Sample']], colorBy, value => {
    colorBy = value;
    fillPipelineKey();
    setTime(timeView.lo, timeView.hi);
  });
  fillPipelineKey();
}
