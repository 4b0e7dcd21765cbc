// Pictures that visitors bring along: opened from disk or the phone's camera, pasted, or dropped on the page.

const UPLOAD_PIXELS = 768; // the longer side that is sent; encoders look at less
const QUALITY = 0.92;

/** The picture as a small JPEG on a canvas, which also is what the page shows: the file itself never leaves the browser. */
export async function shrunk(file, label) {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error("this file cannot be read as a picture: give a JPEG, PNG or WebP");
  });
  const share = Math.min(1, UPLOAD_PIXELS / Math.max(bitmap.width, bitmap.height));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.max(1, Math.round(bitmap.width * share)), height: Math.max(1, Math.round(bitmap.height * share)) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  return { canvas, content: await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY)) };
}

/** Call `bring(file)` for every picture that is opened with `input`, pasted, or dropped anywhere; `zone` shows where to. */
export function takePictures(input, zone, bring) {
  input.addEventListener("change", () => {
    const [file] = input.files;
    input.value = "";
    if (file) bring(file);
  });
  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith("image/"));
    if (file) bring(file);
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("dropping");
  });
  document.addEventListener("dragleave", () => zone.classList.remove("dropping"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("dropping");
    const [file] = event.dataTransfer.files;
    if (file) bring(file);
  });
}
