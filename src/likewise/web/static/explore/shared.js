// What the explore pages have in common: asking the site, tiles that are links, the state in the address, keys.

export const boot = JSON.parse(document.getElementById("boot").textContent);
export const byId = (id) => document.getElementById(id);
export const MAX_ENCODERS = 4;
const TYPING = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select";

/** Make an element: `element("b", { className: "key" }, "F")`. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** `{ where: ["a=b"], k: 12 }` as a query string; empty values are left out, lists are repeated. */
export function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, one);
    }
  }
  return query.toString();
}

/** Ask the site; an answer that is no success becomes an error with the site's own sentence. */
export async function ask(path, values = {}, options = {}) {
  const query = queryOf(values);
  const reply = await fetch(`${boot.api}/explore/${path}${query ? `?${query}` : ""}`, { ...options, headers: { ...options.headers, "X-CSRF-Token": boot.csrf } }).catch(() => {
    throw new Error("the site does not answer: is likewise still running?");
  });
  if (reply.ok) return reply;
  const content = await reply.json().catch(() => ({}));
  throw new Error(content.detail ?? "the site did not understand the question");
}

export const askJson = async (...question) => (await ask(...question)).json();
export const post = (path, body) => askJson(path, {}, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

/** A number with its noun: `1 image`, `2,000 images`. */
export const counted = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

/** Say something under the page's content; `state` is one of asking, showing, failed. */
export function tell(text, state = "showing") {
  byId("said").textContent = text;
  byId("said").classList.toggle("error", state === "failed");
  byId("main").dataset.state = state;
}

export const fail = (problem) => tell(`That did not work: ${problem.message}`, "failed");
export const pictureUrl = (image, size = "small") => `${boot.api}/explore/picture?${queryOf({ image, size })}`;
export const neighboursUrl = (values) => `${boot.prefix}/explore?${queryOf(values)}`;

/** An image that keeps its place when the file is gone. */
export function thumbnail(image, size = "small") {
  const shown = element("img", { src: pictureUrl(image, size), alt: "", loading: "lazy", decoding: "async", width: 112, height: 112 });
  shown.addEventListener("error", () => shown.replaceWith(element("span", { className: "no-picture" }, "this picture cannot be read")));
  return shown;
}

/** A picture as a link to its own neighbours; `marks` are the children that stand on it. */
export function tile(image, href, name, ...marks) {
  const link = element("a", { className: "tile", href }, thumbnail(image), ...marks, element("span", { className: "name", title: image }, name ?? image));
  link.dataset.image = image;
  return link;
}

/** What people said about a pair, as a badge with words for a screen reader. */
export function labelBadge(label) {
  if (!label) return "";
  const kind = label.label === 1 ? "similar" : label.label === 0 ? "not-similar" : "divided";
  const words = { similar: "similar", "not-similar": "not similar", divided: "divided" }[kind];
  const votes = label.similar === null ? "" : `${label.similar}:${label.not_similar}`;
  const badge = element("span", { className: `label ${kind}`, title: votes ? `${words}: ${label.similar} for, ${label.not_similar} against` : `${words}, imported` });
  badge.append(kind === "similar" ? "✓" : kind === "not-similar" ? "✗" : "?", votes ? ` ${votes}` : "", element("span", { className: "unseen" }, ` ${words}`));
  return badge;
}

/** Checkboxes for encoders, at most four of them; `changed` is called with those that are chosen, in the page's order. */
export function encoderChoice(fieldset, chosen, changed) {
  const boxes = boot.encoders.map((name) => {
    const box = element("input", { type: "checkbox", value: name, checked: chosen.includes(name) });
    fieldset.append(element("label", {}, box, name));
    return box;
  });
  const update = () => {
    const now = boxes.filter((box) => box.checked);
    for (const box of boxes) box.disabled = !box.checked && now.length >= MAX_ENCODERS;
    return now.map((box) => box.value);
  };
  fieldset.addEventListener("change", () => changed(update()));
  update();
}

/** True for a key press that is meant for the page: not typed into a field, no shortcut of the browser. */
export const isOurs = (event) => !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing || (event.target instanceof Element && event.target.closest(TYPING)));

/** Arrow keys walk over tiles by where they are on the screen. */
export function walk(event, tiles) {
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!direction || !tiles.length) return false;
  const here = document.activeElement?.closest?.(".tile");
  let next = tiles[0];
  if (here && tiles.includes(here)) {
    const from = here.getBoundingClientRect();
    const distance = (tile) => {
      const to = tile.getBoundingClientRect();
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const along = dx * direction[0] + dy * direction[1];
      return along < 4 ? Infinity : along + 3 * Math.abs(dx * direction[1] + dy * direction[0]);
    };
    next = tiles.reduce((best, one) => (distance(one) < distance(best) ? one : best), here);
  }
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  event.preventDefault();
  return true;
}

/** Said of an item that one encoder alone lists. */
export const onlyMark = (one, encoder) => (one.only ? element("span", { className: "only", title: `only ${encoder} finds this item` }, "only", element("span", { className: "unseen" }, ` ${encoder} finds it`)) : "");

/** Whether a click means "here and now", not "in a new tab". */
export const isPlainClick = (event) => event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
