// Map: the catalog in two dimensions; zoom in to see pictures, draw a lasso to select.

import { MapCanvas, PALETTE } from "./map_canvas.js";
import { ask, askJson, boot, byId, counted, element, fail, neighboursUrl, pictureUrl, post, queryOf, tell, tile } from "./shared.js";

const LISTED = 48;
const MAX_LISTED_FROM = 2000;
const WAIT_MS = 500;
const SETTLE_MS = 250;
const MAX_ASKED = 30; // images whose pairs are sent to experts at once
const given = new URLSearchParams(window.location.search);
const pointers = new Map();
let lassoing = false;
let dragged = 0;
let settled = 0;
let chosen = given.get("image") ?? "";
let sampled = given.get("sample") === "true";
let area = readArea(given.get("lasso")); // the corners of what is selected, for the address
let listed = LISTED;
let clicked = given.get("clicked") === "true"; // one point is selected, by a click
let note = ""; // what the colours mean

export const map = new MapCanvas(byId("map"), () => {
  clearTimeout(settled);
  settled = setTimeout(settle, SETTLE_MS);
});
const question = () => ({ encoder: byId("encoder").value, method: byId("method").value });

// ----------------------------------------------------------------------------------------------------------------- load

async function load() {
  tell("Looking for the map…", "asking");
  byId("sample").hidden = true;
  try {
    let content;
    for (;;) {
      const reply = await ask("map", { ...question(), sample: sampled || "" });
      content = await reply.json();
      if (reply.status !== 202) break;
      byId("progress").hidden = false;
      byId("progress").max = content.total || 1;
      byId("progress").value = content.done;
      tell(`Making the map, once: ${content.what}${content.total > 1 ? `, ${content.done} of ${content.total}` : ""}. It is kept in the workspace.`, "asking");
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
    byId("progress").hidden = true;
    map.images = content.images;
    map.points = new Float32Array(Uint8Array.from(atob(content.points), (letter) => letter.charCodeAt(0)).buffer);
    map.codes = new Uint8Array(content.images.length);
    if (area) select(map.inside(area), area);
    else if (clicked && map.images.includes(chosen)) pick(map.images.indexOf(chosen));
    else select(null);
    map.total = content.n_images;
    await colour();
  } catch (problem) {
    byId("progress").hidden = true;
    byId("sample").hidden = !/draw a sample/.test(problem.message);
    fail(problem);
  }
}

async function colour() {
  if (byId("colour").value === "model" && !chosen) {
    map.draw();
    tell("Click a picture on the map: the colours then show which models find what is near it.");
    return;
  }
  try {
    const reply = await askJson("map/colours", { ...question(), by: byId("colour").value, image: chosen, with: byId("colour").value === "model" ? boot.encoders.slice(0, 4) : [] });
    const shade = (number) => (number === reply.rest ? PALETTE.length - 1 : number % PALETTE.length); // the last is grey
    map.codes = Uint8Array.from(reply.codes, shade);
    note = reply.note;
    byId("legend").replaceChildren(
      ...reply.names.map((name, number) => {
        const swatch = element("span", { className: "swatch" });
        swatch.style.backgroundColor = PALETTE[shade(number)];
        return element("li", {}, swatch, name);
      }),
    );
  } catch (problem) {
    fail(problem);
    return;
  }
  map.draw();
  tell(`${map.images.length.toLocaleString("en")} of ${map.total.toLocaleString("en")} images, drawn by ${byId("method").value}.${byId("method").value === "PCA" ? "" : " Near means alike; distances between groups mean nothing."}${note ? ` ${note}` : ""}`);
}

// ----------------------------------------------------------------------------------------------------------------- list

const places = () => (map.selected ? [...map.selected.keys()].filter((place) => map.selected[place]) : (map.inView ?? []));

/** Once nothing moves: the address, and the list of what is in view or selected. */
function settle() {
  const { x, y, zoom } = map.view;
  const here = { ...question(), colour: byId("colour").value, image: chosen, clicked: clicked || "", sample: sampled || "", x: x.toFixed(4), y: y.toFixed(4), zoom: zoom.toFixed(3), lasso: area ? area.map((corner) => corner.map((one) => one.toFixed(3)).join(",")).join(" ") : "" };
  window.history.replaceState(null, "", `?${queryOf(here)}`);
  byId("map").dataset.milliseconds = map.milliseconds.toFixed(1);
  const found = places();
  const close = map.selected || found.length <= MAX_LISTED_FROM;
  const part = !close ? ", zoom in to list them" : found.length > listed ? `, the first ${listed}` : "";
  byId("list-title").textContent = `${map.selected ? "Selected" : "In view"}: ${counted(found.length, "image")}${part}`;
  byId("more").hidden = !close || found.length <= listed;
  byId("actions").hidden = !map.selected;
  byId("ask").hidden = !boot.owner || found.length < 2;
  byId("list").replaceChildren(...(close ? found : []).slice(0, listed).map((place) => element("li", {}, tile(map.images[place], neighboursUrl({ image: map.images[place], with: [byId("encoder").value] })))));
}

/** Select flagged points; `corners` say where they are, so that the address can hold it. */
function select(flags, corners = null) {
  map.selected = flags && flags.some(Boolean) ? flags : null;
  map.dims = Boolean(corners);
  map.marked = -1;
  clicked = false;
  area = map.selected ? corners : null;
  listed = LISTED;
  map.draw();
}

function selectArea(corners) {
  select(map.inside(corners), corners);
}

/** "x,y x,y x,y" as corners; null for anything else. */
function readArea(text) {
  const corners = (text ?? "").split(" ").map((corner) => corner.split(",").map(Number));
  return corners.length > 2 && corners.every((corner) => corner.length === 2 && corner.every(Number.isFinite)) ? corners : null;
}

// ------------------------------------------------------------------------------------------------------------- pointers

const canvas = byId("map");
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  map.zoom(Math.exp(-event.deltaY / 400), ...map.at(event));
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, map.at(event));
  dragged = 0;
  if (lassoing || event.shiftKey) map.lasso = [map.at(event)];
});
canvas.addEventListener("pointermove", (event) => {
  const now = map.at(event);
  const before = pointers.get(event.pointerId);
  if (!before) {
    hover(event, now);
    return;
  }
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  dragged += Math.abs(dx) + Math.abs(dy);
  pointers.set(event.pointerId, now);
  if (map.lasso.length) {
    map.lasso.push(now);
    map.draw();
  } else if (pointers.size === 2) {
    const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const [wide, was] = [now, before].map((place) => Math.hypot(place[0] - other[0], place[1] - other[1]));
    map.zoom(wide / Math.max(1, was), other[0], other[1]);
  } else map.pan(dx, dy);
});
for (const kind of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(kind, (event) => {
    pointers.delete(event.pointerId);
    if (map.lasso.length > 2) selectArea(map.corners());
    else if (kind === "pointerup" && dragged < 6) choose(map.nearest(...map.at(event)));
    map.lasso = [];
    map.draw();
  });
}
canvas.addEventListener("pointerleave", () => (byId("hover").hidden = true));

function hover(event, now) {
  const place = map.nearest(...now);
  const box = byId("hover");
  box.hidden = place < 0;
  if (place < 0) return;
  const image = map.images[place];
  if (box.dataset.image !== image) {
    box.dataset.image = image;
    box.replaceChildren(element("img", { src: pictureUrl(image), alt: "" }), element("span", {}, image));
  }
  const frame = byId("frame").getBoundingClientRect();
  box.style.left = `${Math.min(event.clientX - frame.left + 14, frame.width - 150)}px`;
  box.style.top = `${Math.min(event.clientY - frame.top + 14, frame.height - 170)}px`;
}

/** A click on a point makes it the image that labels and models are about; the list has the link to its neighbours. */
function choose(place) {
  if (place < 0) return;
  pick(place);
  if (["label", "model"].includes(byId("colour").value)) colour();
}

/** A ring around one point; nothing else fades, so that its colours can be compared. */
function pick(place) {
  chosen = map.images[place];
  const flags = new Uint8Array(map.images.length);
  flags[place] = 1;
  select(flags);
  map.marked = place;
  clicked = true;
}

canvas.addEventListener("keydown", (event) => {
  const step = 60 * (window.devicePixelRatio || 1);
  const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  if (moves[event.key]) map.pan(...moves[event.key]);
  else if (event.key === "+" || event.key === "=") map.zoom(1.4);
  else if (event.key === "-") map.zoom(1 / 1.4);
  else if (event.key === "l") byId("lasso").click();
  else if (event.key === "Escape") select(null);
  else return;
  event.preventDefault();
});

// -------------------------------------------------------------------------------------------------------------- actions

byId("lasso").addEventListener("click", () => {
  lassoing = !lassoing;
  byId("lasso").setAttribute("aria-pressed", String(lassoing));
  byId("frame").classList.toggle("lassoing", lassoing);
});
byId("in-view").addEventListener("click", () => {
  const [right, bottom] = [canvas.width, canvas.height];
  selectArea([[0, 0], [right, 0], [right, bottom], [0, bottom]].map(([x, y]) => map.toMap(x, y)));
});
byId("whole").addEventListener("click", () => {
  map.view = { x: 0, y: 0, zoom: 1 };
  map.draw();
});
byId("forget").addEventListener("click", () => select(null));
byId("more").addEventListener("click", () => {
  listed += LISTED;
  settle();
});
byId("sample").addEventListener("click", () => {
  sampled = true;
  load();
});

function download(name, lines) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" })) });
  link.click();
  URL.revokeObjectURL(link.href);
}
const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
byId("export").addEventListener("click", () => download("selection.csv", ["image", ...places().map((place) => quoted(map.images[place]))]));
byId("queries").addEventListener("click", () => {
  download("queries.csv", ["image", ...places().map((place) => quoted(map.images[place]))]);
  tell(`Saved as queries.csv. For a pool of these: likewise discover ${boot.workspace} --queries queries.csv`);
});
byId("ask").addEventListener("click", async () => {
  const images = places().map((place) => map.images[place]);
  if (images.length > MAX_ASKED) {
    fail(new Error(`${images.length} images make too many pairs: select at most ${MAX_ASKED}`));
    return;
  }
  try {
    const pairs = images.flatMap((image, number) => images.slice(number + 1).map((other) => [image, other]));
    tell((await post("ask", { pairs })).said);
  } catch (problem) {
    fail(problem);
  }
});

// ---------------------------------------------------------------------------------------------------------------- start

byId("encoder").append(...boot.encoders.map((name) => element("option", {}, name)));
byId("method").append(...boot.methods.map((name) => element("option", {}, name)));
const columns = boot.columns.filter((column) => column.values.length).map((column) => column.name);
byId("colour").append(...[...columns, "cluster", "label", "model"].map((name) => element("option", {}, name)));
for (const [id, name] of [["encoder", "encoder"], ["method", "method"], ["colour", "colour"]]) {
  const wanted = given.get(name);
  if (wanted && [...byId(id).options].some((option) => option.value === wanted)) byId(id).value = wanted;
}
if (!given.has("colour") && columns.includes("category")) byId("colour").value = "category";
if (given.has("zoom")) map.view = { x: Number(given.get("x")), y: Number(given.get("y")), zoom: Number(given.get("zoom")) };
byId("encoder").addEventListener("change", load);
byId("method").addEventListener("change", load);
byId("colour").addEventListener("change", colour);
byId("options").addEventListener("submit", (event) => event.preventDefault());
load();
