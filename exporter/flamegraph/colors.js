// SPDX-License-Identifier: Apache-2.0
// Colours: by kind of frame or by the module it comes from. A colour is a hue in three shades that
// tell neighbours apart; shades are picked by the name, so that a function always looks the same.

const GREY = -1;
const KIND_HUES = {
	native: 212, kernel: 24, jit: 128, cpython: 49, go: 180, jvm: 346,
	unknown: GREY, mark: GREY, process: 225, thread: 225, "left out": GREY,
};
const KIND_TITLES = { cpython: "Python", jvm: "Java", jit: "JIT", mark: "Cut off" };
const MODULE_HUES = [212, 24, 128, 49, 180, 346, 262, 85, 300, 155, 196, 5];
const SHADES = 3;

function kindTitle(kind) {
	return KIND_TITLES[kind] || capital(kind);
}

// Red, green and blue of a hue in degrees, saturation and lightness in percent.
function rgb(h, s, l) {
	const chroma = s / 100 * Math.min(l, 100 - l) / 100;

	return [0, 8, 4].map(n => {
		const k = (n + h / 30) % 12;

		return Math.round(255 * (l / 100 - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	});
}

function shade(hue, step, dark, isFaint) {
	const isQuiet = hue === GREY || hue === 225, s = hue === GREY ? 4 : isQuiet ? 14 : dark ? 36 : 68;
	const h = hue === GREY ? 220 : hue;

	if (isFaint)
		return rgb(h, s / 4, dark ? 20 + step : 93 - step);
	return rgb(h, s, dark ? 26 + 3 * step : (isQuiet ? 85 : 82) - 4 * step);
}

function css([r, g, b]) {
	return `rgb(${r} ${g} ${b})`;
}

// As image data has it on a little-endian machine, opaque.
function pixel([r, g, b]) {
	return (0xff000000 | b << 16 | g << 8 | r) >>> 0;
}

// Does a module say where this frame comes from? The kernel's do not differ from it.
function hasOrigin(frame) {
	return frame.module !== "" && frame.kind !== KIND.mark && frame.kind !== KIND.kernel;
}

class Colors {
	constructor(profile) {
		this.profile = profile;
	}

	hue(frame, mode) {
		if (mode === "module" && hasOrigin(frame))
			return this.moduleHues().get(basename(frame.module)) ?? GREY;
		return KIND_HUES[this.profile.kinds[frame.kind]] ?? GREY;
	}

	// A module's hue comes from its name, or is the next free one: the heaviest modules differ.
	moduleHues() {
		if (this.hues)
			return this.hues;

		const { tree, frames, kinds } = this.profile, weights = new Map(), free = new Set(MODULE_HUES);

		for (const frame of frames)
			if (!hasOrigin(frame))
				free.delete(KIND_HUES[kinds[frame.kind]]);
		for (let i = 1; i < tree.n; i++)
			if (hasOrigin(tree.of(i))) {
				const name = basename(tree.of(i).module);

				weights.set(name, (weights.get(name) || 0) + tree.self[0][i]);
			}
		this.hues = new Map();
		for (const [name] of [...weights].sort((a, b) => b[1] - a[1])) {
			const slot = hash(name) % MODULE_HUES.length, n = MODULE_HUES.length;
			let step = 0;

			while (free.size && !free.has(MODULE_HUES[(slot + step) % n]))
				step++;
			this.hues.set(name, MODULE_HUES[(slot + step) % n]);
			free.delete(MODULE_HUES[(slot + step) % n]);
		}
		return this.hues;
	}

	// For every frame a number into fills, pixels and faintPixels.
	choose(mode, dark) {
		const numbers = new Map(), panel = dark ? [25, 29, 37] : [255, 255, 255];
		const match = dark ? [217, 119, 234] : [176, 47, 196];

		this.mode = mode;
		this.dark = dark;
		this.fills = [];
		this.pixels = [];
		this.faintPixels = [];
		this.ofFrame = Uint16Array.from(this.profile.frames, frame => {
			const hue = this.hue(frame, mode), step = hash(frame.name) % SHADES, key = hue * SHADES + step;

			if (!numbers.has(key)) {
				numbers.set(key, this.fills.length);
				this.fills.push(css(shade(hue, step, dark, false)));
				this.pixels.push(pixel(shade(hue, step, dark, false)));
				this.faintPixels.push(pixel(shade(hue, step, dark, true)));
			}
			return numbers.get(key);
		});
		this.text = dark ? "#eef1f6" : "#1a202b";
		this.faintText = dark ? "#a9b1be" : "#59626f";
		this.panel = css(panel);
		this.panelPixel = pixel(panel);
		this.matchPixel = pixel(match);
		this.matchText = dark ? "#1d0b22" : "#ffffff";
		this.line = dark ? "rgba(255,255,255,.55)" : "rgba(20,28,44,.55)";
		this.hatch = dark ? "rgba(255,255,255,.22)" : "rgba(20,28,44,.24)";
		this.ring = dark ? "#ffffff" : "#10182a";
	}

	// What the colours mean: title, colour and share of the self values, heaviest first.
	legend(tree, type) {
		const groups = new Map(), self = tree.self[type], all = tree.total[type][0];

		for (let i = 1; i < tree.n; i++) {
			const frame = tree.of(i), kind = this.profile.kinds[frame.kind];
			const title = this.mode === "module" && hasOrigin(frame) ?
				basename(frame.module) : kindTitle(kind);
			let group = groups.get(title);

			if (!group)
				groups.set(title, group = { title, fill: css(shade(this.hue(frame, this.mode), 1, this.dark)), value: 0 });
			group.value += self[i];
		}
		return [...groups.values()].filter(g => g.value > 0).sort((a, b) => b.value - a.value)
			.map(g => ({ ...g, share: percent(g.value, all) }));
	}
}
