
// Tabs, menus, light and dark. A picture is drawn when its part is first seen.
const chosen = (id) => Number(document.getElementById(id).value);
const tabs = [...document.querySelectorAll("[role=tab]")];
// The address names a part, but no element: a browser would scroll to it, below the tabs.
const address = (tab) => `#${tab.id.slice("tab-".length)}`;
const panel = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
// Nothing leaves the page: the buttons are named one by one, and none of them sends.
const CONFIG = { displaylogo: false, responsive: true, plotlyServerURL: "", modeBarButtons: [["toImage", "zoomIn2d", "zoomOut2d", "resetScale2d"]] };

function draw(name) {
  const target = document.getElementById(`figure-${name}`);
  if (!target || target.closest("[hidden]")) return;
  const width = narrow() ? "narrow" : "wide";
  // plotly keeps margins of a legend or a colour bar that went from the side to below
  if (target.dataset.width !== width) Plotly.purge(target);
  target.dataset.width = width;
  const { data, layout } = FIGURES[name](look(), chosen);
  Plotly.react(target, data, layout, CONFIG);
}
const drawAll = () => Object.keys(FIGURES).forEach(draw);

function show(tab) {
  for (const other of tabs) {
    const on = other === tab;
    other.setAttribute("aria-selected", on);
    other.tabIndex = on ? 0 : -1;
    panel(other).hidden = !on;
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
const asked = () => tabs.find((tab) => address(tab) === location.hash) ?? tabs[0];

function fill(id, names, selected) {
  const menu = document.getElementById(id);
  menu.replaceChildren(...names.map((name, k) => new Option(name, k, k === selected, k === selected)));
  menu.addEventListener("change", () => draw(id.split("-")[0]));
}
const say = (id, words) => { document.getElementById(id).textContent = words; };

const some = (drawn, r) => (drawn >= Math.max(r.n, r.given) ? "all " : "") + count(drawn) + (drawn < r.given ? " random" : "");
function intervals(s) {
  if (!seen(s)) return "The intervals that hold the eigenvalues of exact kernel PCA are narrower than the dots.";
  const bottom = "A bar that reaches the bottom reaches zero.";
  if (even(s.likely, s.certain)) return `The bars always hold the eigenvalues of exact kernel PCA. ${bottom}`;
  return `The bars hold the eigenvalues of exact kernel PCA: the thin ones always, the wide ones all together at ${percent(s.confidence)} confidence. ${bottom}`;
}
function describe() {
  const { retention: r, embedding: e, density: d, spectrum: s } = numbers;
  const many = r.given > r.n; // as of a window of a longer stream
  const other = counted(r) ? (many ? `are those of ${some(r.covered, r)} rows` : "were counted too") : `are forecast from ${count(r.covered)} rows`;
  say("retention-words", r.ell === null
    ? `This model has ${count(r.kept)} points for ${count(r.n)} rows. The curve is what a shadow density would keep.`
    : `${count(r.kept)} centers stand for ${count(r.n)} rows: ${percent(r.kept / r.n)} are kept. A larger ell keeps more centers and is more accurate; the numbers at other ells ${other}.`);
  const drawn = e.centers.shape[0];
  say("embedding-words", `Drawn are ${some(e.rows.shape[0], r)} rows, and ${drawn === r.kept ? "all" : `${count(drawn)} of`} ${count(r.kept)} centers. ${touched() ? "The buttons zoom" : "Drag to zoom, double-click to go back"}; the legend hides and shows.`);
  say("spectrum-words", s.likely
    ? `${intervals(s)} Eigenvalues are divided by the number of rows.`
    : s.walk ? "Eigenvalues of a random walk between the rows: the closer to 1, the slower it forgets the coordinate." : "This model has no certificate, and so no intervals.");
  const apart = () => {
    const view = d.views[chosen("density-view")];
    const [lowest, highest] = ends(view);
    const flat = lowest > 0.5 * highest ? " Both are nearly flat: the kernel is wider than these features." : "";
    say("density-words", `The two estimates share ${percent(1 - view.apart)} of their mass on this grid. That of the rows is made from ${some(d.rows, r)} rows${view.names.length === 2 ? ", in these two features, with the kernel of the model" : ""}.${flat}`);
  };
  apart();
  document.getElementById("density-view").addEventListener("change", apart);
}

const THEMES = ["auto", "light", "dark"];
let theme = "auto";
function setTheme(next) {
  theme = next;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  say("theme", { auto: "◐ System", light: "☀ Light", dark: "☾ Dark" }[theme]);
}

function start() {
  document.documentElement.classList.add("script");
  const { embedding: e, density: d } = numbers;
  fill("embedding-x", e.axes, e.start[0]);
  fill("embedding-y", e.axes, e.start[1]);
  fill("embedding-color", e.colors.map((color) => color.name), 0);
  fill("density-view", d.views.map((view) => view.names.join(" and ")), 0);
  document.getElementById("figure-density").classList.toggle("plane", d.views[0].names.length === 2);
  document.querySelectorAll("#levels, #components").forEach((card) => { card.hidden = !numbers.levels; });
  document.getElementById("density-view").closest(".menus").hidden = d.views.length < 2;
  describe();
  tabs.forEach((tab) => tab.addEventListener("click", () => open(tab)));
  tabs.forEach((tab) => tab.addEventListener("keydown", step));
  addEventListener("beforeprint", () => { tabs.forEach((tab) => { panel(tab).hidden = false; }); drawAll(); });
  addEventListener("afterprint", () => show(asked()));
  addEventListener("hashchange", () => show(asked()));
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(THEMES[(THEMES.indexOf(theme) + 1) % 3]);
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("(max-width: 640px)").addEventListener("change", drawAll);
  setTheme("auto");
  show(asked());
}
start();
