// SPDX-License-Identifier: Apache-2.0
// A call tree as arrays by node, in preorder; node 0 is the root. Trees made from the recorded one:
// of one label, without the thread level, and reversed (leaf functions first, their callers below).

class Tree {
	constructor(n, nTypes, frames) {
		this.n = n;
		this.frames = frames;
		this.parent = new Int32Array(n).fill(-1);
		this.frame = new Uint32Array(n);
		this.line = new Int32Array(n);
		this.flags = new Uint8Array(n);
		this.guessed = new Float64Array(n);
		this.self = Array.from({ length: nTypes }, () => new Float64Array(n));
	}

	// Depths, subtree ends (exclusive) and totals, once parents and selves are there.
	finish() {
		const n = this.n;

		this.depth = new Uint16Array(n);
		this.end = new Uint32Array(n);
		this.total = this.self.map(self => self.slice());
		for (let i = 1; i < n; i++)
			this.depth[i] = this.depth[this.parent[i]] + 1;
		for (let i = n - 1; i >= 0; i--) {
			const up = this.parent[i];

			this.end[i] = Math.max(this.end[i], i + 1);
			if (up < 0)
				continue;
			this.end[up] = Math.max(this.end[up], this.end[i]);
			for (const total of this.total)
				total[up] += total[i];
		}
		return this;
	}

	of(node) {
		return this.frames[this.frame[node]];
	}

	// Is a at or above b?
	holds(a, b) {
		return a <= b && b < this.end[a];
	}

	deepest(node) {
		let deepest = this.depth[node];

		for (let i = node; i < this.end[node]; i++)
			if (this.depth[i] > deepest)
				deepest = this.depth[i];
		return deepest;
	}
}

// Grows a tree by paths; preorder comes at the end.
class TreeBuilder {
	constructor(source) {
		this.source = source;
		this.parent = [-1];
		this.frame = [0];
		this.line = [0];
		this.flags = [0];
		this.guessed = [0];
		this.self = source.self.map(() => [0]);
		this.children = new Map();
	}

	get n() {
		return this.parent.length;
	}

	child(up, frame, from) {
		const key = up * this.source.frames.length + frame, source = this.source;
		let node = this.children.get(key);

		if (node === undefined) {
			node = this.n;
			this.children.set(key, node);
			this.parent.push(up);
			this.frame.push(frame);
			this.line.push(source.line[from]);
			this.flags.push(0);
			this.guessed.push(0);
			for (const self of this.self)
				self.push(0);
		} else if (this.line[node] !== source.line[from]) {
			this.line[node] = -1;
		}
		this.flags[node] |= source.flags[from];
		return node;
	}

	add(node, from) {
		this.self.forEach((self, t) => self[node] += this.source.self[t][from]);
	}

	finish() {
		const n = this.n, first = new Int32Array(n).fill(-1), next = new Int32Array(n).fill(-1);
		const tree = new Tree(n, this.self.length, this.source.frames), place = new Uint32Array(n);
		const stack = [0];

		for (let i = n - 1; i > 0; i--) {
			next[i] = first[this.parent[i]];
			first[this.parent[i]] = i;
		}
		for (let to = 0; stack.length; to++) {
			const i = stack.pop();

			place[i] = to;
			tree.parent[to] = i ? place[this.parent[i]] : -1;
			tree.frame[to] = this.frame[i];
			tree.line[to] = this.line[i];
			tree.flags[to] = this.flags[i];
			tree.guessed[to] = this.guessed[i];
			this.self.forEach((self, t) => tree.self[t][to] = self[i]);
			for (let c = first[i]; c >= 0; c = next[c])
				stack.push(c);
		}
		return tree.finish();
	}
}

function withoutThreads(tree) {
	const builder = new TreeBuilder(tree), to = new Uint32Array(tree.n);

	for (let i = 1; i < tree.n; i++) {
		const up = to[tree.parent[i]];

		to[i] = tree.of(i).kind === KIND.thread ? up : builder.child(up, tree.frame[i], i);
		builder.guessed[to[i]] += tree.guessed[i];
		builder.add(to[i], i);
	}
	return builder.finish();
}

// The part that samples with one label have: of nodes the numbers and what they are worth in each type.
function labelled(tree, parts) {
	const step = 1 + tree.self.length, only = Object.create(tree), to = new Uint32Array(tree.n);
	const has = new Uint8Array(tree.n);

	only.self = tree.self.map(() => new Float64Array(tree.n));
	for (let i = 0; i + step <= parts.length; i += step) {
		const node = parts[i] + 1;

		for (let t = 0; t < only.self.length; t++)
			only.self[t][node] = parts[i + 1 + t];
		for (let up = node; up > 0 && !has[up]; up = tree.parent[up])
			has[up] = 1;
	}

	const builder = new TreeBuilder(only);

	for (let i = 1; i < tree.n; i++) {
		if (!has[i])
			continue;
		to[i] = builder.child(to[tree.parent[i]], tree.frame[i], i);
		builder.add(to[i], i);
	}
	return builder.finish();
}

// Paths share less from the leaf's end, so the tree can be far larger: the heaviest paths come first,
// and beyond the limit only the leaf function itself is kept.
const REVERSED_MAX = 200000;

function reversed(tree) {
	const builder = new TreeBuilder(tree), leaves = [];

	for (let i = 1; i < tree.n; i++)
		if (tree.self.some(self => self[i] > 0))
			leaves.push(i);
	leaves.sort((a, b) => tree.self[0][b] - tree.self[0][a]);
	for (const leaf of leaves) {
		let node = 0;

		for (let i = leaf; i > 0; i = tree.parent[i]) {
			node = builder.child(node, tree.frame[i], i);
			if (builder.n > REVERSED_MAX)
				break;
		}
		builder.add(node, leaf);
	}

	const result = builder.finish();

	result.isCut = builder.n > REVERSED_MAX;
	return result;
}

// Where nodes lie from left to right, in the unit of the value: siblings by weight, heaviest left.
// order has the nodes level by level; x and width follow it.
class Layout {
	constructor(tree, type) {
		const n = tree.n, total = tree.total[type], parent = tree.parent;
		const byParent = new Uint32Array(n - 1).map((_, i) => i + 1);
		const first = new Uint32Array(n + 1);

		byParent.sort((a, b) => parent[a] - parent[b] || total[b] - total[a] || a - b);
		for (let i = 1; i < n; i++)
			first[parent[i] + 1]++;
		for (let i = 0; i < n; i++)
			first[i + 1] += first[i];
		this.tree = tree;
		this.type = type;
		this.place = new Uint32Array(n);	// of a node in order
		this.order = new Uint32Array(n);
		this.x = new Float64Array(n);
		this.width = new Float64Array(n);
		this.width[0] = total[0];
		this.levels = [0, 1];	// where each level begins in order; the last is the end
		for (let done = 0, end = 1; done < n; end = this.levels[this.levels.length - 1]) {
			let to = end;

			for (; done < end; done++) {
				const up = this.order[done];
				let x = this.x[done];

				for (let c = first[up]; c < first[up + 1]; c++, to++) {
					const node = byParent[c];

					this.order[to] = node;
					this.place[node] = to;
					this.x[to] = x;
					this.width[to] = total[node];
					x += total[node];
				}
			}
			if (to > end)
				this.levels.push(to);
		}
	}

	get nLevels() {
		return this.levels.length - 1;
	}

	// The first place of a level that ends right of x.
	find(level, x) {
		let low = this.levels[level], high = this.levels[level + 1];

		while (low < high) {
			const mid = (low + high) >> 1;

			if (this.x[mid] + this.width[mid] > x)
				high = mid;
			else
				low = mid + 1;
		}
		return low;
	}

	// The node at x of a level, or the nearest within reach; -1 for none.
	at(level, x, reach) {
		if (level < 0 || level >= this.nLevels)
			return -1;

		const start = this.levels[level], end = this.levels[level + 1], i = this.find(level, x);
		const before = i > start ? x - this.x[i - 1] - this.width[i - 1] : Infinity;
		const after = i < end ? Math.max(0, this.x[i] - x) : Infinity;

		if (Math.min(before, after) > reach)
			return -1;
		return this.order[after <= before ? i : i - 1];
	}
}
