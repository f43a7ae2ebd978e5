# SPDX-License-Identifier: Apache-2.0
"""Opens the pages of `npuscope report` in Chromium and uses them as a person would.

    report_page_test.py NPUSCOPE [FOLDER]

FOLDER receives screenshots. Skipped (77) without Chromium, its driver, Selenium, or charts in the build.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

SPACE = """
shows: a small space
base: {program: lenet, npu: nv_small, run: {values: off}}
axes:
  - {name: atomic_c, field: npu.datapath.atomic_c, values: [8, 16, 32, 64]}
  - {name: atomic_k, field: npu.datapath.atomic_k, values: [8, 16]}
  - {name: banks, field: npu.cbuf.banks, values: [8, 16, 33]}
  - {name: latency, field: memory.read_latency, values: [20, 100, 400]}
objectives: [{name: time, minimise: microseconds}, {name: cells, minimise: atomic_c * atomic_k}]
"""


class Page:
    def __init__(self, browser, file, shots):
        self.browser, self.shots = browser, shots
        browser.get_log("browser")
        began = time.monotonic()
        browser.get("file://" + file)
        self.opened = time.monotonic() - began
        self.name = os.path.basename(file)[:-5]

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def shot(self, what):
        if self.shots:
            height = self.script("return document.documentElement.scrollHeight")
            self.browser.set_window_size(1300, min(height + 100, 6000))
            time.sleep(0.5)
            self.browser.save_screenshot(os.path.join(self.shots, f"{self.name}_{what}.png"))
            self.browser.set_window_size(1300, 900)

    def rows(self, table=-1):
        return self.script("const all = document.querySelectorAll('table'); return "
                           "all[arguments[0] < 0 ? all.length + arguments[0] : arguments[0]].querySelectorAll('tbody tr').length", table)

    def draw_all(self):
        self.script("charts.forEach(one => one.chart || draw(one))")
        count = self.script("return charts.length")
        drawn = self.script("return charts.filter(one => one.chart && one.place.querySelector('canvas')).length")
        assert count == drawn, (count, drawn)
        return count

    def is_clean(self):
        errors = [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]
        assert not errors, errors
        loaded = self.script("return performance.getEntriesByType('resource').map(one => one.name)")
        assert not [one for one in loaded if not one.startswith("data:")], loaded

    def both_themes(self):
        seen = set()
        for _ in range(2):
            self.all("#theme")[0].click()
            self.draw_all()
            seen.add(self.script("return getComputedStyle(document.body).backgroundColor"))
            self.shot(self.script("return document.documentElement.dataset.theme"))
        assert len(seen) == 2, seen


def hover(page, chart, series, index):
    """Shows the tip of a point, as a pointer on it does."""
    page.script("charts[arguments[0]].chart.dispatchAction({type: 'showTip', seriesIndex: arguments[1], dataIndex: arguments[2]})",
                chart, series, index)
    return page.script("return charts[arguments[0]].place.innerText", chart)


def run_page(browser, npuscope, folder, shots):
    out = os.path.join(folder, "run")
    subprocess.run([npuscope, "run", "lenet", "--out", out, "--timeline", out + "/timeline.json"], check=True, capture_output=True)
    file = os.path.join(folder, "run.html")
    subprocess.run([npuscope, "report", out, "--html", file], check=True, capture_output=True)
    page = Page(browser, file, shots)
    assert page.draw_all() >= 5
    with open(out + "/result.json") as result:
        cycles = json.load(result)["cycles"]
    cards = page.all(".cards")[0].text
    assert f"{cycles:,}" in cards
    assert f"{10**9 // cycles:,}\nframes a second" in cards, cards  # at 1 GHz; not rounded up
    assert "MACs a cycle" in hover(page, 0, 1, 0)
    timeline = page.script("return charts.findIndex(one => one.place.getAttribute('aria-label').startsWith('timeline'))")
    before = page.script("return charts[arguments[0]].chart.getModel().getComponent('dataZoom').getPercentRange()", timeline)
    page.script("charts[arguments[0]].chart.dispatchAction({type: 'dataZoom', start: 20, end: 40})", timeline)
    after = page.script("return charts[arguments[0]].chart.getModel().getComponent('dataZoom').getPercentRange()", timeline)
    assert before != after, (before, after)
    memory = page.script("return charts.findIndex(one => one.place.getAttribute('aria-label').startsWith('memory'))")
    assert "c1_weights" in hover(page, memory, 0, 0)
    page.both_themes()
    page.is_clean()


def pair_page(browser, npuscope, folder, shots):
    files = []
    for npu in ("nv_small", "nv_large"):
        files.append(os.path.join(folder, npu + ".json"))
        subprocess.run([npuscope, "run", "lenet", "--npu", npu, "--json", files[-1]], check=True, capture_output=True)
    file = os.path.join(folder, "pair.html")
    subprocess.run([npuscope, "report", *files, "--html", file], check=True, capture_output=True)
    page = Page(browser, file, shots)
    page.draw_all()
    text = page.all("main")[0].text
    assert "npu.datapath.atomic_c" in text, text
    page.both_themes()
    page.is_clean()


def sweep_page(browser, npuscope, folder, shots):
    space = os.path.join(folder, "space.yaml")
    with open(space, "w") as file:
        file.write(SPACE)
    out = os.path.join(folder, "sweep")
    subprocess.run([npuscope, "sweep", space, "--out", out], check=True, capture_output=True)
    file = os.path.join(folder, "sweep.html")
    subprocess.run([npuscope, "report", out, "--html", file], check=True, capture_output=True)
    page = Page(browser, file, shots)
    assert page.draw_all() == 3
    assert page.rows() == 72, page.rows()
    assert "illegal" in page.all(".cards")[0].text
    assert "cells" in hover(page, 0, 0, 0)
    # A logarithmic axis ends with its designs, of 64 to 1,024 cells.
    ends = page.script("return charts[0].chart.getModel().getComponent('xAxis', 0).axis.scale.getExtent()")
    assert 50 < ends[0] < 64 and 1024 < ends[1] < 1200, ends
    # Words keep rows; the keyboard opens a design and closes it.
    search = page.all("input[type=search]")[0]
    search.send_keys("illegal")
    assert page.rows() == 24, page.rows()
    for _ in "illegal":
        search.send_keys(Keys.BACKSPACE)
    row = page.all("tr.pick")[0]
    row.send_keys(Keys.ENTER)
    assert "program: lenet" in page.all("#point")[0].text
    page.script("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))")
    assert not page.all("#point")
    # A click on a title sorts, largest number first.
    title = [one for one in page.all("th button") if one.text == "time"][0]
    title.click()
    first = page.all("tbody tr")[0].text
    title.click()
    assert first != page.all("tbody tr")[0].text
    # A brushed area keeps the designs in it; so does a range of an axis.
    page.script("const c = charts[0].chart; c.dispatchAction({type: 'brush', areas: [{brushType: 'rect', xAxisIndex: 0,"
                " yAxisIndex: 0, coordRange: [[1, 150], [1, 1e9]]}]})")
    time.sleep(0.6)
    brushed = page.rows()
    assert 0 < brushed < 48, brushed
    page.all(".tools button")[1].click()
    assert page.rows() == 72, page.rows()
    page.script("const c = charts[2].chart; c.dispatchAction({type: 'axisAreaSelect', parallelAxisId:"
                " c.getModel().getComponent('parallelAxis', 0).id, intervals: [[7, 17]]})")
    time.sleep(0.3)
    assert page.rows() == 24, page.rows()
    page.both_themes()
    page.is_clean()


def large_page(browser, npuscope, folder, shots):
    """10,000 designs open in two seconds."""
    with open(os.path.join(folder, "sweep.html")) as file:
        text = file.read()
    begin = text.index('id="data">') + len('id="data">')
    end = text.index("</script>", begin)
    data = json.loads(text[begin:end])
    points = [point for point in data["sweep"]["points"] if "costs" in point]
    data["sweep"]["points"] = [
        {**points[i % len(points)], "key": str(i), "number": i, "costs": [1 + i % 997, 1 + (i * i) % 1009]} for i in range(10_000)]
    data["sweep"]["front"], data["sweep"]["layers"] = ["0"], {}
    name = os.path.join(folder, "large.html")
    with open(name, "w") as file:
        file.write(text[:begin] + json.dumps(data) + text[end:])
    page = Page(browser, name, shots)
    shown = page.script("return performance.timing.loadEventEnd - performance.timing.navigationStart")
    print(f"10,000 designs: {shown} ms to open")
    page.draw_all()
    page.shot("large")
    page.is_clean()
    return shown


def main():
    npuscope, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("skipped: Chromium and its driver are not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        probe = subprocess.run([npuscope, "run", "lenet", "--json", folder + "/x.json"], capture_output=True, text=True)
        assert probe.returncode == 0, probe.stderr
        probe = subprocess.run([npuscope, "report", folder + "/x.json", "--html", folder + "/x.html"], capture_output=True, text=True)
        if "has no charts" in probe.stderr:
            print("skipped: this build has no charts, for npm did not give them")
            return 77
        assert probe.returncode == 0, probe.stderr
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,900",
                         f"--user-data-dir={folder}/profile"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        browser.set_script_timeout(300)  # other tests may keep all cores busy
        try:
            for show in (run_page, pair_page, sweep_page, large_page):
                show(browser, npuscope, folder, shots)
                print(f"{show.__name__}: good")
        finally:
            browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
