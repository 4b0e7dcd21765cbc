// The editor of AAT questions: a picture of the designer's own joins the shelf, and nothing that was chosen is lost.

import { boot, byId } from "../explore/shared.js";
import { shrunk, takePictures } from "../pictures.js";

const said = byId("said");

async function ask(address, options) {
  const reply = await fetch(address, { method: "POST", ...options, headers: { ...options.headers, "X-CSRF-Token": boot.csrf } }).catch(() => {
    throw new Error("the site does not answer: is it still running?");
  });
  const told = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(told.detail ?? "the site did not take it");
  return told;
}

function put(told) {
  const shelf = document.querySelector(`[data-shelf="${CSS.escape(told.category)}"]`);
  if (!shelf) return false;
  if (shelf.querySelector(`input[value="${CSS.escape(told.item)}"]`)) return true;
  const card = byId(told.category === boot.category ? "new-choice" : "new-piece").content.firstElementChild.cloneNode(true);
  Object.assign(card.querySelector("img"), { src: told.picture, alt: "" });
  for (const input of card.querySelectorAll("input")) {
    input.value = told.item;
    if (told.category !== boot.category) input.name = `worn-${told.category}`;
  }
  for (const name of card.querySelectorAll(".unseen")) name.textContent = `: ${told.item}`;
  shelf.insertBefore(card, shelf.querySelector("[data-first]")?.nextSibling ?? shelf.firstChild);
  shelf.closest("details")?.setAttribute("open", "");
  card.querySelector("input").focus();
  return true;
}

async function bring(file) {
  said.textContent = "Sending your picture…";
  try {
    const { content } = await shrunk(file, "Your picture");
    const category = byId("picture-category").value;
    const told = await ask(`${boot.api}/outfits/pictures?${new URLSearchParams({ category })}`, { body: content, headers: { "Content-Type": "image/jpeg" } });
    said.textContent = put(told) ? `Your picture is among the ${category}.` : `Your picture is kept; it stands among the ${category} when this page is opened again.`;
  } catch (problem) {
    said.textContent = `That did not work: ${problem.message}`;
  }
}

takePictures(byId("file"), byId("bring"), bring);
byId("main").dataset.state = "ready";
