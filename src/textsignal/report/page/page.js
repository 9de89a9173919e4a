// What the page does: charts that answer the mouse, rankings, names of topics.
// It computes nothing about the data: that is done in Python, or in themes.js and topics.js for a text that is typed.
"use strict";

(() => {
  const original = document.documentElement.outerHTML;
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const page = json("page-data");
  const names = new Map(page.topics.map((topic) => [topic.number, topic.label]));
  const views = new Map();
  const store = `textsignal:${page.id}`;
  const NARROW = 480; // pixels
  let tried = null;

  // Charts, each drawn after its last drawing is done, the first one after `first`; null leaves the place empty.
  const drawings = new Map();
  function draw(name, spec = page.charts[name], first = Promise.resolve()) {
    drawings.set(name, (drawings.get(name) ?? first).then(() => drawNow(name, spec)));
  }
  const drawn = () => Promise.all(drawings.values());

  // Vega's interpreter takes the place of eval, which the page's security policy forbids.
  async function drawNow(name, spec) {
    const place = document.getElementById(`chart-${name}`);
    if (place === null || spec === undefined) return;
    views.get(name)?.finalize();
    views.delete(name);
    place.replaceChildren();
    if (spec === null) return;
    const options = { renderer: "svg", actions: false, ast: true, hover: false, tooltip: { disableDefaultStyle: true } };
    const drawable = named(structuredClone(spec));
    if (place.clientWidth < NARROW) narrow(drawable);
    const { view, finalize } = await vegaEmbed(place, drawable, options);
    place.querySelector("svg").setAttribute("aria-hidden", "true"); // The place has a name, and numbers beside it.
    views.set(name, { view, finalize });
    view.addEventListener("click", (_, item) => {
      if (item?.datum?.topic !== undefined) openCard(item.datum.topic);
      else if (item?.datum?.datum?.topic !== undefined) openCard(item.datum.datum.topic);
    });
  }

  // A specification with topics under the names that they have now.
  function named(spec) {
    if (Array.isArray(spec)) spec.forEach(named);
    else if (spec !== null && typeof spec === "object") {
      if (names.has(spec.topic) && "label" in spec) spec.label = names.get(spec.topic);
      if (Array.isArray(spec.sort)) spec.sort = spec.sort.map(renamed);
      Object.values(spec).forEach(named);
    }
    return spec;
  }
  const numbers = new Map(page.topics.map((topic) => [topic.label, topic.number]));
  const renamed = (label) => (numbers.has(label) ? names.get(numbers.get(label)) : label);

  // A specification for little room: shorter labels.
  function narrow(spec) {
    if (spec === null || typeof spec !== "object") return;
    if (typeof spec.labelLimit === "number") spec.labelLimit = 115;
    if (typeof spec.titleLimit === "number") spec.titleLimit = 200;
    if (typeof spec.tickCount === "number") spec.tickCount = Math.min(spec.tickCount, 4);
    Object.values(spec).forEach(narrow);
  }

  // Chart, table and cards by one measure, the largest first.
  let measure = "lift";
  const ranked = () => [...page.topics].sort((a, b) => (b[measure] ?? -Infinity) - (a[measure] ?? -Infinity));
  function inOrder() {
    const spec = structuredClone(page.charts.drivers);
    const labels = ranked().map((topic) => topic.label);
    for (const layer of spec.layer) if (layer.encoding?.y?.sort) layer.encoding.y.sort = labels;
    return spec;
  }
  function rank(by = measure) {
    measure = by;
    const order = ranked();
    draw("drivers", inOrder());
    for (const [list, prefix] of [["cards", "topic"], ["topic-rows", "row"]]) {
      const parent = document.getElementById(list);
      parent.append(...order.map((topic) => document.getElementById(`${prefix}-${topic.number}`)));
    }
    for (const button of document.querySelectorAll("button.sort")) {
      const title = button.closest("th");
      if (button.dataset.measure === by) title.setAttribute("aria-sort", "descending");
      else title.removeAttribute("aria-sort");
    }
  }
  for (const button of document.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => rank(button.dataset.measure));
  }

  // What the page gives away as a file.
  function download(name, type, content) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  // The chart as it stands, in colours that need no style sheet.
  document.getElementById("picture").addEventListener("click", async () => {
    const colours = getComputedStyle(document.documentElement);
    const plain = (text) => text.replaceAll(/var\((--[a-z-]+)\)/g, (_, name) => colours.getPropertyValue(name).trim());
    const spec = JSON.parse(plain(JSON.stringify(named(inOrder()))));
    spec.config.background = colours.getPropertyValue("--paper").trim();
    const { view, finalize } = await vegaEmbed(document.createElement("div"), { ...spec, width: 800 }, { ast: true });
    (await view.toCanvas(2)).toBlob((picture) => download("drivers.png", "image/png", picture));
    finalize();
  });
  document.getElementById("download").addEventListener("click", () => {
    const columns = Object.keys(page.topics[0]);
    const cell = (value) => (typeof value === "string" ? `"${value.replaceAll('"', '""')}"` : (value ?? ""));
    const lines = page.topics.map((topic) => columns.map((name) => cell(name === "label" ? names.get(topic.number) : topic[name])));
    download("drivers.csv", "text/csv", `${[columns, ...lines].map((line) => line.join(",")).join("\n")}\n`);
  });

  // Cards.
  function openCard(number) {
    const card = document.getElementById(`topic-${number}`);
    card.querySelector("details").open = true;
    history.replaceState(null, "", `#topic-${number}`);
    card.scrollIntoView({ block: "start" });
    card.querySelector("summary").focus({ preventScroll: true });
  }
  for (const link of document.querySelectorAll("a[data-topic]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openCard(Number(link.dataset.topic));
    });
  }
  document.getElementById("open-all").addEventListener("click", (event) => {
    const cards = [...document.querySelectorAll("#cards > li > details")];
    const open = cards.some((card) => !card.open);
    cards.forEach((card) => (card.open = open));
    event.target.textContent = open ? "Close all cards" : "Open all cards";
  });
  const closed = () => [...document.querySelectorAll("details:not([open])")];
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = closed();
    opened.forEach((part) => (part.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((part) => (part.open = false)));

  // Names that the reader gives to topics: kept by the browser where it can, and in a saved copy of the page.
  function rename(number, name, redraw = true) {
    const wanted = name.trim() || page.topics.find((topic) => topic.number === number).label;
    const taken = [...names].some(([other, label]) => other !== number && label === wanted);
    names.set(number, taken ? `${wanted} (${number})` : wanted);
    for (const place of document.querySelectorAll(`[data-name="${number}"]`)) place.textContent = names.get(number);
    const field = document.getElementById(`name-${number}`);
    if (document.activeElement !== field) field.value = names.get(number);
    if (!redraw) return;
    keep();
    document.getElementById("save").hidden = false;
    tried?.again();
    rank();
  }
  const changed = () => Object.fromEntries([...names].filter(([k, name]) => !(numbers.get(name) === k)));
  function keep() {
    try {
      localStorage.setItem(store, JSON.stringify(changed()));
    } catch {
      // A page from disk may not be allowed to keep anything; the saved copy is.
    }
  }
  function kept() {
    try {
      return JSON.parse(localStorage.getItem(store)) ?? {};
    } catch {
      return {};
    }
  }
  for (const field of document.querySelectorAll("input[data-rename]")) {
    field.addEventListener("change", () => rename(Number(field.dataset.rename), field.value));
  }
  document.getElementById("save").addEventListener("click", () => {
    const block = /(<script id="names-data" type="application\/json">)[^<]*(<\/script>)/;
    const text = JSON.stringify(changed()).replaceAll("<", "\\u003c");
    const copy = `<!doctype html>\n${original.replace(block, (_, before, after) => before + text + after)}`;
    download("report.html", "text/html", copy);
  });

  // Begin: names of a saved copy, then those the browser kept, then charts.
  document.documentElement.classList.add("live");
  for (const [number, name] of Object.entries({ ...json("names-data"), ...kept() })) {
    if (names.has(Number(number))) rename(Number(number), String(name), false);
  }
  draw("drivers");
  const asked = /^#topic-(\d+)$/.exec(location.hash);
  if (asked !== null && names.has(Number(asked[1]))) openCard(Number(asked[1]));
  window.textsignal = { model: null, views, drawn, ...browseDocuments(page, names) };
  const ready = textsignalModel(page.browser).then(async (model) => {
    window.textsignal.model = model;
    tried = model === null ? null : tryTexts(model, page, names, draw);
    await drawings.get("drivers");
    document.body.setAttribute("data-ready", "");
  });
  // Charts further down may come a moment later.
  const later = ready.then(() => new Promise((resolve) => setTimeout(resolve)));
  for (const name of ["agreement", "reliability", "pit", "responses", "lengths"]) draw(name, page.charts[name], later);
})();
