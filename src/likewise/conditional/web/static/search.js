// The search page: every change of picture, conditions, slider or filters asks again; only the newest answer is shown.
// The address holds the whole question, so that Back undoes, and it can be kept or sent to a colleague.

import { boot, byId, element, isOurs, queryOf, walk } from "../explore/shared.js";
import { shrunk, takePictures } from "../pictures.js";
import { History } from "./history.js";

const WAIT_MS = 250; // after the last key or move of the slider
const MAX_MARKED = 30;
const MAX_CONDITIONS = 12;
const NOTHING = { image: null, upload: "", texts: [], off: [], weight: 50, more: [], less: [], keep: boot.kept.filter((column) => boot.columns.includes(column)), where: [], model: 0 };
const history = new History(`likewise:${boot.store ?? boot.project}:search`);
const canvases = new Map(); // pictures that were brought along, by their token
let state = structuredClone(NOTHING);
let turn = 0;
let timer = 0;
let listed = 0;

// --------------------------------------------------------------------------------------------------------------- state

function read() {
  const given = new URLSearchParams(window.location.search);
  const numbers = (name) => given.getAll(name).map(Number).filter((one) => one > 0);
  return {
    image: Number(given.get("image")) || null,
    upload: given.get("upload") ?? "",
    texts: given.getAll("text"),
    off: given.getAll("off"),
    weight: given.has("weight") ? 100 * Number(given.get("weight")) : NOTHING.weight,
    more: numbers("more"),
    less: numbers("less"),
    keep: given.has("keep") ? given.get("keep").split(",").filter((column) => boot.columns.includes(column)) : NOTHING.keep,
    where: given.getAll("where"),
    model: Number(given.get("model")) || 0,
  };
}

function address(asked = state) {
  const kept = asked.keep.join(",");
  const query = queryOf({
    image: asked.image,
    upload: asked.image ? "" : asked.upload,
    text: [...new Set([...asked.texts, byId("text").value.trim()])],
    off: asked.off,
    weight: asked.weight === NOTHING.weight ? null : asked.weight / 100,
    more: asked.more,
    less: asked.less,
    keep: kept === NOTHING.keep.join(",") ? null : kept || "none",
    where: asked.where,
    model: asked.model || null,
  });
  return query ? `?${query}` : window.location.pathname;
}

/** Change the question; `replace` where a move is not worth a step of its own in the browser's history. */
function go(changes, replace = false) {
  clearTimeout(timer);
  state = { ...state, ...changes };
  window.history[replace ? "replaceState" : "pushState"](null, "", address());
  show();
}

window.addEventListener("popstate", () => {
  state = read();
  byId("text").value = "";
  show();
});

/** The conditions that count: those that are switched on, and what is being typed. */
function conditions() {
  const typed = byId("text").value.trim();
  return [...new Set([...state.texts.filter((text) => !state.off.includes(text)), ...(typed ? [typed] : [])])].slice(0, MAX_CONDITIONS);
}

const question = () => ({ image: state.image, upload: state.image ? "" : state.upload, text: conditions(), weight: state.weight / 100, more: state.more, less: state.less, model: state.model, keep: state.image || state.upload ? state.keep.join(",") : "", where: state.where });

async function get(path, values = {}, options = {}) {
  const query = queryOf(values);
  const reply = await fetch(`${boot.api}/search${path}${query ? `?${query}` : ""}`, { ...options, headers: { ...options.headers, "X-CSRF-Token": boot.csrf } }).catch(() => {
    throw new Error("the site does not answer: is it still running?");
  });
  const content = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(typeof content.detail === "string" ? content.detail : "the site did not understand the question");
  return content;
}

// ---------------------------------------------------------------------------------------------------------------- show

function tell(text, state = "showing", ...waysOut) {
  byId("said").textContent = text;
  byId("main").dataset.state = state;
  byId("ways-out").hidden = !waysOut.length;
  byId("ways-out").replaceChildren(...waysOut.map(([label, act]) => element("button", { type: "button", className: "small", onclick: act }, label)));
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(() => go({}, true), WAIT_MS);
}

async function show() {
  const mine = (turn += 1);
  showConditions();
  showFilters();
  const asked = question();
  const searching = Boolean(asked.text.length || asked.image || asked.upload || asked.more.length);
  byId("slider").hidden = !(asked.text.length && (asked.image || asked.upload));
  byId("weight").value = String(state.weight);
  sayWeight();
  if (!asked.image && !asked.upload) showReference(null);
  if (!searching) {
    byId("found").replaceChildren();
    showMarked([], []);
    tell(`Choose a picture, open a photo, or type a condition: ${boot.images.toLocaleString("en")} images can be searched.`, "start");
    return;
  }
  tell("Looking…", "asking");
  try {
    const reply = await get("", asked);
    if (mine !== turn) return;
    showReply(reply, asked);
    if (!byId("slider").hidden) showPlaces(asked, mine);
  } catch (problem) {
    if (mine !== turn) return;
    byId("found").replaceChildren();
    const ways = [["Try again", show]];
    if (state.where.length) ways.push(["Remove the filters", () => go({ where: [] })]);
    tell(`That did not work: ${problem.message}`, "failed", ...ways);
  }
}

function showReply(reply, asked) {
  if (reply.reference) showReference(reply.reference);
  else if (asked.upload) showReference({ upload: asked.upload });
  showKept(reply);
  showMarked(reply.more, reply.less);
  byId("found").replaceChildren(...reply.found.map((one, place) => found(one, place, reply.conditions)));
  const weak = reply.weak.map((text) => `“${text}”`).join(", ");
  byId("text-said").hidden = !weak;
  byId("text-said").textContent = weak ? `${weak}: no word of it is in the catalog’s texts, and its best results stand out no more than those of random letters. Look whether they are what you mean.` : "";
  const kept = Object.entries(reply.kept).map(([column, value]) => `${readable(column)} ${value}`).join(", ");
  const among = `among ${reply.allowed.toLocaleString("en")} images${kept ? ` with ${kept}${reply.guessed ? " (guessed from what it looks like)" : ""}` : ""}`;
  if (reply.found.length) {
    tell(`The best ${reply.found.length} ${among}. Choose one to go on from it.`);
    const reference = reply.reference?.thumb ?? null;
    history.add({ address: address({ ...state, texts: asked.text, off: [] }), said: said(asked, reply), thumb: reference, typed: Boolean(byId("text").value.trim()) });
    showHistory();
    return;
  }
  const ways = [];
  if (kept) ways.push(["Keep nothing of the picture", () => go({ keep: [] })]);
  if (state.where.length) ways.push(["Remove the filters", () => go({ where: [] })]);
  tell(`Nothing was found ${among}.`, "showing", ...ways);
}

function said(asked, reply) {
  const parts = [reply.reference ? `like ${reply.reference.name}` : asked.upload ? "like a photo of yours" : ""];
  parts.push(...asked.text.map((text) => `“${text}”`), asked.more.length ? `more like ${asked.more.length}` : "", asked.less.length ? `less like ${asked.less.length}` : "", ...asked.where);
  return parts.filter(Boolean).join(", ");
}

// --------------------------------------------------------------------------------------------------------------- found

function pictureOf(picture) {
  const image = element("img", { src: picture.thumb, alt: "", loading: "lazy", width: 144, height: 144 });
  image.addEventListener("error", () => image.replaceWith(element("span", { className: "no-picture" }, "this picture cannot be read")));
  return image;
}

function tile(picture, ...words) {
  const button = element("button", { type: "button", className: "tile", title: picture.name }, pictureOf(picture), ...words);
  button.dataset.image = picture.name;
  button.dataset.id = picture.image;
  button.addEventListener("click", () => choose(picture));
  return button;
}

function found(one, place, conditions) {
  const shown = tile(one, element("span", {}, element("b", {}, `${place + 1}. `), one.category || one.name), element("span", { className: "title" }, one.title || (one.category ? one.name.split("/").at(-1) : "")));
  if (one.met.length || one.not_met.length) {
    const told = conditions.filter((text) => one.met.includes(text) || one.not_met.includes(text));
    shown.append(element("span", { className: "told" }, ...told.map((text) => (one.met.includes(text) ? element("b", {}, `✓ ${text}`) : element("i", {}, `✗ ${text}`)))));
  }
  const marks = [["more", "More like it"], ["less", "Less like it"]].map(([kind, label]) => {
    const button = element("button", { type: "button" }, kind === "more" ? "+ more" : "− less");
    button.setAttribute("aria-label", `${label}: ${one.name}`);
    button.setAttribute("aria-pressed", String(state[kind].includes(one.image)));
    button.addEventListener("click", () => mark(kind, one.image));
    return button;
  });
  return element("li", {}, shown, element("div", { className: "feedback-row" }, ...marks));
}

/** More or less like an image; a second time takes it back. */
function mark(kind, image) {
  const other = kind === "more" ? "less" : "more";
  const now = state[kind].includes(image) ? state[kind].filter((one) => one !== image) : [...state[kind], image].slice(-MAX_MARKED);
  go({ [kind]: now, [other]: state[other].filter((one) => one !== image) });
}

function showMarked(more, less) {
  byId("marked").hidden = !more.length && !less.length;
  for (const [kind, pictures] of [["more", more], ["less", less]]) {
    const place = byId(`${kind}-marked`);
    place.hidden = !pictures.length;
    place.querySelector("ul").replaceChildren(
      ...pictures.map((picture) => {
        const button = element("button", { type: "button", title: picture.name }, pictureOf(picture));
        button.setAttribute("aria-label", `No longer ${kind} like ${picture.name}`);
        button.addEventListener("click", () => mark(kind, picture.image));
        return element("li", {}, button);
      }),
    );
  }
}

// ----------------------------------------------------------------------------------------------------------- reference

function choose(picture) {
  showReference(picture);
  byId("desk").scrollIntoView({ block: "nearest" });
  go({ image: picture.image, upload: "" });
}

function showReference(picture) {
  const place = byId("reference");
  byId("clear").hidden = !picture;
  if (!picture) place.replaceChildren(element("p", { className: "note" }, "No picture: searching by text only. Drop or paste one here."));
  else if (picture.upload) place.replaceChildren(canvases.get(picture.upload) ?? element("p", { className: "note" }, "Your photo"));
  else if (!place.querySelector("img")?.src.endsWith(picture.full)) place.replaceChildren(element("img", { src: picture.full, alt: `Reference: ${picture.name}` }));
}

byId("clear").addEventListener("click", () => {
  go({ image: null, upload: "" });
  byId("choose").focus();
});

takePictures(byId("file"), byId("desk"), async (file) => {
  tell("Looking at your picture…", "asking");
  try {
    const { canvas, content } = await shrunk(file, `Reference: your picture ${file.name}`);
    const reply = await get("/upload", {}, { method: "POST", body: content, headers: { "Content-Type": "image/jpeg" } });
    canvases.set(reply.upload, canvas);
    go({ image: null, upload: reply.upload });
  } catch (problem) {
    tell(`That did not work: ${problem.message}`, "failed");
  }
});

// ------------------------------------------------------------------------------------------------------------- chooser

byId("choose").addEventListener("click", () => {
  const chooser = byId("chooser");
  chooser.hidden = !chooser.hidden;
  byId("choose").setAttribute("aria-expanded", String(!chooser.hidden));
  if (!chooser.hidden) {
    if (!listed) list(true);
    byId("find").focus();
  }
});

async function list(fresh) {
  if (fresh) listed = 0;
  try {
    const reply = await get("/pictures", { find: byId("find").value, after: listed });
    if (fresh) byId("pictures").replaceChildren();
    byId("pictures").append(...reply.pictures.map((one) => element("li", {}, tile(one, element("span", {}, one.name)))));
    listed += reply.pictures.length;
    byId("more").hidden = listed >= reply.total;
    byId("find-said").textContent = `${listed} of ${reply.total} pictures`;
  } catch (problem) {
    byId("find-said").textContent = `That did not work: ${problem.message}`;
  }
}

let finding = 0;
byId("find").addEventListener("input", () => {
  clearTimeout(finding);
  finding = setTimeout(() => list(true), WAIT_MS);
});
byId("more").addEventListener("click", () => list(false));

// ---------------------------------------------------------------------------------------------------------- conditions

function showConditions() {
  byId("conditions").replaceChildren(
    ...state.texts.map((text) => {
      const on = !state.off.includes(text);
      const chip = element("button", { type: "button", className: "chip" }, text);
      chip.setAttribute("aria-pressed", String(on));
      chip.addEventListener("click", () => go({ off: on ? [...state.off, text] : state.off.filter((one) => one !== text) }));
      const drop = element("button", { type: "button", className: "drop" }, "✕");
      drop.setAttribute("aria-label", `Remove the condition ${text}`);
      drop.addEventListener("click", () => go({ texts: state.texts.filter((one) => one !== text), off: state.off.filter((one) => one !== text) }));
      return element("li", {}, chip, drop);
    }),
  );
}

byId("text").addEventListener("input", soon);
byId("asked").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("text").value.trim();
  byId("text").value = "";
  if (!text) return;
  if (state.texts.length >= MAX_CONDITIONS) tell(`At most ${MAX_CONDITIONS} conditions: remove one first.`, "failed");
  else go({ texts: [...new Set([...state.texts, text])], off: state.off.filter((one) => one !== text) });
});

// -------------------------------------------------------------------------------------------------------------- slider

function sayWeight() {
  const weight = state.weight;
  const words = weight === 50 ? "equal weight" : weight === 0 ? "the image alone" : weight === 100 ? "the text alone" : weight < 50 ? `more the image (${100 - weight} %)` : `more the text (${weight} %)`;
  byId("weight-said").textContent = words;
  byId("weight").setAttribute("aria-valuetext", words);
}

byId("weight").addEventListener("input", () => {
  clearTimeout(timer);
  state.weight = Number(byId("weight").value);
  sayWeight();
  markPlace();
  timer = setTimeout(() => go({}, true), WAIT_MS);
});

function markPlace() {
  const places = [...byId("places").querySelectorAll("button")];
  const nearest = places.reduce((best, one) => (Math.abs(one.value - state.weight) < Math.abs(best.value - state.weight) ? one : best), places[0]);
  for (const one of places) {
    if (one === nearest) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
}

/** At five places of the slider: the first result, and what it costs and gains. */
async function showPlaces(asked, mine) {
  const reply = await get("/slider", asked).catch(() => null);
  if (mine !== turn || !reply) return;
  const names = ["image", "", "both", "", "text"];
  byId("places").replaceChildren(
    ...reply.places.map((place, number) => {
      const facts = place.known ? `${place.met} of ${place.n} met` : `${place.shared} of ${place.n} as the image alone`;
      const label = names[number] ? element("b", {}, names[number], element("br")) : "";
      const button = element("button", { type: "button", value: 100 * place.weight }, place.first ? pictureOf(place.first) : "", element("span", {}, label, element("small", {}, facts)));
      button.setAttribute("aria-label", `${100 * place.weight} % text: ${facts}`);
      button.addEventListener("click", () => go({ weight: 100 * place.weight }));
      return element("li", {}, button);
    }),
  );
  markPlace();
}

// ------------------------------------------------------------------------------------------------------------- filters

/** "baseColour" and "base_colour" as people say them. */
const readable = (column) => column.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();

function showKept(reply) {
  byId("kept").hidden = !boot.columns.length || !(state.image || state.upload);
  const chips = boot.columns.map((column) => {
    const value = reply.kept[column];
    const chip = element("button", { type: "button", value: column, className: "chip small" }, readable(column), value ? `: ${value}` : "");
    const on = state.keep.includes(column);
    chip.setAttribute("aria-pressed", String(on));
    chip.addEventListener("click", () => {
      go({ keep: on ? state.keep.filter((one) => one !== column) : [...state.keep, column] });
    });
    return chip;
  });
  const focused = document.activeElement?.closest?.("#kept .chip")?.value;
  byId("kept").replaceChildren(byId("kept").firstElementChild, ...chips);
  if (focused) chips.find((chip) => chip.value === focused)?.focus();
}

function showFilters() {
  if (!(state.image || state.upload)) byId("kept").hidden = true;
  byId("where").replaceChildren(
    ...state.where.map((condition) => {
      const drop = element("button", { type: "button", className: "drop" }, "✕");
      drop.setAttribute("aria-label", `Remove the filter ${condition}`);
      drop.addEventListener("click", () => go({ where: state.where.filter((one) => one !== condition) }));
      return element("li", {}, element("span", { className: "chip button" }, condition.replace("=", " = ")), drop);
    }),
  );
}

function showValues() {
  const values = boot.filters.find((one) => one.name === byId("column").value)?.values ?? [];
  byId("value").replaceChildren(...values.map((value) => element("option", {}, value)));
  byId("value").hidden = !values.length;
  byId("value-text").hidden = Boolean(values.length);
}

byId("column").addEventListener("change", showValues);
byId("add-filter").addEventListener("click", () => {
  const value = byId("value").hidden ? byId("value-text").value.trim() : byId("value").value;
  if (!value) return;
  const column = byId("column").value;
  go({ where: [...state.where.filter((one) => !one.startsWith(`${column}=`)), `${column}=${value}`] });
});
byId("model").addEventListener("change", (event) => go({ model: Number(event.target.value) }));

// ------------------------------------------------------------------------------------------------------------- history

function showHistory() {
  byId("history").hidden = !history.all.length;
  byId("before").replaceChildren(
    ...history.all.map((one) => {
      const link = element("a", { href: one.address }, one.thumb ? element("img", { src: one.thumb, alt: "" }) : "", one.said);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        byId("text").value = "";
        window.history.pushState(null, "", one.address);
        state = read();
        show();
      });
      return element("li", {}, link);
    }),
  );
}

byId("forget").addEventListener("click", () => {
  history.clear();
  showHistory();
});

// ---------------------------------------------------------------------------------------------------------------- keys

document.addEventListener("keydown", (event) => {
  if (event.target === byId("text") && event.key === "Escape") byId("text").blur();
  if (!isOurs(event)) return;
  const tiles = [...byId("found").querySelectorAll(".tile")];
  if (event.target.type !== "range" && walk(event, tiles)) return;
  const here = document.activeElement?.closest?.("#found li")?.querySelector(".tile");
  if (event.key === "/") {
    event.preventDefault();
    byId("text").focus();
  } else if (event.key === "Escape" && (state.image || state.upload)) go({ image: null, upload: "" });
  else if (here && event.key.toLowerCase() === "m") mark("more", Number(here.dataset.id));
  else if (here && event.key.toLowerCase() === "l") mark("less", Number(here.dataset.id));
});

// --------------------------------------------------------------------------------------------------------------- start

state = read();
byId("options").open = !window.matchMedia("(max-width: 46rem)").matches;
byId("models").hidden = boot.models.length < 2;
byId("model").append(...boot.models.map((label, number) => element("option", { value: number, selected: number === state.model }, label)));
byId("filters").hidden = !boot.filters.length;
byId("column").append(...boot.filters.map((column) => element("option", {}, column.name)));
byId("column").value = boot.filters.find((column) => column.values.length && column.name !== "category")?.name ?? boot.filters[0]?.name ?? "";
showValues();
showHistory();
show();
