// SPDX-License-Identifier: Apache-2.0
// The profile as it stands in the page: strings, frames, functions (frames but for inlining) and the
// recorded tree. Its layout is described in exporter/html.c.

const KIND = {};	// number of each kind by name
const GUESSED = 1, FOLDED = 2;

function readFrames(data) {
	const frames = [], functions = [], known = new Map();

	for (let i = 0; i + 5 < data.frames.length; i += 6) {
		const [name, module, file, line, kind, inlined] = data.frames.slice(i, i + 6);
		const key = name + "," + module + "," + kind;
		let fn = known.get(key);

		if (fn === undefined) {
			fn = functions.length;
			known.set(key, fn);
			functions.push({ name: data.strings[name], module: data.strings[module], kind });
		}
		frames.push({
			name: data.strings[name], module: data.strings[module], file: data.strings[file],
			line, kind, inlined: inlined === 1, fn,
		});
	}
	return { frames, functions };
}

function readTree(data, frames) {
	const n = data.depth.length + 1, at = [0], tree = new Tree(n, data.types.length, frames);

	for (let i = 1; i < n; i++) {
		const depth = data.depth[i - 1] + 1;

		at[depth] = i;
		tree.parent[i] = at[depth - 1];
		tree.frame[i] = data.frame[i - 1];
		tree.line[i] = data.line[i - 1];
		for (let t = 0; t < data.self.length; t++)
			tree.self[t][i] = data.self[t][i - 1];
	}
	for (let i = 0; i + 2 < data.marks.length; i += 3) {
		tree.flags[data.marks[i] + 1] = data.marks[i + 1];
		tree.guessed[data.marks[i] + 1] = data.marks[i + 2];
	}
	return tree.finish();
}

function sumOf(counts, prefix) {
	let sum = 0;

	for (const [name, n] of counts)
		if (name.startsWith(prefix))
			sum += n;
	return sum;
}

// How many walks reached the root, of all that ended; null when the profile does not say.
function completeness(counts) {
	const all = sumOf(counts.filter(([name]) => name !== "end.snapshot"), "end.");
	const good = sumOf(counts, "end.root") + sumOf(counts, "end.kernel_only");

	return all > 0 ? { good, all } : null;
}

// As pprof has it: the one that is named, else the last.
function defaultType({ types, type }) {
	const named = types.findIndex(t => t.type === visible(type));

	return named >= 0 ? named : types.length - 1;
}

function readProfile(text) {
	const data = JSON.parse(text);

	data.strings = data.strings.map(visible);
	data.strings[0] = "";
	data.kinds.forEach((name, i) => KIND[name] = i);
	if (!data.types.length)
		data.types = [["samples", "count"]];
	data.types = data.types.map(([type, unit]) => ({ type: visible(type), unit }));

	const { frames, functions } = readFrames(data);

	frames[0].name = "all";
	functions[0].name = "all";
	frames[0].kind = functions[0].kind = KIND.process;
	return {
		frames, functions, kinds: data.kinds, types: data.types,
		defaultType: defaultType(data),
		counts: data.counts.map(([name, n]) => [visible(name), n]),
		comments: data.comments.map(visible),
		host: visible(data.host), time: data.time, duration: data.duration, version: data.version,
		hasThreads: frames.some(f => f.kind === KIND.thread),
		tree: readTree(data, frames),
		labels: data.labels.map(([key, values]) => ({
			key: visible(key), values: values.map(([value, parts]) => ({ name: visible(value), parts })),
		})),
	};
}
