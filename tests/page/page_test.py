#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flame graph page in headless Chromium: what people see, do and must be safe from. Speaks TAP."""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import browser
import page_profile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("BUILD", "build")
PAGES = ["demo", "large", "deep", "hostile", "empty"]
BASKET = "shop::Basket::total(shop::Currency const&) const"
# Other work on the machine only ever adds: the best of some rounds is the nearest to the truth.
ROUNDS = 8
tests = []


def test(**settings):
    """The browser of a test: its window, theme and kind of pointer."""
    def add(function):
        tests.append((function, settings))
        return function
    return add


def equal(got, want):
    assert got == want, f"{got!r} is not {want!r}"


class Pages:
    """The pages, written once by make_page."""
    def __init__(self, folder):
        maker = os.path.join(BUILD, "tests/page/make_page")
        subprocess.run(["make", "-s", "BUILD=" + BUILD, maker], cwd=ROOT, check=True, stdout=sys.stderr)
        self.path, self.text, self.data = {}, {}, {}
        for name in PAGES:
            self.path[name] = os.path.join(folder, name + ".html")
            with open(self.path[name], "wb") as f:
                subprocess.run([maker, name], cwd=ROOT, stdout=f, check=True)
            with open(self.path[name], encoding="utf-8", newline="") as f:
                self.text[name] = f.read()
            self.data[name] = page_profile.read(self.text[name])


@test()
def opens_without_console_errors_or_requests(b, pages):
    for name in PAGES:
        b.open(pages.path[name])
        b.settle()
    equal(b.problems, [])


@test()
def policy_allows_exactly_this_script_and_style(b, pages):
    text = pages.text["demo"]
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy, policy
    assert policy.startswith("default-src 'none'")
    b.open(pages.path["demo"])
    for attempt in ("const s = document.createElement('script'); s.append('window.hacked = 1'); document.body.append(s);",
                    "const i = document.createElement('img'); i.setAttribute('onerror', 'window.hacked = 1'); i.src = 'x'; document.body.append(i);",
                    "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.hacked=1>');",
                    "setTimeout('window.hacked = 1', 0);", "const e = document.createElement('p'); e.setAttribute('style', 'color: red'); "
                    "document.body.append(e); if (e.style.color === 'red') window.hacked = 1;", "location.href = 'javascript:window.hacked=1';"):
        b.js(f"(() => {{ try {{ {attempt} }} catch (e) {{ }} }})()")
    b.js("new Promise(done => setTimeout(done, 50))")
    equal(b.js("window.hacked"), None)


@test()
def page_itself_stays_small(b, pages):
    size = sum(len(m.encode()) for m in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", pages.text["demo"], re.S))
    print(f"# script and style: {size} bytes")
    assert size <= 60 * 1024


@test()
def hostile_names_are_shown_and_never_act(b, pages):
    b.open(pages.path["hostile"])
    for action in ("i", "r", "r", "c", "t", "t"):
        b.key(action)
    for name in b.js("profile.functions.slice(1).map(f => f.name)"):
        at = b.frame(name)
        if at:
            b.mouse("mouseMoved", at["x"], at["y"])
            assert name in b.js("byId('tip').textContent"), name
    b.press("#details")
    b.key("Escape")
    equal(b.js("window.hacked"), None)
    equal(b.js("document.images.length + document.scripts.length"), 2)
    names = b.js("profile.functions.map(f => f.name)")
    for shown in ("</script><img src=x onerror=window.hacked=1>", "a\\x1b[31mred\\x1b[0m", "bad\ufffd\ufffdutf8\ufffd",
                  "right\\u202eleft\\u2066iso", "line\\x0abreak\\x09tab;semi", "sep\\u2028line\\u2029para",
                  "__proto__", "constructor", "&lt;b&gt;&amp;"):
        assert shown in names, (shown, names)
    equal(b.problems, [])


@test()
def hover_tells_name_place_self_total_and_module(b, pages):
    b.open(pages.path["demo"])
    at = b.frame(BASKET)
    b.mouse("mouseMoved", at["x"], at["y"])
    tip, status = b.js("byId('tip').innerText"), b.js("byId('status').textContent")
    for part in (BASKET, "/src/shop/basket.cc:44", "4.95\u202fs", "25.3\u202f%", "72.4\u202f%", "/usr/bin/shopd", "Native"):
        assert part in tip, (part, tip)
    for part in (BASKET, "/src/shop/basket.cc:44", "shopd", "self 0"):
        assert part in status, (part, status)


@test()
def guessed_inlined_and_truncated_frames_say_so(b, pages):
    b.open(pages.path["demo"])
    for name, note in (("std::accumulate<shop::Item const*, long>", "inlined"), ("[truncated]", "not code"),
                       ("x264_pixel_satd_8x8_avx2", "guessed in 100"),
                       ("shop::json::Writer::put(std::basic_string_view<char>)", "several functions")):
        at = b.frame(name)
        b.mouse("mouseMoved", at["x"], at["y"])
        assert note in b.js("byId('tip').innerText"), name
    legend = b.js("byId('legend').innerText")
    for word in ("inlined", "guessed", "truncated or broken", "Kernel", "Python", "Java", "Go", "JIT"):
        assert word in legend, word


@test()
def only_stacks_that_are_cut_are_called_truncated_or_broken(b, pages):
    b.open(pages.path["demo"])
    for marks, want in ((["[gather]"], "not code"), (["[truncated]"], "truncated or broken"),
                        (["[broken: no unwind data]", "[wait]"], "truncated or broken;not code"), ([], "")):
        frames = [{"name": name} for name in marks]
        equal(b.js("(marks => { const ul = document.createElement('ul');"
                   " showLegend(ul, [], { frames: marks.map(f => ({ ...f, kind: KIND.mark })), tree: { flags: [] } }, false);"
                   f" return [...ul.children].map(li => li.textContent).join(';'); }})({json.dumps(frames)})"), want)


@test()
def long_names_lose_arguments_then_scope_and_labels_their_key(b, pages):
    b.open(pages.path["demo"])
    for name, dots, forms in (
            ("a::B<int>::c(int) const", False, ["a::B<int>::c(int) const", "a::B<int>::c", "c"]),
            ("std::vector<a::b, c::d>::push_back(a::b&&)", False, [None, "std::vector<a::b, c::d>::push_back", "push_back"]),
            ("(anonymous namespace)::f(int)", False, [None, "(anonymous namespace)::f", "f"]),
            ("net/http.(*conn).serve", True, [None, "serve"]), ("main.main.func1", True, [None, "func1"]),
            ("com.example.Shop.checkout", True, [None, "checkout"]), ("foo.part.0", False, [None]),
            ("[span_name: GET /a.b/{id}]", False, [None, "GET /a.b/{id}"]), ("[no span_name]", False, [None]),
            ("[broken: no unwind data]", False, [None, "no unwind data"]), ("[truncated]", False, [None]),
            ("operator()(int)", False, [None]), ("", False, []), ("(", False, [None]), ("a::", False, [None])):
        equal(b.js(f"shortForms({json.dumps(name)}, {json.dumps(dots)})"), [name if form is None else form for form in forms])


@test()
def zoom_lives_in_the_address_and_every_way_back_leads_out(b, pages):
    b.open(pages.path["demo"])
    for way in ("button", "Escape", "Backspace", "history", "0"):
        at = b.frame("main")
        b.click(at["x"], at["y"])
        b.settle()
        equal(b.js("[location.hash, state.zoom]"), [f"#z={at['node']}", at["node"]])
        equal(b.js("flame.box(state.zoom).w >= flame.width - 2"), True)
        if way == "button":
            b.press("#back")
        elif way == "history":
            b.js("history.back()")
        else:
            b.key(way)
        b.wait("state.zoom === 0 && flame.zoomed === 0")
        b.settle()
    b.open(pages.path["demo"], "#z=61&icicle=1&color=module")
    equal(b.js("[flame.zoomed, flame.isIcicle, colors.mode]"), [61, True, "module"])
    b.open(pages.path["demo"], "#z=99999999&type=nothing")
    equal(b.js("[flame.zoomed, flame.type]"), [0, 1])


@test()
def matched_share_counts_a_sample_once(b, pages):
    b.open(pages.path["demo"])
    for query in ("main", "write", "shop::", "std::accumulate"):
        b.js("change({ query: '', pattern: false })")
        b.key("/")
        b.type(query)
        b.wait(f"state.query === {json.dumps(query)}")
        equal(b.js("tops.value"), page_profile.matched(pages.data["demo"], query, 1))
        assert "matched" in b.js("byId('matched').textContent")
        b.key("Escape")
    b.open(pages.path["deep"])
    b.js("change({ query: 'p.ng', pattern: true })")
    equal(b.js("byId('matched').textContent"), "100\u202f% matched")


@test()
def matches_stand_out_and_a_bad_pattern_is_told(b, pages):
    b.open(pages.path["demo"], "#q=%5Emain%24&pattern=1")
    b.settle()
    at = b.js("flame.box(tops.nodes[0])")
    seen = b.js(f"[...flame.context.getImageData({int(at['x'] + at['w'] - 4)}, {int(at['y'] + 3)}, 1, 1).data].slice(0, 3)")
    equal(seen, b.js("[colors.matchPixel & 255, colors.matchPixel >> 8 & 255, colors.matchPixel >> 16 & 255]"))
    equal(b.js("table.rows.map(r => r.fn.name)"), ["main"])
    b.js("change({ query: '(' })")
    equal(b.js("[byId('matched').textContent, byId('query').ariaInvalid]"), ["not a valid pattern", "true"])


@test()
def icicle_has_the_root_on_top_and_flame_below(b, pages):
    b.open(pages.path["demo"])
    assert b.js("flame.box(0).y > flame.box(50).y && flame.box(0).y > flame.height / 2")
    b.key("i")
    b.settle()
    assert b.js("flame.box(0).y < flame.box(50).y && flame.box(0).y < 10")


@test()
def reversed_graph_begins_with_what_ran(b, pages):
    for name in ("demo", "deep"):
        b.open(pages.path[name])
        total = b.js("flame.tree.total[1][0]")
        b.press("#reversed")
        equal(b.js("flame.tree.total[1][0]"), total)
        tops = b.js("""[...flame.layout.order].slice(flame.layout.levels[1], flame.layout.levels[2])
            .map(i => [flame.tree.of(i).name, flame.tree.total[0][i]])""")
        sums = {}
        for function, value in tops:
            sums[function] = sums.get(function, 0) + value
        equal(sums, {k: v for k, v in page_profile.flat(pages.data[name], 0).items() if v})


@test()
def reversed_graph_says_what_it_leaves_out(b, pages):
    b.open(pages.path["large"], "#reversed=1")
    assert "callers of the lightest stacks are left out" in b.js("byId('legend').innerText")
    equal(b.js("flame.tree.total[0][0]"), sum(selfs[0] for _, selfs in pages.data["large"]))


@test()
def threads_are_a_level_that_can_be_shown(b, pages):
    b.open(pages.path["demo"])
    equal(b.frame("orders-1"), None)
    total = b.js("flame.tree.total[0][0]")
    b.press("#threads")
    assert b.frame("orders-1") is not None
    equal(b.js("flame.tree.total[0][0]"), total)


@test()
def samples_of_one_label_can_be_chosen(b, pages):
    b.open(pages.path["demo"])
    values = b.js("[...byId('label').options].map(o => o.value)")
    assert values[0] == "" and "thread=orders-1" in values, values
    everything = b.js("flame.tree.total[0][0]")
    wanted = sum(selfs[0] for path, selfs in pages.data["demo"] if ("orders-1", "thread") in path)
    assert 0 < wanted < everything
    b.js("byId('label').value = 'thread=orders-1'; byId('label').dispatchEvent(new Event('change'))")
    equal(b.js("flame.tree.total[0][0]"), wanted)
    equal(b.js("table.allRows.reduce((sum, r) => sum + r.flat, 0)"), b.js("flame.tree.total[state.type][0]"))
    b.press("#reversed")
    equal(b.js("flame.tree.total[0][0]"), wanted)
    fragment = b.js("location.hash")
    b.open(pages.path["demo"], fragment)
    equal(b.js("[flame.tree.total[0][0], byId('label').value]"), [wanted, "thread=orders-1"])
    b.js("byId('label').value = ''; byId('label').dispatchEvent(new Event('change'))")
    equal(b.js("flame.tree.total[0][0]"), everything)
    b.open(pages.path["demo"], "#label=thread%3Dnobody")
    equal(b.js("[flame.tree.total[0][0], byId('label').value]"), [everything, ""])


@test(width=390, height=800, touch=True)
def a_phone_begins_at_the_root(b, pages):
    b.open(pages.path["deep"])
    b.settle()
    assert b.js("byId('scroll').scrollHeight - byId('scroll').clientHeight - byId('scroll').scrollTop") <= 1


@test()
def table_agrees_with_the_data_and_counts_recursion_once(b, pages):
    for name in ("demo", "deep", "large"):
        b.open(pages.path[name])
        rows = b.js("table.allRows.map(r => [r.fn.name, r.flat, r.cum])")
        flat, cum = page_profile.flat(pages.data[name], 1), page_profile.cum(pages.data[name], 1)
        got_flat, got_cum = {}, {}
        for function, f, c in rows:
            got_flat[function] = got_flat.get(function, 0) + f
            got_cum[function] = max(got_cum.get(function, 0), c)
        equal({k: v for k, v in got_flat.items() if v}, {k: v for k, v in flat.items() if v and k in got_flat})
        for function, value in cum.items():
            if function in got_cum and function not in ("main", "_start"):
                equal((function, got_cum[function]), (function, value))


@test()
def table_sorts_picks_and_zooms(b, pages):
    b.open(pages.path["demo"])
    flats = b.js("table.rows.map(r => r.flat)")
    equal(flats, sorted(flats, reverse=True))
    b.press(".head div:nth-child(4) button")
    cums = b.js("table.rows.map(r => r.cum)")
    equal(cums, sorted(cums, reverse=True))
    b.press(".head div:nth-child(6) button")
    names = b.js("table.rows.map(r => r.fn.name)")
    equal(names, sorted(names))
    row = b.js("table.lines.findIndex(l => l.lastChild.textContent === 're.Pattern.sub')")
    b.press(f".row:nth-child({row + 1})")
    equal(b.js("[byId('matched').textContent, state.zoom]"), ["9.82\u202f% matched", 0])
    b.click(*b.center(f".row:nth-child({row + 1})"), times=2)
    b.wait("state.zoom > 0")
    equal(b.js("flame.tree.of(state.zoom).name"), "re.Pattern.sub")


@test()
def border_between_graph_and_table_moves(b, pages):
    b.open(pages.path["demo"])
    before, (x, y) = b.js("byId('top').offsetWidth"), b.center("#divider")
    b.mouse("mouseMoved", x, y)
    b.mouse("mousePressed", x, y, button="left", clickCount=1)
    b.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
    b.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
    equal(b.js("byId('top').offsetWidth"), before + 100)
    b.settle()
    equal(b.js("flame.width === flame.panel.clientWidth"), True)


@test()
def twenty_thousand_rows_scroll_smoothly(b, pages):
    b.open(pages.path["large"])
    for _ in range(ROUNDS):
        times = sorted(b.js("""(async () => { const times = [];
            for (let i = 0; i < 60; i++) { table.body.scrollTop = i * 6000; const start = performance.now();
                table.fill(); table.body.offsetHeight; times.push(performance.now() - start);
                await new Promise(requestAnimationFrame); }
            return times; })()"""))
        if times[57] <= 33:
            break
    rows = b.js("[table.rows.length, table.lines.length]")
    print(f"# {rows[0]} rows, {rows[1]} of them exist; filling them p50 {times[30]:.1f} ms, p95 {times[57]:.1f} ms")
    assert rows[0] >= 19000 and rows[1] < 60 and times[57] <= 33


@test()
def value_and_colour_can_be_chosen(b, pages):
    b.open(pages.path["demo"])
    equal(b.js("[byId('type').value, flame.layout.width[0]]"), ["1", 1935 * 10101010])
    b.js("byId('type').value = 0; byId('type').dispatchEvent(new Event('change'))")
    equal(b.js("flame.layout.width[0]"), 1935)
    assert "1\u202f935" in b.js("byId('status').textContent")
    b.key("c")
    assert "libc.so.6" in b.js("byId('legend').innerText") or "shopd" in b.js("byId('legend').innerText")


@test()
def totals_and_accounting_are_told(b, pages):
    b.open(pages.path["demo"])
    facts = b.js("byId('facts').innerText").replace("\n", " ")
    for part in ("1\u202f935", "19.5\u202fs", "10.0\u202fs", "99.6\u202f%", "build-7", "2026-"):
        assert part in facts, (part, facts)
    b.press("#details")
    details = b.js("byId('about').innerText")
    for part in ("snapshot truncated", "lost ring", "41\u202f230", "maps.reread"):
        assert part in details, (part, details)
    assert "samples.negative" not in details


@test()
def keyboard_reaches_everything(b, pages):
    b.open(pages.path["demo"])
    b.key("ArrowUp")
    equal(b.js("flame.selected"), 0)
    b.key("ArrowUp")
    b.key("ArrowRight")
    equal(b.js("[flame.tree.depth[flame.selected], flame.tree.of(flame.selected).name]"), [1, "java"])
    b.key("ArrowUp")
    b.key("ArrowDown")
    b.key("ArrowLeft")
    equal(b.js("flame.tree.of(flame.selected).name"), "shopd")
    assert "shopd" in b.js("byId('status').textContent")
    b.key("Enter")
    b.wait("flame.tree.of(state.zoom).name === 'shopd'")
    b.key("/")
    equal(b.js("document.activeElement.id"), "query")
    b.type("it")
    equal(b.js("[state.icicle, byId('query').value]"), [False, "it"])
    b.key("Enter")
    b.wait("flame.selected > 0")
    b.key("Escape")
    b.js("select(48)")
    copied = b.js("""(() => { const d = new DataTransfer(), e = new ClipboardEvent("copy", { clipboardData: d, bubbles: true });
        document.body.dispatchEvent(e); return d.getData("text/plain"); })()""")
    equal(copied, b.js("flame.tree.of(48).name"))
    for key, expression, want in (("t", "byId('top').hidden", True), ("?", "byId('keys').open", True)):
        b.key(key)
        equal((key, b.js(expression)), (key, want))


@test()
def controls_have_names_and_a_focus_ring(b, pages):
    b.open(pages.path["demo"])
    roles = {"button", "combobox", "searchbox", "application", "columnheader"}
    for node in b.call("Accessibility.getFullAXTree")["nodes"]:
        if not node.get("ignored") and node["role"].get("value") in roles:
            assert node.get("name", {}).get("value"), node
    seen = set()
    for _ in range(30):
        b.key("Tab")
        style = b.js("(e => [e.id || e.className || e.textContent, getComputedStyle(e).outlineStyle])(document.activeElement)")
        if style[0]:
            seen.add(style[0])
            assert style[1] != "none" or b.js("document.activeElement === document.body"), style
    assert {"details", "query", "icicle", "canvas", "body"} <= seen, seen


@test()
def texts_have_contrast_in_both_themes(b, pages):
    b.open(pages.path["demo"])
    for dark in (False, True):
        b.media(dark=dark)
        b.wait(f"document.documentElement.dataset.theme === '{'dark' if dark else 'light'}'")
        for mode in ("kind", "module"):
            b.js(f"change({{ color: '{mode}' }})")
            worst = b.js("""(() => {
                const lum = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
                    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
                const ratio = (a, b) => (Math.max(lum(a), lum(b)) + .05) / (Math.min(lum(a), lum(b)) + .05);
                const hex = s => [1, 3, 5].map(i => parseInt(s.slice(i, i + 2), 16)), px = p => [p & 255, p >> 8 & 255, p >> 16 & 255];
                const v = n => hex(getComputedStyle(document.documentElement).getPropertyValue(n).trim());
                return [...colors.pixels.map(p => ratio(px(p), hex(colors.text))),
                    ...colors.faintPixels.map(p => ratio(px(p), hex(colors.faintText))),
                    ratio(px(colors.matchPixel), hex(colors.matchText)),
                    ...["--text", "--quiet", "--match", "--accent"].flatMap(n => [ratio(v(n), v("--panel")), ratio(v(n), v("--page"))])]
                    .reduce((a, b) => Math.min(a, b)); })()""")
            print(f"# {'dark' if dark else 'light'} by {mode}: lowest contrast {worst:.2f}")
            assert worst >= 4.5


@test(width=390, height=844, touch=True, scale=2)
def phone_taps_select_then_zoom_and_nothing_overflows(b, pages):
    b.open(pages.path["demo"])
    equal(b.js("document.documentElement.scrollWidth"), 390)
    at = b.frame("java")
    b.tap(at["x"], at["y"])
    b.wait(f"flame.selected === {at['node']}")
    equal(b.js("[state.zoom, byId('tip').hidden]"), [0, True])
    assert "java" in b.js("byId('status').textContent")
    b.tap(at["x"], at["y"])
    b.wait(f"state.zoom === {at['node']}")
    b.settle()
    b.js("change({ table: true })")
    assert b.js("getComputedStyle(byId('graph')).display === 'none' && byId('top').offsetWidth > 340")
    equal(b.js("document.documentElement.scrollWidth"), 390)
    equal(b.problems, [])


@test(width=1600, height=1000)
def narrow_frames_can_be_hovered(b, pages):
    b.open(pages.path["large"])
    node = b.js("""(() => { const unit = flame.view.to / flame.width, first = flame.level(flame.height / 2);
        for (let p = flame.layout.levels[first]; p < flame.layout.levels[first + 1]; p++)
            if (flame.layout.width[p] < unit && flame.layout.width[p] > unit / 4) return flame.layout.order[p];
        })()""")
    box = b.js(f"(b => [b.x, b.y + b.h / 2])(flame.box({node}))")
    canvas = b.js("(b => [b.x, b.y])(byId('canvas').getBoundingClientRect())")
    b.mouse("mouseMoved", canvas[0] + box[0], canvas[1] + box[1])
    equal(b.js(f"flame.hovered > 0 && flame.tree.depth[flame.hovered] === flame.tree.depth[{node}]"), True)
    equal(b.js("byId('tip').hidden"), False)


@test()
def reduced_motion_zooms_at_once(b, pages):
    b.open(pages.path["demo"])
    b.media(calm=True)
    b.js("zoom(61)")
    equal(b.js("!flame.move && flame.view.from === flame.layout.x[flame.layout.place[61]]"), True)


@test(width=1600, height=1000)
def a_hundred_thousand_frames_draw_within_33_ms(b, pages):
    b.open(pages.path["large"])
    n = b.js("flame.tree.n - 1")
    best = None
    for _ in range(ROUNDS):
        b.js("""(async () => {
            const frame = () => new Promise(requestAnimationFrame), run = async n => { while (n-- > 0) { flame.redraw(); await frame(); } };
            const big = [...flame.layout.order].slice(1, 40);
            flame.drawTimes.length = 0;
            for (const query of ["", "method_1", "ns4.*7"]) {
                change({ query, pattern: true });
                for (let i = 0; i < 20; i++) { flame.panel.scrollTop = flame.full * (i % 10) / 10; await run(1); }
                for (const node of big.slice(0, 4)) { zoom(node); await run(14); zoom(0); await run(14); }
            }
            change({ query: "" }); })()""")
        times = sorted(b.js("flame.drawTimes"))
        # What is recorded on the canvas is rastered later: once more, waiting for the pixels each time.
        pixels = sorted(b.js("""(() => { const times = [];
            for (let i = 0; i < 40; i++) { const start = performance.now(); flame.draw();
                flame.context.getImageData(0, 0, 1, 1); times.push(performance.now() - start); }
            return times; })()"""))
        p95 = times[int(len(times) * 0.95)]
        print(f"# {n} frames, {len(times)} drawings: p50 {times[len(times) // 2]:.1f} ms, p95 {p95:.1f} ms; "
              f"until the pixels are there: p50 {pixels[20]:.1f} ms, p95 {pixels[37]:.1f} ms")
        best = min(best or 1e9, max(p95, pixels[37]))
        if best <= 33:
            break
    assert n >= 100000 and len(times) >= 300
    assert best <= 33


def main():
    if not browser.find():
        print("1..0 # SKIP no browser here")
        return 77
    wanted = sys.argv[1:]
    chosen = [t for t in tests if not wanted or t[0].__name__ in wanted]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="weft-pages-") as folder, browser.Browser() as b:
        pages = Pages(folder)
        print(f"1..{len(chosen)}", flush=True)
        for i, (function, settings) in enumerate(chosen, 1):
            try:
                b.new_tab(**settings)
                function(b, pages)
                print(f"ok {i} - {function.__name__}", flush=True)
            except (AssertionError, RuntimeError, OSError) as e:
                failed += 1
                print(f"not ok {i} - {function.__name__}\n# {type(e).__name__}: {e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
