// Copies: all candidate pairs come once; the sliders draw the line here, so that their effect is seen at once.

import { ask, boot, byId, counted, element, fail, neighboursUrl, post, queryOf, tell, tile } from "./shared.js";

const GROUPS_SHOWN = 40;
const TILES_SHOWN = 12;
const WAIT_MS = 500;
const NONE = {
  all: "No copies at these two settings: lower the cosine or raise the bits to look further.",
  leaks: "No copy crosses items, a split or the two halves.",
  open: "No group is left to decide.",
  ignored: "No group is ignored.",
};
let found = null;
let shown = GROUPS_SHOWN;
let decisions = new Map();

const key = (one, other) => (one < other ? `${one}\n${other}` : `${other}\n${one}`);
const given = new URLSearchParams(window.location.search);

async function load() {
  tell("Comparing every picture with every other…", "asking");
  try {
    for (;;) {
      const reply = await ask("copies", { with: byId("encoder").value });
      const content = await reply.json();
      if (reply.status !== 202) {
        found = content;
        break;
      }
      byId("progress").hidden = false;
      byId("progress").max = content.total || 1;
      byId("progress").value = content.done;
      tell(`${content.what}: ${content.done.toLocaleString("en")} of ${content.total.toLocaleString("en")}`, "asking");
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
    byId("progress").hidden = true;
    byId("cosine").min = String(Math.ceil(found.floor * 200) / 2);
    byId("cosine").value = String(100 * Number(given.get("cosine") ?? found.cosine));
    byId("bits").value = given.get("bits") ?? String(found.bits);
    remember(found.decisions);
    show();
  } catch (problem) {
    byId("progress").hidden = true;
    fail(problem);
  }
}

function remember(rows) {
  decisions = new Map(rows.map(([one, other, decision]) => [key(one, other), decision]));
}

/** Groups of pictures connected by pairs on the right side of the line (union-find). */
function groups(cosine, bits) {
  const parent = found.images.map((_, place) => place);
  const root = (place) => {
    let at = place;
    while (parent[at] !== at) at = parent[at] = parent[parent[at]];
    return at;
  };
  const pairs = found.pairs.filter(([, , near, different, exact]) => exact || (near !== null && near >= cosine) || different <= bits);
  for (const [first, second] of pairs) parent[root(first)] = root(second);
  const made = new Map();
  for (const pair of pairs) {
    const at = root(pair[0]);
    if (!made.has(at)) made.set(at, { rows: new Set(), pairs: [] });
    const group = made.get(at);
    group.rows.add(pair[0]).add(pair[1]);
    group.pairs.push(pair);
  }
  return [...made.values()].map((group) => ({ ...group, rows: [...group.rows].sort((a, b) => a - b) })).map(describe);
}

function describe(group) {
  const states = group.pairs.map(([one, other]) => decisions.get(key(found.images[one], found.images[other])));
  const leaks = Object.entries(found.sides)
    .map(([name, sides]) => [name, [...new Set(group.rows.map((row) => sides[row]))]])
    .filter(([, values]) => values.length > 1);
  const state = states.every((one) => one === "ignored") ? "ignored" : states.every(Boolean) ? "copy" : "open";
  return { ...group, state, leaks };
}

function show() {
  if (!found) return;
  const cosine = Number(byId("cosine").value) / 100;
  const bits = Number(byId("bits").value);
  byId("cosine-said").textContent = cosine.toFixed(3);
  byId("bits-said").textContent = bits < 0 ? "none" : String(bits);
  const values = { with: found.encoder, cosine, bits };
  byId("export").href = `${boot.api}/explore/copies.csv?${queryOf(values)}`;
  window.history.replaceState(null, "", `?${queryOf({ ...values, show: byId("show").value })}`);
  const all = groups(cosine, bits);
  const kept = all.filter((group) => ({ all: group.state !== "ignored", leaks: group.leaks.length && group.state !== "ignored", open: group.state === "open", ignored: group.state === "ignored" })[byId("show").value]);
  kept.sort((a, b) => b.leaks.length - a.leaks.length || b.rows.length - a.rows.length);
  byId("groups").replaceChildren(...kept.slice(0, shown).map(card));
  byId("more").hidden = kept.length <= shown;
  const images = kept.reduce((sum, group) => sum + group.rows.length, 0);
  const leaking = all.filter((group) => group.leaks.some(([name]) => name !== "item") && group.state !== "ignored").length;
  const ignored = all.filter((group) => group.state === "ignored").length;
  if (!kept.length) return tell(NONE[byId("show").value]);
  return tell(`${counted(kept.length, "group")} with ${counted(images, "image")}; ${leaking.toLocaleString("en")} ${leaking === 1 ? "crosses" : "cross"} a split or the two halves; ${ignored.toLocaleString("en")} ignored.`);
}

function card(group) {
  const nearest = Math.max(...group.pairs.map(([, , cosine]) => cosine ?? -1));
  const least = Math.min(...group.pairs.map(([, , , bits]) => bits));
  const exact = group.pairs.some(([, , , , same]) => same);
  const facts = [exact ? "same file" : `cosine up to ${nearest.toFixed(3)}`, `${least} of ${found.hash_bits} bits differ`];
  const tiles = group.rows.slice(0, TILES_SHOWN).map((row) => element("li", {}, tile(found.images[row], neighboursUrl({ image: found.images[row], with: [found.encoder] }), found.sides.item[row])));
  const title = element("p", { className: "group-facts" }, element("b", {}, `${group.rows.length} images`), ` ${facts.join(", ")} `);
  for (const [name, values] of group.leaks) {
    const words = name === "item" ? `${values.length} items` : `leak: ${name} ${values.slice(0, 3).join(" / ")}`;
    title.append(element("span", { className: name === "item" ? "badge quiet" : "badge" }, words), " ");
  }
  if (group.state === "copy") title.append(element("span", { className: "badge quiet" }, "marked as copies"), " ");
  if (boot.owner) {
    const actions = group.state === "open" ? [["Mark as copies", "copy"], ["Ignore", "ignored"]] : [["Undo", null]];
    for (const [label, decision] of actions) {
      const button = element("button", { type: "button", className: "small" }, label);
      button.addEventListener("click", () => decide(group, decision));
      title.append(button, " ");
    }
  }
  const more = group.rows.length > TILES_SHOWN ? element("p", { className: "note" }, `and ${group.rows.length - TILES_SHOWN} more`) : "";
  return element("li", {}, title, element("ul", { className: "tiles" }, ...tiles), more);
}

async function decide(group, decision) {
  try {
    const reply = await post("copies/decide", { pairs: group.pairs.slice(0, 2000).map(([one, other]) => [found.images[one], found.images[other]]), decision });
    remember(reply.decisions);
    show();
  } catch (problem) {
    fail(problem);
  }
}

byId("encoder").append(...boot.encoders.map((name) => element("option", {}, name)));
if (boot.encoders.includes(given.get("with"))) byId("encoder").value = given.get("with");
byId("show").value = given.get("show") ?? "all";
byId("encoder").addEventListener("change", load);
for (const id of ["cosine", "bits", "show"]) {
  byId(id).addEventListener("input", () => {
    shown = GROUPS_SHOWN;
    show();
  });
}
byId("options").addEventListener("submit", (event) => event.preventDefault());
byId("more").addEventListener("click", () => {
  shown += GROUPS_SHOWN;
  show();
});
load();
