// "Try a text": the prediction of a text that is typed.
"use strict";

// names : current name of each theme by number; draw : draws a chart of the page with other rows.
function tryTexts(model, page, names, draw) {
  const field = document.getElementById("try-text");
  const result = document.getElementById("try-result");
  const scale = page.scale;
  const percent = (value, digits = 0) => `${(100 * value).toFixed(digits)}%`;
  const MOST_NAMED = 6; // words
  const HINT = document.getElementById("try-without").textContent;
  // Means in steps of the unit; a difference that is written as more than nothing.
  const level = (mean) => (page.steps * mean).toFixed(page.digits);
  const written = (value) => 2 * page.steps * Math.abs(value) >= 10 ** -page.digits;
  const say = (id, text) => (document.getElementById(id).textContent = text);
  const number = (value) => make("td", inSteps(page, value), { class: "number" });

  // The words that a value is mostly made of.
  const behind = (terms, valueOf) =>
    terms
      .map((term) => ({ term: term.term, value: valueOf(term) }))
      .filter((term) => written(term.value))
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
      .slice(0, 5)
      .map((term) => `${term.term} (${inSteps(page, term.value)})`)
      .join(", ");

  function clear() {
    result.hidden = true;
    const written = ["mean", "words", "marked", "unknown", "sentences", "rows", "constant", "sum"];
    for (const name of written) document.getElementById(`try-${name}`).replaceChildren();
    draw("levels", null);
    draw("contributions", null);
  }

  function showSentences(found, marked) {
    const rows = found.sentences.map((sentence, u) => {
      const row = document.createElement("tr");
      const points = sentence.contribution * found.slope;
      const quoted = make("td", "", { dir: "auto" });
      const text = marked.filter((piece) => piece.sentence === u).map((piece) => piece.text).join("").trim();
      quoted.append(make("span", text, { class: `sentence ${shade(page, points, scale)}` }));
      row.append(quoted, make("td", names.get(sentence.theme)), number(points));
      return row;
    });
    document.getElementById("try-sentences").replaceChildren(...rows);
  }

  function showThemes(found) {
    const order = page.themes
      .map((theme) => ({
        theme: theme.number,
        label: names.get(theme.number),
        value: found.contributions[theme.number] * found.slope,
        share: found.shares[theme.number],
      }))
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const shown = order.filter((theme, i) => i === 0 || theme.share >= 0.005 || written(theme.value));
    const bars = shown.slice(0, 12).map((theme, place) => ({
      ...theme,
      value: page.steps * theme.value,
      place,
      words: `${inSteps(page, theme.value)} ${page.unit}`,
      part: percent(theme.share),
    }));
    draw("contributions", bars);
    const rows = order.map((theme) => {
      const row = document.createElement("tr");
      const name = make("th", `${theme.label} `, { scope: "row" });
      name.append(make("small", behind(found.terms, (term) => term.byTheme[theme.theme] * found.slope)));
      row.append(name, make("td", percent(theme.share), { class: "number" }), number(theme.value));
      return row;
    });
    document.getElementById("try-rows").replaceChildren(...rows);
    say("try-constant", level(found.baselineMean));
    say("try-sum", level(found.mean));
  }

  // The text in pieces, the removed ones, and the prediction with all of them.
  let tried = { pieces: [], taken: new Set(), whole: null };
  const words = document.getElementById("try-marked");
  const left = ({ pieces, taken }) => pieces.filter((_, i) => !taken.has(i)).map(({ text }) => text).join("");

  function start(text) {
    const whole = model.predict(text);
    tried = { pieces: model.marked(text, whole), taken: new Set(), whole };
    if (text.trim() === "") clear();
    else show();
  }

  // Removed words, and the change without them.
  function showWithout(found) {
    const taken = [...tried.taken].sort((a, b) => a - b).map((i) => `“${tried.pieces[i].text}”`);
    const named = taken.length > MOST_NAMED ? `${taken.length} words` : taken.join(", ").replace(/, (?=[^,]*$)/u, " and ");
    const [now, before] = [level(found.mean), level(tried.whole.mean)];
    const sign = page.event === "" ? "" : "%";
    const instead = `${now}${sign} instead of ${before}${sign} (${signed(now - before, page.digits)} ${page.unit})`;
    say("try-without", taken.length > 0 ? `Without ${named}: ${instead}.` : HINT);
    document.getElementById("try-back").hidden = taken.length === 0;
  }

  // The whole text, every word with what it adds to what is left.
  function showWords(found, marked) {
    const focused = words.contains(document.activeElement) ? document.activeElement.dataset.piece : null;
    const stop = focused ?? words.querySelector("[tabindex='0']")?.dataset.piece;
    const starts = new Map();
    marked.reduce((at, piece) => (starts.set(at, piece), at + piece.text.length), 0);
    let at = 0;
    const parts = tried.pieces.map((piece, i) => {
      const isTaken = tried.taken.has(i);
      const here = starts.get(at);
      if (!isTaken) at += piece.text.length;
      if (!piece.known || piece.text === "") return document.createTextNode(piece.text);
      const points = here?.text === piece.text ? here.contribution * found.slope : 0;
      const look = isTaken ? "taken" : shade(page, points, scale);
      const title = isTaken ? "removed" : `${inSteps(page, points, 1)} ${page.unit}`;
      return make("mark", piece.text, { class: look, title, role: "button", "aria-pressed": isTaken, "data-piece": i, tabindex: -1 });
    });
    words.replaceChildren(...parts);
    const reached = words.querySelector(`[data-piece="${stop}"]`) ?? words.querySelector("mark");
    reached?.setAttribute("tabindex", 0);
    if (focused !== null) reached?.focus({ preventScroll: true });
  }

  // Probability of every level, or of every bin.
  function chances({ probabilities, eta }) {
    if (probabilities !== null) return probabilities;
    const { edges, whole } = page.bins;
    const below = edges.slice(1, -1).map((edge) => model.family.cdf(eta, whole ? edge - 1 : edge));
    return [...below, 1].map((up, i) => up - (i > 0 ? below[i - 1] : 0));
  }

  // Levels as people know them; a bin for each, where there are few.
  function levelNames() {
    return page.levels.length > page.bins.labels.length ? page.levels.map(String) : page.bins.labels;
  }

  // The first level on the better side of the scale's middle.
  const levels = page.better > 0 ? page.levels : [...page.levels].reverse();
  const passing = levels.find((one) => page.better * (2 * one - levels[0] - levels.at(-1)) > 0);

  // Explanation of the number above, with an interval or a probability.
  function inWords({ probabilities, interval }) {
    if (interval !== null) {
      const [low, high] = interval.map((end) => (page.bins.whole ? String(end) : end.toFixed(2)));
      return `Expected ${page.response}. 90% interval: ${low} to ${high}.`;
    }
    const names = levelNames();
    const likely = names[probabilities.indexOf(Math.max(...probabilities))];
    const [low, high] = [names[0], names.at(-1)];
    if (page.isClass) return `Probability of ${page.noted} against all other classes, by its own model.`;
    if (page.event !== "") return `Probability of ${page.response} ${page.event} rather than ${low}.`;
    const scaled = `Expected ${page.response}, on a scale from ${low} to ${high}. Most likely: ${likely}.`;
    if (levels.length < 3) return scaled;
    const passed = page.levels.map((one) => page.better * (one - passing) >= 0);
    const chance = probabilities.filter((_, i) => passed[i]).reduce((sum, one) => sum + one, 0);
    return `${scaled} Probability of ${names[page.levels.indexOf(passing)]} or better: ${percent(chance)}.`;
  }

  function show() {
    const text = left(tried);
    const found = tried.taken.size > 0 ? model.predict(text) : tried.whole;
    say("try-mean", page.event === "" ? found.mean.toFixed(2) : percent(found.mean));
    say(
      "try-words",
      found.unknown
        ? "The model knows no term of this text, so this is its prediction for an average text."
        : inWords(found),
    );
    const unknown = found.unknownWords;
    say("try-unknown", unknown.length > 0 ? ` Words the model does not know: ${unknown.join(", ")}.` : "");
    const labels = levelNames();
    const levels = chances(found).map((value, i) => ({ label: labels[i], value, words: percent(value, 1), place: i }));
    draw("levels", levels);
    showThemes(found);
    const marked = model.marked(text, found);
    showSentences(found, marked);
    showWords(found, marked);
    showWithout(found);
    result.hidden = false;
  }

  // Remove a word, or put it back.
  function toggle(event) {
    const word = event.target.closest("[data-piece]");
    if (word === null) return;
    event.preventDefault();
    const i = Number(word.dataset.piece);
    if (!tried.taken.delete(i)) tried.taken.add(i);
    show();
  }
  words.addEventListener("click", toggle);
  words.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") toggle(event);
    else arrows(event, words, "[data-piece]");
  });
  document.getElementById("try-back").addEventListener("click", () => {
    tried.taken.clear();
    show();
    words.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  });

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => start(field.value), 150);
  });
  for (const button of document.querySelectorAll("button[data-example]")) {
    button.addEventListener("click", () => {
      field.value = page.examples[Number(button.dataset.example)];
      start(field.value);
    });
  }
  if (field.value !== "") start(field.value); // typed before the model was here
  return { again: () => (result.hidden ? null : show()) };
}
