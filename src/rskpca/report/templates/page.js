"use strict";
// Tabs, menus and themes. The figures are built by plotly in Python, for wide light screens.
const TEXT = document.getElementById("figures").textContent;
const TO_DARK = {{ colors.to_dark | tojson }};
// No data leave the page: only the listed buttons are shown, and none of them sends data.
const CONFIG = { displaylogo: false, responsive: true, plotlyServerURL: "", modeBarButtons: [["toImage", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };
const THEMES = { auto: "◐ System", light: "☀ Light", dark: "☾ Dark" };
const element = (id) => document.getElementById(id);
const chosen = (id) => Number(element(id).value);
const tabs = [...document.querySelectorAll("[role=tab]")];
const panel = (tab) => element(tab.getAttribute("aria-controls"));
// The URL hash names a section but is not an element id, because browsers would scroll to it.
const address = (tab) => `#${tab.id.slice("tab-".length)}`;
const current = () => tabs.find((tab) => address(tab) === location.hash) ?? tabs[0];

const isNarrow = () => window.innerWidth < 640;
const isTouch = () => matchMedia("(pointer: coarse)").matches;
let theme = "auto";
const isDark = () => theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
const dark = (color) => TO_DARK[color] ?? color;

function recolor(key, value) {
  if (key === "colorscale") return value.map(([position, color]) => [position, dark(color)]);
  return /color$/.test(key) && typeof value === "string" ? dark(value) : value;
}
let figures;
const loadFigures = () => { figures = JSON.parse(TEXT, isDark() ? recolor : undefined); };

function embedding() {
  const { columns, centers, colors } = figures.embedding;
  const figure = structuredClone(colors[chosen("embedding-color")]);
  const rings = structuredClone(centers);
  for (const axis of ["x", "y"]) {
    const column = columns[chosen(`embedding-${axis}`)];
    for (const trace of figure.data) {
      trace[axis] = trace.customdata ? trace.customdata.map((row) => column.rows[row]) : column.rows;
    }
    rings[axis] = column.centers;
    figure.layout[`${axis}axis`].title.text = column.label;
  }
  figure.data.push(rings);
  if (isNarrow()) shrink(figure.data);
  return figure;
}
function shrink(traces) {
  for (const { marker } of traces) {
    marker.size = Array.isArray(marker.size) ? marker.size.map((size) => 0.6 * size) : 0.6 * marker.size;
  }
}
function density() {
  const figure = structuredClone(figures.density[chosen("density-view")]);
  element("density-words").textContent = figure.layout.meta.caption;
  return figure;
}
const COMPOSED = { embedding, density };
const compose = (name) => COMPOSED[name]?.() ?? structuredClone(figures[name]);

// On phones, move the legend and the color bar below the plot, and stack the two densities.
function fitToPhone({ data, layout }) {
  layout.legend = { yref: "container", y: 0, yanchor: "bottom", font: { size: 11.5 } };
  if (data[0].marker?.coloraxis) {
    layout.showlegend = false;
    Object.assign(layout.coloraxis.colorbar, { orientation: "h", yref: "container", y: 0, yanchor: "bottom", len: 1 });
    layout.coloraxis.colorbar.title.side = "bottom";
  }
  if (layout.xaxis.type === "log") layout.xaxis.dtick = 1;
  if (layout.xaxis2) stack(layout);
}
function stack({ xaxis, xaxis2, yaxis, yaxis2, annotations }) {
  Object.assign(yaxis, { domain: [0.54, 1], anchor: "x" });
  Object.assign(yaxis2, { domain: [0, 0.46], title: { text: yaxis.title.text } });
  Object.assign(xaxis, { domain: [0, 1], title: { text: "" } });
  xaxis2.domain = [0, 1];
  Object.assign(annotations[1], { x: 0, y: 0.46 });
}

function draw(name) {
  const target = element(`figure-${name}`);
  if (!target || target.closest("[hidden]")) return;
  const width = isNarrow() ? "narrow" : "wide";
  // Otherwise, Plotly keeps the margins of a legend or color bar that has moved below the plot.
  if (target.dataset.width !== width) Plotly.purge(target);
  target.dataset.width = width;
  const figure = compose(name);
  if (isNarrow()) fitToPhone(figure);
  figure.layout.dragmode = isTouch() ? false : "zoom";
  Plotly.react(target, figure.data, figure.layout, CONFIG);
}
const drawAll = () => Object.keys(figures).forEach(draw);

function show(tab) {
  for (const other of tabs) {
    const selected = other === tab;
    other.setAttribute("aria-selected", selected);
    other.tabIndex = selected ? 0 : -1;
    panel(other).hidden = !selected;
  }
  tab.scrollIntoView({ block: "nearest", inline: "center" });
  drawAll();
}
function open(tab) {
  history.replaceState(null, "", address(tab));
  show(tab);
}
function step(event) {
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!move) return;
  const next = tabs[(tabs.indexOf(event.target) + move + tabs.length) % tabs.length];
  next.focus();
  open(next);
}
function setTheme(next) {
  theme = next;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  element("theme").textContent = THEMES[theme];
  loadFigures();
}
function redraw() {
  loadFigures();
  drawAll();
}

setTheme("auto");
tabs.forEach((tab) => tab.addEventListener("click", () => open(tab)));
tabs.forEach((tab) => tab.addEventListener("keydown", step));
document.querySelectorAll("select").forEach((menu) => menu.addEventListener("change", () => draw(menu.id.split("-")[0])));
element("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  setTheme(names[(names.indexOf(theme) + 1) % names.length]);
  drawAll();
});
addEventListener("beforeprint", () => { tabs.forEach((tab) => { panel(tab).hidden = false; }); drawAll(); });
addEventListener("afterprint", () => show(current()));
addEventListener("hashchange", () => show(current()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
matchMedia("(max-width: 640px)").addEventListener("change", drawAll);
show(current());
