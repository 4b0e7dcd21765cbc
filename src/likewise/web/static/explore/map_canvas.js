// The map's drawing: points as pixels of one typed array, thumbnails on top once few enough are in view.

import { pictureUrl } from "./shared.js";

const THUMBNAIL_PIXELS = 56;
const MAX_THUMBNAILS = 150;
const MAX_KEPT = 800;
const MARGIN = 1.06; // points are within -1 and 1
const MAX_STRETCH = 1.7;

/** Colours that colour-blind people tell apart (Okabe and Ito), and a few more; the last is for what is left over. */
export const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#a65628", "#1b7837", "#d6604d", "#5b6c7d", "#9aa3ab"];

const packed = PALETTE.map((colour) => {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return (255 << 24) | (blue << 16) | (green << 8) | red; // as the bytes of ImageData lie in memory
});

export class MapCanvas {
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.onChange = onChange;
    this.points = new Float32Array(0);
    this.images = [];
    this.codes = new Uint8Array(0);
    this.selected = null; // a Uint8Array of flags
    this.dims = false; // whether what is not selected fades
    this.marked = -1; // the point with a ring around it
    this.lasso = [];
    this.view = { x: 0, y: 0, zoom: 1 };
    this.pictures = new Map();
    this.waiting = false;
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    this.draw();
  }

  /** Pixels per unit across and down: the map fills the canvas, stretched at most so far. */
  get scale() {
    const [across, down] = [this.canvas.width, this.canvas.height].map((side) => (side / 2 / MARGIN) * this.view.zoom);
    return [Math.min(across, MAX_STRETCH * down), Math.min(down, MAX_STRETCH * across)];
  }

  toScreen(place) {
    const [across, down] = this.scale;
    return [this.canvas.width / 2 + (this.points[2 * place] - this.view.x) * across, this.canvas.height / 2 - (this.points[2 * place + 1] - this.view.y) * down];
  }

  toMap(x, y) {
    const [across, down] = this.scale;
    return [this.view.x + (x - this.canvas.width / 2) / across, this.view.y - (y - this.canvas.height / 2) / down];
  }

  /** A point of the window as one of the canvas. */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * this.canvas.width) / box.width, ((event.clientY - box.top) * this.canvas.height) / box.height];
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  paint() {
    const started = performance.now();
    const { width, height } = this.canvas;
    const pixels = this.pen.createImageData(width, height);
    const words = new Uint32Array(pixels.data.buffer);
    const [across, down] = this.scale;
    const [left, top] = [width / 2 - this.view.x * across, height / 2 + this.view.y * down];
    const n = this.points.length / 2;
    const side = Math.min(6, Math.max(1.6, 170 / Math.sqrt(n)));  // few points are large enough to be seen and hit
    const size = Math.max(2, Math.min(7, Math.round((window.devicePixelRatio || 1) * side * Math.sqrt(this.view.zoom))));
    const inView = [];
    for (let place = 0; place < n; place += 1) {
      const x = (left + this.points[2 * place] * across) | 0;
      const y = (top - this.points[2 * place + 1] * down) | 0;
      if (x < 0 || y < 0 || x >= width - size || y >= height - size) continue;
      inView.push(place);
      let colour = packed[this.codes[place] % packed.length];
      if (this.dims && this.selected && !this.selected[place]) colour = (colour & 0x00ffffff) | (60 << 24);
      for (let row = 0; row < size; row += 1) words.fill(colour, (y + row) * width + x, (y + row) * width + x + size);
    }
    this.inView = inView;
    this.pen.putImageData(pixels, 0, 0);
    this.paintThumbnails(inView);
    this.paintMark(size);
    this.paintLasso();
    this.milliseconds = performance.now() - started;
    this.onChange(this);
  }

  paintThumbnails(inView) {
    const ratio = window.devicePixelRatio || 1;
    const cell = THUMBNAIL_PIXELS * ratio;
    if (this.view.zoom < 1.5 && inView.length > MAX_THUMBNAILS) return;
    const taken = new Set();
    let shown = 0;
    for (const place of inView) {
      const [x, y] = this.toScreen(place);
      const key = `${Math.floor(x / cell)},${Math.floor(y / cell)}`;
      if (taken.has(key)) continue;
      taken.add(key);
      if ((shown += 1) > MAX_THUMBNAILS) return;
      const picture = this.picture(place);
      if (!picture.complete || !picture.naturalWidth) continue;
      const share = (0.92 * cell) / Math.max(picture.naturalWidth, picture.naturalHeight);
      const [w, h] = [picture.naturalWidth * share, picture.naturalHeight * share];
      this.pen.strokeStyle = PALETTE[this.codes[place] % PALETTE.length];
      this.pen.lineWidth = 2 * ratio;
      this.pen.drawImage(picture, x - w / 2, y - h / 2, w, h);
      this.pen.strokeRect(x - w / 2, y - h / 2, w, h);
    }
  }

  picture(place) {
    const image = this.images[place];
    let picture = this.pictures.get(image);
    if (!picture) {
      picture = new Image();
      picture.addEventListener("load", () => this.draw());
      picture.src = pictureUrl(image);
      this.pictures.set(image, picture);
      if (this.pictures.size > MAX_KEPT) this.pictures.delete(this.pictures.keys().next().value);
    }
    return picture;
  }

  paintMark(size) {
    if (this.marked < 0) return;
    const ratio = window.devicePixelRatio || 1;
    const [x, y] = this.toScreen(this.marked);
    this.pen.beginPath();
    this.pen.arc(x + size / 2, y + size / 2, size + 5 * ratio, 0, 2 * Math.PI);
    this.pen.strokeStyle = "#d55e00";
    this.pen.lineWidth = 2 * ratio;
    this.pen.stroke();
  }

  paintLasso() {
    if (this.lasso.length < 2) return;
    this.pen.beginPath();
    this.lasso.forEach(([x, y], number) => this.pen[number ? "lineTo" : "moveTo"](x, y));
    this.pen.closePath();
    this.pen.strokeStyle = "#d55e00";
    this.pen.lineWidth = 2 * (window.devicePixelRatio || 1);
    this.pen.stroke();
  }

  /** The nearest point within a few pixels, or -1. */
  nearest(x, y, within = 14) {
    let best = -1;
    let least = (within * (window.devicePixelRatio || 1)) ** 2;
    for (const place of this.inView ?? []) {
      const [px, py] = this.toScreen(place);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [best, least] = [place, distance];
    }
    return best;
  }

  zoom(factor, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    const before = this.toMap(x, y);
    this.view.zoom = Math.min(200, Math.max(0.8, this.view.zoom * factor));
    const after = this.toMap(x, y);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.draw();
  }

  pan(dx, dy) {
    const [across, down] = this.scale;
    this.view.x -= dx / across;
    this.view.y += dy / down;
    this.draw();
  }

  /** The lasso as corners on the map, at most so many of them. */
  corners(most = 60) {
    const step = Math.max(1, Math.ceil(this.lasso.length / most));
    return this.lasso.filter((_, number) => number % step === 0).map(([x, y]) => this.toMap(x, y));
  }

  /** Flags of the points inside corners on the map (even-odd rule). */
  inside(corners) {
    const flags = new Uint8Array(this.images.length);
    for (let place = 0; place < flags.length; place += 1) {
      const [x, y] = [this.points[2 * place], this.points[2 * place + 1]];
      let within = false;
      for (let i = 0, j = corners.length - 1; i < corners.length; j = i, i += 1) {
        const [[xi, yi], [xj, yj]] = [corners[i], corners[j]];
        if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
      }
      flags[place] = within ? 1 : 0;
    }
    return flags;
  }
}
