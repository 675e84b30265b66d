// SPDX-License-Identifier: Apache-2.0
// Puts the page together: its state, which lives in the address, and what people do with it.

const profile = readProfile(byId("profile").textContent);
const colors = new Colors(profile), search = new Search(profile);
const flame = new Flame(byId("scroll"), byId("canvas"), byId("height"), colors, search);
const tip = new Tip(byId("tip"));
const table = new TopTable(byId("top"), colors, { pick, zoom: zoomToFunction });
const small = matchMedia("(max-width: 760px)"), systemDark = matchMedia("(prefers-color-scheme: dark)");
const trees = new Map();	// made when first shown

const state = {
	type: profile.defaultType, color: "kind", icicle: false, reversed: false, threads: false,
	table: innerWidth >= 1000, query: "", pattern: false, picked: -1, zoom: 0,
};
let theme = "auto", tops = { nodes: [], value: 0 }, nextTop = 0, typing = 0;

function treeFor(isReversed, hasThreads) {
	const key = isReversed + "," + hasThreads;

	if (!trees.has(key)) {
		const base = hasThreads || !profile.hasThreads ? profile.tree : null;

		if (isReversed)
			trees.set(key, reversed(treeFor(false, hasThreads)));
		else
			trees.set(key, base || withoutThreads(profile.tree));
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
	state.type = type >= 0 ? type : profile.defaultType;
	state.color = parts.get("color") === "module" ? "module" : "kind";
	state.query = parts.get("q") || "";
	state.picked = -1;
	state.zoom = Number(parts.get("z")) || 0;
}

// What is shown.

function showTree() {
	const tree = treeFor(state.reversed, state.threads && profile.hasThreads);

	const isSame = tree === flame.tree && state.type === flame.type;

	if (!isSame) {
		flame.show(tree, state.type);
		showLegend(byId("legend"), colors.legend(baseTree(), state.type), profile, colors.dark);
	}
	if (!(state.zoom > 0 && state.zoom < tree.n))
		state.zoom = 0;
	showSearch();
	showZoom(isSame);
}

function showZoom(moves) {
	const tree = flame.tree;

	if (flame.zoomed !== state.zoom)
		flame.zoom(state.zoom, moves);
	byId("back").disabled = !state.zoom && state.picked < 0 && !state.query;
	showTable();
	showStatusOf(flame.selected >= 0 ? flame.selected : state.zoom);
}

function showTable() {
	const isOpen = state.table, base = baseTree(), scope = byId("scope");
	const top = state.reversed ? 0 : state.zoom;

	byId("top").hidden = byId("divider").hidden = !isOpen;
	byId("table").setAttribute("aria-pressed", isOpen);
	document.querySelector("main").classList.toggle("split", isOpen);
	if (!isOpen)
		return;
	if (table.tree !== base || table.type !== state.type || table.top !== top) {
		Object.assign(table, { tree: base, type: state.type, top });
		table.show(functionRows(profile, base, state.type, top), base.total[state.type][0], profile.types[state.type].unit);
	}
	scope.replaceChildren(count(table.rows.length) + " functions", ...top ? [" within ", element("b", base.of(top).name)] : []);
}

function showSearch() {
	if (state.picked >= 0)
		search.pick(state.picked);
	else
		search.find(state.query, state.pattern);
	search.filters = state.picked < 0;
	tops = search.active ? search.tops(flame.tree, state.type) : { nodes: [], value: 0 };
	nextTop = 0;

	const all = flame.tree.total[state.type][0];

	byId("matched").textContent = search.error || (search.active ? `${percent(tops.value, all)} matched` : "");
	byId("query").setAttribute("aria-invalid", search.error !== "");
	if (table.filteredBy !== search.matches && state.picked < 0)
		table.filter(search);
	table.filteredBy = search.matches;
	table.mark(state.picked);
	flame.redraw();
}

function showStatusOf(node) {
	showStatus(byId("status"), describe(profile, flame.tree, flame.type, node));
}

function showAll() {
	byId("query").value = state.query;
	byId("pattern").setAttribute("aria-pressed", state.pattern);
	byId("icicle").setAttribute("aria-pressed", state.icicle);
	byId("reversed").setAttribute("aria-pressed", state.reversed);
	byId("threads").setAttribute("aria-pressed", state.threads);
	byId("type").value = state.type;
	byId("color").value = state.color;
	if (colors.mode !== state.color)
		paint();
	if (flame.isIcicle !== state.icicle && flame.tree)
		flame.turn(state.icicle);
	flame.isIcicle = state.icicle;
	showTree();
}

function paint() {
	const dark = theme === "dark" || (theme === "auto" && systemDark.matches);

	document.documentElement.dataset.theme = dark ? "dark" : "light";
	byId("theme").textContent = "◐ " + capital(theme);
	byId("theme").setAttribute("aria-label", `Theme: ${theme}`);
	colors.choose(state.color, dark);
	if (!flame.tree)
		return;
	showLegend(byId("legend"), colors.legend(baseTree(), state.type), profile, colors.dark);
	table.fill();
	flame.redraw();
}

// What people do.

function change(changes) {
	if ("reversed" in changes || "threads" in changes)
		state.zoom = 0;
	Object.assign(state, changes);
	remember(false);
	showAll();
}

function zoom(node) {
	if (node === state.zoom)
		return;
	state.zoom = node;
	remember(true);
	flame.selected = -1;
	tip.hide();
	showZoom(true);
}

function pick(fn) {
	state.picked = state.picked === fn ? -1 : fn;
	showSearch();
	showZoom(false);
	// On a phone the table lies over the graph.
	if (small.matches && state.picked >= 0)
		change({ table: false });
}

function zoomToFunction(fn) {
	state.picked = fn;
	showSearch();
	if (tops.nodes.length)
		zoom(tops.nodes[0]);
	if (small.matches)
		change({ table: false });
}

// One step back: what is highlighted first, then the zoom.
function back() {
	if (state.picked >= 0 || state.query) {
		change({ picked: -1, query: "" });
	} else if (state.zoom) {
		if (history.state && history.state.steps > 0)
			history.back();
		else
			zoom(0);
	}
}

function select(node) {
	flame.select(node);
	showStatusOf(node);
	byId("spoken").textContent = byId("status").textContent;
	tip.hide();
}

function searchFor(text) {
	clearTimeout(typing);
	if (text !== state.query)
		change({ query: text, picked: -1 });
}

function showNext(step) {
	if (!tops.nodes.length)
		return;
	nextTop = (nextTop + step + tops.nodes.length) % tops.nodes.length;

	const node = tops.nodes[nextTop];

	if (!flame.tree.holds(state.zoom, node))
		zoom(0);
	select(node);
}

function pointed(e) {
	const box = byId("canvas").getBoundingClientRect(), node = flame.at(e.clientX - box.left, e.clientY - box.top);

	flame.hover(e.pointerType === "touch" ? -1 : node);
	if (node < 0 || e.pointerType === "touch")
		tip.hide();
	else
		tip.show(describe(profile, flame.tree, flame.type, node), e.clientX, e.clientY);
	showStatusOf(node >= 0 ? node : flame.selected >= 0 ? flame.selected : state.zoom);
	return node;
}

function clicked(e) {
	const node = pointed(e);

	if (node < 0)
		return;
	if (e.pointerType === "touch" && flame.selected !== node)
		select(node);
	else
		zoom(node);
}

const KEY_ACTIONS = {
	"/": () => byId("query").focus(),
	Escape: back,
	Backspace: back,
	0: () => zoom(0),
	i: () => change({ icicle: !state.icicle }),
	r: () => change({ reversed: !state.reversed }),
	c: () => change({ color: state.color === "kind" ? "module" : "kind" }),
	t: () => change({ table: !state.table }),
	d: () => nextTheme(),
	"?": () => openHelp(byId("keys")),
	Enter: () => flame.selected >= 0 && zoom(flame.selected),
};

function keyed(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]"))
		return;
	if (e.target === byId("query")) {
		if (e.key === "Escape") {
			byId("canvas").focus();
			change({ query: "", picked: -1 });
		} else if (e.key === "Enter") {
			searchFor(e.target.value);
			showNext(e.shiftKey ? -1 : flame.selected < 0 ? 0 : 1);
		}
		return;
	}
	if (e.target.matches("select, button") && /^(Enter|Arrow|.$)/.test(e.key) && !KEY_ACTIONS[e.key])
		return;
	if (e.target.matches("select, button") && e.key === "Enter")
		return;
	if (e.key.startsWith("Arrow"))
		select(flame.neighbour(e.key));
	else if (Object.hasOwn(KEY_ACTIONS, e.key))
		KEY_ACTIONS[e.key]();
	else
		return;
	e.preventDefault();
}

function nextTheme() {
	theme = { auto: "dark", dark: "light", light: "auto" }[theme];
	try {
		localStorage.setItem("weft-theme", theme);
	} catch (e) {
		// A page from a file may not store anything: the theme then lasts as long as the page.
	}
	paint();
}

// The border between graph and table, by pointer or arrow keys.
function listenToDivider() {
	const divider = byId("divider"), top = byId("top");
	const resize = width => top.style.width = Math.max(240, Math.min(innerWidth - 300, width)) + "px";

	divider.addEventListener("pointerdown", e => divider.setPointerCapture(e.pointerId));
	divider.addEventListener("pointermove", e => {
		if (divider.hasPointerCapture(e.pointerId))
			resize(top.getBoundingClientRect().right - e.clientX - 6);
	});
	divider.addEventListener("keydown", e => {
		const step = { ArrowLeft: 40, ArrowRight: -40 }[e.key];

		if (step) {
			resize(top.offsetWidth + step);
			e.stopPropagation();
			e.preventDefault();
		}
	});
}

function listen() {
	const canvas = byId("canvas"), toggle = flag => () => change({ [flag]: !state[flag] });

	canvas.addEventListener("pointermove", pointed);
	canvas.addEventListener("pointerleave", () => {
		flame.hover(-1);
		tip.hide();
	});
	canvas.addEventListener("click", clicked);
	byId("scroll").addEventListener("scroll", () => tip.hide(), { passive: true });
	byId("query").addEventListener("input", e => {
		clearTimeout(typing);
		typing = setTimeout(() => searchFor(e.target.value), 100);
	});
	document.addEventListener("copy", e => {
		const node = flame.selected >= 0 ? flame.selected : flame.hovered;

		if (node >= 0 && getSelection().isCollapsed && e.target !== byId("query")) {
			e.clipboardData.setData("text/plain", flame.tree.of(node).name);
			e.preventDefault();
		}
	});
	listenToDivider();
	byId("pattern").addEventListener("click", toggle("pattern"));
	for (const flag of ["icicle", "reversed", "threads", "table"])
		byId(flag).addEventListener("click", toggle(flag));
	byId("type").addEventListener("change", e => change({ type: Number(e.target.value) }));
	byId("color").addEventListener("change", e => change({ color: e.target.value }));
	byId("back").addEventListener("click", back);
	byId("theme").addEventListener("click", nextTheme);
	byId("details").addEventListener("click", () => openDetails(byId("about"), profile));
	byId("help").addEventListener("click", () => openHelp(byId("keys")));
	document.addEventListener("keydown", keyed);
	addEventListener("popstate", () => {
		readAddress();
		showAll();
	});
	systemDark.addEventListener("change", paint);
}

function start() {
	try {
		theme = localStorage.getItem("weft-theme") || "auto";
	} catch (e) {
		theme = "auto";
	}
	byId("type").append(...profile.types.map((t, i) => {
		const option = element("option", t.type);

		option.value = i;
		return option;
	}));
	byId("type").parentElement.hidden = profile.types.length < 2;
	byId("threads").hidden = !profile.hasThreads;
	if (profile.host)
		document.title = `${profile.host} · weft flame graph`;
	showFacts(byId("facts"), profile);
	byId("empty").hidden = profile.tree.n > 1;
	listen();
	readAddress();
	showAll();
}

start();
