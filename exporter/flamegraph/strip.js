// SPDX-License-Identifier: Apache-2.0
// The boxes of all levels in view as pixels, one row of pixels a level, stretched onto the canvas in
// one go: what a drawing costs depends on the size of the screen, not on the number of frames.

class Strip {
	constructor() {
		this.canvas = document.createElement("canvas");
		this.context = this.canvas.getContext("2d");
	}

	// Rows of a width in device pixels, all in the colour of the background.
	clear(width, rows, background) {
		if (!this.image || this.image.width !== width || this.image.height !== rows) {
			this.canvas.width = width;
			this.canvas.height = rows;
			this.image = this.context.createImageData(width, rows);
			this.pixels = new Uint32Array(this.image.data.buffer);
		}
		this.pixels.fill(background);
		this.column = -1;
	}

	// Would a box narrower than a pixel change nothing?
	hides(row, left, weight) {
		return row * this.image.width + Math.floor(left) === this.column && weight <= this.weight;
	}

	// A box from left to right in pixels. Of those that share a pixel the one of most weight shows.
	put(row, left, right, gap, color, weight) {
		const width = this.image.width, at = row * width;
		const from = Math.max(0, Math.floor(left)), to = Math.min(width, Math.floor(right));

		if (to > from) {
			this.pixels.fill(color, at + from, at + Math.max(from + 1, to - gap));
		} else if (from < width && (at + from !== this.column || weight > this.weight)) {
			this.pixels[at + from] = color;
			this.column = at + from;
			this.weight = weight;
		}
	}

	stretch(context, x, y, width, height) {
		this.context.putImageData(this.image, 0, 0);
		context.imageSmoothingEnabled = false;
		context.drawImage(this.canvas, x, y, width, height);
	}
}
