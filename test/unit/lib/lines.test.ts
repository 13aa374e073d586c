import { mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DamagedFile,
  linesOf as linesOfStream,
  MAX_LINE_BYTES,
  readLines,
  textBytes,
  type Line,
} from '../../../src/lib/lines.ts';
import { collect } from '../../support/collect.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-lines-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function linesOf(content: Buffer | string, name = 'file'): Promise<Line[]> {
  const path = join(folder, name);
  await writeFile(path, content);
  const lines: Line[] = [];
  for await (const line of readLines(path)) lines.push(line);
  return lines;
}

function good(number: number, text: string): Line {
  return { number, text, fault: null };
}

/** What this process has open of a folder. */
async function openBelow(place: string): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  // The listing itself had one, which is closed by now.
  const paths = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return paths.filter((path) => path.startsWith(place));
}

describe('readLines', () => {
  it('numbers lines from 1 and skips empty ones', async () => {
    expect(await linesOf('a\n\n  \r\nb\r\nc')).toEqual([good(1, 'a'), good(4, 'b'), good(5, 'c')]);
    expect(await linesOf('')).toEqual([]);
    expect(await linesOf('\n')).toEqual([]);
  });

  it('reads gzip whatever the file name is', async () => {
    expect(await linesOf(gzipSync('a\nb\n'), 'plain.ndjson')).toEqual([good(1, 'a'), good(2, 'b')]);
    const joined = Buffer.concat([gzipSync('a\n'), gzipSync('b\n')]);
    expect(await linesOf(joined)).toEqual([good(1, 'a'), good(2, 'b')]);
    expect(await linesOf('not gzip\n', 'plain.gz')).toEqual([good(1, 'not gzip')]);
  });

  it('joins lines that span several reads', async () => {
    const texts = Array.from({ length: 3_000 }, (_, n) => `${n}:${'é'.repeat(n % 97)}`);
    expect(await linesOf(texts.join('\n'))).toEqual(texts.map((text, index) => good(index + 1, text)));
  });

  it('skips a byte order mark', async () => {
    expect(await linesOf('\uFEFF{"a":1}\n')).toEqual([good(1, '{"a":1}')]);
  });

  it('reports lines that are too long or not UTF-8, and continues', async () => {
    const long = Buffer.alloc(MAX_LINE_BYTES + 1, 'x');
    const content = Buffer.concat([long, Buffer.from('\n'), Buffer.of(0xff, 0x0a), Buffer.from('ok')]);
    expect(await linesOf(content)).toEqual([
      { number: 1, text: null, fault: 'The line is longer than 1048576 bytes' },
      { number: 2, text: null, fault: 'The line is not UTF-8' },
      good(3, 'ok'),
    ]);
    expect(await linesOf(long.subarray(1))).toHaveLength(1);
  });

  it('rejects a truncated gzip file after its good lines', async () => {
    const whole = gzipSync(Array.from({ length: 50_000 }, (_, n) => `${n} ${Math.sin(n)}`).join('\n'));
    const path = join(folder, 'cut.gz');
    await writeFile(path, whole.subarray(0, whole.length - 100));
    const lines = readLines(path);
    expect((await lines.next()).value).toEqual(good(1, '0 0'));
    await expect(collect(lines)).rejects.toThrow('unexpected end of file');
  });

  it('rejects an empty file that should be gzip, and says of a damaged one that it is', async () => {
    await expect(linesOf('', 'empty.gz')).rejects.toThrow(/empty\.gz is empty/);
    const damaged = gzipSync('a\n'.repeat(10_000));
    damaged.fill(0xff, 20, 30);
    await expect(linesOf(damaged, 'damaged.gz')).rejects.toThrow(DamagedFile);
  });

  it('rejects a missing file', async () => {
    await expect(readLines(join(folder, 'nothing')).next()).rejects.toThrow('ENOENT');
  });

  it('leaves nothing open for a folder, a damaged file, or a file that is not read to its end', async () => {
    const place = join(folder, 'open');
    await mkdir(place);
    // Asked at once: the next collection of garbage would close it, with a warning.
    await expect(readLines(place).next()).rejects.toThrow('EISDIR');
    expect(await openBelow(place)).toEqual([]);
    const text = 'a\n'.repeat(100_000);
    const zipped = gzipSync(text);
    await writeFile(join(place, 'cut.gz'), zipped.subarray(0, zipped.length - 10));
    await expect(collect(readLines(join(place, 'cut.gz')))).rejects.toThrow('unexpected end of file');
    expect(await openBelow(place)).toEqual([]);
    for (const content of [text, zipped]) {
      await writeFile(join(place, 'half'), content);
      for await (const _line of readLines(join(place, 'half'))) break;
      expect(await openBelow(place)).toEqual([]);
    }
  });

  it.each(['plain', 'gzip'])(
    'reports where each line of a %s file ends, and how long its text is',
    async (kind) => {
      const path = join(folder, `bytes.${kind}`);
      const text = 'a\n\nbcd\n'.repeat(10_000);
      await writeFile(path, kind === 'gzip' ? gzipSync(text) : text);
      let end = 0;
      const ends: number[] = [];
      for await (const _line of readLines(path, { onText: (bytes) => (end = bytes) })) ends.push(end);
      expect(ends.slice(0, 4)).toEqual([2, 7, 9, 14]);
      expect(ends).toHaveLength(20_000);
      expect([ends.at(-1), await textBytes(path)]).toEqual([text.length, text.length]);
    },
  );
});

describe('linesOf a stream', () => {
  async function* chunksOf(content: Buffer, size: number): AsyncGenerator<Buffer> {
    for (let from = 0; from < content.length; from += size)
      yield await Promise.resolve(content.subarray(from, from + size));
  }

  it.each([1, 2, 3, 1_000])('reads plain and gzip in chunks of %i bytes', async (size) => {
    const text = Buffer.from('a\n\nb');
    const wanted = [good(1, 'a'), good(3, 'b')];
    expect(await collect(linesOfStream(chunksOf(text, size)))).toEqual(wanted);
    expect(await collect(linesOfStream(chunksOf(gzipSync(text), size)))).toEqual(wanted);
    expect(await collect(linesOfStream(chunksOf(Buffer.alloc(0), size)))).toEqual([]);
  });

  it('does not take for a line what a stream that fails has begun, and lets it go when nobody reads on', async () => {
    let ended = 0;
    async function* cutOff(): AsyncGenerator<Buffer> {
      try {
        yield await Promise.resolve(Buffer.from('a\n{"b":1}'));
        throw new Error('aborted');
      } finally {
        ended += 1;
      }
    }
    const lines = linesOfStream(cutOff());
    expect((await lines.next()).value).toEqual(good(1, 'a'));
    await expect(lines.next()).rejects.toThrow('aborted');
    const left = linesOfStream(cutOff());
    await left.next();
    await left.return(undefined);
    expect(ended).toBe(2);
  });
});
