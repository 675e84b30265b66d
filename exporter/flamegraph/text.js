// SPDX-License-Identifier: Apache-2.0
// Text: numbers with units, and names from a target made visible.
"use strict";

const SPACE = "\u202f";	// narrow, no line break

// Controls, bidirectional marks and line separators would act on the page; they are shown instead.
function visible(s) {
	return s.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, c => {
		const code = c.charCodeAt(0).toString(16);

		return code.length <= 2 ? "\\x" + code.padStart(2, "0") : "\\u" + code.padStart(4, "0");
	});
}

function count(n) {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, SPACE);
}

function percent(part, whole) {
	const p = whole > 0 ? 100 * part / whole : 0;

	if (p <= 0 || p === 100)
		return p + SPACE + "%";
	// Nearly nothing and nearly all are not nothing and all.
	if (p < 0.01 || p >= 99.95)
		return (p < 1 ? "<" + SPACE + "0.01" : ">" + SPACE + "99.9") + SPACE + "%";
	return p.toFixed(p >= 9.995 ? 1 : 2) + SPACE + "%";
}

function scaled(n, units, step) {
	let i = 0;

	while (i + 1 < units.length && Math.abs(n) >= step[i] * 0.9995)
		n /= step[i++];
	return (i === 0 && Number.isInteger(n) ? n : n.toPrecision(3)) + SPACE + units[i];
}

function duration(ns) {
	if (ns >= 600e9)
		return count(ns / 60e9) + SPACE + "min";
	return scaled(ns, ["ns", "µs", "ms", "s"], [1e3, 1e3, 1e3]);
}

// A value in its profile's unit.
function amount(n, unit) {
	if (n === 0)
		return "0";
	if (unit === "nanoseconds")
		return duration(n);
	if (unit === "bytes")
		return scaled(n, ["B", "KiB", "MiB", "GiB", "TiB"], [1024, 1024, 1024, 1024]);
	return count(n);
}

function capital(s) {
	return s.slice(0, 1).toUpperCase() + s.slice(1);
}

function basename(path) {
	return path.replace(/\/+$/, "").replace(/^.*\//, "") || path;
}

function moment(ms) {
	const d = new Date(ms), two = n => String(n).padStart(2, "0");

	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
		`${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

// A name from long to short: as it is, without its arguments, without its scope. Where dots part a
// scope depends on the language; Go's "pkg.(*T).f" and "(anonymous namespace)::f" are no arguments.
// A root or mark such as "[task: refresher]" becomes what is behind its colon.
function shortForms(name, hasDots) {
	let depth = 0, end = name.length, scope = 0;

	for (let i = 0; i < end; i++) {
		const c = name[i];

		if (c === "(" && depth === 0 && i > scope && /[^.:(]/.test(name[i - 1]) && !name.startsWith("operator", scope))
			end = i;
		else if ("(<[{".includes(c))
			depth++;
		else if (")>]}".includes(c))
			depth = Math.max(0, depth - 1);
		else if (depth === 0 && (name.startsWith("::", i) || (hasDots && (c === "." || c === "/"))) && i + 2 < end)
			scope = i + (c === ":" ? 2 : 1);
	}
	return /^\[.+?: (.+)]$/.exec(name) ||
		[name, name.slice(0, end), name.slice(scope, end)].filter((form, i, all) => form && form !== all[i - 1]);
}

function hash(s) {
	let h = 2166136261;

	for (let i = 0; i < s.length; i++)
		h = Math.imul(h ^ s.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return Math.imul(h, 0x2c1b3c6d) >>> 4;
}
