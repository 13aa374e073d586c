import { alone, isFull, type Keeper } from './store.ts';

/** A list as it was shown, and where its events go on: `page.liveCursor`. What else a page has, is known to who keeps it. */
export interface KeptList {
  /** Of its options. */
  readonly key: string;
  /** What the client asks for of an item: what was kept with another selection is not shown. */
  readonly fields: string;
  readonly page: { readonly liveCursor: string };
  readonly language?: string | undefined;
}

const MOST_BYTES = 5_000_000;
const INDEX = 'lists';
const LIST = 'list ';

/** Of what is kept, by key: bytes, and when it was kept, in ms since 1970. */
type Index = Record<string, { readonly bytes: number; readonly at: number }>;

/** Lists of a reader, at most 5 MB. With more the ones that were kept longest ago go. */
export class Lists {
  readonly #keeper: Keeper;
  readonly #lock: string;
  readonly #signal: AbortSignal;

  constructor(keeper: Keeper, lock: string, signal: AbortSignal) {
    this.#keeper = keeper;
    this.#lock = lock;
    this.#signal = signal;
  }

  async load(): Promise<readonly KeptList[]> {
    const keys = await this.#keeper.keys(LIST);
    const known = await this.#index();
    const lists: KeptList[] = [];
    for (const key of keys) {
      const list = listIn(await this.#keeper.get(LIST + key));
      // One without an entry was being written when the page ended, and says nothing of its size.
      if (list?.key === key && known[key] !== undefined) lists.push(list);
      else {
        await this.#keeper.del(LIST + key);
        if (list === null) this.#keeper.say('corrupt', `A list that was kept makes no sense: ${key}`);
      }
    }
    return lists;
  }

  keep(list: KeptList): Promise<void> {
    const text = JSON.stringify(list);
    const bytes = new TextEncoder().encode(text).length;
    return alone(this.#lock, this.#signal, async () => {
      const index = await this.#index();
      const { [list.key]: before, ...others } = index;
      const room = MOST_BYTES - bytes;
      if (room < 0) {
        this.#keeper.say('full', `A list of ${String(bytes)} bytes is too large to be kept`);
        if (before !== undefined) await this.#drop(list.key, others);
        return;
      }
      let kept: Index = others;
      while (sizeOf(kept) > room) kept = await this.#dropOldest(kept);
      for (;;) {
        if (this.#signal.aborted) return;
        try {
          await this.#keeper.set(LIST + list.key, text);
          await this.#keeper.set(INDEX, { ...kept, [list.key]: { bytes, at: Date.now() } });
          return;
        } catch (error) {
          if (Object.keys(kept).length > 0 && isFull(error)) kept = await this.#dropOldest(kept);
          else {
            this.#keeper.say(isFull(error) ? 'full' : 'unavailable', `A list is not kept: ${String(error)}`);
            return;
          }
        }
      }
    });
  }

  /** Makes room for something that must be kept. @returns false: there is nothing to drop */
  async makeRoom(): Promise<boolean> {
    return alone(this.#lock, this.#signal, async () => {
      const index = await this.#index();
      if (Object.keys(index).length === 0) return false;
      await this.#dropOldest(index);
      return true;
    });
  }

  async #dropOldest(index: Index): Promise<Index> {
    const [oldest] = Object.entries(index).sort(([, a], [, b]) => a.at - b.at);
    if (oldest === undefined) return index;
    const { [oldest[0]]: _dropped, ...others } = index;
    await this.#drop(oldest[0], others);
    return others;
  }

  async #drop(key: string, others: Index): Promise<void> {
    await this.#keeper.del(LIST + key);
    await this.#keeper.set(INDEX, others);
  }

  async #index(): Promise<Index> {
    const given = await this.#keeper.get(INDEX);
    if (typeof given !== 'object' || given === null) return {};
    const entries = Object.entries(given as Readonly<Record<string, Partial<Index[string]> | null>>);
    const whole = entries.flatMap(([key, entry]) =>
      typeof entry?.bytes === 'number' && typeof entry.at === 'number'
        ? [[key, { bytes: entry.bytes, at: entry.at }] as const]
        : [],
    );
    return Object.fromEntries(whole);
  }
}

function sizeOf(index: Index): number {
  return Object.values(index).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Null: it is none. */
function listIn(given: unknown): KeptList | null {
  try {
    const list = JSON.parse(String(given)) as Partial<KeptList> | null;
    const { key, fields, page } = list ?? {};
    const isWhole =
      typeof key === 'string' && typeof fields === 'string' && typeof page?.liveCursor === 'string';
    return isWhole ? (list as KeptList) : null;
  } catch {
    return null;
  }
}
