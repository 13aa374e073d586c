import { findBrowser } from '../../test/support/browser.ts';
import { startApi, tokenFor } from '../harness/fanfare.ts';
import { openInProcess } from '../harness/in-process.ts';
import { roundsOf, sized, type Part, type PartContext } from '../harness/part.ts';
import type { PartReport } from '../harness/report.ts';
import { alternate, figureOf, ratioFigure, seriesNamed } from '../harness/rounds.ts';
import { loadActions, loadFeed, loadNames } from '../world/feed.ts';
import { FRONTENDS, openFrontends, visit, type Frontend } from '../world/frontends.ts';
import { openRawWorld } from '../world/raw.ts';

const DATABASE = 'bench_elements';
const READER = 'reader-of-pages';
const SHOWN = 25;
const CPU = 'CPU of a page, ms';
const HEAP = 'memory of a page, MiB';
const named = (what: string, frontend: Frontend): string => `${what}: ${frontend}`;

/** A page with elements beside one with the parts that they are made of. */
export const elementsPart: Part = { name: 'elements', run };

async function run({ environment, options }: PartContext): Promise<PartReport> {
  const found = await findBrowser();
  if (typeof found === 'string') throw new Error(`There is no browser: ${found}`);
  await using _browser = { [Symbol.asyncDispose]: () => found.close() };
  await using world = await openRawWorld(environment, DATABASE);
  await using fanfare = await openInProcess(environment, DATABASE, { worker: false });
  const length = sized(options, { full: 300, short: 300, smoke: 60 });
  await loadFeed(world, READER, await loadActions(world, fanfare, length));
  await loadNames(fanfare);
  const given = { url: '', token: await tokenFor(READER) };
  await using frontends = await openFrontends(environment.folder, () => given);
  await using api = await startApi({
    ...{ environment, database: DATABASE },
    env: { CORS_ORIGINS: frontends.origin },
  });
  given.url = `${api.url}/graphql`;
  const measures = FRONTENDS.map((frontend) => async () => {
    const path = frontend === 'elements' ? 'elements' : 'react';
    const { cpuMs, heapMiB } = await visit(found, `${frontends.origin}/${path}`, SHOWN);
    return { [named(CPU, frontend)]: cpuMs, [named(HEAP, frontend)]: heapMiB };
  });
  const series = await alternate(
    measures,
    roundsOf(options, { full: [25, 3], short: [11, 3], smoke: [1, 0] }),
  );
  const of = (what: string, frontend: Frontend) => seriesNamed(series, named(what, frontend));
  const { sizes } = frontends;
  const bytes = FRONTENDS.map((frontend) => `${frontend} ${sizes[frontend].toLocaleString('en')}`);
  return {
    title: 'Pages with elements',
    about: [
      `A bell and a feed of ${String(SHOWN)} items with reactions, menus and live events, as elements and as the same parts of @fanfare/react with React, turn about: each time in a new profile of Chromium, until all is shown. CPU is that of the main thread; memory is the heap of scripts after a collection.`,
      `Scripts and styles, compressed, in bytes: ${bytes.join(', ')}; ${(sizes.elements / sizes['React parts']).toFixed(2)} ×.`,
    ],
    figures: [CPU, HEAP].flatMap((what) => [
      ...FRONTENDS.map((frontend) => figureOf(of(what, frontend), what === CPU ? 'ms' : 'MiB')),
      ratioFigure(`${what}: elements / React parts`, of(what, 'elements'), of(what, 'React parts')),
    ]),
    raw: { sizes, series },
  };
}
