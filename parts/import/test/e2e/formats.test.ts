import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';
import { repeats, SEED } from '../../../../test/support/seed.ts';
import { Acting } from '../../../../src/core/stored-input.ts';
import { readLines } from '../../../../src/lib/lines.ts';
import { FORMATS, Mapping } from '../../src/formats/mapping.ts';
import { importFile } from '../../src/import-file.ts';
import { readRecord, type RecordKind } from '../../src/records.ts';
import { servicesTarget } from '../../src/target.ts';

const KINDS: readonly RecordKind[] = ['members', 'refs', 'follows', 'actions'];
const pathOf = (format: string, kind: RecordKind): string =>
  fileURLToPath(new URL(`../fixtures/${format}-${kind}.ndjson`, import.meta.url));

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ worker: false });
});
afterAll(() => app[Symbol.asyncDispose]());

/** Imports all files of a format, as the command does. */
async function importAll(format: string) {
  const mapping = new Mapping(format);
  const never = () => Promise.resolve(0);
  const { writers } = servicesTarget(app.core, new Acting(null), { openFanOuts: never, workers: never });
  const faults: string[] = [];
  let written = 0;
  for (const kind of KINDS) {
    const path = pathOf(format, kind);
    expect(existsSync(path)).toBe(mapping.missing([kind]).length === 0);
    if (!existsSync(path)) continue;
    const imported = await importFile(kind, path, {
      ...{ writers, inFlight: 1, onProgress: () => undefined },
      mapLine: (of, line) => mapping.line(of, line),
      onFault: (place, message) => faults.push(`${place.split('/').at(-1) ?? ''} ${message}`),
    });
    written += imported.written;
    expect(imported.written + imported.faults).toBe(imported.lines);
  }
  return { written, faults, report: [...mapping.report()] };
}

test.each(Object.keys(FORMATS))(
  'what %s exports is imported, and what cannot be is listed with its reason',
  async (format) => {
    const { faults, report, written } = await importAll(format);
    expect({ written, faults, report }).toMatchSnapshot();
  },
);

test('maps the fields of activities', async () => {
  const first = async (format: string, kind: RecordKind) => {
    const mapping = new Mapping(format);
    for await (const line of readLines(pathOf(format, kind))) {
      const { text } = mapping.line(kind, line);
      return JSON.parse(text ?? 'null') as unknown;
    }
    return null;
  };
  expect(await first('getstream', 'actions')).toEqual({
    idempotencyKey: 'getstream:a1',
    ...{ actorId: 'mia', conducted: '2023-04-05T06:07:08.123Z', mentions: ['noah'] },
    refs: [{ id: 'fence:7', type: 'fence', label: 'fence:7' }],
    descriptor: {
      custom: { verb: 'paint', objectType: 'fence', objectId: 'fence:7', data: { colour: 'green' } },
    },
  });
  expect(await first('knock', 'actions')).toEqual({
    idempotencyKey: 'knock:m1',
    ...{ actorId: 'mia', conducted: '2023-04-05T06:07:08Z', scope: 'RESTRICTED', recipients: ['noah'] },
    descriptor: {
      custom: { verb: 'fence-painted', objectType: 'message', objectId: 'm1', data: { fence: '7' } },
    },
  });
  expect(await first('knock', 'members')).toMatchObject({ memberId: 'mia', email: 'mia@example.test' });
  expect(await first('activitystreams', 'actions')).toMatchObject({
    idempotencyKey: 'activitystreams:https://garden.example/a/1',
    ...{ scope: 'PUBLIC', mentions: ['https://garden.example/noah'] },
    refs: [{ id: 'https://garden.example/n/1', type: 'Note', label: 'A fence' }],
    descriptor: { custom: { verb: 'create', data: { content: '<p>Painted</p>' } } },
  });
});

test('no object is too odd: each is mapped, or has a reason', () => {
  const random = seededRandom(SEED);
  const odd = [
    null,
    1,
    '',
    'x:y',
    [],
    {},
    [[]],
    { id: {} },
    { id: 'a', data: 1 },
    true,
    ['a', null],
    { type: 1 },
  ];
  const names = [
    'id',
    'actor',
    'verb',
    'object',
    'target',
    'time',
    'to',
    'type',
    'recipient',
    'actors',
    'workflow',
    'data',
    'channel',
    'collection',
    'feed_id',
    'target_id',
    'properties',
    '__proto__',
  ];
  for (let n = 0; n < repeats(400); n++) {
    const entries = names.flatMap((name) =>
      random.below(3) === 0 ? [] : [[name, random.pick(odd)] as const],
    );
    const text = JSON.stringify(Object.fromEntries(entries));
    for (const format of Object.keys(FORMATS))
      for (const kind of KINDS) {
        const line = new Mapping(format).line(kind, { number: 1, text, fault: null });
        const read = readRecord(kind, line);
        expect(read.fault === null || read.fault.length > 0).toBe(true);
      }
  }
});
