"use strict";
// Most figures are built by plotly in Python, for wide screens and light mode. The embedding is drawn here, from a table of rows.
const LIGHT = {{ colors.light | tojson }};
const TO_DARK = {{ colors.to_dark | tojson }};
const CATEGORIES = {{ colors.categories | tojson }};
const THEMES = { auto: "◐ System", light: "☀ Light", dark: "☾ Dark" };
// No data leave the page: only the listed buttons are shown, and none of them sends data.
const CONFIG = { displaylogo: false, responsive: true, plotlyServerURL: "", modeBarButtons: [["toImage", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };
const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
const MOST = { centers: 1000, ids: 200, features: 10, levels: 3, ends: 5 }; // shown at once
const GRID = 72; // points of the density along each axis

const element = (id) => document.getElementById(id);
const chosen = (id) => Number(element(id).value);
const isNarrow = () => window.innerWidth < 640;
const isTouch = () => matchMedia("(pointer: coarse)").matches;
const hasWebGL = Boolean(document.createElement("canvas").getContext("webgl"));
const clean = (text, most = 32) => (text.length > most ? `${text.slice(0, most - 1)}…` : text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
function short(value) {
  if (!Number.isFinite(value)) return "–";
  const isTiny = value !== 0 && Math.abs(value) < 1e-4;
  return isTiny ? value.toExponential(2) : value.toLocaleString("en", { maximumSignificantDigits: 4 });
}
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const percent = (share) => `${(100 * share).toPrecision(share > 0.1 ? 3 : 2)}%`;

// Create an element; text is never interpreted as HTML.
function create(tag, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(tag), attributes);
  made.append(...children);
  return made;
}

// ------------------------------------------------------------------ the table of rows

async function unpack(id) {
  const stream = new Blob([bytes(element(id).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
function bytes(text) {
  const decoded = atob(text), found = new Uint8Array(decoded.length);
  for (let k = 0; k < decoded.length; k++) found[k] = decoded.charCodeAt(k);
  return found;
}
const decode = ({ dtype, bdata }) => new ARRAYS[dtype](bytes(bdata).buffer);

let figures, ids, idName, idsAreRows, columns, centers;
function readTable(embedding) {
  ({ ids, id_name: idName, ids_are_rows: idsAreRows, columns, centers } = embedding);
  columns.forEach((column, index) => {
    const values = decode(column.values);
    const { levels } = column;
    const isText = typeof levels?.[0] === "string";
    const numbers = levels && !isText ? Float64Array.from(values, (code) => levels[code] ?? NaN) : values;
    Object.assign(column, { index, isText, codes: levels ? values : null, numbers: isText ? null : numbers });
  });
  centers.weights &&= decode(centers.weights);
  centers.sizes = decode(centers.sizes);
  for (const [index, values] of Object.entries(centers.columns)) centers.columns[index] = decode(values);
}
const cell = (column, row) => (column.isText ? column.levels[column.codes[row]] : short(column.numbers[row]));

// Return the shortest number that is stored as the same value.
function exact({ isText, levels, codes, numbers }, row) {
  if (isText) return levels[codes[row]];
  const value = numbers[row];
  if (!Number.isFinite(value)) return "";
  if (!(numbers instanceof Float32Array)) return String(value);
  const lengths = [6, 7, 8, 9].map((digits) => Number(value.toPrecision(digits)));
  return String(lengths.find((rounded) => Math.fround(rounded) === value));
}

// Return the number, sum and sum of squares of the values, relative to the first one to avoid cancellation.
function sums(numbers, rows) {
  const shift = numbers.find(Number.isFinite) ?? 0;
  let n = 0, first = 0, second = 0;
  for (let k = 0; k < (rows ?? numbers).length; k++) {
    const value = numbers[rows ? rows[k] : k] - shift;
    if (!Number.isFinite(value)) continue;
    n += 1, first += value, second += value * value;
  }
  return { shift, n, first, second };
}
function moments(column) {
  if (!column.moments) {
    const all = sums(column.numbers);
    const mean = all.first / all.n;
    column.moments = { ...all, mean: all.shift + mean, deviation: Math.sqrt(Math.max(0, all.second / all.n - mean * mean)) };
  }
  return column.moments;
}

// ------------------------------------------------------------------ themes

let theme = "auto";
const isDark = () => theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
const tint = (color) => (isDark() ? TO_DARK[color] ?? color : color);
function themed(value, key = "") {
  if (Array.isArray(value)) return value.map((item) => themed(item, key));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, themed(v, k)]));
  return typeof value === "string" && /color(scale)?$/.test(key) ? tint(value) : value;
}

// ------------------------------------------------------------------ the embedding

let groups = []; // rows of the same color, one group per trace
let selected = []; // rows

// Return the rows by category, the most frequent first, or the rows with and without a number.
function groupRows(column) {
  if (column.categorical) return groupByLevel(column);
  const rows = { known: [], missing: [] };
  column.numbers.forEach((value, row) => rows[Number.isFinite(value) ? "known" : "missing"].push(row));
  const missing = { name: "missing", rows: rows.missing, color: LIGHT.pale };
  return [...(rows.missing.length ? [missing] : []), { name: column.name, rows: rows.known, column }];
}
function groupByLevel({ levels, codes }) {
  const members = levels.map(() => []);
  codes.forEach((code, row) => members[code].push(row));
  const order = [...members.keys()].sort((a, b) => members[b].length - members[a].length);
  const kept = order.length > CATEGORIES.length ? order.slice(0, CATEGORIES.length - 1) : order;
  const found = kept.map((code, rank) => ({ name: String(levels[code]), rows: members[code], rank: code, color: CATEGORIES[rank] }));
  const others = order.slice(kept.length).flatMap((code) => members[code]);
  if (others.length) found.push({ name: "other", rows: others, rank: levels.length, color: CATEGORIES.at(-1) });
  return found.filter((group) => group.rows.length);
}
// Return the range of all but the most extreme numbers.
function colorRange(numbers) {
  const sorted = Float64Array.from(numbers).filter(Number.isFinite).sort();
  return [0.01, 0.99].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
}
const pointSize = () => Math.max(3, 9.5 - 1.25 * Math.log10(ids.length)) * (isNarrow() ? 0.8 : 1);
function pointTrace(group, x, y) {
  const { name, rows, rank, color, column } = group;
  const pick = (values) => Float64Array.from(rows, (row) => values[row]);
  const marker = { size: pointSize(), opacity: 0.75, color: column ? pick(column.numbers) : tint(color) };
  if (column) marker.coloraxis = "coloraxis";
  return {
    type: hasWebGL ? "scattergl" : "scatter", mode: "markers", name: clean(name), x: pick(x.numbers), y: pick(y.numbers), marker,
    hoverinfo: "none", showlegend: !column, legendrank: rank,
  };
}
function centerTrace(x, y) {
  const [px, py] = [x, y].map(({ index }) => centers.columns[index].slice(0, MOST.centers));
  const of = centers.weights ? " of <b>%{customdata:,.0f}</b> rows" : "";
  return {
    type: "scatter", mode: "markers", name: centers.name, x: px, y: py, legendrank: 1e6,
    customdata: centers.weights?.slice(0, MOST.centers), hovertemplate: `${centers.name.slice(0, -1)}${of}<extra></extra>`,
    marker: { size: centers.sizes.slice(0, MOST.centers), color: "rgba(0,0,0,0)", line: { color: tint(LIGHT.text), width: 1.1 }, opacity: 0.8 },
  };
}
const hasCenters = (x, y) => Boolean(centers.columns[x.index] && centers.columns[y.index]);

// Estimate the density of all rows from the weighted centers, or else that of the rows on this page.
function densityTrace(x, y) {
  const weighted = centers.weights && hasCenters(x, y);
  const [px, py] = [x, y].map((column) => (weighted ? centers.columns[column.index] : column.numbers));
  const grid = estimateDensity(px, py, weighted ? centers.weights : new Float64Array(ids.length).fill(1));
  const of = weighted ? `all ${count(Math.round(centers.weights.reduce((a, b) => a + b, 0)), "row")}, estimated from ${count(centers.weights.length, "center")}` : `the ${count(ids.length, "row")} shown here`;
  element("density-words").textContent = `The contours show the density of ${of}.`;
  const top = grid.z.reduce((most, line) => Math.max(most, ...line), 0);
  return {
    type: "contour", ...grid, showscale: false, hoverinfo: "skip", name: "density", showlegend: false, autocontour: false, colorscale: [[0, tint(LIGHT.text)], [1, tint(LIGHT.text)]],
    contours: { coloring: "lines", start: top / 10, end: top, size: top / 8 }, line: { width: 1.6, smoothing: 1 },
  };
}
// Sum Gaussians at the points, each cut off at four standard deviations, on a grid.
function estimateDensity(px, py, weights) {
  const total = weights.reduce((a, b) => a + b, 0);
  const axes = [px, py].map((values) => densityAxis(values, weights, total));
  const z = Array.from({ length: GRID }, () => new Float64Array(GRID));
  for (let k = 0; k < weights.length; k++) {
    const [x, y] = axes.map((axis) => bump(axis, k));
    for (let j = 0; j < y.heights.length; j++) {
      const line = z[y.start + j], height = weights[k] * y.heights[j];
      for (let i = 0; i < x.heights.length; i++) line[x.start + i] += height * x.heights[i];
    }
  }
  return { x: axes[0].ticks, y: axes[1].ticks, z };
}
function densityAxis(values, weights, total) {
  let mean = 0, square = 0, low = Infinity, high = -Infinity;
  values.forEach((value, k) => { mean += (weights[k] * value) / total; low = Math.min(low, value); high = Math.max(high, value); });
  values.forEach((value, k) => { square += (weights[k] * (value - mean) ** 2) / total; });
  // Half the width of Scott's rule, which is meant for a single bump.
  const width = Math.max(0.5 * Math.sqrt(square) * values.length ** (-1 / 6), 1e-9 * Math.max(1, Math.abs(mean)));
  const start = low - 2 * width, step = (high - low + 4 * width) / (GRID - 1);
  return { values, width, start, step, ticks: Array.from({ length: GRID }, (_, i) => start + i * step) };
}
function bump({ values, width, start, step }, k) {
  const first = Math.max(0, Math.ceil((values[k] - 4 * width - start) / step));
  const last = Math.min(GRID - 1, Math.floor((values[k] + 4 * width - start) / step));
  const heights = [];
  for (let i = first; i <= last; i++) heights.push(Math.exp(-0.5 * ((start + i * step - values[k]) / width) ** 2) / (width * Math.sqrt(2 * Math.PI)));
  return { start: first, heights };
}

const shownColumns = () => ["x", "y", "color"].map((name) => columns[chosen(`embedding-${name}`)]);
function embedding() {
  const [x, y, color] = shownColumns();
  groups = groupRows(color);
  const figure = themed(figures.embedding.figure);
  figure.data = groups.map((group) => pointTrace(group, x, y));
  element("show-centers").disabled = !hasCenters(x, y);
  if (element("show-centers").checked && hasCenters(x, y)) figure.data.push(centerTrace(x, y));
  element("density-words").textContent = "";
  if (element("show-density").checked) figure.data.push(densityTrace(x, y));
  figure.layout.xaxis.title.text = clean(x.name);
  figure.layout.yaxis.title.text = clean(y.name);
  figure.layout.uirevision = `${x.index} ${y.index}`; // keeps the zoom when only the colors change
  if (color.categorical && !isNarrow()) {
    Object.assign(figure.layout, { modebar: { orientation: "v" }, margin: { r: 40 } }); // the legend is on top
  } else if (!color.categorical) {
    const [cmin, cmax] = colorRange(color.numbers);
    figure.layout.coloraxis = { cmin, cmax, colorbar: { title: { text: clean(color.name, 40) } } };
  }
  return figure;
}

// ------------------------------------------------------------------ selecting rows

const stage = element("stage"), overlay = element("overlay"), tip = element("tip");
let path = null; // corners of the lasso or box that is being drawn, in pixels
const mode = () => document.querySelector("[name=mode]:checked")?.value ?? "";
const axesInPixels = () => {
  const { xaxis, yaxis } = element("figure-embedding")._fullLayout;
  return [xaxis, yaxis].map((axis) => {
    const start = axis._offset + axis.l2p(0), scale = axis.l2p(1) - axis.l2p(0);
    return { of: (value) => start + scale * value, low: axis._offset, high: axis._offset + axis._length };
  });
};
const visibleGroups = () => groups.filter((_, k) => element("figure-embedding").data?.[k]?.visible !== "legendonly");

function isInside(corners, x, y) { // even-odd rule
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const a = corners[i], b = corners[j];
    if (a[1] > y !== b[1] > y && x < ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]) + a[0]) inside = !inside;
  }
  return inside;
}
// Return the rows of visible groups with their positions in pixels.
function locateRows() {
  const [x, y] = shownColumns();
  const [ax, ay] = axesInPixels();
  const rows = visibleGroups().flatMap((group) => group.rows);
  return { rows, px: Float32Array.from(rows, (row) => ax.of(x.numbers[row])), py: Float32Array.from(rows, (row) => ay.of(y.numbers[row])) };
}
function rowsInside(corners, { rows, px, py }) {
  const [xs, ys] = [0, 1].map((k) => corners.map((corner) => corner[k]));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return rows.filter((_, k) => px[k] >= left && px[k] <= right && py[k] >= top && py[k] <= bottom && isInside(corners, px[k], py[k]));
}
const box = ([[x, y]], [right, bottom]) => [[x, y], [right, y], [right, bottom], [x, bottom]];

function paint() {
  const { clientWidth: width, clientHeight: height } = overlay;
  if (!width) return;
  const ratio = window.devicePixelRatio;
  Object.assign(overlay, { width: width * ratio, height: height * ratio });
  const brush = overlay.getContext("2d");
  brush.scale(ratio, ratio);
  stage.classList.toggle("dimmed", selected.length > 0);
  if (selected.length) paintRows(brush);
  if (path) paintPath(brush);
}
function paintRows(brush) {
  const [x, y] = shownColumns();
  const [ax, ay] = axesInPixels();
  const isSelected = new Uint8Array(ids.length);
  for (const row of selected) isSelected[row] = 1;
  const size = selected.length <= 20 ? 10 : pointSize();
  for (const group of visibleGroups()) {
    brush.fillStyle = tint(group.color ?? LIGHT.mark);
    for (const row of group.rows) {
      if (!isSelected[row]) continue;
      const px = ax.of(x.numbers[row]), py = ay.of(y.numbers[row]);
      if (px >= ax.low && px <= ax.high && py >= ay.low && py <= ay.high) dot(brush, px, py, size);
    }
  }
}
function dot(brush, x, y, size) {
  if (selected.length > 2000) return brush.fillRect(x - size / 2, y - size / 2, size, size); // faster
  brush.beginPath();
  brush.arc(x, y, size / 2, 0, 2 * Math.PI);
  brush.fill();
}
function paintPath(brush) {
  brush.beginPath();
  path.forEach(([x, y]) => brush.lineTo(x, y));
  brush.closePath();
  brush.setLineDash([5, 4]);
  Object.assign(brush, { strokeStyle: tint(LIGHT.text), fillStyle: tint(LIGHT.band), lineWidth: 1.5, globalAlpha: 0.15 });
  brush.fill();
  brush.globalAlpha = 1;
  brush.stroke();
}

function startPath(event) {
  if (!["lasso", "box"].includes(mode()) || event.button !== 0 || !event.target.closest(".nsewdrag")) return;
  const frame = stage.getBoundingClientRect();
  const place = ({ clientX, clientY }) => [clientX - frame.left, clientY - frame.top];
  const start = place(event), before = event.shiftKey ? selected : [], places = locateRows();
  let waiting = false;
  const extend = (move) => {
    const [x, y] = place(move), [lastX, lastY] = path?.at(-1) ?? start;
    if (Math.hypot(x - lastX, y - lastY) < 4) return;
    path = mode() === "box" ? box([start], [x, y]) : [...(path ?? [start]), [x, y]];
    tip.hidden = true;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; if (path) { selected = rowsInside(path, places); paint(); } });
  };
  const finish = () => {
    stage.removeEventListener("pointermove", extend);
    if (!path) return;
    const found = new Set([...before, ...rowsInside(path, places)]);
    path = null;
    select([...found]);
  };
  stage.setPointerCapture(event.pointerId);
  stage.addEventListener("pointermove", extend);
  stage.addEventListener("lostpointercapture", finish, { once: true });
}

function select(rows, words) {
  selected = rows;
  paint();
  const share = percent(rows.length / ids.length);
  element("selection-words").textContent = words ?? (rows.length ? `${count(rows.length, "row")} selected, ${share} of those shown` : "No rows selected");
  element("selection").hidden = !rows.length;
  if (!rows.length) return;
  element("selection-levels").replaceChildren(...composition(rows));
  element("selection-features").replaceChildren(...differences(rows).map(({ column, score, own, rest }) =>
    barLine(column, score / 3, `${score > 0 ? "+" : "−"}${Math.abs(score).toFixed(1)} sd`, `${short(own)} here, ${short(rest)} elsewhere`)));
  const more = rows.length > MOST.ids ? ` … and ${(rows.length - MOST.ids).toLocaleString("en")} more` : "";
  element("selection-ids").textContent = rows.slice(0, MOST.ids).map((row) => ids[row]).join(", ") + more;
}

// Return the features whose means differ most from those of the other rows, in standard deviations.
function differences(rows) {
  const compared = columns.filter(({ numbers, kind, categorical }) => numbers && (kind === "feature" || (kind === "given" && !categorical)));
  const scored = compared.map((column) => {
    const all = moments(column), own = sums(column.numbers, rows);
    const here = own.first / own.n, rest = (all.first - own.first) / (all.n - own.n);
    return { column, own: all.shift + here, rest: all.shift + rest, score: (here - rest) / all.deviation };
  });
  const known = scored.filter(({ score }) => Number.isFinite(score) && score !== 0);
  return known.sort((a, b) => Math.abs(b.score) - Math.abs(a.score)).slice(0, MOST.features);
}
// Return the most frequent categories of the selected rows.
function composition(rows) {
  return columns.filter((column) => column.categorical && column.kind !== "feature").map((column) => {
    const counts = new Map();
    for (const row of rows) counts.set(column.codes[row], (counts.get(column.codes[row]) ?? 0) + 1);
    const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST.levels);
    const parts = top.map(([code, number]) => `${column.levels[code]} ${percent(number / rows.length)}`);
    return create("p", {}, create("b", { textContent: `${column.name}: ` }), parts.join(", ") + (counts.size > top.length ? " …" : ""));
  });
}
// Return a line with a bar from the middle to the left or right; the name colors the embedding.
function barLine(column, length, value, words) {
  const name = create("button", { type: "button", className: "link", textContent: column.name, title: `Color by ${column.name}` });
  name.addEventListener("click", () => { element("embedding-color").value = column.index; openTab(element("tab-embedding")); });
  const bar = create("span", { className: length < 0 ? "bar below" : "bar" });
  bar.style.setProperty("--length", Math.min(1, Math.abs(length)));
  return create("li", { title: words }, name, create("span", { className: "track" }, bar), create("span", { textContent: value }), create("small", { textContent: words }));
}

// Find rows by id, or by a part of any text or category.
function search(text) {
  const terms = text.toLowerCase().split(",").map((term) => term.trim()).filter(Boolean);
  const labeled = columns.filter((column) => column.kind !== "feature" && column.categorical);
  const matching = labeled.map(({ levels }) => levels.map((level) => terms.some((term) => String(level).toLowerCase().includes(term))));
  return [...ids.keys()].filter((row) => terms.includes(String(ids[row]).toLowerCase()) || labeled.some(({ codes }, k) => matching[k][codes[row]]));
}
function runSearch(event) {
  event.preventDefault();
  const text = element("search-text").value;
  const found = text.trim() ? search(text) : [];
  select(found, text.trim() && !found.length ? `No row shown here has the ${idsAreRows ? "row number" : "id"} or label “${text}”` : undefined);
}
const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
function toCSV(rows) {
  const header = [idName, ...columns.map((column) => column.name)];
  const lines = rows.map((row) => [String(ids[row]), ...columns.map((column) => exact(column, row))]);
  return [header, ...lines].map((line) => `${line.map(quote).join(",")}\r\n`).join("");
}
function exportSelection() {
  const url = URL.createObjectURL(new Blob([toCSV([...selected].sort((a, b) => a - b))], { type: "text/csv" }));
  create("a", { href: url, download: "selection.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ------------------------------------------------------------------ hovering

function showTip({ points: [point], event }) {
  const group = groups[point.curveNumber];
  if (!group || path) return;
  const row = group.rows[point.pointNumber];
  const [x, y, color] = shownColumns();
  const listed = new Set([color, ...[...element("hover-columns").selectedOptions].map((option) => columns[option.value]), x, y]);
  tip.replaceChildren(create("b", { textContent: idsAreRows ? `row ${ids[row]}` : ids[row] }), ...[...listed].map((column) =>
    create("div", {}, create("span", { textContent: column.name }), create("span", { textContent: cell(column, row) }))));
  tip.hidden = false;
  const { left, top, width, height } = stage.getBoundingClientRect();
  const px = event.clientX - left, py = event.clientY - top;
  tip.style.left = `${Math.max(0, px > width / 2 ? px - tip.offsetWidth - 14 : px + 14)}px`;
  tip.style.top = `${Math.max(0, py > height / 2 ? py - tip.offsetHeight - 14 : py + 14)}px`;
}
function listen(plot) {
  plot.on("plotly_hover", showTip);
  plot.on("plotly_unhover", () => { tip.hidden = true; });
  plot.on("plotly_click", ({ points: [point] }) => { if (groups[point.curveNumber]) select([groups[point.curveNumber].rows[point.pointNumber]]); });
  plot.on("plotly_relayouting", paint);
  plot.on("plotly_afterplot", paint);
}

// ------------------------------------------------------------------ components

// Correlate two columns over the rows in which both have a value.
function correlation({ numbers: a }, { numbers: b }) {
  const rows = [...ids.keys()].filter((row) => Number.isFinite(a[row]) && Number.isFinite(b[row]));
  const [meanA, meanB] = [a, b].map((numbers) => rows.reduce((sum, row) => sum + numbers[row], 0) / rows.length);
  let [ab, aa, bb] = [0, 0, 0];
  for (const row of rows) {
    const [x, y] = [a[row] - meanA, b[row] - meanB];
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / Math.sqrt(aa * bb);
}
function drivers(component) {
  const compared = columns.filter((column) => column.numbers && ["feature", "given"].includes(column.kind));
  const found = compared.map((column) => ({ column, value: correlation(component, column) }));
  return found.filter(({ value }) => Number.isFinite(value)).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, MOST.features);
}
function endTable(component, rows, shown) {
  const head = create("tr", {}, ...[idName, "coordinate", ...shown.map(({ name }) => name)].map((textContent) => create("th", { textContent, scope: "col" })));
  const lines = rows.map((row) => {
    const id = create("button", { type: "button", className: "link", textContent: ids[row], title: "Select this row" });
    id.addEventListener("click", () => { openTab(element("tab-embedding")); select([row]); });
    return create("tr", {}, create("th", { scope: "row" }, id), ...[component, ...shown].map((column) => create("td", { textContent: cell(column, row) })));
  });
  return create("table", {}, create("thead", {}, head), create("tbody", {}, ...lines));
}
function describeComponent() {
  const component = columns[chosen("component")];
  const found = drivers(component);
  element("drivers").replaceChildren(...found.map(({ column, value }) => barLine(column, value, value.toFixed(2).replace("-", "−"), "")));
  const labels = columns.filter((column) => column.kind === "given" && column.isText);
  const shown = [...new Set([...labels.slice(0, 2), ...found.slice(0, 4).map(({ column }) => column)])];
  const order = [...ids.keys()].sort((a, b) => component.numbers[a] - component.numbers[b]);
  element("low-end").replaceChildren(endTable(component, order.slice(0, MOST.ends), shown));
  element("high-end").replaceChildren(endTable(component, order.slice(-MOST.ends).reverse(), shown));
}

// ------------------------------------------------------------------ drawing and tabs

// On phones, move the legend and the color bar below the plot.
function fitToPhone({ data, layout }) {
  layout.legend = { xref: "container", x: 0, yref: "container", y: 0, yanchor: "bottom", font: { size: 11.5 }, entrywidth: 0.45, entrywidthmode: "fraction" };
  if (data.some((trace) => trace.marker?.coloraxis)) {
    layout.showlegend = false;
    Object.assign(layout.coloraxis.colorbar, { orientation: "h", yref: "container", y: 0, yanchor: "bottom", len: 1 });
    layout.coloraxis.colorbar.title.side = "bottom";
  }
  if (layout.xaxis.type === "log" && !layout.xaxis.tickvals) layout.xaxis.dtick = 1;
  if (layout.xaxis.fixedrange) delete layout.annotations; // the caption explains the colors
}
const dragmode = (name) => (name === "embedding" ? { zoom: "zoom", pan: "pan" }[mode()] ?? false : isTouch() ? false : "zoom");
function draw(name) {
  const target = element(`figure-${name}`);
  if (!target || target.closest("[hidden]")) return;
  const width = isNarrow() ? "narrow" : "wide";
  // Otherwise, Plotly keeps the margins of a legend or color bar that has moved below the plot.
  if (target.dataset.width !== width) Plotly.purge(target);
  target.dataset.width = width;
  const isNew = !target.on;
  const figure = name === "embedding" ? embedding() : themed(figures[name]);
  if (isNarrow()) fitToPhone(figure);
  figure.layout.dragmode = dragmode(name);
  Plotly.react(target, figure.data, figure.layout, { ...CONFIG, displayModeBar: figure.layout.xaxis.fixedrange ? false : "hover", scrollZoom: name === "embedding" && !isTouch() });
  if (name === "embedding" && isNew) listen(target);
}
const drawAll = () => Object.keys(figures).forEach(draw);

const tabs = [...document.querySelectorAll("[role=tab]")];
const panel = (tab) => element(tab.getAttribute("aria-controls"));
// The URL hash names a section but is not an element id, because browsers would scroll to it.
const address = (tab) => `#${tab.id.slice("tab-".length)}`;
const current = () => tabs.find((tab) => address(tab) === location.hash) ?? tabs[0];
function show(tab) {
  for (const other of tabs) {
    const isCurrent = other === tab;
    other.setAttribute("aria-selected", isCurrent);
    other.tabIndex = isCurrent ? 0 : -1;
    panel(other).hidden = !isCurrent;
  }
  tab.scrollIntoView({ block: "nearest", inline: "center" });
  drawAll();
}
function openTab(tab) {
  history.replaceState(null, "", address(tab));
  show(tab);
}
function step(event) {
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!move) return;
  const next = tabs[(tabs.indexOf(event.target) + move + tabs.length) % tabs.length];
  next.focus();
  openTab(next);
}
function setTheme(next) {
  theme = next;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  element("theme").textContent = THEMES[theme];
}

function connect() {
  tabs.forEach((tab) => tab.addEventListener("click", () => openTab(tab)));
  tabs.forEach((tab) => tab.addEventListener("keydown", step));
  document.querySelectorAll("[data-draws]").forEach((control) => control.addEventListener("change", () => draw("embedding")));
  document.querySelectorAll("[name=mode]").forEach((control) => control.addEventListener("change", () => {
    stage.dataset.mode = mode();
    Plotly.relayout("figure-embedding", { dragmode: dragmode("embedding") });
  }));
  element("component").addEventListener("change", describeComponent);
  element("search").addEventListener("submit", runSearch);
  element("export").addEventListener("click", exportSelection);
  element("clear").addEventListener("click", () => select([]));
  element("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    setTheme(names[(names.indexOf(theme) + 1) % names.length]);
    drawAll();
  });
  stage.addEventListener("pointerdown", startPath, { capture: true });
  stage.addEventListener("pointerleave", () => { tip.hidden = true; });
  addEventListener("keydown", ({ key }) => { if (key === "Escape") select([]); });
  addEventListener("beforeprint", () => { tabs.forEach((tab) => { panel(tab).hidden = false; }); drawAll(); });
  addEventListener("afterprint", () => show(current()));
  addEventListener("hashchange", () => show(current()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("(max-width: 640px)").addEventListener("change", drawAll);
}
async function start() {
  setTheme("auto");
  tabs.forEach((tab) => { panel(tab).hidden = tab !== current(); });
  const [data, plotly] = await Promise.all(["data", "plotly"].map(unpack));
  document.head.append(create("script", { textContent: plotly }));
  figures = JSON.parse(data);
  readTable(figures.embedding);
  if (isTouch()) document.querySelectorAll("[name=mode]").forEach((control) => { control.checked = false; });
  stage.dataset.mode = mode();
  connect();
  describeComponent();
  show(current());
  element("loading").remove();
}
const ready = start();
