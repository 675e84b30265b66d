// SPDX-License-Identifier: Apache-2.0
// Colours: by kind of frame or by the module it comes from. A colour is a hue in three shades that
// tell neighbours apart; shades are picked by the name, so that a function always looks the same.

const GREY = -1;
const KIND_HUES = {
	native: 212, kernel: 24, jit: 128, cpython: 49, go: 180, jvm: 346,
	unknown: GREY, mark: GREY, process: 225, thread: 225, "left out": GREY,
};
const KIND_TITLES = { cpython: "Python", jvm: "Java", jit: "JIT", go: "Go", mark: "[mark]" };
const MODULE_HUES = [212, 24, 128, 49, 180, 346, 262, 85, 300, 155, 196, 5];
const SHADES = 3;

function kindTitle(kind) {
	return KIND_TITLES[kind] || kind[0].toUpperCase() + kind.slice(1);
}

function shade(hue, step, dark, faint) {
	const quiet = hue === GREY || hue === 225, s = hue === GREY ? 4 : quiet ? 14 : dark ? 36 : 68;
	const h = hue === GREY ? 220 : hue;

	if (faint)
		return dark ? `hsl(${h} ${s / 4}% ${20 + step}%)` : `hsl(${h} ${s / 4}% ${93 - step}%)`;
	return dark ? `hsl(${h} ${s}% ${29 + 3 * step}%)` : `hsl(${h} ${s}% ${(quiet ? 85 : 82) - 4 * step}%)`;
}

class Colors {
	constructor(profile) {
		this.profile = profile;
	}

	hue(frame, mode) {
		if (mode === "module" && frame.module && frame.kind !== KIND.mark)
			return MODULE_HUES[hash(basename(frame.module)) % MODULE_HUES.length];
		return KIND_HUES[this.profile.kinds[frame.kind]] ?? GREY;
	}

	// Numbers into this.fills for every frame; the same numbers into this.faint.
	choose(mode, dark) {
		const numbers = new Map();

		this.mode = mode;
		this.dark = dark;
		this.fills = [];
		this.faint = [];
		this.ofFrame = Uint16Array.from(this.profile.frames, frame => {
			const hue = this.hue(frame, mode), step = hash(frame.name) % SHADES, key = hue * SHADES + step;

			if (!numbers.has(key)) {
				numbers.set(key, this.fills.length);
				this.fills.push(shade(hue, step, dark, false));
				this.faint.push(shade(hue, step, dark, true));
			}
			return numbers.get(key);
		});
		this.text = dark ? "#eef1f6" : "#1a202b";
		this.faintText = dark ? "#8d96a5" : "#6a7383";
		this.match = dark ? "#d977ea" : "#b02fc4";
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
			const title = this.mode === "module" && frame.module && kind !== "mark" ?
				basename(frame.module) : kindTitle(kind);
			let group = groups.get(title);

			if (!group)
				groups.set(title, group = { title, fill: shade(this.hue(frame, this.mode), 1, this.dark), value: 0, kind });
			group.value += self[i];
		}
		return [...groups.values()].filter(g => g.value > 0).sort((a, b) => b.value - a.value)
			.map(g => ({ ...g, share: percent(g.value, all) }));
	}
}
