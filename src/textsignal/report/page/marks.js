// Formats of numbers and shades of texts, wherever texts are marked.
"use strict";

// A change, with its sign.
function signed(value, digits = 2) {
  const written = value.toFixed(digits).replace("-", "−");
  return /[1-9]/.test(written) ? (value > 0 ? "+" : "") + written : (0).toFixed(digits);
}

// A change of the response as the page writes it: in steps of its unit.
const inSteps = (page, value, more = 0) => signed(page.steps * value, page.digits + more);

function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Class of a shade: "up" for better, "down" for worse; the stronger, the larger the share of the response's scale.
function shade(page, points, isBetter = page.better * points >= 0) {
  const part = Math.abs(points) / page.scale;
  return `${isBetter ? "up" : "down"} s${part > 0.025 ? 3 : part > 0.006 ? 2 : 1}`;
}

// Values rounded down or up, by the largest remainders, so that they add up to a total of so many digits.
function addingUp(values, total, digits) {
  const scaled = values.map((value) => value * 10 ** digits);
  const down = scaled.map(Math.floor);
  const missing = Math.max(0, Math.round(total * 10 ** digits - down.reduce((sum, value) => sum + value, 0)));
  const order = range(down.length).sort((i, j) => down[i] - scaled[i] - (down[j] - scaled[j]) || i - j);
  for (const i of order.slice(0, missing)) down[i] += 1;
  return down.map((value) => value / 10 ** digits);
}

// Among parts of which the tab key reaches one, arrows go to the next and the one before.
function arrows(event, place, selector) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const parts = [...place.querySelectorAll(selector)];
  const from = parts.indexOf(event.target);
  if (step === undefined || from < 0) return;
  event.preventDefault();
  const next = parts[from + step];
  if (next === undefined) return;
  parts.forEach((part) => (part.tabIndex = part === next ? 0 : -1));
  next.focus();
}
