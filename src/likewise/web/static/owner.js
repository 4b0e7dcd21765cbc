// Small conveniences of the owner's pages; every form works without them.

const copy = document.querySelector("[data-copy]");
if (copy) {
  const field = document.getElementById(copy.dataset.copy);
  field.addEventListener("focus", () => field.select());
  copy.addEventListener("click", async () => {
    const said = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(field.value);
      said.textContent = "Copied";
    } catch {
      field.focus(); // no clipboard without https: the link is at least selected
      said.textContent = "Press Ctrl+C";
    }
  });
}

// Times in the reader's own zone.
for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  if (!Number.isNaN(moment.getTime())) time.textContent = moment.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

const dialog = document.getElementById("zoom");
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.zoom");
  if (button) {
    const pictures = button.dataset.full.split(" ").map((source, place) => {
      const image = new Image();
      image.src = source;
      image.alt = place ? "Candidate" : "Query";
      return image;
    });
    document.getElementById("zoom-pictures").replaceChildren(...pictures);
    dialog.showModal();
  } else if (event.target === dialog) {
    dialog.close();
  }
});
