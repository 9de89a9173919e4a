// Interaction of the page: charts that respond to the mouse, rankings, names of themes.
// It computes nothing about the data: that is done in Python, or in themes.js for a text that is typed.
"use strict";

(() => {
  // The page as it came, but for its scripts, which never change.
  const isScript = (part) => part.tagName === "SCRIPT";
  const original = [...document.body.children].map((part) => (isScript(part) ? part : part.outerHTML));
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const page = json("page-data");
  const names = new Map(page.themes.map((theme) => [theme.number, theme.label]));
  const numbers = new Map(page.themes.map((theme) => [theme.label, theme.number]));
  const charts = chartsOf(page.charts, names, openCard);
  const store = `textsignal:${page.id}`;
  let tried = null;

  // Chart, table and cards by one measure, the largest first; the overall verdict, which is no theme, last.
  let measure = "cost";
  const before = (a, b) => Number(a.is_overall) - Number(b.is_overall) || (b[measure] ?? -Infinity) - (a[measure] ?? -Infinity);
  const ranked = () => [...page.themes].sort(before);
  function inOrder() {
    const places = new Map(ranked().map((theme, place) => [theme.number, place]));
    return charts.rowsOf("drivers").map((row) => ({ ...row, place: places.get(row.theme) }));
  }
  function rank(by = measure) {
    measure = by;
    const order = ranked();
    charts.draw("drivers", inOrder());
    for (const [list, prefix] of [["cards", "theme"], ["theme-rows", "row"]]) {
      const parent = document.getElementById(list);
      parent.append(...order.map((theme) => document.getElementById(`${prefix}-${theme.number}`)));
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

  // Offer a file for download.
  function download(name, type, content) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }
  document.getElementById("picture").addEventListener("click", async () => {
    download("drivers.png", "image/png", await charts.picture("drivers", inOrder(), 800));
  });
  document.getElementById("download").addEventListener("click", () => {
    const columns = Object.keys(page.themes[0]);
    // An apostrophe before a text that a spreadsheet would run, as tables.write puts it; numbers are kept.
    const safe = (text) => (/^'*[=+\-@\t\r]./su.test(text) && !/^'*[+-]?[0-9.,]+(?:e[+-]?[0-9]+)?%?$/iu.test(text) ? `'${text}` : text);
    const cell = (value) => (typeof value === "string" ? `"${safe(value).replaceAll('"', '""')}"` : (value ?? ""));
    const lines = page.themes.map((theme) => columns.map((name) => cell(name === "label" ? names.get(theme.number) : theme[name])));
    download("drivers.csv", "text/csv", `${[columns, ...lines].map((line) => line.join(",")).join("\n")}\n`);
  });

  // The part that is being read, marked in the contents.
  const contents = [...document.querySelectorAll("nav.contents a")];
  const reading = new IntersectionObserver(
    (entries) => {
      const now = entries.find((entry) => entry.isIntersecting)?.target.id;
      if (now === undefined) return;
      for (const link of contents) {
        if (link.hash === `#${now}`) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-20% 0px -79% 0px" },
  );
  for (const link of contents) reading.observe(document.querySelector(link.hash));

  // Cards.
  function openCard(number) {
    const card = document.getElementById(`theme-${number}`);
    card.querySelector("details").open = true;
    history.replaceState(null, "", `#theme-${number}`);
    card.scrollIntoView({ block: "start" });
    card.querySelector("summary").focus({ preventScroll: true });
  }
  for (const link of document.querySelectorAll("a[data-theme]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openCard(Number(link.dataset.theme));
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

  // Names that the reader gives to themes: kept by the browser where it can, and in a saved copy of the page.
  function rename(number, name, redraw = true) {
    const wanted = name.trim() || page.themes.find((theme) => theme.number === number).label;
    const taken = [...names].some(([other, label]) => other !== number && label === wanted);
    names.set(number, taken ? `${wanted} (${number})` : wanted);
    for (const place of document.querySelectorAll(`[data-name="${number}"]`)) place.textContent = names.get(number);
    const field = document.getElementById(`name-${number}`);
    if (document.activeElement !== field) field.value = names.get(number);
    if (!redraw) return;
    keep();
    document.getElementById("save").hidden = false;
    tried?.again();
    charts.renamed();
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
    const body = original.map((part) => (isScript(part) ? part.outerHTML : part)).join("\n");
    const named = body.replace(block, (_, before, after) => before + text + after);
    download("report.html", "text/html", `<!doctype html>\n<html lang="en">\n${document.head.outerHTML}\n<body>\n${named}\n</body>\n</html>`);
  });

  // Begin: names of a saved copy, then those the browser kept, then charts.
  document.documentElement.classList.add("live");
  for (const [number, name] of Object.entries({ ...json("names-data"), ...kept() })) {
    if (names.has(Number(number))) rename(Number(number), String(name), false);
  }
  const asked = /^#theme-(\d+)$/.exec(location.hash);
  if (asked !== null && names.has(Number(asked[1]))) openCard(Number(asked[1]));
  window.textsignal = { views: charts.views, drawn: charts.drawn, ...browseTexts(page, names) };
  const ready = charts.draw("drivers").then(() => document.body.setAttribute("data-ready", ""));
  // A moment later: the model that reads what is typed, then the other charts.
  const later = ready.then(() => new Promise((resolve) => setTimeout(resolve)));
  window.textsignal.model = later.then(async () => {
    const given = json("model-data");
    const model = given === null ? null : await themesModel(given);
    tried = model === null ? null : tryTexts(model, page, names, charts.draw);
    window.textsignal.model = model;
    charts.drawLater();
  });
})();
