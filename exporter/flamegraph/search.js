// SPDX-License-Identifier: Apache-2.0
// What is highlighted: functions whose name matches a text or a pattern, or one picked function.

class Search {
	constructor(profile) {
		this.profile = profile;
		this.clear();
	}

	clear() {
		this.matches = null;	// by function; null when nothing is searched for
		this.error = "";
	}

	get active() {
		return this.matches !== null;
	}

	// An empty text searches for nothing.
	find(text, isPattern) {
		this.clear();
		if (!text)
			return;

		const needle = text.toLowerCase();
		let test = fn => fn.name.toLowerCase().includes(needle);

		if (isPattern) {
			try {
				const pattern = new RegExp(text, /[A-Z]/.test(text) ? "" : "i");

				test = fn => pattern.test(fn.name);
			} catch (e) {
				this.error = "not a valid pattern";
				test = () => false;
			}
		}
		this.matches = Uint8Array.from(this.profile.functions, (fn, i) => i > 0 && test(fn) ? 1 : 0);
	}

	pick(fn) {
		this.clear();
		this.matches = new Uint8Array(this.profile.functions.length);
		this.matches[fn] = 1;
	}

	has(tree, node) {
		return this.matches[tree.of(node).fn] === 1;
	}

	// Matching nodes that are below no other, heaviest first, and what they are worth together:
	// a sample counts once however often its stack matches.
	tops(tree, type) {
		const nodes = [];
		let value = 0;

		for (let i = 1; i < tree.n;) {
			if (this.has(tree, i)) {
				nodes.push(i);
				value += tree.total[type][i];
				i = tree.end[i];
			} else {
				i++;
			}
		}
		return { nodes: nodes.sort((a, b) => tree.total[type][b] - tree.total[type][a]), value };
	}
}
