// The page of looks: a picture of one's own joins the look, offered items are dragged onto it, and keys.

import { boot, byId, isOurs, walk } from "../explore/shared.js";
import { shrunk, takePictures } from "../pictures.js";

const withItem = (item) => `${boot.page}?${boot.query}${boot.query ? "&" : ""}${new URLSearchParams({ item })}`;

async function bring(file) {
  byId("said").textContent = "Looking at your picture…";
  try {
    const { content } = await shrunk(file, "Your picture");
    const reply = await fetch(`${boot.api}/looks/upload`, { method: "POST", body: content, headers: { "Content-Type": "image/jpeg", "X-CSRF-Token": boot.csrf } }).catch(() => {
      throw new Error("the site does not answer: is it still running?");
    });
    const told = await reply.json().catch(() => ({}));
    if (!reply.ok) throw new Error(told.detail ?? "the site did not take the picture");
    window.location.assign(withItem(told.item));
  } catch (problem) {
    byId("said").textContent = `That did not work: ${problem.message}`;
  }
}

takePictures(byId("file"), byId("canvas"), bring);

// Offered items, dragged onto the look.
for (const one of document.querySelectorAll("[data-add]")) {
  one.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/x-likewise-add", one.dataset.add));
}
byId("canvas").addEventListener("drop", (event) => {
  const address = event.dataTransfer.getData("text/x-likewise-add");
  if (address.startsWith(`${boot.page}?`)) window.location.assign(address);
});

// What a picture of one's own shows, where the guess is wrong.
for (const choice of document.querySelectorAll("[data-own]")) {
  choice.addEventListener("change", () => {
    const query = new URLSearchParams(boot.query);
    const items = query.getAll("item").map((item) => (item === choice.dataset.own ? `${item.split("=")[0]}=${choice.value}` : item));
    query.delete("item");
    for (const item of items) query.append("item", item);
    window.location.assign(`${boot.page}?${query}`);
  });
}

document.addEventListener("keydown", (event) => {
  if (!isOurs(event)) return;
  if (walk(event, [...document.querySelectorAll(".tile")])) return;
  const target = { c: "complete", s: "save", o: "file" }[event.key.toLowerCase()];
  if (target) byId(target)?.click();
  else if (event.key === "/") byId("find").focus();
  else return;
  event.preventDefault();
});
byId("main").dataset.state = "ready";
