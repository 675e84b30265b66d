// SPDX-License-Identifier: Apache-2.0
// The page's one profile, its parts, and its state, which lives in the address.

const profile = readProfile(byId("profile").textContent);
const colors = new Colors(profile), search = new Search(profile);
const flame = new Flame(byId("scroll"), byId("canvas"), byId("height"), colors, search);
const tip = new Tip(byId("tip"));
const table = new TopTable(byId("top"), colors, { pick, zoom: zoomToFunction });
const small = matchMedia("(max-width: 760px)"), systemDark = matchMedia("(prefers-color-scheme: dark)");
const trees = new Map();	// made when first shown, of one label at a time
const recorded = { label: null, tree: null };

const state = {
	type: profile.defaultType, color: "kind", icicle: false, reversed: false, threads: false,
	label: "", table: innerWidth >= 1000, query: "", pattern: false, picked: -1, zoom: 0,
};
let theme = "auto", tops = { nodes: [], value: 0 }, nextTop = 0, typing = 0;

// Of the label that was chosen; undefined: of none.
function labelParts(label) {
	for (const { key, values } of profile.labels)
		for (const { name, parts } of values)
			if (label === key + "=" + name)
				return parts;
}

function recordedTree() {
	if (recorded.label !== state.label) {
		trees.clear();
		recorded.label = state.label;
		recorded.tree = state.label ? labelled(profile.tree, labelParts(state.label)) : profile.tree;
	}
	return recorded.tree;
}

function treeFor(isReversed, hasThreads) {
	const tree = recordedTree(), key = isReversed + "," + hasThreads;

	if (!trees.has(key)) {
		const base = hasThreads || !profile.hasThreads ? tree : null;

		if (isReversed)
			trees.set(key, reversed(treeFor(false, hasThreads)));
		else
			trees.set(key, base || withoutThreads(tree));
	}
	return trees.get(key);
}

// The tree that the table and the legend speak of, whichever way round the graph is.
function baseTree() {
	return treeFor(false, state.threads && profile.hasThreads);
}

// The address.

function addressOf() {
	const parts = new URLSearchParams();

	if (state.zoom)
		parts.set("z", state.zoom);
	if (state.query)
		parts.set("q", state.query);
	for (const flag of ["pattern", "icicle", "reversed", "threads"])
		if (state[flag])
			parts.set(flag, "1");
	if (state.label)
		parts.set("label", state.label);
	if (state.type !== profile.defaultType)
		parts.set("type", profile.types[state.type].type);
	if (state.color !== "kind")
		parts.set("color", state.color);
	return "#" + parts;
}

function remember(isStep) {
	const steps = (history.state && history.state.steps) || 0;

	if (addressOf() === (location.hash || "#"))
		return;
	if (isStep)
		history.pushState({ steps: steps + 1 }, "", addressOf());
	else
		history.replaceState({ steps }, "", addressOf());
}

function readAddress() {
	const parts = new URLSearchParams(location.hash.slice(1)), type = profile.types.findIndex(t => t.type === parts.get("type"));

	for (const flag of ["pattern", "icicle", "reversed", "threads"])
		state[flag] = parts.get(flag) === "1";
	state.label = labelParts(parts.get("label")) ? parts.get("label") : "";
	state.type = type >= 0 ? type : profile.defaultType;
	state.color = parts.get("color") === "module" ? "module" : "kind";
	state.query = parts.get("q") || "";
	state.picked = -1;
	state.zoom = Number(parts.get("z")) || 0;
}
