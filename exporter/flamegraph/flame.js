// SPDX-License-Identifier: Apache-2.0
// The graph on its canvas: draws what is in view, finds the frame under a point. The canvas stays in
// place while its panel scrolls over the height of all levels.

const ROW = 20, GAP = 1, FONT = "12px system-ui, sans-serif";
const ZOOM_MS = 180;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

class Flame {
	constructor(panel, canvas, spacer, colors, search) {
		Object.assign(this, { panel, canvas, spacer, colors, search });
		this.context = canvas.getContext("2d", { alpha: false });
		this.isIcicle = false;
		this.zoomed = 0;
		this.hovered = this.selected = -1;
		this.view = { from: 0, to: 1 };
		this.nameWidths = new Map();
		this.drawTimes = [];	// ms, the last ones
		this.request = 0;
		panel.addEventListener("scroll", () => this.redraw(), { passive: true });
		new ResizeObserver(() => this.resize()).observe(panel);
	}

	show(tree, type) {
		this.tree = tree;
		this.type = type;
		this.layout = new Layout(tree, type);
		this.hovered = this.selected = -1;
		this.zoom(0, false);
	}

	zoom(node, moves = true) {
		const place = this.layout.place[node], width = this.layout.width[place];
		const from = this.layout.x[place];

		this.zoomed = node;
		this.levels = this.tree.deepest(node) + 1;
		this.resize();
		this.scrollTo(node);
		if (moves && !calm.matches)
			this.move = { ...this.view, start: performance.now(), toFrom: from, toTo: from + width };
		else
			this.view = { from, to: from + width || 1 };
		this.redraw();
	}

	resize() {
		const ratio = devicePixelRatio || 1, w = this.panel.clientWidth, h = this.panel.clientHeight;

		this.width = w;
		this.height = h;
		if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
			this.canvas.width = Math.round(w * ratio);
			this.canvas.height = Math.round(h * ratio);
			this.canvas.style.width = w + "px";
			this.canvas.style.height = h + "px";
		}
		this.full = Math.max(h, (this.levels || 1) * ROW + 8);
		this.spacer.style.height = this.full - h + "px";
		this.redraw();
	}

	// The top of a level, from the top of all levels.
	top(level) {
		return this.isIcicle ? level * ROW + 4 : this.full - (level + 1) * ROW - 4;
	}

	level(y) {
		const fromTop = y + this.panel.scrollTop;

		return Math.floor(this.isIcicle ? (fromTop - 4) / ROW : (this.full - 4 - fromTop) / ROW);
	}

	scrollTo(node) {
		const top = this.top(this.tree.depth[node]), panel = this.panel;

		if (top < panel.scrollTop + ROW)
			panel.scrollTop = top - (this.isIcicle ? ROW : this.height - 2 * ROW);
		else if (top + 2 * ROW > panel.scrollTop + this.height)
			panel.scrollTop = top - (this.isIcicle ? ROW : this.height - 2 * ROW);
	}

	turn(isIcicle) {
		this.isIcicle = isIcicle;
		this.panel.scrollTop = isIcicle ? 0 : this.full;
		this.scrollTo(this.zoomed);
		this.redraw();
	}

	// The node at a point of the canvas, or -1.
	at(px, py) {
		const unit = (this.view.to - this.view.from) / this.width;

		return this.layout.at(this.level(py), this.view.from + px * unit, 4 * unit);
	}

	// The box of a node on the canvas, cut at its sides.
	box(node) {
		const place = this.layout.place[node], scale = this.width / (this.view.to - this.view.from);
		const left = Math.max(0, (this.layout.x[place] - this.view.from) * scale);
		const right = Math.min(this.width, (this.layout.x[place] + this.layout.width[place] - this.view.from) * scale);

		return { x: left, y: this.top(this.tree.depth[node]) - this.panel.scrollTop, w: Math.max(1, right - left), h: ROW - GAP };
	}

	redraw() {
		if (!this.request && this.layout)
			this.request = requestAnimationFrame(now => {
				const start = performance.now();

				this.request = 0;
				this.step(now);
				this.draw();
				this.drawTimes.push(performance.now() - start);
				if (this.drawTimes.length > 2000)
					this.drawTimes.shift();
			});
	}

	step(now) {
		const m = this.move;

		if (!m)
			return;

		const t = Math.min(1, Math.max(0, (now - m.start) / ZOOM_MS)), eased = 1 - (1 - t) ** 3;

		this.view.from = m.from + (m.toFrom - m.from) * eased;
		this.view.to = m.to + (m.toTo - m.to) * eased;
		if (t === 1)
			this.move = null;
		else
			this.redraw();
	}

	draw() {
		const c = this.context, ratio = this.canvas.width / Math.max(1, this.width);
		const first = Math.max(0, Math.min(this.level(0), this.level(this.height)));
		const last = Math.min(this.layout.nLevels - 1, Math.max(this.level(0), this.level(this.height)));

		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = getComputedStyle(this.panel).backgroundColor;
		c.fillRect(0, 0, this.width, this.height);
		this.texts = [];
		this.hatched = [];
		for (let level = first; level <= last; level++)
			this.drawLevel(level, this.top(level) - this.panel.scrollTop);
		this.drawHatches();
		this.drawTexts();
		this.outline(this.hovered, 1);
		this.outline(this.selected, 2);
	}

	// Frames narrower than a pixel are drawn together, in the colour of the widest of them.
	drawLevel(level, y) {
		const { x, width, order, levels } = this.layout, { from, to } = this.view, c = this.context;
		const scale = this.width / (to - from), searching = this.search.active;
		const end = levels[level + 1], matches = this.search.matches, frames = this.tree.frames;
		let runStart = -1, runEnd = 0, widest = 0, runFill = "", runMatch = false;
		const flush = () => {
			c.fillStyle = runMatch ? this.colors.match : runFill;
			c.fillRect(runStart, y, Math.max(0.7, runEnd - runStart), ROW - GAP);
			runStart = -1;
		};

		for (let i = this.layout.find(level, from); i < end && x[i] < to; i++) {
			const left = (x[i] - from) * scale, w = width[i] * scale;
			const node = order[i], frame = this.tree.frame[node];
			const isMatch = searching && matches[frames[frame].fn] === 1;

			if (w >= 1) {
				if (runStart >= 0)
					flush();
				this.drawFrame(node, left, y, w, isMatch);
				continue;
			}
			if (runStart >= 0 && left > runEnd + 0.5)
				flush();
			if (runStart < 0) {
				runStart = left;
				widest = -1;
				runMatch = false;
			}
			runEnd = left + w;
			runMatch ||= isMatch;
			if (w > widest) {
				widest = w;
				runFill = this.fill(frame);
			}
		}
		if (runStart >= 0)
			flush();
	}

	fill(frame) {
		return (this.search.active ? this.colors.faint : this.colors.fills)[this.colors.ofFrame[frame]];
	}

	drawFrame(node, left, y, w, isMatch) {
		const c = this.context, frame = this.tree.frame[node], isAbove = node < this.zoomed && this.tree.holds(node, this.zoomed);
		const start = Math.max(-2, left), gap = w > 3 ? GAP : w > 2 ? 0.5 : 0;
		const shown = Math.min(this.width + 2, left + w) - start - gap;

		c.fillStyle = isMatch ? this.colors.match :
			isAbove ? this.colors.faint[this.colors.ofFrame[frame]] : this.fill(frame);
		c.fillRect(start, y, shown, ROW - GAP);
		if (w < 4)
			return;
		if (this.tree.flags[node] & GUESSED || this.tree.frames[frame].kind === KIND.mark)
			this.hatched.push(start, y, shown);
		if (this.tree.frames[frame].inlined && left >= 0) {
			c.fillStyle = isMatch ? this.colors.matchText : this.colors.line;
			c.fillRect(left, y, Math.min(2, w / 4), ROW - GAP);
		}
		if (shown >= 26)
			this.texts.push({ node, x: Math.max(0, left), y, w: shown, isMatch, isAbove });
	}

	drawHatches() {
		const c = this.context;

		c.save();
		c.beginPath();
		for (let i = 0; i < this.hatched.length; i += 3)
			c.rect(this.hatched[i], this.hatched[i + 1], this.hatched[i + 2], ROW - GAP);
		c.clip();
		c.beginPath();
		for (let i = 0; i < this.hatched.length; i += 3) {
			const [x, y, w] = this.hatched.slice(i, i + 3);

			for (let at = x - ROW; at < x + w; at += 6) {
				c.moveTo(at, y + ROW);
				c.lineTo(at + ROW, y);
			}
		}
		c.strokeStyle = this.colors.hatch;
		c.lineWidth = 1.5;
		c.stroke();
		c.restore();
	}

	drawTexts() {
		const c = this.context;

		c.textBaseline = "middle";
		for (const isInlined of [false, true]) {
			c.font = (isInlined ? "italic " : "") + FONT;
			for (const t of this.texts) {
				const frame = this.tree.of(t.node);

				if (frame.inlined !== isInlined)
					continue;
				c.fillStyle = t.isMatch ? this.colors.matchText :
					this.search.active || t.isAbove ? this.colors.faintText : this.colors.text;
				c.fillText(this.shorten(frame.name, t.w - 10), t.x + 5, t.y + ROW / 2);
			}
		}
	}

	shorten(name, room) {
		let width = this.nameWidths.get(name);

		if (width === undefined)
			this.nameWidths.set(name, width = this.context.measureText(name.slice(0, 600)).width);
		if (width <= room)
			return name;

		const shown = Math.min(name.length, 600), fits = Math.floor(shown * (room - 8) / width);

		return fits > 0 ? name.slice(0, fits) + "…" : "";
	}

	outline(node, thickness) {
		if (node < 0)
			return;

		const b = this.box(node), c = this.context;

		c.strokeStyle = this.colors.ring;
		c.lineWidth = thickness;
		c.strokeRect(b.x + thickness / 2, b.y + thickness / 2, Math.max(1, b.w - thickness - GAP), b.h - thickness);
	}

	hover(node) {
		if (node !== this.hovered) {
			this.hovered = node;
			this.redraw();
		}
	}

	select(node) {
		this.selected = node;
		if (node >= 0)
			this.scrollTo(node);
		this.redraw();
	}

	// The neighbour of the selected frame on the screen; the zoomed one if nothing is selected.
	neighbour(key) {
		const node = this.selected, layout = this.layout, step = { ArrowLeft: -1, ArrowRight: 1 }[key];

		if (node < 0)
			return this.zoomed;
		if (step) {
			const place = layout.place[node] + step, depth = this.tree.depth[node];

			return place >= layout.levels[depth] && place < layout.levels[depth + 1] ? layout.order[place] : node;
		}
		if ((key === "ArrowDown") !== this.isIcicle)
			return Math.max(0, this.tree.parent[node]);
		return this.child(node);
	}

	// The heaviest child, which is the leftmost; the node itself if it has none.
	child(node) {
		const level = this.tree.depth[node] + 1, place = this.layout.place[node];

		if (level >= this.layout.nLevels || node + 1 >= this.tree.end[node])
			return node;

		const child = this.layout.at(level, this.layout.x[place], 0);

		return child >= 0 && this.tree.parent[child] === node ? child : node + 1;
	}
}
