// SPDX-License-Identifier: Apache-2.0
// Runs ONNX models in npuscope and in ONNX Runtime on the same synthetic inputs; every output must be
// equal. Usage: node onnx_runtime_compare.mjs NPUSCOPE PRESET MODELS-FOLDER ...
// The package onnxruntime-node is looked for where NPUSCOPE_ONNXRUNTIME says (a folder with
// node_modules), else where node itself looks. Exit 77: it is not there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync,
         writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function loadRuntime() {
  const folder = process.env.NPUSCOPE_ONNXRUNTIME;
  const places = folder ? [join(folder, 'package.json')] : [import.meta.url];
  for (const place of places) {
    try {
      return createRequire(place)('onnxruntime-node');
    } catch {
      // the next place
    }
  }
  console.log('skipped: onnxruntime-node is not there (npm install --ignore-scripts ' +
              'onnxruntime-node, then NPUSCOPE_ONNXRUNTIME=that folder)');
  process.exit(77);
}

// Numbers of an 8-bit type, the same in every run.
function* bytes(seed, low, span) {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield low + (state >>> 16) % span;
  }
}

function npy(descr, shape, data) {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  header += ' '.repeat(63 - (10 + header.length) % 64) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  return Buffer.concat([head, Buffer.from(header, 'latin1'), Buffer.from(data.buffer)]);
}

function readNpy(file) {
  const text = readFileSync(file);
  const begin = 10 + text.readUInt16LE(8);
  const descr = /'descr': '(...)'/.exec(text.subarray(10, begin).toString('latin1'))[1];
  const kinds = { '|i1': Int8Array, '|u1': Uint8Array, '<f4': Float32Array, '<i4': Int32Array };
  const data = text.subarray(begin);
  return Array.from(new kinds[descr](data.buffer.slice(data.byteOffset, data.byteOffset + data.length)));
}

const fileOf = (name) => name.replaceAll('/', '_') + '.npy';

async function compare(runtime, npuscope, preset, model) {
  const session = await runtime.InferenceSession.create(model, { graphOptimizationLevel: 'disabled' });
  const folder = mkdtempSync(join(tmpdir(), 'npuscope-'));
  mkdirSync(join(folder, 'in'));
  const feeds = {};
  session.inputMetadata.forEach((input, index) => {
    const signed = input.type !== 'uint8';
    const count = input.shape.reduce((a, b) => a * b, 1);
    const numbers = bytes(index + 1, signed ? -128 : 0, 256);
    const values = Array.from({ length: count }, () => numbers.next().value);
    const data = signed ? Int8Array.from(values) : Uint8Array.from(values);
    writeFileSync(join(folder, 'in', fileOf(input.name)), npy(signed ? '|i1' : '|u1', input.shape, data));
    const fed = input.type === 'float32' ? Float32Array.from(values) : data;
    feeds[input.name] = new runtime.Tensor(input.type, fed, input.shape);
  });
  const wanted = await session.run(feeds);
  const { status } = spawnSync(npuscope, ['run', model, '--npu', preset, '--inputs', join(folder, 'in'),
                                          '--outputs', join(folder, 'out')],
                               { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0 && status !== 1) {  // 1: no layer with products ran on the NPU
    throw new Error(`${model}: exit ${status}`);
  }
  let wrong = 0;
  for (const name of session.outputNames) {
    const mine = readNpy(join(folder, 'out', fileOf(name)));
    const theirs = Array.from(wanted[name].data, Number);
    wrong += theirs.filter((value, i) => !(Math.abs(value - mine[i]) <= 1e-6)).length;
    wrong += Math.abs(theirs.length - mine.length);
  }
  rmSync(folder, { recursive: true });
  return wrong;
}

const [npuscope, preset, ...folders] = process.argv.slice(2);
const runtime = loadRuntime();
let models = 0;
let bad = 0;
for (const folder of folders.filter(existsSync)) {
  for (const name of readdirSync(folder).sort()) {
    const model = join(folder, name, 'model.onnx');
    if (!existsSync(model) || !statSync(model).isFile()) {
      continue;
    }
    const wrong = await compare(runtime, npuscope, preset, model);
    models += 1;
    if (wrong > 0) {
      bad += 1;
      console.log(`${name}: ${wrong} elements differ`);
    }
  }
}
console.log(`${models} models, ${bad} of them differ`);
process.exit(models > 0 && bad === 0 ? 0 : 1);
