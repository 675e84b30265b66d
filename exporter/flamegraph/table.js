// SPDX-License-Identifier: Apache-2.0
// The top table. Only the rows in view exist; they are filled again while scrolling.

const TABLE_ROW = 24;
const COLUMNS = [
	{ key: "flat", title: "Flat", of: (row, table) => amount(row.flat, table.unit) },
	{ key: "flat", title: "Flat%", of: (row, table) => percent(row.flat, table.all) },
	{ key: "sum", title: "Sum%", of: (row, table) => percent(row.sum, table.all) },
	{ key: "cum", title: "Cum", of: (row, table) => amount(row.cum, table.unit) },
	{ key: "cum", title: "Cum%", of: (row, table) => percent(row.cum, table.all) },
	{ key: "name", title: "Name", of: row => row.fn.name },
];

// Own and total value by function below a node. Recursion counts once: inside a function's frame
// its further frames add nothing to its total.
function functionRows(profile, tree, type, top) {
	const n = profile.functions.length, flat = new Float64Array(n), cum = new Float64Array(n);
	const openUntil = new Uint32Array(n), rows = [];

	for (let i = Math.max(1, top); i < tree.end[top]; i++) {
		const fn = tree.of(i).fn;

		flat[fn] += tree.self[type][i];
		if (i >= openUntil[fn]) {
			cum[fn] += tree.total[type][i];
			openUntil[fn] = tree.end[i];
		}
	}
	for (let fn = 1; fn < n; fn++) {
		const kind = profile.functions[fn].kind;

		if (cum[fn] > 0 && kind !== KIND.process && kind !== KIND.thread)
			rows.push({ id: fn, fn: profile.functions[fn], flat: flat[fn], cum: cum[fn], sum: 0 });
	}
	return rows;
}

class TopTable {
	constructor(panel, colors, on) {
		Object.assign(this, { panel, colors, on });
		this.head = panel.querySelector(".head");
		this.body = panel.querySelector(".body");
		this.spacer = panel.querySelector(".spacer");
		this.sort = { column: 0, isUp: false };
		this.rows = this.allRows = [];
		this.lines = [];
		this.active = this.picked = -1;
		COLUMNS.forEach((column, i) => this.head.append(this.header(column, i)));
		this.body.addEventListener("scroll", () => this.fill(), { passive: true });
		this.body.addEventListener("keydown", e => this.key(e));
		new ResizeObserver(() => this.fill()).observe(this.body);
	}

	header(column, i) {
		const cell = document.createElement("div"), button = document.createElement("button");

		cell.setAttribute("role", "columnheader");
		button.textContent = column.title;
		button.disabled = column.key === "sum";
		button.addEventListener("click", () => this.sortBy(i));
		cell.append(button);
		return cell;
	}

	show(rows, all, unit) {
		Object.assign(this, { allRows: rows, all, unit });
		this.arrange();
	}

	filter(search) {
		this.search = search;
		this.arrange();
	}

	sortBy(i) {
		const same = COLUMNS[this.sort.column].key === COLUMNS[i].key;

		this.sort = { column: i, isUp: same ? !this.sort.isUp : COLUMNS[i].key === "name" };
		this.arrange();
	}

	arrange() {
		const { column, isUp } = this.sort, key = COLUMNS[column].key, sign = isUp ? 1 : -1;
		const matches = this.search && this.search.active && this.search.filters ? this.search.matches : null;
		let sum = 0;

		this.rows = matches ? this.allRows.filter(row => matches[row.id]) : this.allRows.slice();
		this.rows.sort((a, b) => key === "name" ? sign * (a.fn.name < b.fn.name ? -1 : a.fn.name > b.fn.name ? 1 : 0) :
			sign * (a[key] - b[key]) || b.cum - a.cum || a.id - b.id);
		for (const row of this.rows)
			row.sum = sum += row.flat;
		[...this.head.children].forEach((cell, i) => cell.setAttribute("aria-sort",
			i === column ? isUp ? "ascending" : "descending" : "none"));
		this.body.parentElement.setAttribute("aria-rowcount", this.rows.length + 1);
		this.spacer.style.height = this.rows.length * TABLE_ROW + "px";
		this.active = -1;
		this.body.scrollTop = 0;
		this.fill();
	}

	line() {
		const line = document.createElement("div");

		line.className = "row";
		line.setAttribute("role", "row");
		line.id = "row" + this.lines.length;
		for (const column of COLUMNS) {
			const cell = document.createElement("div");

			cell.setAttribute("role", "gridcell");
			cell.className = column.key;
			line.append(cell);
		}
		line.addEventListener("click", () => this.choose(line.index));
		line.addEventListener("dblclick", () => this.on.zoom(this.rows[line.index].id));
		this.spacer.append(line);
		return line;
	}

	fill() {
		const first = Math.floor(this.body.scrollTop / TABLE_ROW);
		const n = Math.min(this.rows.length - first, Math.ceil(this.body.clientHeight / TABLE_ROW) + 1);

		while (this.lines.length < n)
			this.lines.push(this.line());
		this.lines.forEach((line, i) => {
			line.hidden = i >= n;
			if (i < n)
				this.fillLine(line, first + i);
		});
	}

	fillLine(line, index) {
		const row = this.rows[index];

		line.index = index;
		line.style.transform = `translateY(${index * TABLE_ROW}px)`;
		line.setAttribute("aria-rowindex", index + 2);
		line.classList.toggle("active", index === this.active);
		if (index === this.active)
			this.body.setAttribute("aria-activedescendant", line.id);
		line.setAttribute("aria-selected", row.id === this.picked);
		line.title = row.fn.module ? `${row.fn.name}\n${row.fn.module}` : row.fn.name;
		COLUMNS.forEach((column, i) => line.children[i].textContent = column.of(row, this));
		line.lastChild.style.borderLeftColor = this.colors.fills[this.colors.ofFrame[this.frameOf(row.id)]];
	}

	frameOf(fn) {
		this.firstFrames ||= this.colors.profile.frames.reduce((first, frame, i) =>
			(first[frame.fn] ??= i, first), []);
		return this.firstFrames[fn];
	}

	choose(index) {
		this.active = index;
		this.on.pick(this.rows[index].id);
	}

	mark(fn) {
		this.picked = fn;
		this.fill();
	}

	key(e) {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e9, End: 1e9 }[e.key];

		if (e.key === "Enter" && this.active >= 0)
			this.on.zoom(this.rows[this.active].id);
		else if (step && this.rows.length)
			this.walk(Math.max(0, Math.min(this.rows.length - 1, this.active + step)));
		else
			return;
		e.preventDefault();
		e.stopPropagation();
	}

	walk(index) {
		const top = index * TABLE_ROW, body = this.body;

		if (top < body.scrollTop)
			body.scrollTop = top;
		if (top + TABLE_ROW > body.scrollTop + body.clientHeight)
			body.scrollTop = top + TABLE_ROW - body.clientHeight;
		this.choose(index);
	}
}
