// SPDX-License-Identifier: Apache-2.0
// Brings the page in line with its state.

function showTree() {
	const tree = treeFor(state.reversed, state.threads && profile.hasThreads);

	const isSame = tree === flame.tree && state.type === flame.type;

	if (!isSame) {
		flame.show(tree, state.type);
		showColors();
	}
	if (!(state.zoom > 0 && state.zoom < tree.n))
		state.zoom = 0;
	showSearch();
	showZoom(isSame);
}

function showColors() {
	const legend = byId("legend");

	showLegend(legend, colors.legend(baseTree(), state.type), profile, colors.dark);
	if (flame.tree.isCut)
		legend.append(element("li", "callers of the lightest stacks are left out"));
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
	byId("label").value = state.label;
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
	showColors();
	table.fill();
	flame.redraw();
}
