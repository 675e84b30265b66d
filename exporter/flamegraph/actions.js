// SPDX-License-Identifier: Apache-2.0
// What people do: pointer, touch, keys, controls.

function change(changes) {
	if ("reversed" in changes || "threads" in changes || "label" in changes)
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
	byId("label").addEventListener("change", e => change({ label: e.target.value }));
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
	byId("label").append(...profile.labels.filter(({ values }) => values.length).map(({ key, values }) => {
		const group = element("optgroup");

		group.label = key;
		group.append(...values.map(({ name }) => {
			const option = element("option", name);

			option.value = key + "=" + name;
			return option;
		}));
		return group;
	}));
	byId("label").parentElement.hidden = !profile.labels.some(({ values }) => values.length);
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
