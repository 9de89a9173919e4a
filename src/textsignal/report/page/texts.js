// "Read the texts": texts that can be searched and filtered, in pages, their clauses marked.
// They are unpacked when the section comes near the screen or is first used.
"use strict";

// names : current name of each theme by number. Returns null if the page contains no texts.
function browseTexts(page, names) {
  const section = document.getElementById("texts");
  if (section === null) return null;
  const PER_PAGE = 20;
  const place = (id) => document.getElementById(id);
  const fields = {};
  for (const name of ["words", "theme", "tone", "level", "group", "order"]) fields[name] = place(`find-${name}`);
  const asked = (name) => fields[name]?.value ?? "";
  const [list, status, pages, tooltip] = ["found-texts", "found", "found-pages", "pointed-at"].map(place);
  const count = (number) => number.toLocaleString("en");
  const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
  let [known, found, at] = [null, [], 0];

  // Texts as they are searched: small letters, one apostrophe.
  const folded = (text) => text.toLowerCase().replaceAll("’", "'");
  const words = () => folded(asked("words")).split(/\s+/u).filter((word) => word !== "");

  async function unpack() {
    const given = JSON.parse(place("texts-data").textContent);
    const buffers = await Promise.all(Object.values(given.columns).map(unpacked));
    const columns = Object.fromEntries(Object.keys(given.columns).map((name, i) => [name, buffers[i]]));
    const lines = (name, separator = "\n") => new TextDecoder().decode(columns[name]).split(separator);
    const texts = lines("texts", "\u0001").map((text) => text.split("\u0002"));
    let clauses = 0;
    const firsts = texts.map((pieces) => (clauses += pieces.length - 1) - pieces.length + 1);
    const stances = new Uint8Array(columns.stances);
    return {
      n: texts.length,
      texts,
      firsts,
      folded: texts.map((pieces) => folded(pieces.join(""))),
      rows: lines("rows").map(Number),
      responses: lines("responses"),
      predictions: lines("predictions"),
      dates: "dates" in columns ? lines("dates") : null,
      groups: "groups" in columns ? new Uint32Array(columns.groups) : null,
      groupNames: given.groups,
      levels: new Uint8Array(columns.levels),
      heldOut: new Uint8Array(columns.heldOut),
      left: new Uint32Array(columns.left),
      stance: (i, theme) => stances[i * names.size + theme],
      stances: given.stances,
      themes: new Uint16Array(columns.themes),
      kinds: new Int8Array(columns.kinds),
      points: new Float64Array(columns.points),
    };
  }

  // Whether a text mentions a theme in this way.
  function speaks(i, theme, way) {
    const { mention, praise, complaints } = known.stances;
    const how = known.stance(i, theme);
    const [good, bad] = [(how & praise) > 0, (how & complaints) > 0];
    const isSo = { praise: good, complaints: bad, both: good && bad, neutral: !good && !bad };
    return (how & mention) > 0 && (isSo[way] ?? true);
  }

  // Numbers of the texts that match all filters.
  function fitting() {
    const [theme, level, group, wanted] = [asked("theme"), asked("level"), asked("group"), words()];
    const fits = (i) => {
      if (theme !== "" && !speaks(i, Number(theme), asked("tone"))) return false;
      if (level !== "" && known.levels[i] !== Number(level)) return false;
      if (group !== "" && known.groups[i] !== Number(group)) return false;
      return wanted.every((word) => known.folded[i].includes(word));
    };
    return range(known.n).filter(fits);
  }

  // Contribution of the clauses about a theme to a text's prediction.
  function about(i, theme) {
    let sum = 0;
    for (let u = known.firsts[i]; u < known.firsts[i] + known.texts[i].length - 1; u += 1) {
      if (known.themes[u] === theme) sum += known.points[u];
    }
    return sum;
  }
  const byClauses = () => asked("theme") !== "";
  function inOrder(chosen) {
    const direction = Number(asked("order"));
    if (direction === 0) return chosen;
    const value = byClauses() ? (i) => about(i, Number(asked("theme"))) : (i) => parseFloat(known.predictions[i].replace("−", "-"));
    const values = new Map(chosen.map((i) => [i, value(i)]));
    return chosen.sort((a, b) => direction * (values.get(a) - values.get(b)) || a - b);
  }

  // A stretch of text with the searched words marked.
  function withHits(text, pattern) {
    if (pattern === null) return [text];
    return text.split(pattern).map((part, i) => (i % 2 === 0 ? part : make("mark", part, { class: "hit" })));
  }
  function hits() {
    const escaped = words().map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replaceAll("'", "['’]"));
    return escaped.length === 0 ? null : new RegExp(`(${escaped.sort((a, b) => b.length - a.length).join("|")})`, "giu");
  }

  const nameOf = (theme) => names.get(theme) ?? page.unplaced;

  // A clause, shaded by its tone unless it is neutral; with a theme chosen, only clauses about it are shaded and named.
  function clause(text, u, pattern) {
    const [theme, points, kind] = [known.themes[u], known.points[u], known.kinds[u]];
    const isAsked = asked("theme") === String(theme);
    const isPlain = kind === 0 || (asked("theme") !== "" && !isAsked);
    const look = isPlain ? "plain" : shade(page, points, kind > 0);
    const marked = make("mark", "", { class: `shaded ${look}`, "data-clause": u, tabindex: -1 });
    marked.append(...withHits(text, pattern));
    if (!isAsked) return [marked];
    const label = make("small", "", { class: `label ${look}` });
    label.append(make("bdi", nameOf(theme), { "data-name": theme }), ` ${inSteps(page, points)}`);
    return [label, " ", marked];
  }

  // Themes that a text complains about, and themes that it praises.
  function judged(i) {
    const parts = [];
    for (const [title, way, look] of [[page.ways[0], "complaints", "down"], [page.ways[1], "praise", "up"]]) {
      const themes = page.themes.filter((theme) => speaks(i, theme.number, way));
      if (themes.length === 0) continue;
      parts.push(make("b", `${title}: `, { class: look }));
      themes.forEach((theme, k) => {
        parts.push(k > 0 ? "; " : "", make("bdi", names.get(theme.number), { "data-name": theme.number }));
      });
      parts.push(". ");
    }
    return parts;
  }

  function facts(i) {
    const group = known.groups === null || known.groups[i] === 0 ? "" : known.groupNames[known.groups[i] - 1];
    const date = known.dates === null ? "" : known.dates[i];
    const response = `${capital(page.noted)}: ${known.responses[i] || "none"}, predicted ${known.predictions[i]}.`;
    const parts = [`Row ${count(known.rows[i])}${known.heldOut[i] ? ", held out" : ""}. ${response} `];
    if (group !== "") parts.push(make("bdi", group), ". ");
    if (date !== "") parts.push(`${date}. `);
    return parts;
  }

  function shown(i, pattern) {
    const text = make("p", "", { dir: "auto" });
    const pieces = known.texts[i];
    pieces.forEach((piece, u) => {
      if (u === pieces.length - 1) {
        text.append(...withHits(piece, pattern));
        return;
      }
      const [space] = /^\s*/u.exec(piece);
      text.append(space, ...clause(piece.slice(space.length), known.firsts[i] + u, pattern));
    });
    text.querySelector(".shaded")?.setAttribute("tabindex", 0);
    if (known.left[i] > 0) text.append(" … ", make("small", `(${count(known.left[i])} more characters)`));
    const footer = make("footer", "");
    footer.append(...facts(i), ...judged(i));
    const quote = make("blockquote", "");
    quote.append(text, footer);
    const item = make("li", "");
    item.append(quote);
    return item;
  }

  function show() {
    const from = at * PER_PAGE;
    const pattern = hits();
    hide();
    list.replaceChildren(...found.slice(from, from + PER_PAGE).map((i) => shown(i, pattern)));
    const ordered = asked("order") !== "" && found.length > 0;
    const by = byClauses() ? "the contribution of their clauses about it" : `predicted ${page.noted}`;
    status.textContent = found.length === 0 ? `None of ${count(known.n)} texts matches.` : `${count(found.length)} of ${count(known.n)} texts`;
    place("found-order").textContent = ordered ? `by ${by}` : "";
    const last = Math.ceil(found.length / PER_PAGE);
    pages.hidden = last < 2;
    place("found-page").textContent = `Page ${count(at + 1)} of ${count(last)}`;
    for (const button of pages.querySelectorAll("button")) {
      const target = at + Number(button.dataset.step);
      button.setAttribute("aria-disabled", String(target < 0 || target >= last));
    }
    place("find-clear").hidden = Object.values(fields).every((field) => !field?.value);
  }

  function search() {
    fields.tone.disabled = asked("theme") === "";
    if (fields.tone.disabled) fields.tone.value = "";
    found = inOrder(fitting());
    at = 0;
    show();
  }

  let unpacking = null;
  const ready = () => (unpacking ??= unpack().then((texts) => (known = texts)));
  const searched = () => (known === null ? ready().then(search) : search());

  // Show the theme and kind of the clause that is pointed at.
  function point(event) {
    const marked = event.target.closest?.(".shaded");
    if (!marked) return;
    const u = Number(marked.dataset.clause);
    const effect = `${inSteps(page, known.points[u])} ${page.unit}`;
    tooltip.replaceChildren(make("bdi", nameOf(known.themes[u])), `, ${page.kinds[1 + known.kinds[u]]}: ${effect}`);
    tooltip.hidden = false;
    const [line] = marked.getClientRects();
    const widest = document.documentElement.clientWidth - tooltip.offsetWidth - 8;
    tooltip.style.left = `${Math.max(8, Math.min(line.left, widest))}px`;
    tooltip.style.top = `${line.top + scrollY - tooltip.offsetHeight - 4}px`;
    marked.setAttribute("aria-describedby", "pointed-at");
  }
  function hide() {
    tooltip.hidden = true;
    list.querySelector("[aria-describedby]")?.removeAttribute("aria-describedby");
  }
  for (const [name, handler] of [["mouseover", point], ["focusin", point], ["mouseout", hide], ["focusout", hide]]) {
    list.addEventListener(name, handler);
  }
  addEventListener("keydown", (event) => (event.key === "Escape" ? hide() : null));
  list.addEventListener("keydown", (event) => arrows(event, event.target.closest("p"), ".shaded"));

  function clear() {
    for (const field of Object.values(fields)) if (field) field.value = "";
  }
  place("find").addEventListener("input", searched);
  place("find-clear").addEventListener("click", () => {
    clear();
    searched();
    fields.words.focus();
  });
  for (const button of pages.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      at += Number(button.dataset.step);
      show();
      status.scrollIntoView({ block: "start" });
    });
  }

  // Show texts that mention a theme, with complaints or praise, of a group given by its name; other filters are cleared.
  async function showTexts({ theme = "", tone = "", group = null } = {}) {
    await ready();
    clear();
    fields.theme.value = String(theme);
    fields.tone.value = tone;
    if (group !== null && fields.group !== null) {
      const number = known.groupNames.indexOf(String(group)) + 1;
      if (number === 0) fields.group.append(make("option", group, { value: known.groupNames.push(group) }));
      fields.group.value = String(number || known.groupNames.length);
    }
    search();
    section.scrollIntoView({ block: "start" });
    status.focus({ preventScroll: true });
  }
  for (const button of document.querySelectorAll("button[data-read]")) {
    button.addEventListener("click", () => showTexts({ theme: button.dataset.about, tone: button.dataset.read }));
  }

  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      if (known === null) searched();
    },
    { rootMargin: "-120px 0px 600px" }, // not when it lies above the screen: what is read would be pushed down
  );
  observer.observe(section);
  return { showTexts };
}
