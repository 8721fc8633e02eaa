"use strict";
// What each picture is made of: functions of the numbers, of what the menus say, and of the look.
const numbers = JSON.parse(document.getElementById("numbers").textContent);

// plotly reads a little HTML in its labels; words of the data must not be any.
const plain = (words) =>
  String(words).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const clip = (words, most) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
const count = (value) => Math.round(value).toLocaleString("en");
const short = (value) => (value === null ? "none" : Number(value.toPrecision(3)).toString());
const percent = (share) => `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))}%`;

function unpack(array) {
  const bytes = Uint8Array.from(atob(array.f4), (character) => character.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}
function column(array, k) {
  const [n, width] = array.shape;
  const values = (array.values ??= unpack(array));
  return Array.from({ length: n }, (_, i) => values[i * width + k]);
}
const list = (array) => Array.from((array.values ??= unpack(array)));

function look() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["paper", "text", "faint", "line", "ink", "band", "pale", "mark", "low", "middle", "high"];
  const colours = Object.fromEntries(names.map((name) => [name, of(name)]));
  return { ...colours, categories: of("categories").split(",") };
}

const even = (one, two) => one.every((span, i) => span.every((end, k) => end === two[i][k]));
const narrow = () => window.innerWidth < 640;
const touched = () => matchMedia("(pointer: coarse)").matches;

// An axis of logs that is labelled at 1, 2 and 5 within each decade, or at 1 where there are many.
function logs(low, high, write = short, room = narrow() ? 2.5 : 3) {
  const steps = Math.log10(high / low) > room ? [1] : [1, 2, 5];
  const decades = Array.from({ length: 24 }, (_, k) => k - 14);
  const tickvals = decades.flatMap((k) => steps.map((step) => Number(`${step}e${k}`)));
  return { type: "log", tickvals, ticktext: tickvals.map(write), range: [Math.log10(low), Math.log10(high)] };
}

function axis(c, title, more = {}) {
  return {
    title: { text: plain(title), font: { size: 14 }, standoff: 8 }, gridcolor: c.line, linecolor: c.faint,
    zeroline: false, tickcolor: c.faint, automargin: true, ...more,
  };
}
function layout(c, more) {
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: c.text, size: 13, family: getComputedStyle(document.body).fontFamily },
    margin: { l: 8, r: 8, t: 36, b: 8 }, hovermode: "closest", modebar: { bgcolor: "rgba(0,0,0,0)", color: c.faint, activecolor: c.ink },
    hoverlabel: { bgcolor: c.paper, bordercolor: c.line, font: { color: c.text }, align: "left" },
    legend: { orientation: "h", x: 0, bgcolor: "rgba(0,0,0,0)", itemsizing: "constant",
      ...(narrow() ? { yref: "container", y: 0, yanchor: "bottom", entrywidth: 0.5, entrywidthmode: "fraction", font: { size: 11.5 } } : { y: 1.02, yanchor: "bottom" }) },
    dragmode: touched() ? false : "zoom", ...more,
  };
}

const counted = (r) => r.low.every((low, i) => low === r.high[i]);
function retention(c) {
  const r = numbers.retention;
  const words = r.ells.map((ell, i) => {
    const seen = r.low[i] === r.high[i];
    const span = seen ? "" : `<br>expected in ${count(r.low[i])} to ${count(r.high[i])}`;
    return `ell ${short(ell)}<br><b>${count(r.centers[i])} centers</b>, ${percent(r.centers[i] / r.n)}${span}`;
  });
  const line = { x: r.ells, y: r.centers, mode: "lines+markers", line: { color: c.ink, width: 2.5 }, marker: { size: 7 },
    hovertext: words, hoverinfo: "text", name: counted(r) ? "counted" : "forecast" };
  const band = { x: [...r.ells, ...r.ells.slice().reverse()], y: [...r.high, ...r.low.slice().reverse()], fill: "toself", mode: "lines",
    line: { width: 0 }, fillcolor: c.band, opacity: 0.35, hoverinfo: "skip", name: "expected in" };
  const data = counted(r) ? [line] : [band, line];
  const [least, most] = [Math.min(...r.low), Math.max(...r.high)];
  const wide = most > 20 * least;
  const centers = wide ? logs(least / 1.3, most * 1.3, (v) => v.toLocaleString("en")) : { range: [0, most * 1.08], tickformat: ",~g" };
  const notes = [];
  if (r.ell !== null) {
    data.push({ x: [r.ell], y: [r.kept], mode: "markers", marker: { size: 15, color: c.mark, line: { color: c.paper, width: 2 } },
      hovertext: [`this model: ell ${short(r.ell)}<br><b>${count(r.kept)} centers</b>`], hoverinfo: "text", name: "this model" });
    notes.push({ x: r.ell, y: wide ? Math.log10(r.kept) : r.kept, text: `<b>${count(r.kept)}</b> centers`, showarrow: false,
      xanchor: "left", yanchor: "top", xshift: 10, yshift: -8, font: { color: c.mark, size: 14 }, bgcolor: c.paper, opacity: 0.9 });
  }
  return { data, layout: layout(c, { annotations: notes, xaxis: axis(c, "ell: bandwidth over radius"), yaxis: axis(c, "centers", centers) }) };
}

// Whether any interval is wider than a dot.
const seen = (s) => s.likely.some(([low, high]) => high > 1.01 * low);
function spectrum(c) {
  const s = numbers.spectrum;
  const sure = s.likely && even(s.likely, s.certain);
  const x = s.values.map((_, i) => i + 1);
  const lowest = Math.min(...s.values.filter((v) => v > 0), ...(s.likely ?? []).map((v) => v[0]).filter((v) => v > 0));
  const floor = Math.max(lowest, Math.max(...s.values) / 1e6) / 2;
  const bars = (spans, color, width, name) => ({
    type: "bar", x, base: spans.map((v) => Math.max(v[0], floor)), y: spans.map((v) => v[1] - Math.max(v[0], floor)),
    marker: { color }, width, hoverinfo: "skip", name,
  });
  const words = s.values.map((value, i) => `component ${i + 1}<br><b>${short(value)}</b>` +
    (s.likely ? `${sure ? "" : `<br>at ${percent(s.confidence)}: ${s.likely[i].map(short).join(" to ")}`}<br>always: ${s.certain[i].map(short).join(" to ")}` : ""));
  const data = [];
  const always = narrow() ? "always" : "exact one, always";
  const likely = narrow() ? `at ${percent(s.confidence)}` : `exact one, at ${percent(s.confidence)} confidence`;
  if (s.likely && !sure) data.push(bars(s.certain, c.pale, 0.08, always));
  if (s.likely && seen(s)) data.push(bars(s.likely, c.band, 0.34, sure ? always : likely));
  data.push({ x, y: s.values, mode: "markers", marker: { size: 10, color: c.ink, line: { color: c.paper, width: 1.5 } },
    hovertext: words, hoverinfo: "text", name: "this model", showlegend: true });
  const top = s.certain ? Math.max(...s.certain.map((v) => v[1])) : Math.max(...s.values);
  const scale = s.walk ? {} : logs(floor, top * 1.3);
  return { data, layout: layout(c, {
    barmode: "overlay", xaxis: axis(c, "component", { dtick: Math.max(1, Math.round(x.length / 12)), range: [0.4, x.length + 0.6] }),
    yaxis: axis(c, s.label, scale) }) };
}

function embedding(c, menu) {
  const e = numbers.embedding;
  const [a, b] = [menu("embedding-x"), menu("embedding-y")];
  const color = e.colors[menu("embedding-color")];
  const [x, y, values] = [column(e.rows, a), column(e.rows, b), list(color.values)];
  const place = (i) => `<br>${plain(e.axes[a])}: ${short(x[i])}<br>${plain(e.axes[b])}: ${short(y[i])}`;
  const size = narrow() ? 3 : 5;
  const data = color.names
    ? color.names.map((name, k) => {
      const own = values.flatMap((value, i) => (value === k ? [i] : []));
      return { own, name, k };
    }).sort((one, two) => two.own.length - one.own.length).map(({ own, name, k }, rank) => {
      return { x: own.map((i) => x[i]), y: own.map((i) => y[i]), mode: "markers", name: plain(clip(name, narrow() ? 16 : 32)), legendrank: k,
        marker: { size: size + 1, color: c.categories[rank], opacity: 0.65 },
        hovertext: own.map((i) => `<b>${plain(color.name)}: ${plain(name)}</b>${place(i)}`), hoverinfo: "text" };
    })
    : [{ x, y, mode: "markers", name: "rows", showlegend: false,
      marker: { size, color: values, opacity: 0.75, colorscale: [[0, c.low], [0.5, c.middle], [1, c.high]],
        colorbar: { title: { text: plain(clip(color.name, 40)), side: narrow() ? "top" : "right" }, thickness: 12, outlinewidth: 0,
          ...(narrow() ? { orientation: "h", yref: "container", y: 0, yanchor: "bottom", len: 1 } : {}) } },
      hovertext: values.map((value, i) => `<b>${plain(color.name)}: ${short(value)}</b>${place(i)}`), hoverinfo: "text" }];
  const weights = e.weights ? list(e.weights) : null;
  const drawn = e.centers.shape[0];
  data.push({ x: column(e.centers, a), y: column(e.centers, b), mode: "markers",
    name: weights && !narrow() ? "centers, area by weight" : "centers",
    marker: { size: list(e.sizes).map((s) => (narrow() ? 0.9 : 1.5) * s), color: "rgba(0,0,0,0)", line: { color: c.text, width: narrow() ? 0.8 : 1.1 }, opacity: 0.8 },
    legendrank: 1000,
    hovertext: list(e.sizes).map((_, i) => (weights ? `center of <b>${count(weights[i])}</b> rows` : "center")),
    hoverinfo: "text" });
  const bare = narrow() && !color.names;
  return { data, layout: layout(c, { xaxis: axis(c, e.axes[a]), yaxis: axis(c, e.axes[b]), showlegend: !bare }) };
}

function density(c, menu) {
  const view = numbers.density.views[menu("density-view")];
  return view.names.length === 1 ? densityLine(c, view) : densityPlane(c, view);
}
function densityLine(c, view) {
  const x = view.grid[0];
  const shape = (y, color, width, name) => ({ x, y: list(y), mode: "lines", line: { color, width }, name });
  const sizes = list(view.sizes), places = list(view.centers), highest = Math.max(...list(view.data));
  const largest = Math.max(...sizes);
  const data = [
    { type: "bar", x: places, y: sizes.map((s) => 0.35 * highest * (s / largest) ** 2), marker: { color: c.mark }, width: (x.at(-1) - x[0]) / 400,
      name: narrow() ? "centers" : "centers, height by weight", hoverinfo: "skip" },
    shape(view.data, c.band, 7, "of the rows"), shape(view.reduced, c.ink, 2, "of the reduced set"),
  ];
  return { data, layout: layout(c, { xaxis: axis(c, view.names[0]), yaxis: axis(c, "density", { rangemode: "tozero" }) }) };
}
function ends(view) {
  const all = [...list(view.data), ...list(view.reduced)];
  return [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
}
function densityPlane(c, view) {
  const [nx, ny] = view.data.shape;
  const across = (array) => Array.from({ length: ny }, (_, j) => Array.from({ length: nx }, (_, i) => list(array)[i * ny + j]));
  const [lowest, highest] = ends(view);
  const step = (highest - lowest) / 12;
  const side = (array, k) => ({
    type: "contour", x: view.grid[0], y: view.grid[1], z: across(array), xaxis: k ? "x2" : "x", yaxis: k ? "y2" : "y", showscale: false,
    contours: { start: lowest + step, end: highest, size: step }, zmin: lowest, zmax: highest, line: { color: c.ink, width: 0.6 }, hoverinfo: "skip",
    colorscale: [[0, c.paper], [1, c.band]], showlegend: false,
  });
  const dots = { x: column(view.dots, 0), y: column(view.dots, 1), mode: "markers", marker: { size: 3, color: c.ink, opacity: 0.55 }, hoverinfo: "skip", showlegend: false };
  const rings = { x: column(view.centers, 0), y: column(view.centers, 1), xaxis: "x2", yaxis: "y2", mode: "markers",
    marker: { size: list(view.sizes).map((s) => 1.2 * s), color: "rgba(0,0,0,0)", line: { color: c.mark, width: 1 } }, hoverinfo: "skip", showlegend: false };
  const stacked = narrow();
  const domain = (k) => (k ? [0.54, 1] : [0, 0.46]);
  const title = (text, k) => ({ text, showarrow: false, xref: "paper", yref: "paper", x: stacked ? 0 : domain(k)[0], xanchor: "left",
    y: stacked ? domain(1 - k)[1] : 1, yanchor: "bottom", font: { size: 14, color: c.ink } });
  const more = (k, other) => ({ domain: stacked ? undefined : domain(k), anchor: other, ...(k ? { matches: "x" } : {}) });
  const upright = (k, other) => ({ domain: stacked ? domain(1 - k) : undefined, anchor: other, ...(k ? { matches: "y" } : {}) });
  return { data: [side(view.data, 0), dots, side(view.reduced, 1), rings], layout: layout(c, {
    margin: { l: 8, r: 8, t: 30, b: 8 },
    annotations: [title(`<b>${count(numbers.density.rows)} rows</b>`, 0), title(`<b>${count(numbers.density.centers)} centers</b>`, 1)],
    xaxis: axis(c, stacked ? "" : view.names[0], more(0, "y")), xaxis2: axis(c, view.names[0], more(1, "y2")),
    yaxis: axis(c, view.names[1], upright(0, "x")), yaxis2: axis(c, stacked ? view.names[1] : "", upright(1, "x2")) }) };
}

function levels(c) {
  const kinds = [["mmd", "MMD", "circle", c.band], ["operator", "operator", "diamond", c.ink], ["eigenvalue", "eigenvalue / n", "triangle-down", c.mark]];
  const names = numbers.levels.map((level) => level.name + (level.confidence < 1 ? `, at ${percent(level.confidence)}` : ""));
  const given = numbers.levels.flatMap((level) => kinds.map(([key]) => level[key]).filter((value) => value));
  const all = given.length ? given : [0.1, 1]; // an exact model has no error to place
  const data = kinds.map(([key, name, symbol, color], k) => {
    const shown = numbers.levels.flatMap((level, i) => (level[key] ? [i] : []));
    return { x: shown.map((i) => numbers.levels[i][key]), y: shown.map((i) => i + 0.18 * (k - 1)), mode: "markers", name,
      marker: { size: 13, symbol, color, line: { color: c.paper, width: 1 } },
      hovertext: shown.map((i) => `${names[i]}<br>${name} at most <b>${short(numbers.levels[i][key])}</b>`), hoverinfo: "text" };
  });
  const notes = numbers.levels.flatMap((level, i) => (level.mmd || level.operator || level.eigenvalue ? [] : [
    { x: 0.01, xref: "paper", xanchor: "left", y: i, text: level.operator === null ? "says nothing" : "no error", showarrow: false, font: { color: c.faint }, bgcolor: c.paper }]));
  return { data, layout: layout(c, { annotations: notes, xaxis: axis(c, "error at most", logs(Math.min(...all) / 2, Math.max(...all) * 2, short, narrow() ? 1.5 : 3)),
    yaxis: axis(c, "", { tickvals: names.map((_, i) => i), ticktext: names, range: [names.length - 0.5, -0.5] }) }) };
}

const FIGURES = { retention, spectrum, embedding, density, levels };
