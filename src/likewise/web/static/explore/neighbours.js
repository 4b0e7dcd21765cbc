// Neighbours: the nearest items of a picture under up to four encoders; every picture found is a link to its own.

import { ask, askJson, boot, byId, counted, element, encoderChoice, fail, isOurs, isPlainClick, labelBadge, neighboursUrl, onlyMark, pictureUrl, post, tell, tile, walk } from "./shared.js";
import { shrunk, takePictures } from "../pictures.js";

const WAIT_MS = 200; // after the last key
let state = {};
let turn = 0; // only the newest answer is shown
let listed = [];
let uploaded = null; // the canvas of the picture that was brought along

// -------------------------------------------------------------------------------------------------------------- state

function read() {
  const given = new URLSearchParams(window.location.search);
  const known = given.getAll("with").filter((name) => boot.encoders.includes(name));
  return {
    image: given.get("image") ?? "",
    upload: given.get("upload") ?? "",
    with: known.length ? known.slice(0, 4) : boot.encoders.slice(0, Math.min(2, boot.encoders.length)),
    where: given.getAll("where"),
    find: given.get("find") ?? "",
    k: given.get("k") ?? "12",
  };
}

const address = (changes = {}) => neighboursUrl({ ...state, ...changes });

/** Change what is asked for; the address follows, so that it can be sent to a colleague or gone back to. */
function go(changes, replace = false) {
  state = { ...state, ...changes };
  window.history[replace ? "replaceState" : "pushState"](null, "", address());
  show();
}

window.addEventListener("popstate", () => {
  state = read();
  show();
});

// ---------------------------------------------------------------------------------------------------------------- show

async function show() {
  const mine = (turn += 1);
  byId("find").value = state.find;
  byId("k").value = state.k;
  for (const box of byId("encoders").querySelectorAll("input")) box.checked = state.with.includes(box.value);
  showConditions();
  const searching = state.image || state.upload;
  byId("clear").hidden = !searching;
  tell("Looking…", "asking");
  try {
    if (searching) {
      const reply = await askJson("neighbours", { image: state.image, upload: state.image ? "" : state.upload, with: state.with, where: state.where, k: state.k });
      if (mine !== turn) return;
      showQuery(reply.query);
      showLists(reply.lists);
      const only = reply.lists.flatMap((list) => list.found).filter((one) => one.only).length;
      const alone = reply.lists.length > 1 ? ` ${only} found by one encoder only.` : "";
      const own = state.image ? "; the query's own item is left out" : "";
      const lengths = reply.lists.map((list) => list.found.length);
      tell(`${lengths.join(" + ")} ${Math.max(...lengths) === 1 ? "item" : "items"}${own}.${alone}`);
    } else {
      showQuery(null);
      await browse(mine, true);
    }
  } catch (problem) {
    if (mine === turn) {
      byId("lists").replaceChildren();
      fail(problem);
    }
  }
}

function showQuery(query) {
  const place = byId("query");
  byId("about").replaceChildren();
  if (!query) {
    if (state.upload && uploaded) place.replaceChildren(uploaded);
    else place.replaceChildren(element("p", { className: "note" }, "Choose a picture below, or paste or drop any picture here."));
    return;
  }
  const shown = element("img", { src: pictureUrl(query.image, ""), alt: `Searching with ${query.image}` });
  shown.addEventListener("error", () => shown.replaceWith(element("span", { className: "no-picture" }, "this picture cannot be read")));
  place.replaceChildren(element("a", { href: pictureUrl(query.image, "full") }, shown));
  for (const [name, value] of [["image", query.image], ...Object.entries(query.about)]) {
    if (name === "item" && value === query.image) continue;
    byId("about").append(element("dt", {}, name), element("dd", {}, value));
  }
}

function showLists(lists) {
  listed = lists;
  const place = byId("lists");
  place.dataset.kind = "lists";
  place.style.setProperty("--lists", String(lists.length));
  place.replaceChildren(
    ...lists.map((list) => {
      const tiles = list.found.map((one, rank) => element("li", {}, found(one, rank, list.encoder)));
      const title = element("h2", {}, list.encoder, " ", element("small", {}, `${list.found.length}`));
      return element("section", {}, title, element("ol", { className: "tiles" }, ...tiles));
    }),
  );
  byId("more").hidden = true;
  byId("ask").hidden = !(boot.owner && state.image && unlabelled().length);
}

function found(one, rank, encoder) {
  const facts = element("span", { className: "rank-score" }, element("b", {}, `${rank + 1}`), onlyMark(one, encoder), element("span", {}, one.score.toFixed(3)));
  const link = tile(one.image, address({ image: one.image, upload: "" }), one.category ?? one.image, labelBadge(one.label), facts);
  link.title = `${one.image}\nitem ${one.item}`;
  link.dataset.item = one.item;
  return link;
}

async function browse(mine, fresh) {
  const place = byId("lists");
  const already = fresh ? 0 : place.querySelectorAll(".tile").length;
  const reply = await askJson("images", { find: state.find, where: state.where, after: already });
  if (mine !== turn) return;
  const tiles = reply.images.map((image, place) => {
    const link = tile(image, address({ image, upload: "" }), reply.categories[place] ?? image);
    link.title = image;
    return element("li", {}, link);
  });
  if (fresh) {
    listed = [];
    place.dataset.kind = "images";
    place.style.setProperty("--lists", "1");
    place.replaceChildren(element("ol", { className: "tiles" }, ...tiles));
  } else {
    place.querySelector("ol").append(...tiles);
  }
  const shown = already + tiles.length;
  byId("more").hidden = shown >= reply.total;
  byId("ask").hidden = true;
  tell(`${shown.toLocaleString("en")} of ${counted(reply.total, "image")}. Choose one to see what each model finds.`);
}

byId("more").addEventListener("click", () => browse(turn, false).catch(fail));

// ---------------------------------------------------------------------------------------------------------------- asked

byId("lists").addEventListener("click", (event) => {
  const link = event.target.closest(".tile");
  if (!link || !isPlainClick(event)) return;
  event.preventDefault();
  go({ image: link.dataset.image, upload: "" });
  window.scrollTo({ top: 0 });
});

/** What shows the same item in another list stands out with it. */
function alike(event) {
  const item = event.target.closest?.(".tile")?.dataset.item;
  for (const one of byId("lists").querySelectorAll(".tile")) one.classList.toggle("same", event.type !== "mouseout" && event.type !== "focusout" && Boolean(item) && one.dataset.item === item);
}
for (const kind of ["mouseover", "mouseout", "focusin", "focusout"]) byId("lists").addEventListener(kind, alike);

let finding = 0;
byId("find").addEventListener("input", () => {
  clearTimeout(finding);
  finding = setTimeout(() => go({ find: byId("find").value, image: "", upload: "" }, true), WAIT_MS);
});
byId("options").addEventListener("submit", (event) => event.preventDefault());
byId("k").addEventListener("change", () => go({ k: byId("k").value }));
byId("clear").addEventListener("click", () => go({ image: "", upload: "" }));

// -------------------------------------------------------------------------------------------------------------- filters

function showConditions() {
  byId("conditions").replaceChildren(
    ...state.where.map((condition) => {
      const button = element("button", { type: "button" }, condition.replace("=", " = "), " ✕");
      button.setAttribute("aria-label", `Remove the condition ${condition}`);
      button.addEventListener("click", () => go({ where: state.where.filter((one) => one !== condition) }));
      return element("li", {}, button);
    }),
  );
}

function showValues() {
  const column = boot.columns.find((one) => one.name === byId("column").value);
  const values = column?.values ?? [];
  byId("value").replaceChildren(...values.map((value) => element("option", {}, value)));
  byId("value").hidden = !values.length;
  byId("value-text").hidden = Boolean(values.length);
}

byId("column").addEventListener("change", showValues);
byId("add").addEventListener("click", () => {
  const value = byId("value").hidden ? byId("value-text").value.trim() : byId("value").value;
  if (!value) return;
  const others = state.where.filter((one) => !one.startsWith(`${byId("column").value}=`));
  go({ where: [...others, `${byId("column").value}=${value}`] });
});

// -------------------------------------------------------------------------------------------------------------- uploads

async function bring(file) {
  tell("Looking at your picture…", "asking");
  try {
    const { canvas, content } = await shrunk(file, "Searching with your picture");
    const reply = await (await ask("upload", {}, { method: "POST", body: content, headers: { "Content-Type": "image/jpeg" } })).json();
    uploaded = canvas;
    go({ image: "", upload: reply.upload });
  } catch (problem) {
    fail(problem);
  }
}

takePictures(byId("file"), byId("desk"), bring);

// ----------------------------------------------------------------------------------------------------------------- keys

async function step(by) {
  const reply = await askJson("step", { image: state.image, by, where: state.where });
  go({ image: reply.image, upload: "" });
}

document.addEventListener("keydown", (event) => {
  if (!isOurs(event)) return;
  const tiles = [...byId("lists").querySelectorAll(".tile")];
  if (walk(event, tiles)) return;
  if (event.key === "/") {
    event.preventDefault();
    byId("find").focus();
  } else if (event.key === "Escape" && (state.image || state.upload)) go({ image: "", upload: "" });
  else if (event.key === "n" || event.key === "p") step(event.key === "n" ? 1 : -1).catch(fail);
  else if (/^[1-4]$/.test(event.key)) byId("lists").querySelectorAll("section")[Number(event.key) - 1]?.querySelector(".tile")?.focus();
});

// -------------------------------------------------------------------------------------------------------------- experts

const unlabelled = () => [...new Set(listed.flatMap((list) => list.found).filter((one) => !one.label).map((one) => one.image))];

byId("ask").addEventListener("click", async () => {
  try {
    const reply = await post("ask", { pairs: unlabelled().map((image) => [state.image, image]) });
    tell(reply.said);
  } catch (problem) {
    fail(problem);
  }
});

// ---------------------------------------------------------------------------------------------------------------- start

state = read();
byId("more-options").open = !window.matchMedia("(max-width: 40rem)").matches;
byId("column").append(...boot.columns.map((column) => element("option", {}, column.name)));
byId("filters").hidden = !boot.columns.length;
byId("column").value = boot.columns.find((column) => column.values.length)?.name ?? boot.columns[0]?.name ?? "";
showValues();
encoderChoice(byId("encoders"), state.with, (chosen) => (chosen.length ? go({ with: chosen }) : show()));
show();
