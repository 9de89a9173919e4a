// Charts of the page: drawn by Vega when they come near the screen or when there is time, and changed by their data.
"use strict";

// charts : name -> Vega specification; names : current name of each theme by number; onTheme : called with a theme that is clicked.
function chartsOf(charts, names, onTheme) {
  const { parse, View, expressionInterpreter, Tooltip } = window.textsignalVega;
  const views = new Map();
  const NARROW = 480; // pixels

  // Rows with the current names of themes.
  const named = (rows) => rows.map((row) => (names.has(row.theme) ? { ...row, label: names.get(row.theme) } : row));
  const aboutThemes = ({ values }) => values?.some((row) => names.has(row.theme) && "label" in row);
  // The rows of a chart that the page may change.
  const rowsOf = (name) => charts[name].data.find((set) => set.name === "rows").values;

  // A specification for little room: names on more and shorter lines, fewer ticks.
  const SMALL = { letters: 17, lines: 3, y_step: 46 };
  function narrow(spec) {
    if (spec === null || typeof spec !== "object") return;
    if (spec.name in SMALL && "value" in spec) spec.value = SMALL[spec.name];
    if (typeof spec.labelLimit === "number") spec.labelLimit = Math.min(spec.labelLimit, 125);
    if (typeof spec.titleLimit === "number") spec.titleLimit = Math.min(spec.titleLimit, 200);
    if (typeof spec.tickCount === "number") spec.tickCount = Math.min(spec.tickCount, 4);
    Object.values(spec).forEach(narrow);
  }

  // Vega's interpreter takes the place of eval, which the page's security policy forbids.
  const view = (spec, options) => new View(parse(spec, null, { ast: true }), { expr: expressionInterpreter, ...options });

  async function drawNow(name, rows) {
    const place = document.getElementById(`chart-${name}`);
    if (place === null || !(name in charts)) return;
    if (rows === null) {
      views.get(name)?.finalize();
      views.delete(name);
      place.replaceChildren();
    } else if (views.has(name)) {
      await changed(name, rows);
    } else {
      const spec = structuredClone(charts[name]);
      for (const set of spec.data) if (aboutThemes(set)) set.values = named(set.values);
      if (place.clientWidth < NARROW) narrow(spec);
      place.replaceChildren();
      const tooltip = new Tooltip({ disableDefaultStyle: true }).call;
      const drawn = view(spec, { renderer: "svg", container: place, hover: false, tooltip });
      views.set(name, drawn);
      drawn.addEventListener("click", (_, item) => {
        const theme = item?.datum?.theme ?? item?.datum?.datum?.theme;
        if (theme !== undefined) onTheme(theme);
      });
      await (rows === undefined ? drawn.runAsync() : changed(name, rows));
      place.querySelector("svg").setAttribute("aria-hidden", "true"); // The place has a name, and numbers next to it.
    }
  }

  // A chart with other rows, or with other names in those it has.
  function changed(name, rows) {
    const drawn = views.get(name);
    if (rows !== undefined) drawn.data("rows", named(rows));
    else for (const set of charts[name].data) if (aboutThemes(set)) drawn.data(set.name, named(set.values));
    return drawn.runAsync();
  }

  // Draw a chart after its last drawing is done, with other rows where some are given; null leaves the place empty.
  const drawings = new Map();
  function draw(name, rows) {
    waiting.delete(name);
    const drawing = (drawings.get(name) ?? Promise.resolve()).then(() => drawNow(name, rows));
    drawings.set(name, drawing);
    return drawing;
  }

  // Charts not requested yet are drawn when they come near the screen, or one by one when the browser is idle.
  const waiting = new Set();
  function drawLater() {
    const near = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting && waiting.has(nameOf(target))) draw(nameOf(target));
      },
      { rootMargin: "50%" },
    );
    for (const place of document.querySelectorAll(".chart")) {
      if (drawings.has(nameOf(place)) || place.clientWidth === 0) continue;
      waiting.add(nameOf(place));
      near.observe(place);
    }
    whenIdle(async function next() {
      for (const name of waiting) {
        await draw(name);
        whenIdle(next);
        return;
      }
      near.disconnect();
    });
  }
  const nameOf = (place) => place.id.replace("chart-", "");
  const whenIdle = window.requestIdleCallback ?? ((task) => setTimeout(task, 50));
  async function drawn() {
    for (const name of waiting) draw(name);
    await Promise.all(drawings.values());
  }

  // A chart as it stands, as a picture in colours that need no style sheet.
  async function picture(name, rows, width) {
    const colours = getComputedStyle(document.documentElement);
    const plain = (text) => text.replaceAll(/var\((--[a-z-]+)\)/g, (_, colour) => colours.getPropertyValue(colour).trim());
    const spec = JSON.parse(plain(JSON.stringify(charts[name])));
    const signals = spec.signals.filter((signal) => signal.name !== "width"); // that of its place on the page
    const drawing = view({ ...spec, signals, width, background: colours.getPropertyValue("--paper").trim() });
    drawing.data("rows", named(rows));
    const canvas = await drawing.toCanvas(2);
    drawing.finalize();
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  const renamed = () => Promise.all([...views.keys()].filter((name) => charts[name].data.some(aboutThemes)).map((name) => draw(name)));
  return { views, rowsOf, draw, drawLater, drawn, picture, renamed };
}
