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
		this.strip = new Strip();
		this.charWidths = new Map();
		this.drawTimes = [];	// ms, the last ones
		this.request = 0;
		this.below = 0;
		panel.addEventListener("scroll", () => {
			this.noteScroll();
			this.redraw();
		}, { passive: true });
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
		// A flame grows from below: what is seen keeps its distance from there.
		if (!this.isIcicle)
			this.panel.scrollTop = this.full - h - this.below;
		this.redraw();
	}

	// How far the view is from the root of a flame. Not noted between a change of the panel's height
	// and resize(): the browser has moved the view by then; nor while it does not scroll over all of it,
	// as on a phone at first.
	noteScroll() {
		if (this.panel.clientHeight === this.height && this.panel.scrollHeight >= this.full)
			this.below = this.full - this.height - this.panel.scrollTop;
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
		this.noteScroll();
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
		const c = this.context, ratio = this.canvas.width / Math.max(1, this.width), rows = [this.level(0), this.level(this.height)];
		const first = Math.max(0, Math.min(...rows)), last = Math.min(this.layout.nLevels - 1, Math.max(...rows));

		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = this.colors.panel;
		c.fillRect(0, 0, this.width, this.height);
		this.texts = [];
		this.hatched = [];
		this.bars = [];
		if (last >= first && this.canvas.width > 0)
			this.drawLevels(first, last, ratio);
		this.drawHatches();
		this.drawTexts();
		this.outline(this.hovered, 1);
		this.outline(this.selected, 2);
	}

	drawLevels(first, last, ratio) {
		const c = this.context, rows = last - first + 1, scroll = this.panel.scrollTop;

		this.strip.clear(this.canvas.width, rows, this.colors.panelPixel);
		for (let level = first; level <= last; level++)
			this.drawLevel(level, this.isIcicle ? level - first : last - level, this.top(level) - scroll, ratio);
		this.strip.stretch(c, 0, this.top(this.isIcicle ? first : last) - scroll, this.width, rows * ROW);
		c.fillStyle = this.colors.panel;
		for (let level = first; level <= last; level++)
			c.fillRect(0, this.top(level) - scroll + ROW - GAP, this.width, GAP);
		c.fillStyle = this.colors.line;
		for (const [x, y, w] of this.bars)
			c.fillRect(x, y, w, ROW - GAP);
	}

	drawLevel(level, row, y, ratio) {
		const { x, width, order, levels } = this.layout, { from, to } = this.view, { frame, frames, end } = this.tree;
		const { ofFrame, pixels, faintPixels, matchPixel } = this.colors, matches = this.search.matches;
		const scale = this.width / (to - from), zoomed = this.zoomed, last = levels[level + 1];

		for (let i = this.layout.find(level, from); i < last && x[i] < to; i++) {
			const left = (x[i] - from) * scale, w = width[i] * scale;

			if (w < 1 && matches === null && this.strip.hides(row, left * ratio, w))
				continue;

			const node = order[i], f = frame[node];
			const isMatch = matches !== null && matches[frames[f].fn] === 1;
			const isFaint = matches !== null || (node < zoomed && zoomed < end[node]);
			const pixel = isMatch ? matchPixel : (isFaint ? faintPixels : pixels)[ofFrame[f]];

			this.strip.put(row, left * ratio, (left + w) * ratio, w > 3 ? Math.ceil(GAP * ratio) : 0, pixel,
				isMatch ? Infinity : w);
			if (w >= 4)
				this.adorn(node, left, y, w, isMatch, isFaint);
		}
	}

	// What a box has besides its colour, for drawing later.
	adorn(node, left, y, w, isMatch, isFaint) {
		const frame = this.tree.of(node), x = Math.max(0, left), shown = Math.min(this.width, left + w) - x - GAP;

		if (this.tree.flags[node] & GUESSED || frame.kind === KIND.mark)
			this.hatched.push([x, y, shown]);
		if (frame.inlined && left >= 0 && w >= 12)
			this.bars.push([left, y, 2]);
		if (shown >= 26)
			this.texts.push({ frame, x, y, w: shown, isMatch, isFaint });
	}

	drawHatches() {
		const c = this.context;

		c.save();
		c.beginPath();
		for (const [x, y, w] of this.hatched)
			c.rect(x, y, w, ROW - GAP);
		c.clip();
		c.beginPath();
		for (const [x, y, w] of this.hatched)
			for (let at = x - ROW; at < x + w; at += 6) {
				c.moveTo(at, y + ROW);
				c.lineTo(at + ROW, y);
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
				if (t.frame.inlined !== isInlined)
					continue;
				c.fillStyle = t.isMatch ? this.colors.matchText : t.isFaint ? this.colors.faintText : this.colors.text;
				c.fillText(this.label(t.frame, t.w - 10), t.x + 5, t.y + ROW / 2);
			}
		}
	}

	// The longest form of a name that fits, else the beginning of the shortest.
	label(frame, room) {
		frame.forms ||= shortForms(frame.name, [KIND.go, KIND.jvm, KIND.cpython].includes(frame.kind));

		const last = frame.forms.length - 1;

		for (const form of frame.forms.slice(0, last))
			if (this.shorten(form, room) === form)
				return form;
		return this.shorten(frame.forms[last], room);
	}

	// As much of a name as there is room for. Widths are those of single characters: no kerning.
	shorten(name, room) {
		let width = 0, fits = 0;

		for (let i = 0; i < name.length; i++) {
			const c = name[i];
			let w = this.charWidths.get(c);

			if (w === undefined)
				this.charWidths.set(c, w = this.context.measureText(c).width);
			width += w;
			if (width <= room - 11)
				fits = i + 1;
			if (width > room)
				return fits > 0 ? name.slice(0, fits) + "…" : "";
		}
		return name;
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
