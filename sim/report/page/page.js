// SPDX-License-Identifier: Apache-2.0
// Builds the page of a run, of two runs, or of a sweep from the data in it. Nothing is loaded from
// elsewhere.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.getElementById('main');
const charts = [];
const CAUSE_COLOURS = {
  mac: '#2e86de', sdp_drain: '#e67e22', data_fetch: '#27ae60', weight_fetch: '#16a085',
  cbuf_capacity: '#8e44ad', start_up: '#95a5a6', latency: '#f1c40f', work: '#34a0a4',
  memory: '#c0392b', waits_for_previous: '#b2a4d4', programming: '#7f5539'};
const STATE_COLOURS = {busy: '#2e86de', work: '#2e86de', starved: '#f1c40f', blocked: '#c0392b'};

// -- Small helpers -------------------------------------------------------------------------------

/// An element with a class, text and children; text is never read as HTML.
function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === 'text') made.textContent = value;
    else if (name === 'class') made.className = value;
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

function number(value) {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value !== 'number') return String(value);
  return Number.isInteger(value) || Math.abs(value) >= 1e5 ? grouped.format(value) : String(+value.toPrecision(4));
}

/// As the text has it: four digits, or all that are before the point.
const rate = value => number(value < 1000 ? +value.toPrecision(4) : Math.floor(value));

const counted = (count, what) => `${grouped.format(count)} ${what}${count === 1 ? '' : 's'}`;

const percent = share => (share === null || share === undefined ? '' : `${(100 * share).toFixed(1)} %`);

function bytes(value) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  while (value >= 1000 && i < units.length - 1) { value /= 1000; ++i; }
  return `${i ? value.toPrecision(3) : value} ${units[i]}`;
}

/// Text in a chart's tooltip, which is HTML.
function escaped(text) {
  return String(text).replace(/[&<>"']/g, letter => `&#${letter.charCodeAt(0)};`);
}

function section(title, note) {
  const made = element('section', {}, element('h2', {text: title}));
  if (note) made.append(element('p', {class: 'note', text: note}));
  main.append(made);
  return made;
}

function cards(items) {
  const made = element('div', {class: 'cards'});
  for (const [title, value, look] of items) {
    if (value === '' || value === undefined) continue;
    made.append(element('div', {class: 'card'}, element('b', {text: value, class: look || ''}),
                        element('span', {text: title})));
  }
  main.append(made);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/// A chart whose option is recreated for each theme.
function chart(parent, height, title, option, wire) {
  const place = element('div', {class: 'chart', style: `height:${height}px`, role: 'img', 'aria-label': title});
  parent.append(place);
  const one = {place, option, wire, chart: null};
  charts.push(one);
  return one;
}

function draw(one) {
  if (one.chart) one.chart.dispose();
  one.chart = echarts.init(one.place, null, {renderer: 'canvas'});
  const axis = {axisLabel: {color: colour('soft')}, nameTextStyle: {color: colour('soft')},
                axisLine: {lineStyle: {color: colour('line')}}, splitLine: {lineStyle: {color: colour('line')}}};
  const option = one.option(axis);
  one.chart.setOption({
    backgroundColor: colour('paper'), animation: false, textStyle: {color: colour('ink'), fontFamily: 'inherit'},
    ...option,
    tooltip: {backgroundColor: colour('fill'), borderColor: colour('line'), textStyle: {color: colour('ink')},
              confine: true, ...(option.tooltip || {})}});
  if (one.wire) one.wire(one.chart);
}

/// Charts are drawn when they come into view: a page with many of them opens quickly.
function drawAll() {
  for (const one of charts) {
    if (one.chart) { one.chart.dispose(); one.chart = null; }
  }
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) {
      const one = charts.find(other => other.place === entry.target);
      if (entry.isIntersecting && one && !one.chart) draw(one);
    }
  }, {rootMargin: '300px'});
  charts.forEach(one => seen.observe(one.place));
}

/// A table that can be sorted by its titles and filtered by words; shows `most` rows until asked for
/// more.
function table(parent, columns, rows, options = {}) {
  const most = options.most || 200;
  let shown = most, order = null, words = '', mask = null;
  const tools = element('div', {class: 'tools'});
  const count = element('span');
  const filter = element('input', {type: 'search', placeholder: 'filter', 'aria-label': 'filter rows',
    oninput: () => { words = filter.value.toLowerCase(); shown = most; fill(); }});
  const more = element('button', {type: 'button', text: 'more rows', onclick: () => { shown += 10 * most; fill(); }});
  tools.append(filter, count, more);
  const head = element('tr'), body = element('tbody');
  columns.forEach((column, i) => head.append(element('th', {class: column.text || column.long ? 'text' : '', scope: 'col'},
    element('button', {type: 'button', text: column.title, onclick: () => {
      order = order && order.column === i ? {column: i, up: !order.up} : {column: i, up: !!column.text};
      fill();
    }}))));
  const texts = rows.map(row => columns.map(column => String(column.value(row) ?? '')).join(' ').toLowerCase());
  function fill() {
    let kept = rows.map((row, i) => i).filter(i => (!mask || mask.has(i)) && (!words || words.split(/\s+/).every(word => texts[i].includes(word))));
    if (order) {
      const value = columns[order.column].value, sign = order.up ? 1 : -1;
      kept.sort((a, b) => {
        const x = value(rows[a]), y = value(rows[b]);
        const both = typeof x === 'number' && typeof y === 'number';
        return sign * (both ? x - y : String(x ?? '').localeCompare(String(y ?? ''), 'en', {numeric: true}));
      });
    }
    body.replaceChildren(...kept.slice(0, shown).map(i => line(rows[i], i)));
    count.textContent = kept.length === rows.length ? counted(rows.length, 'row') : `${grouped.format(kept.length)} of ${counted(rows.length, 'row')}`;
    more.style.display = kept.length > shown ? '' : 'none';
  }
  function line(row, i) {
    const made = element('tr');
    for (const column of columns) {
      const cell = element('td', {class: column.long ? 'long' : column.text ? 'text' : ''});
      const shownAs = column.show ? column.show(row) : number(column.value(row));
      shownAs instanceof Node ? cell.append(shownAs) : (cell.textContent = shownAs ?? '');
      made.append(cell);
    }
    if (options.pick) {
      made.className = 'pick';
      made.tabIndex = 0;
      made.addEventListener('click', () => options.pick(row, i));
      made.addEventListener('keydown', event => {
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); options.pick(row, i); }
      });
    }
    return made;
  }
  if (rows.length > 8 || options.filter) parent.append(tools);
  parent.append(element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'table'},
                        element('table', {}, element('thead', {}, head), body)));
  fill();
  return {only(indices) { mask = indices; shown = most; fill(); }};
}

function causeStack(causes) {
  const all = Object.values(causes).reduce((sum, cycles) => sum + cycles, 0) || 1;
  const made = element('span', {class: 'stack', title: Object.entries(causes).filter(([, c]) => c > 0)
    .map(([name, c]) => `${name} ${percent(c / all)}`).join(', ')});
  for (const [name, cycles] of Object.entries(causes)) {
    if (cycles > 0) made.append(element('i', {style: `width:${100 * cycles / all}%;background:${CAUSE_COLOURS[name] || '#888'}`}));
  }
  return made;
}

function bar(share) {
  return element('span', {}, element('span', {class: 'bar', style: `width:${Math.max(1, 80 * share)}px`}), ` ${percent(share)}`);
}

// -- A run -----------------------------------------------------------------------------------------

const rowsOf = run => (run.layers.length ? run.layers : run.operations.map(operation => ({
  ...operation, kind: operation.unit, share: run.cycles ? operation.own_cycles / run.cycles : 0, useful_macs: operation.macs,
  read_bytes: null, write_bytes: null, causes: operation.own_causes || operation.causes, cycles: operation.own_cycles ?? operation.cycles})));

/// MACs that the array can do per cycle, from rows that say how much of it was used; of several, the most.
function peakOf(run) {
  const rows = rowsOf(run).filter(one => one.mac_utilisation > 0 && one.useful_macs > 0 && one.cycles > 0);
  return Math.max(0, ...rows.map(row => row.useful_macs / row.mac_utilisation / row.cycles));
}

const macsOf = run => rowsOf(run).reduce((sum, row) => sum + (row.host ? 0 : row.useful_macs), 0);

function causesOf(run) {
  const sum = {};
  for (const row of rowsOf(run)) {
    for (const [name, cycles] of Object.entries(row.causes || {})) sum[name] = (sum[name] || 0) + cycles;
  }
  return sum;
}

function verdictCards(run) {
  const peak = peakOf(run), colourOf = {pass: 'good', unchecked: ''};  // nothing was compared: neither
  const bounds = Object.entries(causesOf(run)).sort((a, b) => b[1] - a[1])[0];
  cards([
    ['outcome', run.status === 'pass' ? `pass: ${counted(run.checks.length, 'check')}` : run.status, colourOf[run.status] ?? 'bad'],
    ['cycles', number(run.cycles)],
    ['milliseconds', number(run.microseconds / 1000)],
    ['frames a second', run.inputs_per_second ? rate(run.inputs_per_second) : ''],
    ['of the MAC array used', peak ? percent(macsOf(run) / peak / run.cycles) : ''],
    ['bound most by', bounds && run.cycles ? `${bounds[0]} ${percent(bounds[1] / run.cycles)}` : ''],
    ['read', bytes(run.traffic.read_bytes)],
    ['written', bytes(run.traffic.write_bytes)]]);
}

/// Bytes a cycle that the memory moves at most: `together` where reads and writes share them.
function memoryPeak(run) {
  const memory = run.config.memory;
  const used = run.ports.filter(one => one.read_beats + one.write_beats > 0);
  const beats = used.reduce((sum, one) => sum + one.beat_bytes, 0);
  // data of a network is in the first region, unless a port of its own leads to another one
  const sram = memory.regions.slice(1).find(region => region.surfaces);
  const regions = used.length > 1 || !run.layers.length ? memory.regions : memory.regions.slice(0, 1);
  const paths = used.length > 1 && run.layers.length && sram
    ? used.map(one => ({region: one.port === 'primary' ? memory.regions[0] : sram, beat: one.beat_bytes}))
    : regions.map(region => ({region, beat: beats}));
  const together = paths.every(({region}) => region.dram || region.bandwidth);
  const peaks = paths.map(({region, beat}) => {
    if (region.dram) {
      const parts = region.dram.organisation, clocks = Math.ceil(parts.burst_length / parts.beats_per_clock);
      return parts.channels * parts.bus_width * parts.burst_length / clocks * region.dram.clock / run.config.npu.clock;
    }
    return together ? region.bandwidth / run.config.npu.clock : beat / (region.beat_interval ?? memory.beat_interval);
  });
  const all = peaks.reduce((sum, one) => sum + one, 0);
  return {bytes: Math.min(together ? 2 * beats : beats, all), together};
}

function roofline(run) {
  const peak = peakOf(run);
  const rows = rowsOf(run).filter(row => !row.host && row.useful_macs > 0 && row.read_bytes !== null && row.cycles > 0);
  if (!peak || !rows.length) return;
  const {bytes: port, together} = memoryPeak(run);
  const moved = row => (together ? row.read_bytes + row.write_bytes : Math.max(row.read_bytes, row.write_bytes));
  const points = rows.map(row => ({value: [row.useful_macs / (moved(row) || 1), row.useful_macs / row.cycles],
    name: row.name, symbolSize: 7 + 30 * Math.sqrt(row.share), itemStyle: {color: CAUSE_COLOURS[row.bound_by], opacity: 0.85}, row}));
  const xs = points.map(point => point.value[0]);
  const from = Math.min(...xs, peak / port) / 3, to = Math.max(...xs, peak / port) * 3;
  const place = section('Roofline', `Each layer by its MACs per byte ${together ? 'moved' : 'read or written, whichever are more,'} ` +
    'and its MACs per cycle; a larger circle takes more of the time, and its colour shows what bounds the layer. Nothing can lie above the line.');
  chart(place, 420, 'roofline of the layers', axis => ({
    grid: {left: 70, right: 30, top: 30, bottom: 50},
    xAxis: {type: 'log', name: 'MACs per byte', nameLocation: 'middle', nameGap: 30, min: from, max: to, ...axis, axisLabel: {...axis.axisLabel, formatter: v => number(+v.toPrecision(2))}},
    yAxis: {type: 'log', name: 'MACs per cycle', ...axis, axisLabel: {...axis.axisLabel, formatter: v => number(+v.toPrecision(2))}},
    tooltip: {formatter: item => item.data.row ? `<b>${escaped(item.name)}</b><br>${number(item.data.row.cycles)} cycles, ${percent(item.data.row.share)} of all<br>` +
      `${number(+item.value[1].toPrecision(4))} MACs a cycle of ${number(peak)}<br>${number(+item.value[0].toPrecision(4))} MACs a byte<br>bound by ${escaped(item.data.row.bound_by)}` : ''},
    series: [
      {type: 'line', data: [[from, port * from], [peak / port, peak], [to, peak]], symbol: 'none', silent: true, lineStyle: {color: colour('ink'), width: 2}},
      {type: 'scatter', data: points}]}));
}

function layerTable(run) {
  const rows = rowsOf(run), layers = run.layers.length > 0;
  const place = section(layers ? 'Layers' : 'Operations', 'What each took, and why. The colours of the causes: ');
  const legend = element('p', {class: 'note'});
  for (const name of Object.keys(causesOf(run)).filter(name => causesOf(run)[name] > 0)) {
    legend.append(element('span', {style: `color:${CAUSE_COLOURS[name]}`, text: '■ '}), `${name}  `);
  }
  place.querySelector('p').append(...legend.childNodes);
  const columns = [
    {title: '#', value: row => rows.indexOf(row)},
    {title: 'name', text: true, value: row => row.name},
    {title: 'kind', text: true, value: row => row.kind},
    {title: 'cycles', value: row => row.cycles},
    {title: 'share', value: row => row.share, show: row => bar(row.share)},
    {title: 'MACs used', value: row => row.mac_utilisation, show: row => percent(row.mac_utilisation)},
    {title: 'bound by', text: true, value: row => row.bound_by},
    {title: 'causes', value: row => row.bound_by, show: row => causeStack(row.causes || {})}];
  if (layers) {
    columns.splice(6, 0, {title: 'read', value: row => row.read_bytes, show: row => bytes(row.read_bytes)},
                   {title: 'written', value: row => row.write_bytes, show: row => bytes(row.write_bytes)});
  }
  table(place, columns, rows, {most: 400});
}

function unitChart(run) {
  const units = Object.entries(run.units).filter(([, unit]) => unit.busy + unit.starved + unit.blocked > 0);
  if (!units.length) return;
  const place = section('Units', 'Cycles in which a unit worked, waited for data, or waited for room in the next one, summed over its processes that work at the same time.');
  chart(place, 60 + 30 * units.length, 'busy, starved and blocked cycles of each unit', axis => ({
    grid: {left: 110, right: 30, top: 30, bottom: 30}, legend: {textStyle: {color: colour('soft')}},
    tooltip: {trigger: 'axis', valueFormatter: number},
    xAxis: {type: 'value', ...axis}, yAxis: {type: 'category', inverse: true, data: units.map(([name]) => name), ...axis},
    series: ['busy', 'starved', 'blocked'].map(state => ({name: state, type: 'bar', stack: 'all', itemStyle: {color: STATE_COLOURS[state]},
      data: units.map(([, unit]) => unit[state])}))}));
}

function timelineCharts(events) {
  const processes = {}, threads = {};
  for (const event of events) {
    if (event.ph === 'M' && event.name === 'process_name') processes[event.pid] = event.args.name;
    if (event.ph === 'M' && event.name === 'thread_name') threads[`${event.pid}.${event.tid}`] = event.args.name;
  }
  const bars = events.filter(event => event.ph === 'X');
  const lanes = [...new Set(bars.map(event => `${event.pid}.${event.tid}`))].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
  if (bars.length) {
    const place = section('Timeline', 'Operations and layers in the colour of the cause that bounds them, those that overlap in a second row; ' +
      'then what every unit did: blue works, yellow waits for data, red waits for room. ' +
      'Turn the wheel over it to zoom, drag to move.');
    const items = bars.map(event => [lanes.indexOf(`${event.pid}.${event.tid}`), event.ts, event.ts + event.dur,
      event.name, event.cat, processes[event.pid]]);
    chart(place, 90 + 24 * lanes.length, 'timeline of operations and units', axis => ({
      grid: {left: 130, right: 30, top: 10, bottom: 70},
      tooltip: {formatter: item => `<b>${escaped(item.value[3])}</b><br>${number(item.value[1])} to ${number(item.value[2])}: ` +
        `${number(item.value[2] - item.value[1])} cycles<br>${escaped(item.value[4])}`},
      dataZoom: [{type: 'inside', filterMode: 'weakFilter'}, {type: 'slider', filterMode: 'weakFilter', bottom: 10, height: 20, textStyle: {color: colour('soft')}}],
      xAxis: {type: 'value', min: 'dataMin', max: 'dataMax', ...axis},
      yAxis: {type: 'category', inverse: true, data: lanes.map(lane => threads[lane] || processes[lane.split('.')[0]] || lane), ...axis},
      series: [{type: 'custom', progressive: 5000, dimensions: ['lane', 'start', 'end'], encode: {x: [1, 2], y: 0}, data: items,
        renderItem(params, api) {
          const start = api.coord([api.value(1), api.value(0)]), end = api.coord([api.value(2), api.value(0)]);
          const height = api.size([0, 1])[1] * 0.7;
          const shape = echarts.graphic.clipRectByRect(
            {x: start[0], y: start[1] - height / 2, width: Math.max(end[0] - start[0], 1), height},
            {x: params.coordSys.x, y: params.coordSys.y, width: params.coordSys.width, height: params.coordSys.height});
          const state = items[params.dataIndex][4];
          return shape && {type: 'rect', shape, style: {fill: STATE_COLOURS[state] || CAUSE_COLOURS[state] || '#7a8794'}};
        }}]}));
  }
  counterChart(events.filter(event => event.ph === 'C' && 'GB/s' in event.args), 'GB/s', 'Bandwidth', 'What each client read and wrote, averaged over each step.');
  counterChart(events.filter(event => event.ph === 'C' && 'entries' in event.args), 'entries', 'Convolution buffer', 'Entries that hold data and weights.');
}

function counterChart(events, unit, title, note) {
  const series = {};
  for (const event of events) (series[event.name] = series[event.name] || []).push([event.ts, event.args[unit]]);
  const names = Object.keys(series).filter(name => series[name].some(([, value]) => value > 0));
  if (!names.length) return;
  chart(section(title, note), 280, title, axis => ({
    grid: {left: 60, right: 30, top: 40, bottom: 60}, legend: {textStyle: {color: colour('soft')}, type: 'scroll'},
    tooltip: {trigger: 'axis', valueFormatter: number}, dataZoom: [{type: 'inside'}, {type: 'slider', bottom: 8, height: 18, textStyle: {color: colour('soft')}}],
    xAxis: {type: 'value', min: 'dataMin', max: 'dataMax', ...axis}, yAxis: {type: 'value', name: unit, ...axis},
    series: names.map(name => ({name, type: 'line', step: 'end', symbol: 'none', sampling: 'lttb', data: series[name], lineStyle: {width: 1.3}}))}));
}

/// What is where, and from which operation to which: a chart for each memory, and for each part of
/// one that is far from the others.
function memoryMaps(rows) {
  const maps = new Map();
  for (const row of rows || []) {
    const entry = {...row, start: Number(row.address), end: Number(row.address) + row.bytes};
    if (row.bytes > 0) maps.set(row.segment || '', [...(maps.get(row.segment || '') || []), entry]);
  }
  for (const [segment, entries] of maps) {
    const far = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    const last = Math.max(...entries.map(entry => entry.to || 0)) + 1;
    let part = [], end = 0;
    entries.sort((a, b) => a.start - b.start);
    for (const entry of entries) {
      if (part.length && entry.start - end > far) { memoryMap(segment, part, last); part = []; }
      part.push(entry);
      end = Math.max(end, entry.end);
    }
    memoryMap(segment, part, last);
  }
}

function memoryMap(segment, items, last) {
  const kinds = {file: ['loaded', 'soft'], result: ['result', 'accent'], unknown: ['brought by the host', 'line'], surface: ['surface', 'accent']};
  const lost = items.filter(entry => entry.overlaps).length;
  const from = Math.min(...items.map(entry => entry.start)), to = Math.max(...items.map(entry => entry.end));
  const hexadecimal = value => `0x${Math.round(value).toString(16)}`;
  const place = section(`Memory from ${hexadecimal(from)}${segment ? ` of ${segment}` : ''}`, 'What lies where, from the operation that first needs it to the last: grey was loaded, blue is a result' +
    `${lost ? `; red outlines mark overlaps with what is needed at the same time: ${lost}` : ''}. Addresses go up; turn the wheel over it to zoom, drag to move.`);
  chart(place, 420, 'memory by address and operation', axis => ({
    grid: {left: 110, right: 50, top: 10, bottom: 60},
    tooltip: {formatter: item => {
      const entry = items[item.dataIndex];
      return `<b>${escaped(entry.name || 'constants')}</b><br>${kinds[entry.kind][0]}: ${entry.address}, ${bytes(entry.bytes)}` +
        (entry.from === undefined ? '' : `<br>operations ${entry.from} to ${entry.to}`) + (entry.overlaps ? '<br>overlaps another' : '');
    }},
    dataZoom: [{type: 'inside', filterMode: 'none', xAxisIndex: 0}, {type: 'inside', filterMode: 'none', yAxisIndex: 0},
               {type: 'slider', filterMode: 'none', yAxisIndex: 0, right: 10, width: 18, showDetail: false}],
    xAxis: {type: 'value', name: 'operation', nameLocation: 'middle', nameGap: 28, min: 0, max: last, minInterval: 1, ...axis},
    yAxis: {type: 'value', min: from, max: to, ...axis,
            axisLabel: {...axis.axisLabel, formatter: hexadecimal}},
    series: [{type: 'custom', clip: true, dimensions: ['from', 'to', 'start', 'end'], encode: {x: [0, 1], y: [2, 3]},
      data: items.map(entry => [entry.from || 0, entry.to === undefined ? last : entry.to + 1, entry.start, entry.end]),
      renderItem(params, api) {
        const low = api.coord([api.value(0), api.value(2)]), high = api.coord([api.value(1), api.value(3)]);
        const entry = items[params.dataIndex];
        return {type: 'rect', shape: {x: low[0], y: high[1], width: Math.max(high[0] - low[0], 2), height: Math.max(low[1] - high[1], 1.5)},
          style: {fill: colour(kinds[entry.kind][1]), opacity: 0.75, lineWidth: entry.overlaps ? 2 : 0.5, stroke: entry.overlaps ? colour('bad') : colour('paper')}};
      }}]}));
}

function findingsTable(findings) {
  if (!findings.length) return;
  table(section('Findings'), [
    {title: 'severity', text: true, value: row => row.severity},
    {title: 'rule', text: true, value: row => row.id},
    {title: 'what is wrong, and what to change', long: true, value: row => row.message + (row.remedy ? ` (${row.remedy})` : '')},
    {title: 'place', text: true, value: row => row.place || ''}], findings);
}

function checksTable(run) {
  if (!run.checks.length) return;
  table(section('Checks'), [
    {title: '', text: true, value: row => (row.pass === null || row.made === false ? 'not made' : row.pass ? 'pass' : 'FAIL')},
    {title: 'kind', text: true, value: row => row.kind},
    {title: 'address', text: true, value: row => row.address},
    {title: 'bytes', value: row => row.bytes},
    {title: 'expected', text: true, value: row => row.expected},
    {title: 'actual', text: true, value: row => row.actual}], run.checks);
}

function configuration(config) {
  const place = section('Configuration');
  const rows = Object.entries(flat(config)).map(([field, value]) => ({field, value}));
  table(place, [{title: 'field', text: true, value: row => row.field}, {title: 'value', text: true, value: row => number(row.value)}], rows, {filter: true, most: 60});
}

function flat(node, path = '', into = {}) {
  if (node !== null && typeof node === 'object') {
    for (const [key, value] of Object.entries(node)) flat(value, Array.isArray(node) ? `${path}[${key}]` : path ? `${path}.${key}` : key, into);
  } else {
    into[path] = node;
  }
  return into;
}

function head(title, lead) {
  document.title = `${title} - npuscope`;
  document.getElementById('title').textContent = title;
  document.getElementById('lead').textContent = lead;
}

function foot(text) { main.append(element('footer', {text})); }

function runPage(run, timeline) {
  head(`${run.program} on ${run.npu}`, `${number(run.cycles)} cycles at ${number((run.config.npu.clock || 0) / 1e6)} MHz: ${run.command}`);
  verdictCards(run);
  roofline(run);
  layerTable(run);
  if (timeline) timelineCharts(timeline);
  unitChart(run);
  memoryMaps(run.memory_map);
  findingsTable(run.findings);
  checksTable(run);
  configuration(run.config);
  foot(`npuscope ${run.version}`);
}

// -- Two runs --------------------------------------------------------------------------------------

function pairPage(a, b) {
  head(`${a.program} on ${a.npu}, and ${b.program} on ${b.npu}`, `A: ${a.command}   B: ${b.command}`);
  const change = (x, y) => (x ? `${y >= x ? '+' : ''}${(100 * (y - x) / x).toFixed(2)} %` : '');
  cards([['cycles of A', number(a.cycles)], ['cycles of B', number(b.cycles)], ['B against A', change(a.cycles, b.cycles), b.cycles > a.cycles ? 'bad' : 'good'],
         ['milliseconds of A', number(a.microseconds / 1000)], ['milliseconds of B', number(b.microseconds / 1000)],
         ['bytes of A', bytes(a.traffic.read_bytes + a.traffic.write_bytes)], ['bytes of B', bytes(b.traffic.read_bytes + b.traffic.write_bytes)]]);
  const names = [], byName = {};
  for (const [side, run] of [['a', a], ['b', b]]) {
    const seen = {};
    for (const row of rowsOf(run)) {
      const key = `${row.name}#${seen[row.name] = (seen[row.name] || 0) + 1}`;
      if (!byName[key]) { byName[key] = {name: row.name}; names.push(key); }
      byName[key][side] = row;
    }
  }
  const rows = names.map(key => byName[key]);
  const difference = row => (row.b ? row.b.cycles : 0) - (row.a ? row.a.cycles : 0);
  const top = [...rows].sort((x, y) => Math.abs(difference(y)) - Math.abs(difference(x))).slice(0, 20).filter(row => difference(row) !== 0);
  if (top.length) {
    chart(section('Where they differ most', 'Cycles of B less those of A.'), 80 + 24 * top.length, 'largest differences', axis => ({
      grid: {left: 190, right: 40, top: 10, bottom: 30}, tooltip: {valueFormatter: number},
      xAxis: {type: 'value', ...axis}, yAxis: {type: 'category', inverse: true, data: top.map(row => row.name), ...axis, axisLabel: {...axis.axisLabel, width: 170, overflow: 'truncate'}},
      series: [{type: 'bar', data: top.map(row => ({value: difference(row), itemStyle: {color: difference(row) > 0 ? colour('bad') : colour('good')}}))}]}));
  }
  table(section('Layer by layer'), [
    {title: 'name', text: true, value: row => row.name},
    {title: 'cycles of A', value: row => row.a && row.a.cycles},
    {title: 'cycles of B', value: row => row.b && row.b.cycles},
    {title: 'B - A', value: difference},
    {title: '', value: row => (row.a && row.b ? difference(row) / (row.a.cycles || 1) : 0), show: row => (row.a && row.b ? change(row.a.cycles, row.b.cycles) : row.a ? 'only in A' : 'only in B')},
    {title: 'A bound by', text: true, value: row => row.a && row.a.bound_by},
    {title: 'B bound by', text: true, value: row => row.b && row.b.bound_by},
    {title: 'causes of A', value: () => 0, show: row => causeStack(row.a ? row.a.causes : {})},
    {title: 'causes of B', value: () => 0, show: row => causeStack(row.b ? row.b.causes : {})}], rows, {most: 400});
  const fa = flat(a.config), fb = flat(b.config);
  const fields = [...new Set([...Object.keys(fa), ...Object.keys(fb)])].filter(field => fa[field] !== fb[field]);
  const place = section('Fields that differ', fields.length ? '' : 'None: both ran on the same configuration.');
  if (fields.length) {
    table(place, [{title: 'field', text: true, value: row => row}, {title: 'A', text: true, value: row => number(fa[row])},
                  {title: 'B', text: true, value: row => number(fb[row])}], fields);
  }
  foot(`npuscope ${a.version}, ${b.version}`);
}

// -- A sweep ---------------------------------------------------------------------------------------

function sweepPage(sweep) {
  const points = sweep.points, objectives = sweep.objectives, axes = sweep.axes;
  const rated = points.filter(point => point.costs);
  const front = new Set(sweep.front);
  head(sweep.name, sweep.shows || '');
  const states = {};
  points.forEach(point => { states[point.status] = (states[point.status] || 0) + 1; });
  cards([['designs', number(points.length)], ['ranked', number(rated.length)],
         ...Object.entries(states).filter(([state]) => !['unchecked', 'pass'].includes(state)).map(([state, count]) => [state, number(count), 'bad']),
         [objectives.length > 1 ? 'on the Pareto front' : 'best', number(front.size), 'good']]);
  const value = (point, k) => (objectives[k].maximise ? -point.costs[k] : point.costs[k]);
  let chosen = null, shownTable = null, scatter = null;

  if (rated.length) {
    const second = objectives.length > 1;
    const place = section(second ? 'Pareto front' : 'Designs', second ?
      'Every design by two objectives; those that no other beats are joined. Drag over an area with the brush to keep only its designs below; click one to see its run.' :
      'Every design in order. Click one to see its run.');
    const tools = element('div', {class: 'tools'});
    const pick = (label, at) => {
      const select = element('select', {'aria-label': label, onchange: () => draw(scatter)});
      objectives.forEach((objective, k) => select.append(element('option', {value: k, text: objective.name})));
      select.value = at;
      tools.append(label, select);
      return select;
    };
    const across = second ? pick('across', 1) : null, up = pick('up', 0);
    const scales = element('button', {type: 'button', text: 'linear / logarithmic', onclick: () => { logarithmic = !logarithmic; draw(scatter); }});
    const reset = element('button', {type: 'button', text: 'all designs', onclick: () => { keep(null); draw(scatter); }});
    let logarithmic = rated.every(point => objectives.every((_, k) => value(point, k) > 0));
    tools.append(scales, reset);
    place.append(tools);
    scatter = chart(place, 460, 'designs by their objectives', axis => {
      const x = across ? +across.value : null, y = +up.value;
      const at = point => [x === null ? points.indexOf(point) : value(point, x), value(point, y)];
      const best = rated.filter(point => front.has(point.key));
      const kind = logarithmic ? 'log' : 'value';
      // a logarithmic axis would otherwise end at whole decades
      const ends = logarithmic ? {min: range => range.min / 1.1, max: range => range.max * 1.1} : {};
      const label = {...axis.axisLabel, formatter: v => number(+(+v).toPrecision(3))};
      return {
        grid: {left: 80, right: 30, top: 30, bottom: 50},
        toolbox: {feature: {dataZoom: {}, brush: {type: ['rect', 'clear']}}, right: 20, iconStyle: {borderColor: colour('soft')}},
        brush: {xAxisIndex: 'all', yAxisIndex: 'all', throttleType: 'debounce', throttleDelay: 150},
        dataZoom: [{type: 'inside', xAxisIndex: 0}, {type: 'inside', yAxisIndex: 0}],
        xAxis: {type: x === null ? 'value' : kind, scale: true, ...(x === null ? {} : ends), name: x === null ? 'design' : objectives[x].name, nameLocation: 'middle', nameGap: 30, ...axis, axisLabel: label},
        yAxis: {type: kind, scale: true, ...ends, name: objectives[y].name, ...axis, axisLabel: label},
        tooltip: {formatter: item => pointText(item.data.point)},
        series: [
          {type: 'scatter', data: rated.map(point => ({value: at(point), point})), symbolSize: 6, itemStyle: {color: colour('soft'), opacity: 0.45},
           progressive: 4000},
          {type: 'line', data: best.map(point => ({value: at(point), point})).sort((a, b) => a.value[0] - b.value[0]), symbolSize: 9, symbol: 'circle',
           lineStyle: {color: colour('accent'), width: second ? 2 : 0}, itemStyle: {color: colour('accent')}}]};
    }, made => {
      made.on('click', item => item.data && item.data.point && open(item.data.point));
      made.on('brushSelected', event => {
        const areas = event.batch[0].areas;
        if (!areas.length) { keep(null); return; }
        const picked = new Set();
        event.batch[0].selected.forEach(one => {
          if (one.seriesIndex === 0) one.dataIndex.forEach(i => picked.add(points.indexOf(rated[i])));
        });
        keep(picked);
      });
    });
  }

  function pointText(point) {
    if (!point) return '';
    return objectives.map((objective, k) => `${escaped(objective.name)}: <b>${number(value(point, k))}</b>`).join('<br>') + '<br>' +
      axes.map(axis => `${escaped(axis)} = ${escaped(point.axes[axis] ?? '')}`).join('<br>');
  }
  function keep(indices) { if (shownTable) shownTable.only(indices); }

  if (rated.length > 1 && axes.length > 0) {
    const effects = axes.map(axis => {
      const groups = {};
      rated.forEach(point => {
        const key = point.axes[axis] ?? '-';
        (groups[key] = groups[key] || []).push(Math.abs(point.costs[0]) || 1e-12);
      });
      const means = Object.entries(groups).map(([name, values]) => [name, Math.exp(values.reduce((sum, one) => sum + Math.log(one), 0) / values.length)]);
      means.sort((a, b) => a[1] - b[1]);
      return {axis, factor: means[means.length - 1][1] / means[0][1], least: means[0][0], most: means[means.length - 1][0]};
    }).sort((a, b) => b.factor - a.factor);
    chart(section('What matters', `For each axis: the mean of ${objectives[0].name} at the value where it is largest, divided by the mean at the value where it is smallest; means are geometric, over all other axes.`),
      70 + 34 * effects.length, 'influence of each axis', axis => ({
        grid: {left: 190, right: 60, top: 10, bottom: 30},
        tooltip: {formatter: item => `${escaped(item.name)}: ${number(+item.value.toPrecision(4))} times, smallest at ${escaped(effects[item.dataIndex].least)}, largest at ${escaped(effects[item.dataIndex].most)}`},
        xAxis: {type: 'value', min: 1, ...axis},
        yAxis: {type: 'category', inverse: true, data: effects.map(effect => effect.axis), ...axis, axisLabel: {...axis.axisLabel, width: 180, overflow: 'truncate'}},
        series: [{type: 'bar', data: effects.map(effect => effect.factor), itemStyle: {color: colour('accent')}, label: {show: true, position: 'right', color: colour('soft'), formatter: item => `${(+item.value).toFixed(2)} x`}}]}));

    const numeric = axis => rated.every(point => point.axes[axis] === undefined || !Number.isNaN(Number(point.axes[axis])));
    // an axis does not apply to designs where its `when` is false
    const place = (axis, value) => (numeric(axis) ? (value === undefined ? '-' : Number(value)) : value ?? 'not set');
    const columns = [...axes.map(axis => ({name: axis, of: point => place(axis, point.axes[axis]), words: !numeric(axis)})),
                     ...objectives.map((objective, k) => ({name: objective.name, of: point => value(point, k)}))];
    chart(section('All axes at once', 'A line is a design. Drag along an axis to keep only the lines that pass there; the table below follows. Blue lines are on the front.'),
      380, 'parallel coordinates', axis => ({
        parallel: {left: 70, right: 90, top: 50, bottom: 30},
        parallelAxis: columns.map((column, dim) => ({dim, name: column.name, ...axis, scale: true, nameTextStyle: {color: colour('ink')},
          areaSelectStyle: {width: 22, color: colour('accent'), opacity: 0.25},
          axisLabel: {...axis.axisLabel, formatter: column.words ? undefined : v => number(+(+v).toPrecision(3))},
          ...(column.words ? {type: 'category', data: [...new Set(rated.map(column.of))]} : {})})),
        series: [{type: 'parallel', progressive: 500, smooth: false, inactiveOpacity: 0.02, activeOpacity: 0.6, lineStyle: {width: 1, opacity: 0.35},
          data: rated.map(point => ({value: columns.map(column => column.of(point)),
            lineStyle: front.has(point.key) ? {color: colour('accent'), width: 2.2, opacity: 1} : {color: colour('soft')}}))}]}),
      made => made.on('axisareaselected', () => {
        const active = made.getModel().getSeriesByIndex(0).getRawIndicesByActiveState('active');
        keep(active.length === rated.length ? null : new Set(active.map(i => points.indexOf(rated[i]))));
      }));
  }

  const listed = section('Designs', 'Click a row, or press Enter on it, to see its run.');
  shownTable = table(listed, [
    {title: '#', value: point => point.number},
    {title: 'front', text: true, value: point => (front.has(point.key) ? '●' : '')},
    ...objectives.map((objective, k) => ({title: objective.name, value: point => (point.costs ? value(point, k) : null)})),
    ...axes.map(axis => ({title: axis, value: point => (point.axes[axis] === undefined || Number.isNaN(Number(point.axes[axis])) ? point.axes[axis] ?? '' : Number(point.axes[axis]))})),
    {title: 'MACs used', value: point => point.mac_utilisation, show: point => percent(point.mac_utilisation)},
    {title: 'bound by', text: true, value: point => point.bound_by || ''},
    {title: 'status', text: true, value: point => point.status},
    {title: 'error', long: true, value: point => point.error || ''}], points, {filter: true, pick: point => open(point)});
  const detail = element('div');
  listed.append(detail);

  function open(point) {
    chosen = point;
    const place = element('div', {id: 'point', tabindex: -1});
    place.append(element('h2', {text: `Design ${point.number}`}));
    if (point.error) place.append(element('p', {class: 'bad', text: point.error}));
    if (point.cycles !== null) {
      place.append(element('p', {text: `${number(point.cycles)} cycles, ${number(point.microseconds / 1000)} ms, ` +
        `${bytes(point.read_bytes)} read, ${bytes(point.write_bytes)} written, bound by ${point.bound_by}` }));
      if (point.causes) place.append(element('p', {}, 'causes ', causeStack(point.causes)));
    }
    const file = element('pre', {text: point.experiment});
    place.append(element('p', {class: 'note', text: 'This design as an experiment, which `npuscope run` runs from a file in the folder of the space:'}), file,
      element('button', {type: 'button', text: 'copy', onclick: () => navigator.clipboard && navigator.clipboard.writeText(point.experiment)}), ' ',
      element('button', {type: 'button', text: 'close', onclick: close}));
    const layers = sweep.layers[point.key];
    if (layers) {
      table(place, ['name', 'kind', 'cycles', 'share', 'MACs used', 'bound by'].map((title, i) => ({title, text: [0, 1, 5].includes(i), value: row => row[i],
        show: i === 3 || i === 4 ? row => percent(row[i]) : undefined})), layers, {most: 400});
    }
    detail.replaceChildren(place);
    place.focus();
    place.scrollIntoView({block: 'nearest'});
    document.getElementById('tip').textContent = `design ${point.number} is shown`;
  }
  function close() { chosen = null; detail.replaceChildren(); }
  document.addEventListener('keydown', event => { if (event.key === 'Escape' && chosen) close(); });
  foot(`npuscope ${sweep.version}`);
}

// -- Theme and start -------------------------------------------------------------------------------

const dark = window.matchMedia('(prefers-color-scheme: dark)');
function theme(name) {
  document.documentElement.dataset.theme = name;
  drawAll();
}
document.getElementById('theme').addEventListener('click', () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
window.addEventListener('resize', () => charts.forEach(one => one.chart && one.chart.resize()));
window.addEventListener('beforeprint', () => { theme('light'); charts.forEach(draw); });

if (data.kind === 'run') runPage(data.run, data.timeline);
else if (data.kind === 'pair') pairPage(data.a, data.b);
else sweepPage(data.sweep);
theme(dark.matches ? 'dark' : 'light');
