import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startTestApp } from '../../../../test/support/app.ts';
import { actionLine, beginIngest, ingest, numbered } from '../../../../test/support/ingest.ts';
import { repeats, SEED } from '../../../../test/support/seed.ts';
import { seededRandom } from '../../../../test/support/seeded-random.ts';

const LINES = 12;
/** How many requests are cut at once. */
const AT_ONCE = 20;

test('bodies that are cut anywhere and sent again are recorded once', async () => {
  await using app = await startTestApp({ worker: false, env: { INGEST: 'on', BODY_LIMIT_TOTAL: '1GiB' } });
  const token = await app.token('importer', ['service']);
  const random = seededRandom(SEED);
  const cuts = repeats(100);

  async function cutAndSendAgain(name: string): Promise<string[]> {
    const text = numbered(LINES, `${name}:`)
      .map((key) => actionLine(key))
      .join('\n');
    const body = random.next() < 0.5 ? Buffer.from(text) : gzipSync(text);
    const sent = random.below(body.length);
    const req = beginIngest(app.url, { token, headers: { 'content-length': String(body.length) } });
    req.on('error', () => undefined);
    if (random.next() < 0.5) await new Promise((resolve) => req.write(body.subarray(0, sent), resolve));
    else {
      // The rest arrives while the first part is being recorded.
      req.write(body.subarray(0, sent >> 1));
      await new Promise((resolve) => req.write(body.subarray(sent >> 1, sent), resolve));
    }
    const closed = new Promise((resolve) => req.once('close', resolve));
    req.destroy();
    await closed;
    const { lines } = await ingest(app.url, body, { token });
    expect(lines.map(({ line }) => line)).toEqual(numbered(LINES).map((_, n) => n + 1));
    return lines.map(({ id = '' }) => id);
  }

  const ids = new Set<string>();
  for (let from = 0; from < cuts; from += AT_ONCE) {
    const names = numbered(Math.min(AT_ONCE, cuts - from), `${String(from)}.`);
    for (const some of await Promise.all(names.map(cutAndSendAgain))) for (const id of some) ids.add(id);
  }
  expect(ids).not.toContain('');
  expect(ids.size).toBe(cuts * LINES);
  expect(await app.app.database.collections.actions.countDocuments()).toBe(cuts * LINES);
  expect(app.log.filter((line) => line.includes('"level":"error"') || line.includes('"level":50'))).toEqual(
    [],
  );
});
