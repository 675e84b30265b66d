// SPDX-License-Identifier: Apache-2.0
// Everything said in words: what a frame is, the figures of the profile, the legend, the dialogs.
// All text goes in as text, never as markup.

const byId = id => document.getElementById(id);

function element(tag, text, className) {
	const e = document.createElement(tag);

	if (text !== undefined)
		e.textContent = text;
	if (className)
		e.className = className;
	return e;
}

function definitions(list, pairs) {
	list.replaceChildren(...pairs.flatMap(([term, text]) => [element("dt", term), element("dd", text)]));
	return list;
}

function place(frame, line) {
	const at = line > 0 ? line : frame.line;

	return frame.file ? frame.file + (at > 0 ? ":" + at : "") : "";
}

// What a frame is and what it is worth, in one go for the tip, the status line and screen readers.
function describe(profile, tree, type, node) {
	const frame = tree.of(node), unit = profile.types[type].unit, line = tree.line[node];
	const total = tree.total[type][node], self = tree.self[type][node], all = tree.total[type][0];
	const kind = profile.kinds[frame.kind], notes = [];

	if (frame.inlined)
		notes.push("inlined into its caller");
	if (tree.flags[node] & GUESSED)
		notes.push(tree.guessed[node] > 0 ?
			`guessed in ${percent(tree.guessed[node], tree.total[0][node])} of its samples` : "partly guessed");
	if (tree.flags[node] & FOLDED)
		notes.push("several functions share this code");
	if (line < 0 && frame.file)
		notes.push("several lines");
	if (frame.kind === KIND.mark)
		notes.push("not code: the stack could not be followed beyond this point");
	if (kind === "left out")
		notes.push("many small frames: the page would have been too large with all of them");
	return {
		name: frame.name, kind: kindTitle(kind), module: frame.module, place: place(frame, line),
		total: amount(total, unit), self: amount(self, unit), ofAll: percent(total, all),
		selfOfAll: percent(self, all),
		ofParent: node ? percent(total, tree.total[type][tree.parent[node]]) : "", notes,
	};
}

class Tip {
	constructor(box) {
		this.box = box;
	}

	show(d, x, y) {
		const pairs = [["Total", `${d.total} · ${d.ofAll} of all${d.ofParent ? ` · ${d.ofParent} of parent` : ""}`],
			["Self", `${d.self} · ${d.selfOfAll}`], ["Kind", d.kind]];

		if (d.module)
			pairs.push(["Module", d.module]);
		if (d.place)
			pairs.push(["Source", d.place]);

		const notes = element("ul", undefined, "notes"), list = definitions(element("dl", undefined, "grid"), pairs);

		notes.append(...d.notes.map(note => element("li", note)));
		this.box.replaceChildren(element("strong", d.name), list, ...d.notes.length ? [notes] : []);
		this.box.hidden = false;

		const w = this.box.offsetWidth, h = this.box.offsetHeight;

		this.box.style.left = Math.max(8, Math.min(x + 14, innerWidth - w - 8)) + "px";
		this.box.style.top = Math.max(8, y + 18 + h > innerHeight - 8 ? y - h - 12 : y + 18) + "px";
	}

	hide() {
		this.box.hidden = true;
	}
}

function showStatus(line, d) {
	const parts = [`${d.total} (${d.ofAll} of all${d.ofParent ? `, ${d.ofParent} of parent` : ""})`,
		`self ${d.self} (${d.selfOfAll})`, d.place, d.module && basename(d.module), ...d.notes];

	line.replaceChildren(element("b", d.name), " · " + parts.filter(Boolean).join(" · "));
}

function showFacts(list, profile) {
	const lost = sumOf(profile.counts, "ticks.lost"), complete = completeness(profile.counts);
	const samples = profile.types.findIndex(t => t.unit === "count");
	const facts = [];

	profile.types.forEach((t, i) => {
		if (i === samples || samples < 0 || t.unit === "nanoseconds")
			facts.push([t.type === "cpu" ? "CPU" : capital(t.type), amount(profile.tree.total[i][0], t.unit)]);
	});
	if (profile.duration > 0)
		facts.push(["Duration", duration(profile.duration)]);
	if (complete) {
		facts.push(["Complete", percent(complete.good, complete.all), complete.good < 0.95 * complete.all]);
		facts.push(["Lost", count(lost), lost > 0]);
	}
	if (profile.host)
		facts.push(["Host", profile.host]);
	if (profile.time > 0)
		facts.push(["Date", moment(profile.time)]);
	list.replaceChildren(...facts.map(([term, text, warn]) => {
		const pair = element("div");

		pair.append(element("dt", term), element("dd", text, warn ? "warn" : ""));
		return pair;
	}));
}

const LEGEND_MAX = 12;

function showLegend(list, groups, profile, isDark) {
	const item = (title, fill, className) => {
		const li = element("li"), swatch = element("span", undefined, "swatch " + (className || ""));

		if (fill)
			swatch.style.backgroundColor = fill;
		li.append(swatch, title);
		return li;
	};
	const items = groups.slice(0, LEGEND_MAX).map(g => item(`${g.title} ${g.share}`, g.fill));

	if (groups.length > LEGEND_MAX)
		items.push(element("li", `and ${groups.length - LEGEND_MAX} more`));
	if (profile.frames.some(f => f.inlined))
		items.push(item("inlined", "", "inlined"));
	if (profile.tree.flags.some(f => f & GUESSED))
		items.push(item("guessed", "", "hatch"));
	const marks = profile.frames.filter(f => f.kind === KIND.mark), isCut = f => /^\[(truncated|broken)/.test(f.name);

	if (marks.some(isCut))
		items.push(item("truncated or broken", css(shade(GREY, 1, isDark)), "hatch"));
	if (!marks.every(isCut)) // "[gather]": who waits for a task, and how
		items.push(item("not code", css(shade(GREY, 1, isDark)), "hatch"));
	list.replaceChildren(...items);
}

function openDialog(dialog, title, parts) {
	const close = element("button", "Close", "close");

	close.addEventListener("click", () => dialog.close());
	dialog.replaceChildren(close, element("h2", title), ...parts);
	dialog.showModal();
}

function rowsOf(pairs, className) {
	const table = element("table", undefined, className), body = element("tbody");

	for (const cells of pairs) {
		const tr = element("tr");

		tr.append(...cells.map(cell => cell instanceof Node ? cell : element("td", cell)));
		body.append(tr);
	}
	table.append(body);
	return table;
}

const COUNT_GROUPS = [["ticks.", "Where ticks went"], ["end.", "Where walks ended"], ["", "Else"]];

function openDetails(dialog, profile) {
	const parts = [], left = new Set(profile.counts.filter(([, n]) => n > 0));

	parts.push(rowsOf([
		["Host", profile.host || "unknown"],
		["Recorded", profile.time > 0 ? moment(profile.time) : "unknown"],
		["Duration", profile.duration > 0 ? duration(profile.duration) : "unknown"],
		...profile.types.map((t, i) => [t.type, amount(profile.tree.total[i][0], t.unit)]),
		["Nodes", count(profile.tree.n - 1)], ["Functions", count(profile.functions.length - 1)],
		["Written by", "weft " + profile.version],
	], "numbers"));
	for (const [prefix, title] of COUNT_GROUPS) {
		const group = [...left].filter(([name]) => name.startsWith(prefix)).sort((a, b) => b[1] - a[1]);
		const all = group.reduce((sum, [, n]) => sum + n, 0);

		if (!group.length)
			continue;
		group.forEach(c => left.delete(c));
		parts.push(element("h3", title), rowsOf(group.map(([name, n]) =>
			prefix ? [name.slice(prefix.length).replaceAll("_", " "), count(n), percent(n, all)] : [name, count(n)]), "numbers"));
	}
	if (profile.comments.length)
		parts.push(element("h3", "Comments"), ...profile.comments.map(c => element("p", c)));
	openDialog(dialog, "Details", parts);
}

const KEYS = [
	["/", "search"], ["Enter", "zoom into the selected frame; in the search box: next match"],
	["Esc", "leave the search, then back"], ["Backspace", "back"], ["← → ↑ ↓", "move through the frames"],
	["0", "zoom out all the way"], ["i", "flame or icicle: root below or on top"],
	["r", "reversed: leaf functions first, their callers beyond"], ["c", "colour by language or by module"],
	["Ctrl C", "copy the frame's name"], ["t", "top table"], ["d", "dark, light or as the system"], ["?", "this help"],
];

function openHelp(dialog) {
	openDialog(dialog, "Keyboard and mouse", [
		rowsOf(KEYS.map(([key, text]) => {
			const td = element("td");

			td.append(element("kbd", key));
			return [td, text];
		})),
		element("p", "Click a frame to zoom; on a touch screen tap once to select, again to zoom. " +
			"Click a function in the table to highlight it, double-click to zoom to where it weighs most."),
		element("p", "Widths are shares of the chosen value, not time from left to right. " +
			"The matched share counts a sample once, however often its stack matches."),
	]);
}
