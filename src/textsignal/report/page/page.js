// What the page does: charts that answer the mouse, rankings, names of topics, and "Try a text".
// It computes nothing about the data: that is done in Python, or in infer.js for a text that is typed.
"use strict";

(() => {
  const original = document.documentElement.outerHTML;
  const json = (id) => JSON.parse(document.getElementById(id).textContent);
  const page = json("page-data");
  const names = new Map(page.topics.map((topic) => [topic.number, topic.label]));
  const views = new Map();
  const store = `textsignal:${page.id}`;
  const NARROW = 480; // pixels
  const signed = (value, digits = 2) => (value > 0 ? "+" : "") + value.toFixed(digits).replace("-", "−");

  // Charts, each drawn after its last drawing is done; null leaves the place empty.
  const drawings = new Map();
  function draw(name, spec = page.charts[name]) {
    drawings.set(name, (drawings.get(name) ?? Promise.resolve()).then(() => drawNow(name, spec)));
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
    if (name === "map") options.patch = namesApart;
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

  // The map with names that keep off each other, which Vega can and Vega-Lite cannot.
  function namesApart(vega) {
    const [points, names] = vega.marks.slice(-2);
    const { fill, fontSize, fontWeight } = names.encode.update;
    names.from = { data: points.name };
    names.encode = { update: { fill, fontSize, fontWeight, text: { field: "datum.short" } } };
    names.transform = [{
      type: "label",
      size: { signal: "[max(width, 1), max(height, 1)]" },
      padding: 8,
      offset: [3],
      anchor: ["top", "bottom", "right", "left", "top-right", "top-left", "bottom-right", "bottom-left"],
      avoidMarks: vega.marks.slice(0, -2).filter((mark) => mark.type === "text").map((mark) => mark.name),
    }];
    return vega;
  }

  // A specification with topics under the names that they have now.
  function named(spec) {
    if (Array.isArray(spec)) spec.forEach(named);
    else if (spec !== null && typeof spec === "object") {
      if (names.has(spec.topic) && "label" in spec) {
        spec.label = names.get(spec.topic);
        if ("short" in spec) spec.short = spec.label.split(", ").slice(0, 2).join(", ").slice(0, 26);
      }
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
    if (typeof spec.tickCount === "number") spec.tickCount = Math.min(spec.tickCount, 4);
    if (["words", "below"].includes(spec.text?.field)) spec.text.field += "_narrow";
    Object.values(spec).forEach(narrow);
  }

  // Rankings: each chart by its own measure, or both, and the cards, by one.
  const measures = {
    effect: (topic) => -Math.abs(topic.response_effect),
    prevalence: (topic) => -topic.prevalence,
  };
  const ranked = (measure) => [...page.topics].sort((a, b) => measures[measure](a) - measures[measure](b));
  function rank(choice) {
    for (const [chart, own] of [["effects", "effect"], ["prevalence", "prevalence"]]) {
      const order = ranked(choice === "own" ? own : choice).map((topic) => topic.label);
      const spec = structuredClone(page.charts[chart]);
      for (const layer of spec.layer) if (layer.encoding?.y?.sort) layer.encoding.y.sort = order;
      draw(chart, spec);
    }
    const order = ranked(choice === "own" ? "effect" : choice);
    for (const [list, prefix] of [["cards", "topic"], ["topic-rows", "row"], ["map-topics", "link"]]) {
      const parent = document.getElementById(list);
      parent.append(...order.map((topic) => document.getElementById(`${prefix}-${topic.number}`)));
    }
  }
  for (const choice of document.querySelectorAll("input[name=ranking]")) {
    choice.addEventListener("change", () => rank(choice.value));
  }

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
    const cards = [...document.querySelectorAll("#cards details")];
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
    draw("map");
    if (model !== null && !document.getElementById("try-result").hidden) tryText(document.getElementById("try-text").value);
    rank(document.querySelector("input[name=ranking]:checked").value);
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
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([copy], { type: "text/html" }));
    link.download = "report.html";
    link.click();
    URL.revokeObjectURL(link.href);
  });

  // Try a text.
  const model = page.browser === null ? null : textsignalModel(page.browser);
  const say = (id, text) => (document.getElementById(id).textContent = text);
  const make = (tag, text, attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  // The words that a value is mostly made of.
  const behind = (terms, valueOf) =>
    terms
      .map((term) => ({ term: term.term, value: valueOf(term) }))
      .filter((term) => Math.abs(term.value) >= 0.005)
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
      .slice(0, 5)
      .map((term) => `${term.term} (${signed(term.value)})`)
      .join(", ");
  function clearTried() {
    document.getElementById("try-result").hidden = true;
    const written = ["mean", "words", "marked", "rows", "beyond", "direct", "constant", "eta"];
    for (const name of written) document.getElementById(`try-${name}`)?.replaceChildren();
    draw("levels", null);
    draw("contributions", null);
  }
  function tryText(text) {
    if (text.trim() === "") {
      clearTried();
      return;
    }
    const found = model.predict(text);
    say("try-mean", found.mean.toFixed(2));
    const likely = page.levels[found.probabilities.indexOf(Math.max(...found.probabilities))];
    say(
      "try-words",
      found.unknown
        ? "The text holds no term that the model knows, so this is its prediction for an average text."
        : `Expected ${page.response}, on a scale from ${page.levels[0]} to ${page.levels.at(-1)}. Most likely: ${likely}.`,
    );
    const levels = structuredClone(page.charts.levels);
    levels.data.values = page.levels.map((level, i) => ({ label: String(level), value: found.probabilities[i] }));
    draw("levels", levels);
    const order = page.topics
      .map(({ number }) => ({
        topic: number,
        label: names.get(number),
        color: `var(--t${number})`,
        value: found.contributions[number],
        share: found.shares[number],
      }))
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const contributions = structuredClone(page.charts.contributions);
    contributions.data.values = order.slice(0, 12);
    contributions.height = 24 * contributions.data.values.length;
    draw("contributions", contributions);
    const rows = order.map((topic) => {
      const row = document.createElement("tr");
      const name = make("th", `${topic.label} `, { scope: "row" });
      name.append(make("small", behind(found.terms, (term) => term.byTopic[topic.topic])));
      row.append(
        name,
        make("td", `${(100 * topic.share).toFixed(0)}%`, { class: "number" }),
        make("td", signed(topic.value), { class: "number" }),
      );
      return row;
    });
    document.getElementById("try-rows").replaceChildren(...rows);
    if (model.direct) {
      say("try-beyond", signed(found.beyond));
      say("try-direct", behind(found.terms, (term) => term.direct));
    }
    say("try-constant", signed(found.baseline));
    say("try-eta", signed(found.eta));
    const marked = model.marked(text, found.terms);
    const largest = Math.max(...marked.map((piece) => Math.abs(piece.contribution)), 1e-9);
    const pieces = marked.map((piece) => {
      if (!piece.known) return document.createTextNode(piece.text);
      const strength = Math.abs(piece.contribution) / largest;
      const sign = piece.contribution >= 0 ? "up" : "down";
      return make("mark", piece.text, {
        class: `${sign} s${strength > 0.5 ? 3 : strength > 0.15 ? 2 : 1}`,
        title: signed(piece.contribution, 3),
      });
    });
    document.getElementById("try-marked").replaceChildren(...pieces);
    document.getElementById("try-result").hidden = false;
  }
  if (model !== null) {
    const field = document.getElementById("try-text");
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => tryText(field.value), 150);
    });
  }

  // Begin: names of a saved copy, then those the browser kept, then charts.
  document.documentElement.classList.add("live");
  for (const [number, name] of Object.entries({ ...json("names-data"), ...kept() })) {
    if (names.has(Number(number))) rename(Number(number), String(name), false);
  }
  const first = ["effects", "prevalence", "map", "agreement", "reliability", "pit", "responses", "lengths"];
  first.forEach((name) => draw(name));
  drawn().then(() => document.body.setAttribute("data-ready", ""));
  const asked = /^#topic-(\d+)$/.exec(location.hash);
  if (asked !== null && names.has(Number(asked[1]))) openCard(Number(asked[1]));
  window.textsignal = { model, views, drawn };
})();
