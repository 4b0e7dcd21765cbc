// Where models differ: queries with both lists, in the order asked for; or every mistake of one model.

import { askJson, boot, byId, counted, element, fail, labelBadge, neighboursUrl, onlyMark, post, queryOf, tell, tile } from "./shared.js";

const MISTAKES = "mistakes";
const given = new URLSearchParams(window.location.search);
let turn = 0;

async function show(fresh) {
  const mine = (turn += 1);
  const [first, second, order] = ["first", "second", "order"].map((id) => byId(id).value);
  const place = byId("queries");
  const after = fresh ? 0 : place.children.length;
  window.history.replaceState(null, "", `?${queryOf({ first, second, order })}`);
  tell(fresh ? "Comparing the lists of every query…" : "Looking…", "asking");
  try {
    const reply = order === MISTAKES ? await askJson("mistakes", { encoder: first, after }) : await askJson("differences", { first, second, order, after });
    if (mine !== turn) return;
    const rows = order === MISTAKES ? reply.mistakes.map((one) => mistake(one)) : reply.queries.map((one) => query(one, reply));
    place.classList.toggle("pairs", order === MISTAKES);
    if (fresh) place.replaceChildren(...rows);
    else place.append(...rows);
    byId("more").hidden = place.children.length >= reply.total;
    tell(said(reply, place.children.length, order));
  } catch (problem) {
    if (mine !== turn) return;
    place.replaceChildren();
    byId("more").hidden = true;
    fail(problem);
  }
}

function said(reply, n, order) {
  if (order === MISTAKES) return reply.total ? `${n.toLocaleString("en")} of ${counted(reply.total, "mistake")} of ${byId("first").value}, the worst first.` : "No mistake: every similar candidate stands above the dissimilar ones.";
  const learned = reply.learned.length ? ` ${reply.learned.join(" and ")} learned these labels: its AP says how well it remembers.` : "";
  const unlabelled = reply.labelled ? "" : " Nothing is labelled yet: models are compared by what they find.";
  const none = reply.total ? "" : " No query has the labels that this order needs.";
  return `${n.toLocaleString("en")} of ${counted(reply.total, "query", "queries")}.${unlabelled}${learned}${none}`;
}

function query(one, reply) {
  const [first, second] = one.lists;
  const facts = [`${one.shared} of ${reply.k} items in both lists`];
  const marked = (name) => (reply.learned.includes(name) ? `${name} †` : name);
  if (one.ap_a !== null && one.ap_b !== null) facts.push(`AP ${marked(first.encoder)} ${(100 * one.ap_a).toFixed(1)}, ${marked(second.encoder)} ${(100 * one.ap_b).toFixed(1)}`);
  if (one.n_labels) facts.push(`${counted(one.n_labels, "label")}${one.n_split ? `, ${one.n_split} with split experts` : ""}`);
  const names = one.lists.map((list) => list.encoder);
  const title = element("p", { className: "group-facts" }, `${facts.join("; ")} `);
  const open = one.lists.flatMap((list) => list.found).filter((each) => each.only && !each.label).map((each) => [one.query, each.image]);
  if (boot.owner && open.length) title.append(askButton(open, `Ask the experts about ${open.length} that only one finds`));
  const strips = one.lists.map((list) => {
    const tiles = list.found.map((each) => element("li", {}, tile(each.image, neighboursUrl({ image: each.image, with: names }), each.category ?? each.image, labelBadge(each.label), element("span", { className: "rank-score" }, onlyMark(each, list.encoder), element("span", {}, each.score.toFixed(3))))));
    return element("div", {}, element("h2", {}, marked(list.encoder)), element("ol", { className: "tiles strip-of" }, ...tiles));
  });
  const asked = tile(one.query, neighboursUrl({ image: one.query, with: names }), one.query);
  return element("li", {}, title, element("div", { className: "versus" }, asked, element("div", {}, ...strips)));
}

function mistake(one) {
  const side = one.severity >= 1 ? "all" : `${Math.round(100 * one.severity)} % of the`;
  const words = one.kind === "missed" ? `missed: similar, but below ${side} dissimilar ones` : `false friend: not similar, but above ${side} similar ones`;
  const names = [byId("first").value, byId("second").value];
  const title = element("p", { className: "group-facts" }, element("b", {}, words), `; cosine ${one.score.toFixed(3)} `);
  if (boot.owner) title.append(askButton([[one.query, one.candidate]], "Ask again"));
  const tiles = [tile(one.query, neighboursUrl({ image: one.query, with: names }), "query"), tile(one.candidate, neighboursUrl({ image: one.candidate, with: names }), "candidate", labelBadge(one.label))];
  return element("li", {}, title, element("ul", { className: "tiles strip-of" }, ...tiles.map((each) => element("li", {}, each))));
}

function askButton(pairs, label) {
  const button = element("button", { type: "button", className: "small" }, label);
  button.addEventListener("click", async () => {
    try {
      button.disabled = true;
      tell((await post("ask", { pairs })).said);
    } catch (problem) {
      button.disabled = false;
      fail(problem);
    }
  });
  return button;
}

for (const id of ["first", "second"]) byId(id).append(...boot.encoders.map((name) => element("option", {}, name)));
byId("order").append(...boot.sorts.map(([value, label]) => element("option", { value }, label)), element("option", { value: MISTAKES }, "every mistake of the first"));
byId("first").value = boot.encoders.includes(given.get("first")) ? given.get("first") : boot.encoders[0];
byId("second").value = boot.encoders.includes(given.get("second")) ? given.get("second") : (boot.encoders[1] ?? boot.encoders[0]);
if (given.has("order")) byId("order").value = given.get("order");
for (const id of ["first", "second", "order"]) byId(id).addEventListener("change", () => show(true));
byId("options").addEventListener("submit", (event) => event.preventDefault());
byId("more").addEventListener("click", () => show(false));
show(true);
