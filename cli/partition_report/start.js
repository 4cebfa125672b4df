
// ---- The page ----
fillHeader();
fillLoads();
fillTraffic();
if (fits) fillPipeline();
else $('pipeline-part').hidden = true;
paintSwatches();
dark.addEventListener('change', () => { readColors(); paintSwatches(); for (const chart of timeView.charts) chart.request(); });
Object.assign(document.body.dataset, {chips: used, links: usedLinks.length, events: events.kind.length, samples: summary.samples});
for (const chart of timeView.charts) chart.draw();
document.body.dataset.state = 'ready';
