// "Try a text": what the model says of a text that is typed.
"use strict";

// names : what topics are called now, by number; draw : draws a chart of the page.
function tryTexts(model, page, names, draw) {
  const field = document.getElementById("try-text");
  const result = document.getElementById("try-result");
  const scale = page.levels.at(-1) - page.levels[0];
  const say = (id, text) => (document.getElementById(id).textContent = text);
  const number = (value) => make("td", signed(value), { class: "number" });
  // The words that a value is mostly made of.
  const behind = (terms, valueOf) =>
    terms
      .map((term) => ({ term: term.term, value: valueOf(term) }))
      .filter((term) => Math.abs(term.value) >= 0.005)
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
      .slice(0, 5)
      .map((term) => `${term.term} (${signed(term.value)})`)
      .join(", ");

  function clear() {
    result.hidden = true;
    const written = ["mean", "words", "marked", "unknown", "sentences", "rows", "beyond", "direct", "constant", "sum"];
    for (const name of written) document.getElementById(`try-${name}`)?.replaceChildren();
    draw("levels", null);
    draw("contributions", null);
  }

  function showSentences(text, found, marked) {
    const rows = found.sentences.map((sentence, u) => {
      const row = document.createElement("tr");
      const points = sentence.contribution * found.slope;
      const quoted = make("td", "", { dir: "auto" });
      const said = marked.filter((piece) => piece.sentence === u).map((piece) => piece.text).join("").trim();
      quoted.append(make("span", said, { class: `sentence ${shade(points, scale)}` }));
      row.append(quoted, make("td", names.get(sentence.topic)), number(points));
      return row;
    });
    document.getElementById("try-sentences").replaceChildren(...rows);
  }

  function showTopics(found) {
    const order = page.topics
      .map((topic) => ({
        topic: topic.number,
        label: names.get(topic.number),
        value: found.contributions[topic.number] * found.slope,
        share: found.shares[topic.number],
      }))
      .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const contributions = structuredClone(page.charts.contributions);
    contributions.data.values = order.slice(0, 12);
    contributions.height = 24 * contributions.data.values.length;
    draw("contributions", contributions);
    const rows = order.map((topic) => {
      const row = document.createElement("tr");
      const name = make("th", `${topic.label} `, { scope: "row" });
      name.append(make("small", behind(found.terms, (term) => term.byTopic[topic.topic] * found.slope)));
      row.append(name, make("td", `${(100 * topic.share).toFixed(0)}%`, { class: "number" }), number(topic.value));
      return row;
    });
    document.getElementById("try-rows").replaceChildren(...rows);
    if (model.direct) {
      say("try-beyond", signed(found.beyond * found.slope));
      say("try-direct", behind(found.terms, (term) => term.direct * found.slope));
    }
    say("try-constant", found.baselineMean.toFixed(2));
    say("try-sum", found.mean.toFixed(2));
  }

  function show(text) {
    if (text.trim() === "") {
      clear();
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
    const unknown = found.unknownWords ?? [];
    say("try-unknown", unknown.length > 0 ? ` Words the model does not know: ${unknown.join(", ")}.` : "");
    const levels = structuredClone(page.charts.levels);
    levels.data.values = page.levels.map((level, i) => ({ label: String(level), value: found.probabilities[i] }));
    draw("levels", levels);
    showTopics(found);
    const marked = model.marked(text, found);
    if (found.sentences !== null) showSentences(text, found, marked);
    const pieces = marked.map((piece) => {
      if (!piece.known) return document.createTextNode(piece.text);
      const points = piece.contribution * found.slope;
      return make("mark", piece.text, { class: shade(points, scale), title: `${signed(points, 3)} ${page.unit}` });
    });
    document.getElementById("try-marked").replaceChildren(...pieces);
    result.hidden = false;
  }

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => show(field.value), 150);
  });
  for (const button of document.querySelectorAll("button[data-example]")) {
    button.addEventListener("click", () => {
      field.value = page.examples[Number(button.dataset.example)];
      show(field.value);
    });
  }
  return { again: () => (result.hidden ? null : show(field.value)) };
}
