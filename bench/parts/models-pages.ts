import type { InProcess } from '../harness/in-process.ts';
import { alternate, type Contender, type Series } from '../harness/rounds.ts';
import { quantile, timed } from '../harness/statistics.ts';
import type { ModelWorld } from '../world/models.ts';

/** Which pages are read: their size, and by how many entries each begins below the top. */
export interface Places {
  readonly first: number;
  readonly starts: Readonly<Record<Place, number>>;
}

export type Place = 'first' | 'deep' | 'beyond';
export const PLACES = ['first', 'deep', 'beyond'] as const satisfies readonly Place[];

export interface PageSeries {
  readonly model: string;
  readonly place: Place;
  readonly p50: Series;
  /** Of all pages of all rounds. */
  readonly p99: number;
}

interface Start {
  readonly reader: string;
  readonly after: string | null;
}

const LARGEST_PAGE = 100;

/**
 * Pages at the service, the whole request, of all models in turn.
 * @throws Error when two models give another page at the same place.
 */
export async function measurePages(
  worlds: readonly ModelWorld[],
  readers: readonly string[],
  places: Places,
  options: { readonly pages: number; readonly rounds: number; readonly warmUp: number },
): Promise<readonly PageSeries[]> {
  const contenders: Contender[] = [];
  const latencies = new Map<string, number[]>();
  const shown = new Map<string, string>();
  for (const place of PLACES) {
    for (const { model, fanfare } of worlds) {
      const starts: Start[] = [];
      for (const reader of readers) {
        const after = await cursorAfter(fanfare, reader, places.starts[place]);
        starts.push({ reader, after });
        const page = await relevancies(fanfare, { reader, after }, places.first);
        const key = `${place} ${reader}`;
        if ((shown.get(key) ?? page) !== page) throw new Error(`${model} gives another page: ${key}`);
        shown.set(key, page);
      }
      const name = nameOf(model, place);
      const all: number[] = [];
      latencies.set(name, all);
      contenders.push({
        name,
        measure: async (round) => {
          const times: number[] = [];
          for (let page = 0; page < options.pages; page++) {
            const start = starts[page % starts.length];
            if (start === undefined) throw new Error('There are no readers');
            times.push(await timed(() => readPage(fanfare, start, places.first)));
          }
          if (round >= 0) all.push(...times);
          return quantile(times, 0.5);
        },
      });
    }
  }
  const series = await alternate(contenders, options);
  return worlds.flatMap(({ model }) =>
    PLACES.map((place) => {
      const name = nameOf(model, place);
      const p50 = series.find((entry) => entry.name === name);
      if (p50 === undefined) throw new Error(`Nothing was measured under the name ${name}`);
      return { model, place, p50, p99: quantile(latencies.get(name) ?? [], 0.99) };
    }),
  );
}

function nameOf(model: string, place: Place): string {
  return `${model} ${place}`;
}

async function readPage(fanfare: InProcess, { reader, after }: Start, first: number) {
  const { services } = fanfare.app;
  const page = await services.readFeed(services.openSession(fanfare.identity(reader)), { first, after });
  if (page.edges.length !== first)
    throw new Error(`The page has ${String(page.edges.length)} entries instead of ${String(first)}`);
  return page;
}

/** When the entries of a page are, which is the same in every model. */
async function relevancies(fanfare: InProcess, start: Start, first: number): Promise<string> {
  const { edges, state } = await readPage(fanfare, start, first);
  if (state !== 'READY') throw new Error('A feed is being rebuilt while its pages are measured');
  return edges.map(({ node }) => node.relevancy.toISOString()).join(' ');
}

async function cursorAfter(fanfare: InProcess, reader: string, entries: number): Promise<string | null> {
  let after: string | null = null;
  for (let left = entries; left > 0; left -= LARGEST_PAGE)
    after = (await readPage(fanfare, { reader, after }, Math.min(left, LARGEST_PAGE))).endCursor;
  return after;
}
